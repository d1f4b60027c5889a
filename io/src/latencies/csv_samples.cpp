#include "latencies/csv_layout.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/sample_columns.hpp"
#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"
#include "traces/chrome_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <optional>

#if defined(__SSE2__)
#endif

namespace headroom::io {
namespace {

/// A number of digits and perhaps a point: mantissa / 10^decimals.
struct PlainNumber {
    std::uint64_t mantissa = 0;
    int decimals = 0;
};

/// The largest whole numbers and powers of ten that are doubles themselves: a quotient of two of them is the nearest
/// double to the decimal number.
/// Source: [Clinger1990]
inline constexpr std::uint64_t exact_mantissa = std::uint64_t{1} << 53U;

inline constexpr int exact_power = 22;

inline constexpr double exact_powers[exact_power + 1]{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads such a number at `at`, and moves behind it; false for what is another, has more than 19 digits or more than 16
/// on one side of the point. Eight bytes behind the number must be readable.
inline bool read_plain(char const*& at, PlainNumber& number) {
    char const* const begin = at;
    std::uint64_t mantissa = 0;
    read_digits(at, mantissa);
    auto digits = at - begin;
    number.decimals = 0;
    if (*at == '.') {
        char const* const fraction = ++at;
        read_digits(at, mantissa);
        number.decimals = static_cast<int>(at - fraction);
        digits += at - fraction;
    }
    number.mantissa = mantissa;
    constexpr int fits = 19;
    return digits > 0 && digits <= fits && static_cast<unsigned char>(*at - '0') > 9;
}

/// A whole number of up to 19 digits, as times in nanoseconds are.
inline bool read_long_plain(char const*& at, PlainNumber& number) {
    char const* const begin = at;
    if (read_plain(at, number)) { return true; }
    if (number.decimals != 0 || at - begin != 16) { return false; }
    for (int i = 0; i < 3 && static_cast<unsigned char>(*at - '0') <= 9; ++i) {
        number.mantissa = 10 * number.mantissa + static_cast<std::uint64_t>(*at++ - '0');
    }
    return static_cast<unsigned char>(*at - '0') > 9 && *at != '.';
}

/// The first delimiter, quote or end of line from a place on. Sixteen bytes behind it must be readable.
char const* next_mark(char const* at, char delimiter) {
#if defined(__SSE2__)
    __m128i const comma = _mm_set1_epi8(delimiter), end = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"');
    while (true) {
        __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(at));
        __m128i const marks = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(bytes, end)),
                                           _mm_cmpeq_epi8(bytes, quote));
        auto const found = static_cast<unsigned>(_mm_movemask_epi8(marks));
        if (found != 0) { return at + __builtin_ctz(found); }
        at += 16;
    }
#else
    while (*at != delimiter && *at != '\n' && *at != '"') { ++at; }
    return at;
#endif
}

bool point_is_decimal(NumberMarks const& marks) {
    return marks.point == NumberMarks::Meaning::decimal || marks.point == NumberMarks::Meaning::unknown;
}

class CsvReader {
public:
    CsvReader(CsvLayout const& layout, SampleBuilder& samples)
        : layout_{layout}, samples_{samples}, times_{layout.time_unit}, unit_{samples.unit()} {
        quick_ = layout.where.empty() && layout.unit_column < 0 && layout.failures.empty() && layout.outcomes.empty() &&
                 !layout.time_is_end && layout.dialect.delimiter != ' ' && !layout.dialect.framed &&
                 unit_.factor == 1.0 && point_is_decimal(samples.marks());
        width_ = layout.header ? layout.names.size() : 0;
        time_first_ = layout.time >= 0 && layout.time < layout.value;
    }

