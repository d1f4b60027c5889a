#include "latencies/latency_formats.hpp"
#include "latencies/sample_columns.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/rows.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

/// Labels of a line and their values: "request_time" and "0.012".
using Labels = std::vector<std::pair<std::string, std::string>>;

bool is_label(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_.@-", c) != nullptr; }

void add(Labels& labels, std::string_view name, std::string value) {
    bool const known = std::ranges::any_of(labels, [&](auto const& one) { return one.first == name; });
    bool const named = !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
    if (!known && named && !value.empty()) { labels.emplace_back(name, std::move(value)); }
}

/// A number, "12.3", and its unit where it stands behind it or in the next word; empty where there is no unit.
std::optional<std::string> with_unit(std::string_view word, std::string_view next) {
    std::size_t const end = std::min(word.find_first_not_of("0123456789."), word.size());
    if (end == 0 || !decimal_number(word.substr(0, end))) { return std::nullopt; }
    std::string_view unit = end < word.size() ? word.substr(end) : next;
    unit = unit.substr(0, unit.find_last_not_of(".,:;") + 1);
    auto const known = time_unit(unit);
    return known ? std::optional{std::string{word.substr(0, end)} + " " + std::string{known->name}} : std::nullopt;
}

/// Words outside of quotes; brackets and bars are blanks.
std::vector<std::string_view> bare_words(std::string_view line) {
    std::vector<std::string_view> words;
    constexpr std::string_view between = " \t()[]|";
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '"') {
            at = std::min(line.find('"', at + 1), line.size() - 1) + 1;
            words.emplace_back("\"");
            continue;
        }
        std::size_t const end = std::min(line.find_first_of(" \t()[]|\"", at), line.size());
        if (end > at) { words.push_back(line.substr(at, end - at)); }
        at = end < line.size() && between.find(line[end]) != std::string_view::npos ? end + 1 : end;
    }
    return words;
}

/// "key=value", "key=\"value\"", and a unit in the word behind it: "time=0.035 ms". Other texts in quotes are passed over: the
/// addresses of requests have parameters of their own.
void take_pairs(std::string_view line, Labels& labels) {
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '"') { at = std::min(line.find('"', at + 1), line.size() - 1); }
        if (line[at] != '=') { continue; }
        std::size_t begin = at;
        while (begin > 0 && is_label(line[begin - 1])) { --begin; }
        std::string_view const name = line.substr(begin, at - begin);
        std::string_view value = line.substr(at + 1);
        if (value.starts_with('"')) {
            std::size_t const end = std::min(value.find('"', 1), value.size() - 1);
            add(labels, name, std::string{value.substr(1, std::max<std::size_t>(end, 1) - 1)});
            at += end + 1;
            continue;
        }
        std::size_t const end = std::min(value.find_first_of(" \t,;()[]{}|\"<>"), value.size());
        std::string_view rest = value.substr(end);
        value = value.substr(0, end);
        auto const time = with_unit(value, next_word(rest));
        add(labels, time && same_caseless(name, "time") ? "took" : name, time.value_or(std::string{value}));
        at += end;
    }
}

/// Whether one of the words is among these.
bool has_word(std::vector<std::string_view> const& words, std::string_view wanted) {
    return std::ranges::any_of(words, [&](std::string_view word) {
        return is_word_of(wanted, word.substr(0, word.find_last_not_of(".,:;") + 1));
    });
}

/// "took 12.3ms", "completed in 12ms", "elapsed: 12.3 ms", "latency: 0.012".
void take_words(std::vector<std::string_view> const& words, Labels& labels) {
    bool const ended = has_word(words, "completed finished done served processed handled returned responded executed");
    std::string_view const verbs = ended ? "took in" : "took";
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        std::string_view name = words[i];
        bool const colon = name.ends_with(':');
        if (colon) { name.remove_suffix(1); }
        auto const time = with_unit(words[i + 1], i + 2 < words.size() ? words[i + 2] : std::string_view{});
        if (is_word_of(verbs, name) && time) { add(labels, "took", *time); }
        std::string_view const number = words[i + 1].substr(0, words[i + 1].find_last_not_of(",;") + 1);
        bool const plain = colon && decimal_number(number).has_value();
        if (colon && (time || plain)) {
            add(labels, same_caseless(name, "time") ? "took" : name, time.value_or(std::string{number}));
        }
    }
}

