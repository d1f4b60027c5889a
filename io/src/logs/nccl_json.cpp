#include "logs/log_formats.hpp"
#include "logs/log_hints.hpp"
#include "records/record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace headroom::io {

using namespace headroom::network;

namespace {

using Json = nlohmann::json;

/// More open brackets are no output of a benchmark.
constexpr std::size_t deepest = 64;

/// Brackets that are open after some of a text; a quoted bracket is none.
class Brackets {
public:
    /// False when the text is no JSON of this depth.
    bool take(char c) {
        if (quoted_) {
            quoted_ = escaped_ || c != '"';
            escaped_ = !escaped_ && c == '\\';
            return true;
        }
        if (c == '"') { quoted_ = true; }
        if (c == '{' || c == '[') { open_ += c; }
        if (c != '}' && c != ']') { return open_.size() <= deepest; }
        if (open_.empty() || (open_.back() == '{') != (c == '}')) { return false; }
        open_.pop_back();
        return true;
    }
    [[nodiscard]] bool quoted() const { return quoted_; }
    /// Brackets that close all open ones.
    [[nodiscard]] std::string closing() const {
        std::string text;
        for (auto i = open_.rbegin(); i != open_.rend(); ++i) { text += *i == '{' ? '}' : ']'; }
        return text;
    }

private:
    std::string open_;
    bool quoted_ = false, escaped_ = false;
};

/// The text up to its last whole object, with the brackets that are open there closed.
std::string mended(std::string_view text) {
    Brackets brackets;
    std::size_t whole = 0;
    std::string closing;
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const object_ends = !brackets.quoted() && text[i] == '}';
        if (!brackets.take(text[i])) { break; }
        if (object_ends) {
            whole = i + 1;
            closing = brackets.closing();
        }
    }
    return std::string{text.substr(0, whole)} + closing;
}

bool too_deep(std::string_view text) {
    Brackets brackets;
    return !std::ranges::all_of(text, [&](char c) { return brackets.take(c); }) && brackets.closing().size() > deepest;
}

Json parsed(std::string_view text, LogBuilder& log) {
    if (too_deep(text)) { unreadable_error(log.where(), "brackets too deep", "at most 64 are open at once"); }
    Json document = Json::parse(text, nullptr, false);
    if (!document.is_discarded()) { return document; }
    document = Json::parse(mended(text), nullptr, false);
    if (document.is_discarded()) { unreadable_error(log.where(), "no JSON", "it does not parse"); }
    auto const lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
    log.leave_out(Unused::truncated, lines, "the file ends within its results");
    return document;
}

/// A member of an object; null when there is none.
Json const& member(Json const& object, char const* key) {
    static Json const none;
    if (!object.is_object()) { return none; }
    auto const found = object.find(key);
    return found == object.end() ? none : *found;
}

/// A number, or a text that is one.
std::optional<double> number_in(Json const& value) {
    if (value.is_number()) {
        double const number = value.get<double>();
        return std::isfinite(number) ? std::optional{number} : std::nullopt;
    }
    if (!value.is_string()) { return std::nullopt; }
    auto const printed = printed_number(value.get_ref<std::string const&>());
    return printed ? std::optional{printed->value} : std::nullopt;
}

std::string text_in(Json const& value) { return value.is_string() ? value.get<std::string>() : std::string{}; }

int count_in(Json const& value) {
    double const count = number_in(value).value_or(0.0);
    return count >= 1.0 && count <= most_log_ranks && count == std::floor(count) ? static_cast<int>(count) : 0;
}

/// Numbers of JSON are printed with six digits after the point.
std::optional<PrintedNumber> bandwidth_in(Json const& value) {
    constexpr double half_unit = 0.5e-6;
    auto const number = number_in(value);
    return number ? std::optional{PrintedNumber{*number, half_unit}} : std::nullopt;
}

/// Facts common to the results of a file.
struct Run {
    std::string collective, system;
    RunShape shape;
};

class Reader {
public:
    explicit Reader(LogBuilder& log) : log_{log} {}

    void read(Json const& document) {
        if (document.is_array()) {
            for (Json const& one : document) { record(one); }
            return;
        }
        Run const run = run_of(document);
        Json const& results = member(document, "results");
        for (Json const& one : results) { result(one, run); }
    }

private:
    /// Ranks: threads x GPUs of each process; one device of each process is listed.
    Run run_of(Json const& document) {
        Run run;
        Json const& config = member(document, "config");
        std::set<std::string> hosts;
        std::size_t processes = 0;
        int highest = 0;
        for (Json const& device : member(config, "devices")) {
            ++processes;
            highest = std::max(highest, count_in(member(device, "rank")));
            if (auto const host = text_in(member(device, "hostname")); !host.empty()) { hosts.insert(host); }
            run.system = text_in(member(device, "device_info"));
        }
        double const each = double{1.0} * count_in(member(config, "nthreads")) * count_in(member(config, "ngpus"));
        double const ranks = each * static_cast<double>(processes);
        bool const known = ranks >= 1.0 && ranks <= most_log_ranks && highest < ranks;
        if (!known) { log_.note("the list of devices does not give the ranks"); }
        run.shape = run_shape({known ? static_cast<int>(ranks) : 0, known ? static_cast<int>(hosts.size()) : 0}, log_,
                              most_of_usual_node);
        Json const& arguments = member(document, "args");
        if (arguments.is_array() && !arguments.empty()) {
            run.collective = nccl_program_in(text_in(arguments.front()));
        }
        if (run.collective.empty()) { run.collective = nccl_program_in(log_.where()); }
        if (run.collective.empty()) { run.collective = log_.question().collective; }
        return run;
    }