    void read(LineFeed& lines);

private:
    void read_chunk(std::string_view chunk, std::uint64_t& line);
    bool quick_row(char const*& at, std::uint64_t line);
    bool quick_value(char const*& at, double& seconds) const;
    bool quick_time(char const*& at, std::int64_t& sent);
    [[nodiscard]] char const* skip_cells(char const* at, int cells) const;
    [[nodiscard]] bool at_end_of_cell(char const* at) const;
    [[nodiscard]] char const* end_of_line(char const* at) const {
        return static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end_ - at)));
    }
    void row(std::string_view line, std::uint64_t number);
    [[nodiscard]] bool may_sum_up(char const* at) const;
    [[nodiscard]] bool sums_up() const;
    [[nodiscard]] bool has_width_of_header() const;
    [[nodiscard]] char const* end_of_row(char const* at, std::size_t cells) const;
    std::optional<std::int64_t> time_of(double seconds, std::uint64_t number);

    CsvLayout const& layout_;
    SampleBuilder& samples_;
    TimeStamps times_;
    CellUnit unit_;
    CellRow row_;
    char const* end_ = nullptr; ///< of the chunk, whose last byte ends a line
    std::size_t width_ = 0;     ///< of the header; 0: there is none
    bool quick_ = false, time_first_ = false;
};

void CsvReader::read(LineFeed& lines) {
    for (std::string_view chunk = lines.chunk(); !chunk.empty(); chunk = lines.chunk()) {
        std::uint64_t line = lines.number();
        read_chunk(chunk, line);
        lines.count(line - lines.number());
    }
}

void CsvReader::read_chunk(std::string_view chunk, std::uint64_t& line) {
    char const* at = chunk.data();
    end_ = at + chunk.size();
    std::uint64_t const head = layout_.skipped;
    while (at < end_) {
        char const* const begin = at;
        ++line;
        if (line > head && quick_ && !may_sum_up(at) && quick_row(at, line)) [[likely]] { continue; }
        at = end_of_line(begin);
        std::string_view text{begin, static_cast<std::size_t>(at - begin)};
        if (text.ends_with('\r')) { text.remove_suffix(1); }
        if (line > head) { row(text, line); }
        ++at;
    }
}

/// A row of plain numbers where they are looked for; false where it is any other.
bool CsvReader::quick_row(char const*& at, std::uint64_t line) {
    double seconds = 0.0;
    if (layout_.time < 0) {
        char const* cell = skip_cells(at, layout_.value);
        if (cell == nullptr || !quick_value(cell, seconds)) { return false; }
        char const* const end = end_of_row(cell, static_cast<std::size_t>(layout_.value));
        if (end == nullptr) { return false; }
        at = end + 1;
        if (seconds != 0.0) { samples_.bare_seen(line); }
        samples_.take(seconds, line);
    } else {
        std::int64_t sent = 0;
        char const* cell = skip_cells(at, time_first_ ? layout_.time : layout_.value);
        if (cell == nullptr || !(time_first_ ? quick_time(cell, sent) : quick_value(cell, seconds))) { return false; }
        if (*cell == '\n' || *cell == '\r') { return false; }
        cell = skip_cells(cell + 1, std::abs(layout_.time - layout_.value) - 1);
        if (cell == nullptr || !(time_first_ ? quick_value(cell, seconds) : quick_time(cell, sent))) { return false; }
        char const* const end = end_of_row(cell, static_cast<std::size_t>(std::max(layout_.time, layout_.value)));
        if (end == nullptr) { return false; }
        at = end + 1;
        if (seconds != 0.0) { samples_.bare_seen(line); }
        samples_.take(seconds, sent, line);
    }
    return true;
}