bool is_count(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Times of HAProxy, "0/0/1/10/12" of which the last is the whole, and of Envoy, behind the request: its status, flags, bytes
/// in and out and milliseconds. A status behind a request of others.
void take_proxies(std::string_view line, std::vector<std::string_view> const& words, Labels& labels) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        bool const slashes = std::ranges::count(words[i], '/') == 4 &&
                             words[i].find_first_not_of("0123456789/-+") == std::string_view::npos;
        if (slashes && i + 1 < words.size() && is_count(words[i + 1])) {
            std::string_view whole = words[i].substr(words[i].rfind('/') + 1);
            if (whole.starts_with('+')) { whole.remove_prefix(1); }
            add(labels, "took", std::string{whole} + " ms");
            return add(labels, "status", std::string{words[i + 1]});
        }
        bool const status = i > 0 && words[i - 1] == "\"" && words[i].size() == 3 && is_count(words[i]);
        if (!status) { continue; }
        bool const envoy = line.starts_with('[') && i + 4 < words.size() && !is_count(words[i + 1]) &&
                           is_count(words[i + 2]) && is_count(words[i + 3]) && is_count(words[i + 4]);
        if (envoy) { add(labels, "took", std::string{words[i + 4]} + " ms"); }
        return add(labels, "status", std::string{words[i]});
    }
}

/// The attributes of JMeter's samples, by their long names.
void name_jmeter(Labels& labels) {
    constexpr std::pair<std::string_view, std::string_view> names[]{
        {"t", "elapsed_ms"}, {"ts", "timeStamp"}, {"s", "success"}, {"rc", "responseCode"}, {"lb", "label"}};
    std::erase_if(labels, [](auto const& one) { return one.first == "it" || one.first == "lt" || one.first == "ct"; });
    for (auto& [name, value] : labels) {
        for (auto const& [shortened, full] : names) {
            if (name == shortened) { name = full; }
        }
    }
}

bool states_time(Labels const& labels, std::string_view where) {
    std::vector<std::string> names;
    for (auto const& [name, value] : labels) { names.push_back(name); }
    if (names.empty()) { return false; }
    auto const found = value_column(names, where);
    return found.found() &&
           cell_value(labels[static_cast<std::size_t>(found.column)].second, CellMeasure::time).is_number();
}

bool has_label(Labels const& labels, std::string_view name) {
    return std::ranges::any_of(labels, [&](auto const& one) { return same_caseless(one.first, name); });
}

/// The only number of a line that has a unit of time, where the line says anything else and is no statistic.
std::optional<std::string> only_time(std::string_view line, std::vector<std::string_view> const& words) {
    bool const rate = std::ranges::any_of(words, [](std::string_view one) { return one.ends_with("/sec"); });
    bool const other =
        rate || line.find_first_of(";\t") != std::string_view::npos ||
        has_word(words, "retry retrying reconnecting timeout waiting sleeping next interval every in avg "
                        "average mean median percentile p50 p90 p95 p99");
    if (other) { return std::nullopt; }
    std::optional<std::string> only;
    std::size_t times = 0, texts = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        bool const letters = words[i].find_first_of("0123456789") == std::string_view::npos && words[i].size() > 2;
        texts += words[i] == "\"" || (letters && !time_unit(words[i])) ? 1 : 0;
        if (auto const time = with_unit(words[i], i + 1 < words.size() ? words[i + 1] : std::string_view{})) {
            only = time;
            times += i > 0 && words[i - 1] == "=" ? 2 : 1; // "eval time = 12 ms" sums up
        }
    }
    return times == 1 && texts > 0 ? only : std::nullopt;
}

