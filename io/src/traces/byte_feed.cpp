#include "traces/byte_feed.hpp"

#include "records/record.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headroom::io {

namespace {

constexpr std::size_t slack = 8, block = std::size_t{256} << 10;
constexpr int patience_of_pipe = 3000; ///< milliseconds, with a named pipe that nobody has opened for writing

[[noreturn]] void not_opened(std::string const& where, int error) {
    if (error == ENOENT || error == ENOTDIR) { unreadable_error(where, "no such file"); }
    unreadable_error(where, "cannot be read", std::error_code{error, std::generic_category()}.message());
}

} // namespace

ByteFeed::ByteFeed(std::filesystem::path const& path, std::stop_token stop) : stop_{std::move(stop)} {
    try {
        open(path);
    } catch (...) {
        if (descriptor_ >= 0) { ::close(descriptor_); }
        throw;
    }
}

ByteFeed::~ByteFeed() {
    if (descriptor_ >= 0) { ::close(descriptor_); }
}

void ByteFeed::open(std::filesystem::path const& path) {
    std::string const where = path.string();
    // Opening a named pipe would wait for somebody to write into it, perhaps for ever.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) { not_opened(where, errno); }
    if (S_ISDIR(status.st_mode)) { unreadable_error(where, "cannot be read", "it is a folder", "name a file in it"); }
    if (S_ISFIFO(status.st_mode) && !comes_within(patience_of_pipe) && !stop_.stop_requested()) {
        unreadable_error(where, "nothing is written into this pipe", "it was waited for 3 seconds",
                         "start first what writes into it");
    }
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    regular_ = S_ISREG(status.st_mode);
    size_ = regular_ ? static_cast<std::uint64_t>(status.st_size) : 0;
    if (regular_) { ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL); }
    buffer_.resize(slack + block);
    window_ = {buffer_.data() + slack, 0};
    // A file that cannot be read at all (a faulty disk, a file that the kernel refuses) is reported at once.
    refill(0);
    if (failed_) { not_opened(where, errno); }
}

/// Whether there is something to read, or an end; false after a request to stop.
bool ByteFeed::comes_within(int milliseconds) const {
    constexpr int slice = 50; // until a request is heeded
    for (int waited = 0; waited < milliseconds && !stop_.stop_requested(); waited += slice) {
        pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, slice) > 0) { return true; }
    }
    return false;
}

std::ptrdiff_t ByteFeed::fetch(char* into, std::size_t room) const {
    if (regular_) { return ::pread(descriptor_, into, room, static_cast<off_t>(offset_)); }
    while (!comes_within(std::numeric_limits<int>::max() / 2)) {
        if (stop_.stop_requested()) { return 0; }
    }
    return ::read(descriptor_, into, room);
}

void ByteFeed::refill(std::size_t keep) {
    if (memory_) { return; }
    // The bytes to keep, and the eight bytes before them, move to the front.
    char* const front = buffer_.data();
    std::memmove(front, window_.data() - slack, keep + slack);
    char* const into = front + slack + keep;
    std::size_t const room = buffer_.size() - slack - keep;
    std::size_t filled = 0;
    while (filled < room) {
        std::ptrdiff_t const got = fetch(into + filled, room - filled);
        if (got < 0 && errno == EINTR) { continue; }
        failed_ = got < 0;
        if (got <= 0) { break; }
        offset_ += static_cast<std::uint64_t>(got);
        filled += static_cast<std::size_t>(got);
    }
    window_ = {front + slack, keep + filled};
}

std::string_view ByteFeed::peek() {
    if (window_.empty() && !failed_) { refill(0); }
    return window_;
}

std::string_view ByteFeed::peek(std::size_t count) {
    if (window_.size() < count && !failed_) { refill(window_.size()); }
    return window_;
}

int ByteFeed::byte() {
    std::string_view const ahead = peek();
    if (ahead.empty()) { return -1; }
    take(1);
    return static_cast<unsigned char>(ahead.front());
}

} // namespace headroom::io
