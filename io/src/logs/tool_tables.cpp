#include "logs/log_formats.hpp"
#include "logs/log_hints.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::io {

using namespace headroom::network;

namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) { words.push_back(next_word(line)); }
    return words;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

enum class Tool { none, perftest, deepspeed, param };

/// Tool whose heads of columns a line holds.
Tool tool_of(std::string_view line) {
    if (has(line, "COMMS-RES") && has(line, "Latency(us):p50")) { return Tool::param; }
    if (line.starts_with("Size (Bytes)") && has(line, "Description") && has(line, "Duration")) {
        return Tool::deepspeed;
    }
    bool const perftest = trimmed_line(line).starts_with("#bytes") && has(line, "#iterations");
    return perftest && (has(line, "t_typical[usec]") || has(line, "BW average[")) ? Tool::perftest : Tool::none;
}

/// Bytes that DeepSpeed prints as "1.5 MB", of 1024; the description "256x4" states them without rounding.
std::optional<double> deepspeed_bytes(std::vector<std::string_view> const& words, std::size_t& at) {
    auto const size = printed_number(words[0]);
    if (!size) { return std::nullopt; }
    constexpr std::string_view prefixes = "BKMGTP";
    double bytes = size->value;
    at = 1;
    if (words[1] == "B" || (words[1].size() == 2 && words[1][1] == 'B')) {
        std::size_t const power = prefixes.find(words[1][0]);
        if (power == std::string_view::npos) { return std::nullopt; }
        bytes *= std::pow(1024.0, static_cast<double>(power));
        at = 2;
    }
    if (at >= words.size()) { return std::nullopt; }
    std::string_view const text = words[at++];
    std::size_t const by = text.find('x');
    auto const count = printed_number(text.substr(0, by));
    auto const width = by == std::string_view::npos ? std::nullopt : printed_number(text.substr(by + 1));
    constexpr double rounding = 0.02;
    if (!count || !width) { return bytes; }
    double const exact = count->value * width->value;
    return std::abs(exact - bytes) <= rounding * bytes ? exact : bytes;
}

class Reader {
public:
    Reader(std::string_view text, LogBuilder& log) : lines_{text}, log_{log} {}

    std::size_t read() {
        for (std::string_view line; lines_.next(line);) { take(line); }
        return lines_.number();
    }

private:
    void take(std::string_view line) {
        RunHints const command = hints_of_command(line);
        if (command.ranks > 0) { command_ = command; }
        std::string_view const plain = trimmed_line(line);
        if (plain.starts_with("---- Performance of ")) { return title(plain); }
        if (plain.ends_with("Latency Test") || plain.ends_with("BW Test")) {
            tool_ = Tool::none;
            one_way_ = plain.ends_with("Latency Test") && (has(plain, "Write") || plain.starts_with("Send"));
            stream_ = plain.ends_with("BW Test");
        }
        if (Tool const tool = tool_of(line); tool != Tool::none) { return head(tool, plain); }
        std::vector<std::string_view> const words = words_of(plain);
        bool const digit = !words.empty() && is_decimal_digit(words[0][0]);
        if (tool_ == Tool::perftest && digit) { return perftest(words, line); }
        if (tool_ == Tool::deepspeed && digit && words.size() >= 4) { return deepspeed(words, line); }
        if (tool_ == Tool::param && !words.empty() && words[0].starts_with("COMMS-RES")) { return param(words, line); }
        bool const rule = plain.find_first_not_of("-=") == std::string_view::npos;
        if (tool_ != Tool::none && !rule) { log_.leave_out(Unused::other_text, lines_.number(), line); }
    }

    /// "---- Performance of all_reduce on 8 devices -----"
    void title(std::string_view line) {
        tool_ = Tool::none;
        auto const words = words_of(line);
        if (words.size() < 6) { return; }
        name_ = std::string{words[3] == "pt2pt" ? std::string_view{"point_to_point"} : words[3]};
        shape_ = run_shape({.ranks = printed_count(words[5]).value_or(0), .nodes = 0}, log_, most_of_usual_node);
    }

    void head(Tool tool, std::string_view line) {
        tool_ = tool;
        auto const words = words_of(line);
        if (tool == Tool::perftest) {
            if (has(line, "BW average[")) { stream_ = true; }
            auto const mean = std::ranges::find(words, std::string_view{"t_avg[usec]"});
            auto const typical = std::ranges::find(words, std::string_view{"t_typical[usec]"});
            time_at_ = static_cast<std::size_t>((mean != words.end() ? mean : typical) - words.begin());
            shape_ = run_shape({.ranks = 2, .nodes = 2}, log_);
        } else if (tool == Tool::deepspeed) {
            micros_ = has(line, "Duration (us)");
            gigabits_ = has(line, "(Gbps)");
        } else {
            std::size_t columns = 0;
            for (std::string_view const word : words) {
                if (word.starts_with("Latency(us)")) { break; }
                columns += word == "(B)" ? 0 : 1;
            }
            time_at_ = columns;
            shape_ = run_shape(command_, log_, most_of_usual_node);
        }
    }

