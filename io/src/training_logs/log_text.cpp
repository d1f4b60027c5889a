#include "training_logs/log_text.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "traces/decompressors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace headroom::io {
namespace {

constexpr std::size_t block_size = std::size_t{256} << 10;

bool is_word_sign(char c) { return is_decimal_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z') || c == '_'; }

/// Where the text behind a label begins; npos without it.
std::size_t behind(std::string_view line, std::string_view label) {
    for (std::size_t at = line.find(label); at != std::string_view::npos; at = line.find(label, at + 1)) {
        bool const whole = at == 0 || !is_word_sign(line[at - 1]) || !is_word_sign(label.front());
        if (whole) { return at + label.size(); }
    }
    return std::string_view::npos;
}

/// The number that a text begins with, and the text behind it.
std::optional<PrintedNumber> leading_number(std::string_view text, std::string_view& rest) {
    text = text.substr(std::min(text.find_first_not_of(" \t=:'\""), text.size()));
    std::size_t const length = number_length(text);
    std::string digits{text.substr(0, length)};
    std::erase(digits, ',');
    rest = text.substr(length);
    if (digits.ends_with('.')) { digits.pop_back(); }
    return printed_number(digits);
}

/// Length of an escape sequence of a terminal at the beginning of a text; 0: there is none.
std::size_t escape_length(std::string_view text) {
    if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') { return 0; }
    std::size_t const end = text.find_first_not_of("0123456789;?", 2);
    return end == std::string_view::npos ? text.size() : end + 1;
}

} // namespace

struct LogFeed::File {
    std::unique_ptr<ByteSource> source;
    std::vector<char> buffer = std::vector<char>(block_size);
    std::string where;
};

LogFeed::LogFeed(std::filesystem::path const& path, std::stop_token stop)
    : file_{std::make_unique<File>()}, stop_{std::move(stop)} {
    file_->where = path.string();
    file_->source = open_source(path, log_limits, stop_);
}

LogFeed::LogFeed(std::string_view text) : block_{text}, bytes_{text.size()} {}

LogFeed::~LogFeed() = default;

bool LogFeed::fill() {
    if (!file_) { return false; }
    stopped_ = stopped_ || stop_.stop_requested();
    if (stopped_) { return false; }
    std::size_t const got = file_->source->read(file_->buffer.data(), file_->buffer.size());
    damage_ = file_->source->damage();
    if (damage_ == too_large || damage_ == disk_failed) {
        unreadable_error(file_->where, "cannot be read to its end", std::string{damage_});
    }
    bytes_ += got;
    block_ = {file_->buffer.data(), got};
    return got > 0;
}

void LogFeed::append(std::string_view piece) {
    std::size_t const room = longest_log_line - std::min(longest_log_line, line_.size());
    cut_ = cut_ || piece.size() > room;
    line_.append(piece.substr(0, room));
}

bool LogFeed::next(std::string_view& line) {
    line_.clear();
    cut_ = false;
    bool any = false;
    for (;;) {
        if (block_.empty() && !fill()) { break; }
        if (begins_line_) { ++number_; }
        any = true;
        std::size_t const feed = block_.find('\n'), back = block_.substr(0, feed).find('\r');
        std::size_t const end = std::min(feed, back);
        append(block_.substr(0, end));
        begins_line_ = end != std::string_view::npos && block_[end] == '\n';
        block_.remove_prefix(end == std::string_view::npos ? block_.size() : end + 1);
        if (end != std::string_view::npos) { break; }
    }
    if (!any || stopped_) { return false; }
    long_lines_ += cut_ ? 1 : 0;
    line = line_;
    if (line_.find('\x1b') != std::string::npos) {
        clean_.clear();
        for (std::size_t i = 0; i < line_.size();) {
            std::size_t const escape = escape_length(line.substr(i));
            if (escape == 0) { clean_ += line_[i]; }
            i += std::max<std::size_t>(escape, 1);
        }
        line = clean_;
    }
    return true;
}

std::size_t number_length(std::string_view text) {
    std::size_t at = !text.empty() && (text.front() == '-' || text.front() == '+') ? 1 : 0;
    auto const digit = [&](std::size_t i) { return i < text.size() && is_decimal_digit(text[i]); };
    bool point = false;
    for (; at < text.size(); ++at) {
        bool const group =
            text[at] == ',' && !point && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
        if (text[at] == '.' && !point && (digit(at + 1) || (at > 0 && digit(at - 1)))) {
            point = true;
        } else if (!digit(at) && !group) {
            break;
        }
    }
    if (at < text.size() && lowered(text[at]) == 'e' && at > 0) {
        std::size_t const sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 1 : 0;
        if (digit(at + 1 + sign)) {
            at += 1 + sign;
            while (digit(at)) { ++at; }
        }
    }
    return at;
}

std::optional<PrintedNumber> number_after(std::string_view line, std::string_view label) {
    std::size_t const at = behind(line, label);
    std::string_view rest;
    return at == std::string_view::npos ? std::nullopt : leading_number(line.substr(at), rest);
}

std::optional<PrintedNumber> scaled_number_after(std::string_view line, std::string_view label) {
    constexpr std::array scales{std::pair{'K', 1e3}, std::pair{'M', 1e6}, std::pair{'G', 1e9}, std::pair{'B', 1e9},
                                std::pair{'T', 1e12}};
    std::size_t const at = behind(line, label);
    if (at == std::string_view::npos) { return std::nullopt; }
    std::string_view rest;
    auto number = leading_number(line.substr(at), rest);
    if (!number || rest.empty()) { return number; }
    for (auto const& [letter, scale] : scales) {
        if (rest.front() == letter) { return PrintedNumber{number->value * scale, number->half_unit * scale}; }
    }
    return number;
}

std::optional<std::int64_t> whole_after(std::string_view line, std::string_view label) {
    constexpr double most = 1e15;
    auto const number = number_after(line, label);
    bool const whole =
        number && number->value >= 0.0 && number->value <= most && std::floor(number->value) == number->value;
    return whole ? std::optional{static_cast<std::int64_t>(number->value)} : std::nullopt;
}

int count_after(std::string_view line, std::string_view label) {
    constexpr std::int64_t most = 1'000'000'000;
    auto const count = whole_after(line, label);
    return count && *count >= 1 && *count <= most ? static_cast<int>(*count) : 0;
}

std::string_view word_after(std::string_view line, std::string_view label) {
    std::size_t const at = behind(line, label);
    if (at == std::string_view::npos) { return {}; }
    std::string_view text = line.substr(at);
    text = text.substr(std::min(text.find_first_not_of(" \t=:'\"."), text.size()));
    return text.substr(0, text.find_first_of(" \t,;|)]}'\""));
}

std::optional<double> bytes_in(std::string_view word) {
    constexpr std::array units{std::pair{std::string_view{"GiB"}, 1073741824.0},
                               std::pair{std::string_view{"MiB"}, 1048576.0},
                               std::pair{std::string_view{"GB"}, 1e9},
                               std::pair{std::string_view{"MB"}, 1e6},
                               std::pair{std::string_view{"G"}, 1e9},
                               std::pair{std::string_view{"M"}, 1e6}};
    std::string_view rest;
    auto const number = leading_number(word, rest);
    if (!number || !(number->value >= 0.0)) { return std::nullopt; }
    for (auto const& [unit, size] : units) {
        bool const ends = rest.size() == unit.size() || (rest.size() > unit.size() && !is_word_sign(rest[unit.size()]));
        if (rest.starts_with(unit) && ends) { return number->value * size; }
    }
    return std::nullopt;
}

namespace {

/// The number in front of ": ", and where the text behind it begins; -1: none.
int leading_count(std::string_view line, std::size_t& end) {
    std::size_t const begin = std::min(line.find_first_not_of(" \t"), line.size());
    std::size_t const colon = std::min(line.find_first_not_of("0123456789", begin), line.size());
    bool const marks = colon > begin && line.substr(colon).starts_with(':');
    auto const count = marks ? printed_count(line.substr(begin, colon - begin)) : std::nullopt;
    end = colon + 1;
    return count ? *count : -1;
}

/// "2025-03-04T10:00:00.123456789Z " of Docker and Kubernetes, and "2025-03-04 10:00:00," of a table: its length; 0: none.
std::size_t stamp_length(std::string_view line) {
    constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
    if (line.size() <= shape.size()) { return 0; }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        bool const blank = shape[i] == 'T' && (line[i] == 'T' || line[i] == ' ');
        if (!blank && (shape[i] == 'd' ? !is_decimal_digit(line[i]) : line[i] != shape[i])) { return 0; }
    }
    std::size_t end = shape.size();
    if (line[end] == '.') { end = std::min(line.find_first_not_of("0123456789", end + 1), line.size()); }
    if (line.substr(end).starts_with('Z')) {
        ++end;
    } else if (line.substr(end).starts_with('+') || line.substr(end).starts_with('-')) {
        end = std::min(line.find_first_not_of("0123456789:", end + 1), line.size());
    }
    bool const table =
        line.substr(end).starts_with(',') && (end + 1 >= line.size() || !is_decimal_digit(line[end + 1]));
    bool const collector = line[10] == 'T' && line.substr(end).starts_with(' ');
    return table || collector ? end + 1 : 0;
}

/// A mark in brackets in front of a line, as of launchers and Ray: its length and rank; 0: none.
std::size_t bracket_length(std::string_view line, int& rank) {
    if (line.starts_with('(')) { // "(RayTrainWorker pid=123, ip=10.0.0.1) "
        std::size_t const end = line.find(')');
        if (end == line.npos || line.substr(0, end).find("pid=") == line.npos) { return 0; }
        if (auto const number = printed_count(word_after(line.substr(0, end), "rank="))) { rank = *number; }
        return end + 1;
    }
    if (!line.starts_with('[')) { return 0; }
    std::size_t const close = line.find(']');
    if (close == std::string_view::npos) { return 0; }
    std::string_view const name = line.substr(1, close - 1);
    std::string_view const rest = line.substr(close + 1);
    auto const whole = [&](std::string_view digits) {
        auto const count = printed_count(digits);
        if (count) { rank = *count; }
        return count.has_value();
    };
    for (std::string_view const word : {"rank", "default"}) {
        if (name.starts_with(word) && whole(name.substr(word.size()))) {
            return close + 1 + (rest.starts_with(':') ? 1 : 0);
        }
    }
    if (name.starts_with("pod/")) { return close + 1; }
    auto const comma = name.find(',');
    auto const tag = rest.find(">:");
    if (comma == std::string_view::npos || !rest.starts_with("<std") || tag == std::string_view::npos) { return 0; }
    return whole(name.substr(comma + 1)) ? close + 1 + tag + 2 : 0;
}

} // namespace