    void result(Json const& one, Run const& run) {
        ++index_;
        auto const size = number_in(member(one, "size"));
        Json const& side = member(one, log_.question().in_place ? "in_place" : "out_of_place");
        if (side.is_null()) { return leave_out(Unused::not_available, one); }
        Json const& wall = member(side, "time");
        auto const time = number_in(wall.is_null() ? member(side, "cpu_time") : wall);
        if (!size) { return leave_out(Unused::unreadable, one); }
        if (!time) { return leave_out(Unused::no_time, one); }
        MeasuredCollective row;
        row.system = run.system;
        row.ranks = run.shape.ranks;
        row.nodes = run.shape.nodes;
        row.size = TotalBytes{Bytes{*size}};
        row.time = Seconds{*time * 1e-6};
        row.data_type = text_in(member(one, "type"));
        PrintedBandwidths const printed{bandwidth_in(member(side, "alg_bw")), bandwidth_in(member(side, "bus_bw"))};
        add(row, run.collective, member(side, "nwrong"), printed, one);
    }

    /// A record of rccl-tests: {"name":"AllReduce", "nodes":1, "ranks":8, "size":1024, "inPlace":0, "time":..., ...}.
    void record(Json const& one) {
        ++index_;
        auto const size = number_in(member(one, "size")), time = number_in(member(one, "time"));
        bool const in_place = number_in(member(one, "inPlace")).value_or(0.0) != 0.0;
        if (!size) { return leave_out(Unused::unreadable, one); }
        if (in_place != log_.question().in_place) { return; } // the other half of the pair
        if (!time) { return leave_out(Unused::no_time, one); }
        double const ranks =
            double{1.0} * count_in(member(one, "ranks")) * std::max(1, count_in(member(one, "gpusPerRank")));
        RunShape const shape =
            run_shape({ranks <= most_log_ranks ? static_cast<int>(ranks) : 0, count_in(member(one, "nodes"))}, log_,
                      most_of_usual_node);
        MeasuredCollective row;
        row.ranks = shape.ranks;
        row.nodes = shape.nodes;
        row.size = TotalBytes{Bytes{*size}};
        row.time = Seconds{*time * 1e-6};
        row.data_type = text_in(member(one, "type"));
        std::string const name = text_in(member(one, "name"));
        PrintedBandwidths const printed{bandwidth_in(member(one, "algBw")), bandwidth_in(member(one, "busBw"))};
        add(row, name.empty() ? log_.question().collective : name, member(one, "wrong"), printed, one);
    }

    void add(MeasuredCollective& row, std::string const& name, Json const& wrong, PrintedBandwidths const& printed,
             Json const& one) {
        auto const wrongs = number_in(wrong);
        if (!wrongs) { log_.note("the results of some rows were not checked by the benchmark"); }
        if (wrongs.value_or(0.0) != 0.0) { return leave_out(Unused::wrong_results, one); }
        if (name.empty()) { return leave_out(Unused::no_collective, one); }
        auto const collective = collective_in_log(name);
        if (!collective) { return leave_out(Unused::other_collective, one); }
        if (row.ranks == 0) { return leave_out(Unused::no_ranks, one); }
        row.collective = *collective;
        row.line = index_;
        log_.add(std::move(row), printed, text_of(one));
    }

    static std::string text_of(Json const& one) {
        return fmt::format("size {}", number_in(member(one, "size")).value_or(0.0));
    }
    void leave_out(Unused why, Json const& one) { log_.leave_out(why, index_, text_of(one)); }

    LogBuilder& log_;
    std::size_t index_ = 0; ///< of the result, from 1: lines say nothing in a file that may be one
};

} // namespace

bool looks_like_nccl_json(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) { return false; }
    bool const pair = text.find("\"out_of_place\"") != std::string_view::npos;
    return pair || text.find("\"busBw\"") != std::string_view::npos ||
           (text.find("\"results\"") != std::string_view::npos &&
            text.find("\"nccl_version\"") != std::string_view::npos);
}

ReadLog read_nccl_json(std::string_view text, LogBuilder& log) {
    Reader{log}.read(parsed(text, log));
    return {"nccl-tests json", static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1};
}

} // namespace headroom::io