    void perftest(std::vector<std::string_view> const& words, std::string_view line) {
        auto const size = printed_number(words[0]);
        if (stream_) { return leave_out(Unused::not_a_latency, line); }
        if (!one_way_) { return leave_out(Unused::other_collective, line); } // a read or an atomic: a round trip
        auto const time = time_at_ < words.size() ? printed_number(words[time_at_]) : std::nullopt;
        if (!size || !time) { return leave_out(Unused::unreadable, line); }
        add(Collective::point_to_point, size->value, time->value * 1e-6, {}, line);
    }

    void deepspeed(std::vector<std::string_view> const& words, std::string_view line) {
        auto const collective = collective_in_log(name_);
        if (!collective) { return leave_out(Unused::other_collective, line); }
        std::size_t at = 0;
        auto const size = deepspeed_bytes(words, at);
        if (!size || at >= words.size()) { return leave_out(Unused::unreadable, line); }
        auto const time = printed_number(words[at++]);
        double factor = 1e-6;
        if (!micros_) {
            auto const unit = at < words.size() ? time_unit(words[at++]) : std::nullopt;
            if (!unit) { return leave_out(Unused::unreadable, line); }
            factor = unit->base(1.0);
        }
        if (!time || at + 1 >= words.size()) { return leave_out(Unused::truncated, line); }
        PrintedBandwidths printed; // its "Throughput" of an all-reduce is twice the algorithm bandwidth
        printed.bus = printed_number(words[at + 1]);
        if (printed.bus && gigabits_) {
            printed.bus = PrintedNumber{printed.bus->value / 8, printed.bus->half_unit / 8};
        }
        bool const share = *collective == Collective::all_gather; // the size is one rank's
        add(*collective, *size * (share ? shape_.ranks : 1), time->value * factor, printed, line);
    }

    void param(std::vector<std::string_view> const& words, std::string_view line) {
        std::string_view name = words[0].substr(std::string_view{"COMMS-RES"}.size());
        if (name.starts_with('-')) { name = name.substr(1, name.find('-', 1) - 1); }
        if (name.empty()) { name = log_.question().collective; }
        if (name.empty()) { return leave_out(Unused::no_collective, line); }
        auto const collective = collective_in_log(name);
        if (!collective) { return leave_out(Unused::other_collective, line); }
        bool const whole = *collective == Collective::all_reduce || *collective == Collective::broadcast ||
                           *collective == Collective::reduce;
        if (!whole) { return leave_out(Unused::unknown_size, line); } // its sizes changed between releases
        constexpr std::size_t rates = 5;                              // p50, p75, p95, least and most go before them
        if (words.size() < time_at_ + rates + 2) { return leave_out(Unused::truncated, line); }
        auto const size = printed_number(words[1]), time = printed_number(words[time_at_]);
        if (!size || !time) { return leave_out(Unused::unreadable, line); }
        add(*collective, size->value, time->value * 1e-6, {}, line);
    }

    void add(Collective collective, double bytes, double seconds, PrintedBandwidths const& printed,
             std::string_view line) {
        bool const pair = collective == Collective::point_to_point;
        if (!pair && shape_.ranks == 0) { return leave_out(Unused::no_ranks, line); }
        MeasuredCollective one;
        one.collective = collective;
        one.ranks = pair ? 2 : shape_.ranks;
        one.nodes = pair ? std::min(2, shape_.nodes) : shape_.nodes;
        one.size = TotalBytes{Bytes{bytes}};
        one.time = Seconds{seconds};
        one.line = lines_.number();
        log_.add(std::move(one), printed, line);
    }

    void leave_out(Unused why, std::string_view line) { log_.leave_out(why, lines_.number(), line); }

    LogLines lines_;
    LogBuilder& log_;
    Tool tool_ = Tool::none;
    std::string name_;
    RunHints command_;
    RunShape shape_;
    std::size_t time_at_ = 0;
    bool one_way_ = false, stream_ = false, micros_ = false, gigabits_ = false;
};

} // namespace

bool looks_like_tool_table(std::string_view text) {
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        if (tool_of(line) != Tool::none) { return true; }
    }
    return false;
}

ReadLog read_tool_table(std::string_view text, LogBuilder& log) {
    std::size_t const lines = Reader{text, log}.read();
    bool const verbs = text.find("#iterations") != std::string_view::npos;
    bool const param = text.find("COMMS-RES") != std::string_view::npos;
    return {verbs ? "perftest" : param ? "param" : "ds_bench", lines};
}

} // namespace headroom::io
