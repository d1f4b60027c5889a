#include "calibrate/calibrate_report.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/processor.hpp"
#include "headroom/roofline.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

constexpr double giga = 1e9;

std::string rate_text(double base, char const* unit) { return '"' + exact(base / giga) + ' ' + unit + '"'; }

std::string quoted_text(std::string const& text) {
    std::string result;
    append_json_string(result, printable(text)); // TOML's basic strings have the same escapes
    return result;
}

std::string comment_of(fit::MeasuredRate const& rate) {
    return "# " + printable(rate.kernel) +
           (rate.threads > 0 ? " on " + counted(static_cast<std::size_t>(rate.threads), "thread") : "") + ", " +
           counted(rate.samples, "sample") + ", 90 %: " + significant(rate.value.low / giga) + " to " +
           significant(rate.value.high / giga) + " G/s\n";
}

/// The fastest of each word, by the word.
template <class Word>
std::map<std::string, fit::MeasuredRate> fastest(std::vector<fit::MeasuredRate> const& rates, Word word) {
    std::map<std::string, fit::MeasuredRate> best;
    for (fit::MeasuredRate const& rate : rates) {
        auto const [at, is_new] = best.try_emplace(word(rate), rate);
        if (!is_new && rate.value.value > at->second.value.value) { at->second = rate; }
    }
    return best;
}

bool is_format(std::string const& word) {
    return std::ranges::any_of(number_formats, [&](NumberFormat format) { return name_of(format) == word; });
}

[[noreturn]] void refuse_incomplete(CampaignMachine const& machine, std::string const& what) {
    throw InputError{Fault::insufficient,
                     {.where = machine.evidence,
                      .problem = "gives no machine file",
                      .why = "it holds no rate of " + what,
                      .hint = "headroom measure roofline measures both memory and arithmetic"}};
}

std::string capacity_text(fit::MeasuredRate const& rate) {
    constexpr double kibi = 1024.0;
    return rate.capacity > 0.0 ? "capacity = \"" + exact(rate.capacity / kibi) + " KiB\"\n" : "";
}

std::string levels_text(CampaignMachine const& machine, fit::MeasuredRate const& memory) {
    auto const by_level = fastest(machine.rates.bytes, [](auto const& rate) { return rate.level; });
    std::vector<fit::MeasuredRate> levels;
    std::string text;
    for (auto const& [name, rate] : by_level) {
        if (name == memory.level) { continue; }
        if (rate.value.value > memory.value.value) {
            levels.push_back(rate);
        } else {
            text += "# " + printable(name) + " left out: it was measured slower than main memory\n";
        }
    }
    std::ranges::sort(levels, {}, [](auto const& rate) { return rate.value.value; });
    for (fit::MeasuredRate const& rate : levels) {
        text += "\n[[level]]\n" + comment_of(rate) + "name = " + quoted_text(rate.level) +
                "\nbandwidth = " + rate_text(rate.value.value, "GB/s") + '\n' + capacity_text(rate);
    }
    return text;
}

std::string peaks_text(std::vector<fit::MeasuredRate> const& rates) {
    std::string text;
    for (auto const& [format, rate] : fastest(rates, [](auto const& one) { return one.format; })) {
        if (is_format(format)) {
            text += comment_of(rate) + format + " = " + rate_text(rate.value.value, "GFLOP/s") + '\n';
        }
    }
    return text;
}

} // namespace

std::string machine_text(CampaignMachine const& machine) {
    fit::MeasuredRate const* triad = fit::memory_rate(machine.rates);
    if (triad == nullptr) { refuse_incomplete(machine, "main memory"); }
    fit::MeasuredRate memory = *triad;
    for (fit::MeasuredRate const& rate : machine.rates.bytes) {
        if (rate.level == memory.level && rate.value.value > memory.value.value) { memory = rate; }
    }
    std::string const peaks = peaks_text(machine.rates.flops);
    if (peaks.empty()) { refuse_incomplete(machine, "arithmetic in a number format that is known"); }
    std::string text =
        "# A machine as measured: its roof is the fastest that any kernel reached, not a vendor's figure.\n# " +
        printable(machine.evidence) + "\n\nname = " + quoted_text(machine.name) + "\n\n[memory]\n" +
        comment_of(memory) + "bandwidth = " + rate_text(memory.value.value, "GB/s") + '\n' + capacity_text(memory) +
        levels_text(machine, memory) + "\n[peak]\n" + peaks + "\n[measured]\n" + comment_of(*triad) +
        "memory = " + rate_text(triad->value.value, "GB/s") + '\n';
    std::vector<fit::MeasuredRate> products;
    for (NumberFormat const format : number_formats) {
        if (auto const* rate = fit::product_rate(machine.rates, std::string{name_of(format)})) {
            products.push_back(*rate);
        }
    }
    text += peaks_text(products);
    io::read_processor(text, machine.evidence); // what is written can be read
    return text;
}

} // namespace headroom::cli
