#include "laws/laws_gain.hpp"

#include "arguments.hpp"

#include "headroom/io/words.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

/// Measured times scatter by a few percent; two figures that differ by more than this cannot both hold.
constexpr double tolerance = 0.1;
constexpr double least_gain = 1e-6, largest_gain = 1e9;

} // namespace

std::optional<MeasuredGain> read_gain(Arguments const& arguments, CurveResult const& result) {
    auto const text = arguments.text("--measured-speedup");
    if (!text) {
        for (char const* option : {"--from-workers", "--to-workers"}) {
            if (!arguments.has(option)) { continue; }
            refuse(option, "belongs to --measured-speedup", "it would be ignored", "say what was gained");
        }
        return std::nullopt;
    }
    MeasuredGain gain{
        .from = io::parse_whole(arguments.required("--from-workers", "where the gain starts: 8"), "--from-workers"),
        .to = arguments.count("--to-workers").value_or(result.question.k0),
        .gain = io::parse_between(*text, least_gain, largest_gain, "speedup", "--measured-speedup"),
        .share_needed = {}};
    if (gain.from >= gain.to) {
        refuse("--from-workers", "a gain from " + workers_words(gain.from) + " to " + workers_words(gain.to),
               "it starts at the smaller count", "see --to-workers");
    }
    StepCurve const& curve = result.question.curve;
    Seconds const end = step_at(curve, gain.to);
    gain.profile = step_at(curve, gain.from) / end;
    gain.compute_alone = compute_at(curve, gain.from) / end;
    gain.contradicts = std::abs(gain.gain / gain.profile - 1.0) > tolerance;
    double const ratio = static_cast<double>(gain.to) / gain.from;
    gain.super_linear = gain.gain > ratio * (1.0 + 1e-12);
    if (is_amdahl(curve) && gain.to == result.question.k0 && gain.gain >= 1.0 && !gain.super_linear) {
        gain.share_needed = (ratio - gain.gain) / (ratio - 1.0); // g = s + (1-s) K0/K1
    }
    return gain;
}

Json gain_json(std::optional<MeasuredGain> const& gain) {
    if (!gain) { return {}; }
    return Json::object()
        .set("from_workers", gain->from)
        .set("to_workers", gain->to)
        .set("speedup", gain->gain)
        .set("profile_speedup", gain->profile)
        .set("relative_error", gain->profile / gain->gain - 1.0)
        .set("tolerance", tolerance)
        .set("contradicts", gain->contradicts)
        .set("super_linear", gain->super_linear)
        .set("compute_alone_speedup", gain->compute_alone)
        .set("share_at_k0_needed", gain->share_needed);
}

std::string gain_words(MeasuredGain const& gain, CurveResult const& result) {
    std::string const span = "from " + std::to_string(gain.from) + " to " + workers_words(gain.to);
    std::string text =
        "The measured gain " + span + " is " + times(gain.gain) + ", the profile gives " + times(gain.profile);
    if (!gain.contradicts) { return text + ": they agree within " + percent_of(tolerance) + " %."; }
    text += ": both cannot hold.";
    if (gain.gain < gain.compute_alone * (1.0 - tolerance)) {
        text += " The computation alone, if it divides, takes " + times(gain.compute_alone) + " of that step on " +
                workers_words(gain.from) +
                ": so the problem grew with the workers, or computing lost efficiency, or "
                "the share is not what it is taken for.";
    }
    if (gain.share_needed) {
        text += " That gain would need " + percent_of(gain.share_needed) + " % communication at " +
                workers_words(result.question.k0) + ", not " + percent_of(result.share_at_k0) + " %.";
    }
    if (gain.super_linear) {
        text += " It is more than " + times(static_cast<double>(gain.to) / gain.from) +
                ", super-linear: an assumption broke (cache or memory per worker), it is not clamped.";
    }
    return text;
}

} // namespace headroom::cli
