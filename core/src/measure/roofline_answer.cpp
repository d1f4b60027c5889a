#include "headroom/measure/measured_roofline.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <array>

namespace headroom::measure {

using namespace headroom::laws;

namespace {

using text::counted, text::join, text::significant;

struct Reason {
    std::string_view kernel, words;
};

/// Uncounted work of each kernel, which may keep it below its roof.
constexpr std::array reasons{
    Reason{"triad", "streams that share channels, and pages that end"},
    Reason{"sum", "one stream: a core has too few lines in flight"},
    Reason{"softmax", "an exponential counts one operation and takes a dozen; stores read the lines that they write"},
    Reason{"layer_norm", "three passes over a row, and stores that read the lines that they write"},
    Reason{"gemm_small", "packing both factors costs as much as some of the arithmetic at this order"},
    Reason{"gemm_large", "packing, tiles at the edges, and loads between the multiply-adds"},
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

/// Samples that gave no value, with the first reason.
void warn_of_failures(Campaign const& campaign, std::vector<std::string>& warnings) {
    std::size_t failed = 0;
    std::string first;
    for (Sample const& one : campaign.samples) {
        if (one.has_value()) { continue; }
        if (failed++ == 0) { first = campaign.points.at(one.point).label + ": " + one.message; }
    }
    if (failed > 0) {
        warnings.push_back("failed: " + counted(failed, "repetition") + " gave no value (" + first + ")");
    }
}

} // namespace

std::string rate_words(MeasuredFigure const& figure) {
    double const value = figure.summary.median;
    if (figure.point.unit == "seconds") { return format(Seconds{value}); }
    if (figure.point.unit == "bytes/second") { return format(BytesPerSecond{value}); }
    return format(FlopsPerSecond{value});
}

std::string cores_words(int count) { return counted(static_cast<std::size_t>(count), "core"); }

std::string MeasuredRooflineAnswer::processor() const {
    return std::string{fact(campaign.machine, "processor").value_or("this machine")};
}

std::vector<MeasuredLevel> levels_of(MeasuredRoofline const& roofline) {
    std::vector<MeasuredLevel> all;
    for (int const threads : roofline.threads) {
        for (MeasuredFigure const* one : roofline.levels(threads)) { all.push_back({one}); }
    }
    return all;
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
    OwnAgainstLibrary const both{threads, fastest(roofline, threads, true), fastest(roofline, threads, false)};
    if (both.own == nullptr || both.other == nullptr) { return std::nullopt; }
    return both;
}

std::vector<std::string> warnings_of(MeasuredRooflineAnswer const& answer) {
    std::vector<std::string> warnings;
    Facts const& machine = answer.campaign.machine;
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
    warn_of_variables(answer.roofline, warnings);
    if (answer.cores() == 1) { warnings.emplace_back("one core: nothing here says what several of them do together"); }
    for (std::string& doubt : doubts_of(answer.roofline, answer.campaign)) { warnings.push_back(std::move(doubt)); }
    warn_of_failures(answer.campaign, warnings);
    return warnings;
}

} // namespace headroom::measure