/// The end of the line from a place on that has so many cells before it; null where the row is of another width than the
/// header, or a cell is quoted.
char const* CsvReader::end_of_row(char const* at, std::size_t cells) const {
    if (width_ == 0) { return *at == '\n' ? at : end_of_line(at); }
#if defined(__SSE2__)
    __m128i const delimiter = _mm_set1_epi8(layout_.dialect.delimiter), end = _mm_set1_epi8('\n'),
                  quote = _mm_set1_epi8('"');
    for (;; at += 16) {
        __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(at));
        auto const ends = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, end)));
        unsigned const before = ends == 0 ? 0xffffU : (ends & (0U - ends)) - 1U; // the bytes of this line
        if ((static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote))) & before) != 0) { return nullptr; }
        auto marks = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, delimiter))) & before;
        for (; marks != 0; marks &= marks - 1U) { ++cells; }
        if (ends != 0) { return cells + 1 == width_ ? at + __builtin_ctz(ends) : nullptr; }
    }
#else
    for (;; ++at) {
        at = next_mark(at, layout_.dialect.delimiter);
        if (*at == '\n') { return cells + 1 == width_ ? at : nullptr; }
        if (*at == '"') { return nullptr; }
        ++cells;
    }
#endif
}

/// Behind so many cells; null where the line ends before, or one is quoted.
char const* CsvReader::skip_cells(char const* at, int cells) const {
    for (; cells > 0; --cells) {
        at = next_mark(at, layout_.dialect.delimiter);
        if (*at != layout_.dialect.delimiter) { return nullptr; }
        ++at;
    }
    return at;
}

bool CsvReader::at_end_of_cell(char const* at) const {
    return *at == '\n' || *at == layout_.dialect.delimiter || (*at == '\r' && at[1] == '\n');
}

bool CsvReader::quick_value(char const*& at, double& seconds) const {
    PlainNumber number;
    if (!read_plain(at, number) || number.mantissa >= exact_mantissa) { return false; }
    int const power = number.decimals + unit_.decimals;
    if (power > exact_power || !at_end_of_cell(at)) { return false; }
    seconds = static_cast<double>(static_cast<std::int64_t>(number.mantissa)) / exact_powers[power];
    return true;
}

bool CsvReader::quick_time(char const*& at, std::int64_t& sent) {
    PlainNumber number;
    if (!read_long_plain(at, number) || !at_end_of_cell(at)) { return false; }
    auto const time = times_.read(number.mantissa, number.decimals);
    if (time) { sent = *time; }
    return time.has_value();
}

/// The time of the row, as that at which its request was sent.
std::optional<std::int64_t> CsvReader::time_of(double seconds, std::uint64_t number) {
    auto time = times_.read(row_.cell(layout_.time));
    if (!time) {
        samples_.leave_out(SampleIssue::no_time, number);
        return SampleBuilder::no_time_known;
    }
    constexpr double nano = 1e9, most = 9e18;
    bool const far = seconds * nano > most;
    if (layout_.time_is_end && !far) { *time -= static_cast<std::int64_t>(seconds * nano); }
    return time;
}

/// Cells beyond the header's are nothing where they are empty: a delimiter ends the row.
bool CsvReader::has_width_of_header() const {
    auto const& cells = row_.cells();
    if (width_ == 0 || cells.size() == width_) { return true; }
    return cells.size() > width_ &&
           std::ranges::all_of(cells.begin() + static_cast<std::ptrdiff_t>(width_), cells.end(),
                               [](std::string_view cell) { return cell.empty(); });
}

/// Whether a row may begin with "Total" or "Average": a quick look.
bool CsvReader::may_sum_up(char const* at) const {
    if (layout_.value == 0 || is_decimal_digit(*at)) { return false; }
    std::string_view const begin{at, 3};
    return std::ranges::any_of(std::array<std::string_view, 8>{"tot", "ave", "avg", "mea", "sum", "med", "ove", "gra"},
                               [&](std::string_view word) { return same_caseless(begin, word); });
}