/// `unnamed`: no line of the text has a label of a time.
Labels labels_of(std::string_view line, bool unnamed) {
    Labels labels;
    line = trimmed_line(line);
    take_pairs(line, labels);
    if (line.starts_with('<')) {
        bool const jmeter = line.starts_with("<httpSample ") || line.starts_with("<sample ");
        if (jmeter) { name_jmeter(labels); }
        return jmeter ? labels : Labels{};
    }
    auto const words = bare_words(line);
    take_words(words, labels);
    take_proxies(line, words, labels);
    bool const traced = line.ends_with('>') && line.rfind(" <") != std::string_view::npos; // strace -T
    if (traced) {
        std::string_view const seconds = line.substr(line.rfind(" <") + 2, line.size() - line.rfind(" <") - 3);
        if (decimal_number(seconds)) { add(labels, "took", std::string{seconds} + " s"); }
    }
    if (auto const only = unnamed ? only_time(line, words) : std::nullopt) { add(labels, "took", *only); }
    return labels;
}

/// The labels of a line as an object of JSON; an empty text where it states none.
std::string object_of(Labels const& labels) {
    if (labels.empty()) { return "\"\""; }
    std::string object;
    for (auto const& [name, value] : labels) {
        object += object.empty() ? "{" : ",";
        object += "\"" + name + "\":\"";
        for (char const c : value) {
            if (c == '"' || c == '\\') { object += '\\'; }
            object += static_cast<signed char>(c) < 0x20 ? ' ' : c; // bytes beyond ASCII, too
        }
        object += '"';
    }
    return object + "}";
}

bool states_times(std::string_view head, bool unnamed);

/// Lines of a log as lines of JSON, one for each.
class ObjectSource final : public ByteSource {
public:
    ObjectSource(HeadSource& source, SampleBuilder& samples)
        : source_{source},
          lines_{source, samples.where(), samples.question().stop},
          where_{samples.where()},
          column_{samples.question().column},
          unnamed_{!states_times(source.head(), false)} {}

    std::size_t read(char* into, std::size_t size) override {
        std::size_t given = 0;
        while (given < size) {
            if (at_ == text_.size() && !refill()) { break; }
            std::size_t const part = std::min(size - given, text_.size() - at_);
            std::copy_n(text_.data() + at_, part, into + given);
            given += part;
            at_ += part;
        }
        return given;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return source_.bytes_read(); }
    [[nodiscard]] std::string_view damage() const override { return source_.damage(); }

private:
    bool refill() {
        std::string_view line;
        if (!lines_.next(line)) { return false; }
        at_ = 0;
        Labels labels = labels_of(line, unnamed_);
        started_ = started_ || (column_.empty() ? states_time(labels, where_) : has_label(labels, column_));
        if (!started_) { labels.clear(); } // the first object shows which labels there are
        text_ = trimmed_line(line).empty() ? "" : object_of(labels);
        text_ += '\n';
        return true;
    }

    HeadSource& source_;
    LineFeed lines_;
    std::string where_, column_;
    std::string text_;
    std::size_t at_ = 0;
    bool unnamed_, started_ = false;
};

/// Whether a quarter of the lines at least, and two, state a time.
bool states_times(std::string_view head, bool unnamed) {
    constexpr std::size_t looked_at = 200;
    TextLines lines{whole_lines(head)};
    std::size_t some = 0, good = 0;
    for (std::string_view line; lines.next(line) && some < looked_at;) {
        if (trimmed_line(line).empty()) { continue; }
        ++some;
        try {
            good += states_time(labels_of(line, unnamed), {}) ? 1 : 0;
        } catch (InputError const&) { ++good; } // several times, of which one has to be named
    }
    return good >= 2 && 4 * good >= some;
}

/// Whether columns of a table have names among which one is of times.
bool is_table_of_times(std::string_view head) {
    TableHead const table = table_head(whole_lines(head));
    if (!table.has_names() || table.names().size() < 2) { return false; }
    try {
        return value_column(table.names(), {}).found();
    } catch (InputError const&) { return true; } // several
}

} // namespace

bool looks_like_labelled_lines(std::string_view head) {
    return (states_times(head, false) || states_times(head, true)) && !is_table_of_times(head);
}

void read_labelled_lines(HeadSource& source, SampleBuilder& samples) {
    HeadSource objects{std::make_unique<ObjectSource>(source, samples), table_head_bytes};
    read_json_lines(objects, samples);
    samples.note("a log: the time that each line states");
}

} // namespace headroom::io