std::string_view LogFeed::ahead() {
    if (block_.empty()) { fill(); }
    return block_;
}

bool numbers_lines(std::string_view text) {
    int last = -1;
    std::size_t marked = 0, end = 0;
    while (!text.empty()) {
        std::size_t const stop = std::min(text.find('\n'), text.size());
        int const number = leading_count(text.substr(0, stop), end);
        text.remove_prefix(std::min(stop + 1, text.size()));
        if (number < 0) { continue; }
        if (number <= last || number == 0) { return false; } // lines are counted from one
        last = number;
        ++marked;
    }
    return marked > 1;
}

MarkedLine without_marks(std::string_view line, bool numbered) {
    constexpr int most_ranks = 1'000'000;
    MarkedLine marked{.line = line, .rank = -1};
    for (int marks = 0; marks < 4; ++marks) { // a collector's, a launcher's, a logger's
        std::string_view const at =
            marked.line.substr(std::min(marked.line.find_first_not_of(" \t"), marked.line.size()));
        std::size_t end = 0;
        int rank = -1;
        std::size_t const bracket = bracket_length(at, rank);
        if (bracket > 0) {
            if (rank >= 0) { marked.rank = rank; }
            marked.line = at.substr(bracket);
            continue;
        }
        if (std::size_t const stamp = stamp_length(at); stamp > 0) {
            marked.line = at.substr(stamp);
            bool const quotes = at[stamp - 1] == ',' && marked.line.starts_with('"');
            if (quotes) { marked.line.remove_prefix(1); }
            if (quotes && marked.line.ends_with('"')) { marked.line.remove_suffix(1); }
            continue;
        }
        int const number = leading_count(at, end);
        bool const blank = at.substr(std::min(end, at.size())).starts_with(' ');
        if (number < 0 || (!blank && !numbered)) { break; }
        if (!numbered && number < most_ranks) { marked.rank = number; }
        marked.line = at.substr(end);
    }
    return marked;
}

} // namespace headroom::io