/// Whether a row is a total or a mean of those above it, as its first cell says.
bool CsvReader::sums_up() const {
    constexpr std::array<std::string_view, 9> words{"total",  "average", "avg",    "mean",       "sum",
                                                    "median", "overall", "totals", "grand total"};
    bool const chosen = std::ranges::any_of(layout_.where, [](auto const& one) { return one.first == 0; });
    if (layout_.value == 0 || chosen || layout_.known_writer) { return false; }
    std::string_view const first = trimmed_line(row_.cell(0).substr(0, row_.cell(0).find(':')));
    return std::ranges::any_of(words, [&](std::string_view word) { return same_caseless(first, word); });
}

void CsvReader::row(std::string_view line, std::uint64_t number) {
    if (!line.empty() && is_no_row(line, layout_.dialect)) {
        bool const text = is_outside_of_frame(line, layout_.dialect);
        return text ? samples_.leave_out(SampleIssue::no_column, number) : void();
    }
    if (row_.split(line, layout_.dialect) > RowFault::stray_quote) {
        return samples_.leave_out(SampleIssue::open_quote, number);
    }
    for (auto const& [column, wanted] : layout_.where) {
        if (row_.cell(column) == wanted) { continue; }
        if (layout_.metric_chosen) { samples_.leave_out(SampleIssue::other_metric, number); }
        return;
    }
    bool const stated = layout_.unit_column >= 0;
    if (stated && !states_unit(row_.cell(layout_.unit_column), layout_.unit, samples_.where(), number)) {
        return samples_.leave_out(SampleIssue::other_metric, number);
    }
    if (static_cast<std::size_t>(layout_.value) >= row_.cells().size()) {
        return samples_.leave_out(SampleIssue::no_column, number);
    }
    if (!has_width_of_header()) { return samples_.leave_out(SampleIssue::other_length, number); }
    for (FailureMark const& mark : layout_.failures) {
        if (mark.failed(row_.cell(mark.column))) { return samples_.leave_out(SampleIssue::failed, number); }
    }
    for (OutcomeColumn const& outcome : layout_.outcomes) {
        if (outcome.failed(row_.cell(outcome.column))) { return samples_.leave_out(SampleIssue::failed, number); }
    }
    if (sums_up()) { return samples_.leave_out(SampleIssue::sum, number); }
    CellValue const value = cell_value(row_.cell(layout_.value), CellMeasure::time, samples_.marks());
    std::optional<std::int64_t> sent;
    if (layout_.time >= 0 && value.is_number()) {
        double const seconds = value.kind == CellValue::Kind::bare ? unit_.base(value.value) : value.value;
        if (seconds >= 0.0) { sent = time_of(seconds, number); }
    }
    samples_.take_cell(value, sent, number);
}

void tell_unused(CsvLayout const& layout, SampleBuilder& samples) {
    std::vector<int> used{layout.value, layout.time, layout.unit_column};
    for (auto const& condition : layout.where) { used.push_back(condition.first); }
    for (FailureMark const& mark : layout.failures) { used.push_back(mark.column); }
    for (OutcomeColumn const& outcome : layout.outcomes) { used.push_back(outcome.column); }
    samples.leave_out(unused_columns(layout.names, used), false);
}

} // namespace

bool looks_like_csv(std::string_view head) {
    return !head.empty() && head.find('\0') == std::string_view::npos && !head.starts_with('{') &&
           !head.starts_with('<');
}

void read_csv_samples(HeadSource& source, SampleBuilder& samples) {
    CsvLayout const layout = csv_layout(whole_lines(source.head()), samples);
    auto const value = static_cast<std::size_t>(layout.value);
    if (value < layout.names.size()) {
        samples.found().column = layout.names[value];
        if (layout.time >= 0) { samples.found().time_column = layout.names.at(static_cast<std::size_t>(layout.time)); }
    }
    if (!layout.note.empty()) { samples.note(layout.note); }
    if (layout.header) { tell_unused(layout, samples); }
    LineFeed lines{source, samples.where(), samples.question().stop};
    CsvReader{layout, samples}.read(lines);
    samples.found().rows = lines.number();
    tell_source(source, lines, samples);
}

} // namespace headroom::io
