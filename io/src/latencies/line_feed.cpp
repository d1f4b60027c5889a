#include "latencies/line_feed.hpp"

#include "records/record.hpp"

#include <fmt/format.h>

#include <cstring>

namespace headroom::io {

void LineFeed::fill() {
    std::size_t const kept = end_ - begin_;
    if (kept > 0) { std::memmove(buffer_.data(), buffer_.data() + begin_, kept); }
    begin_ = 0;
    end_ = kept;
    if (kept + readable_behind + 1 >= buffer_.size()) { buffer_.resize(2 * buffer_.size()); }
    std::size_t const room = buffer_.size() - readable_behind - 1 - end_;
    std::size_t const got = source_.read(buffer_.data() + end_, room);
    bytes_ += got;
    end_ += got;
    ended_ = got < room;
    if (!started_ && std::string_view{buffer_.data(), end_}.starts_with(byte_order_mark)) {
        begin_ = byte_order_mark.size();
    }
    started_ = true;
    if (ended_ && end_ > begin_ && buffer_[end_ - 1] != '\n') { buffer_[end_++] = '\n'; }
}

std::string_view LineFeed::chunk() {
    while (!ended_) {
        interrupted_ = stop_.stop_requested();
        if (interrupted_) {
            ended_ = true;
            break;
        }
        std::size_t const searched = end_ - begin_;
        if (searched > longest_line) {
            unreadable_error(fmt::format("{}:{}", where_, number_ + 1), "a line longer than 16 MiB", "it is no text");
        }
        fill();
        std::string_view const held{buffer_.data() + begin_, end_ - begin_};
        std::size_t const last = held.rfind('\n');
        if (last == std::string_view::npos) { continue; }
        begin_ += last + 1;
        return held.substr(0, last + 1);
    }
    return {};
}

bool LineFeed::next(std::string_view& line) {
    if (current_.empty()) { current_ = chunk(); }
    if (current_.empty()) { return false; }
    std::size_t const end = current_.find('\n');
    line = current_.substr(0, end);
    current_.remove_prefix(end + 1);
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    ++number_;
    return true;
}

} // namespace headroom::io
