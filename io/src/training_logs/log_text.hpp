#pragma once

#include "tables/numbers.hpp"
#include "traces/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace headroom::io {

/// Lines of a log, plain, gzip or zstd, a block of the file at a time: ends are "\n", "\r\n", and "\r" alone, with which progress bars go back.
/// Escapes of colours are taken out. Of a line longer than `longest_log_line` the beginning is given.
class LogFeed {
public:
    /// Errors: InputError{unreadable} where the file cannot be opened.
    LogFeed(std::filesystem::path const& path, std::stop_token stop);
    explicit LogFeed(std::string_view text);
    LogFeed(LogFeed const&) = delete;
    LogFeed& operator=(LogFeed const&) = delete;
    ~LogFeed();

    /// Text that was read and not yet given: the first block of the file before the first line.
    std::string_view ahead();
    /// The next line, valid until the next call; false at the end, or where a stop was requested.
    bool next(std::string_view& line);
    [[nodiscard]] std::uint64_t number() const { return number_; } ///< of lines that end in "\n"
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t long_lines() const { return long_lines_; }
    [[nodiscard]] bool stopped() const { return stopped_; }
    /// Why a compressed file ended before its end; empty: it did not.
    [[nodiscard]] std::string_view damage() const { return damage_; }

private:
    bool fill();
    void append(std::string_view piece);

    struct File;
    std::unique_ptr<File> file_;
    std::stop_token stop_;
    std::string_view block_, damage_;
    std::string line_, clean_;
    std::uint64_t number_ = 0, bytes_ = 0, long_lines_ = 0;
    bool begins_line_ = true, cut_ = false, stopped_ = false;
};
inline constexpr SourceLimits log_limits{.text = std::uint64_t{64} << 30,
                                         .ratio = 0.0};                ///< lines repeat: gzip's 1000 is no bomb
inline constexpr std::size_t longest_log_line = std::size_t{64} << 10; ///< bytes

/// Length of the number that a text begins with, groups of thousands and an exponent among it.
std::size_t number_length(std::string_view text);
/// The number behind a label: "1,478", "2.53e+03"; blanks, "=" and quotes between the two are passed over. The label stands at
/// the beginning of the line or behind a character that is no letter or digit. Empty without one.
std::optional<PrintedNumber> number_after(std::string_view line, std::string_view label);
/// Likewise with a letter of scale behind it: "340K", "1.02M".
std::optional<PrintedNumber> scaled_number_after(std::string_view line, std::string_view label);
/// A whole number from 0 to 10^15, which may be printed as 49.00.
std::optional<std::int64_t> whole_after(std::string_view line, std::string_view label);
/// A count from 1 to 10^9; 0 without one.
int count_after(std::string_view line, std::string_view label);
/// The word behind a label, without quotes and commas; empty where there is none.
std::string_view word_after(std::string_view line, std::string_view label);
/// Bytes of "12.3GB", "42.08GiB", "64.15MiB", "12.3G"; empty for all else.
std::optional<double> bytes_in(std::string_view word);

/// Whether the numbers in front of the lines of a text rise from line to line, as those of `grep -n`: they are no ranks.
bool numbers_lines(std::string_view text);
/// A line behind what launchers and log collectors put in front, and the rank that they name; -1: none.
struct MarkedLine {
    std::string_view line;
    int rank = -1;
};
/// "[rank3]:", "[default3]:", "[1,3]<stdout>:", "3: ", "[pod/name-0/main] ", "(RayTrainWorker pid=123, ip=...) ", "2025-03-04T10:00:00.1Z ", and a row of a table of
/// times and messages. `numbered`: numbers in front are those of lines.
MarkedLine without_marks(std::string_view line, bool numbered);

/// One `{...}` of a text: keys with their values as texts, without quotes; values that are objects or lists are left out.
struct FlatObject {
    static constexpr std::size_t most_keys = 400;
    struct Pair {
        std::string_view key, value;
    };
    std::vector<Pair> pairs;
    std::string_view name; ///< its key in the object around it
    std::size_t begin = 0; ///< where it stands in the text
    int depth = 1;
    [[nodiscard]] std::optional<std::string_view> text(std::string_view key) const;
    [[nodiscard]] std::optional<PrintedNumber> number(std::string_view key) const;
};
/// Text that a scan for objects left out.
struct ObjectRest {
    bool whole = true;            ///< false where the last object has no end
    std::uint64_t lines = 0;      ///< lines with text that is in no object, or with an object that is cut short
    std::uint64_t first_line = 0; ///< the first of them, counted from 1
};
/// Calls `take` for every object in a text of JSON, of JSON lines or of Python's dictionaries, at its end: inner ones first.
/// Where the first line is one whole object, each line is read apart, so that one cut short spoils no other.
ObjectRest scan_objects(std::string_view text, std::function<void(FlatObject const&)> const& take);

} // namespace headroom::io
