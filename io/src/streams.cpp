#include "headroom/io/streams.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace headroom::io {
namespace {

constinit thread_local Capture* current = nullptr;

} // namespace

CaptureScope::CaptureScope(Capture& capture) : before_{current} { current = &capture; }

CaptureScope::~CaptureScope() { current = before_; }

Capture* captured() { return current; }

std::optional<std::size_t> columns_of(int stream) {
    constexpr std::size_t least = 60, most = 160;
    if (captured() != nullptr) { return std::nullopt; }
    std::size_t columns = 0;
    if (char const* const stated = std::getenv("COLUMNS")) {
        std::string_view const text{stated};
        std::from_chars(text.data(), text.data() + text.size(), columns);
    }
    winsize size{};
    if (columns == 0 && isatty(stream) == 1 && ioctl(stream, TIOCGWINSZ, &size) == 0) { columns = size.ws_col; }
    return columns == 0 ? std::nullopt : std::optional{std::clamp(columns, least, most)};
}

void write_error(std::string_view line) {
    bool const ended = line.ends_with('\n');
    if (Capture* const kept = captured()) {
        kept->error.append(line);
        if (!ended) { kept->error += '\n'; }
        return;
    }
    std::fprintf(stderr, "%.*s%s", static_cast<int>(line.size()), line.data(), ended ? "" : "\n");
}

} // namespace headroom::io
