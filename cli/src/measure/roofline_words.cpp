#include "headroom/document/text.hpp"
#include "measure/roofline_report.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

struct Reason {
    std::string_view kernel, words;
};

/// What a kernel does beside what is counted: why it may stay below its roof.
constexpr std::array reasons{
    Reason{"triad", "streams that share channels, and pages that end"},
    Reason{"sum", "one stream: a core has too few lines in flight"},
    Reason{"softmax", "an exponential counts one operation and takes a dozen; stores read the lines that they write"},
    Reason{"layer_norm", "three passes over a row, and stores that read the lines that they write"},
    Reason{"gemm_small", "packing both factors costs as much as some of the arithmetic at this order"},
    Reason{"gemm_large", "packing, tiles at the edges, and loads beside the multiply-adds"},
    Reason{"attention_unfused", "exponentials, which are not counted, and scores that go out and come back"},
    Reason{"attention_tiled", "exponentials, which are not counted, and small products"},
};

MeasuredFigure const* fastest(MeasuredRoofline const& roofline, int threads, bool own) {
    MeasuredFigure const* best = nullptr;
    for (MeasuredFigure const* one : roofline.of_quantity("product")) {
        if (one->threads != threads || one->of("precision") != "fp32" || (one->of("own") == "yes") != own) { continue; }
        if (best == nullptr || one->summary.median > best->summary.median) { best = one; }
    }
    return best;
}

/// Each library with its fastest figure as it is and freed of variables.
void warn_of_variables(MeasuredRoofline const& roofline, std::vector<std::string>& warnings) {
    for (MeasuredFigure const* freed : roofline.of_quantity("product")) {
        if (freed->of("freed") != "yes") { continue; }
        for (MeasuredFigure const* held : roofline.of_quantity("product")) {
            bool const same = held->of("freed").empty() && held->of("library") == freed->of("library") &&
                              held->of("precision") == freed->of("precision") &&
                              held->of("order") == freed->of("order") && held->threads == freed->threads;
            if (!same || held->summary.high >= freed->summary.low) { continue; } // no difference beyond the intervals
            warnings.push_back("held back: " + held->point.label + " does " + rate_words(*held) + ", and " +
                               rate_words(*freed) + " without the variables (x" +
                               significant(freed->summary.median / held->summary.median) + ")");
        }
    }
}

} // namespace

std::string rate_words(MeasuredFigure const& figure) {
    double const value = figure.summary.median;
    if (figure.point.unit == "seconds") { return format(Seconds{value}); }
    if (figure.point.unit == "bytes/second") { return format(BytesPerSecond{value}); }
    return format(FlopsPerSecond{value});
}

std::string interval_words(MeasuredFigure const& figure) {
    SampleSummary const& of = figure.summary;
    if (!(of.median > 0.0)) { return "-"; }
    return "-" + percent(1.0 - of.low / of.median, 2) + " +" + percent(of.high / of.median - 1.0, 2);
}

std::string processor_name(Campaign const& campaign) {
    auto const found = fact(campaign.machine, "processor");
    return found ? std::string{*found} : "this machine";
}

std::string reason_of(MeasuredKernel const& kernel) {
    constexpr double at_roof = 0.9;
    std::string const limit =
        kernel.bound == Bound::memory ? "bandwidth of " + kernel.level->of("level") : std::string{"arithmetic"};
    if (kernel.share >= at_roof) { return "at its roof: " + limit; }
    std::string const name = kernel.figure->of("kernel");
    auto const found = std::ranges::find(reasons, name, &Reason::kernel);
    return "below " + limit + ": " + (found == reasons.end() ? "not known why" : std::string{found->words});
}

std::optional<OwnAgainstLibrary> own_against_library(MeasuredRoofline const& roofline, int threads) {
    OwnAgainstLibrary both{fastest(roofline, threads, true), fastest(roofline, threads, false)};
    if (both.own == nullptr || both.other == nullptr) { return std::nullopt; }
    return both;
}

std::vector<std::string> warnings_of(MeasuredRooflineReport const& report) {
    std::vector<std::string> warnings;
    Facts const& machine = report.campaign.machine;
    if (auto const pinned = fact(machine, "threads pinned"); pinned && !pinned->starts_with("each")) {
        warnings.emplace_back("not pinned: the system refuses to keep threads on their cores; figures may be low");
    }
    std::vector<std::string> set;
    for (auto const& [name, value] : machine) {
        if (name == "restrained by") { set.push_back(value); }
    }
    if (!set.empty()) {
        warnings.push_back("variables: " + join(set, ", ") +
                           " may hold libraries back; their products were taken with "
                           "and without");
    }
    warn_of_variables(report.roofline, warnings);
    if (report.cores() == 1) { warnings.emplace_back("one core: nothing here says what several of them do together"); }
    for (std::string& doubt : doubts_of(report.roofline, report.campaign)) { warnings.push_back(std::move(doubt)); }
    return warnings;
}

} // namespace headroom::cli
