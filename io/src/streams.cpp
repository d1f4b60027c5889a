#include "headroom/io/streams.hpp"

#include <cstdio>

namespace headroom::io {
namespace {

constinit thread_local Capture* current = nullptr;

} // namespace

CaptureScope::CaptureScope(Capture& capture) : before_{current} { current = &capture; }

CaptureScope::~CaptureScope() { current = before_; }

Capture* captured() { return current; }

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
