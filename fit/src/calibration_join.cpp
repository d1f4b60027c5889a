#include "calibration_evidence.hpp"

#include "headroom/text.hpp"
#include "headroom/training/measured_links.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using text::significant;

std::string name_of_constant(Constant id) { return std::string{constants()[static_cast<std::size_t>(id)].key}; }

std::string group_words(Collective collective, int ranks, int nodes) {
    return std::string{name_of(collective)} + " on " + ranks_words(ranks, nodes);
}

/// The order of `Provenance` is from best to worst.
bool better(ConstantSource const& one, ConstantSource const& other) {
    return one.constant.provenance < other.constant.provenance;
}

bool can_be_joined(CalibratedConstant const& one) {
    return one.provenance == Provenance::measured && one.low > 0.0 && one.low <= one.value && one.value <= one.high;
}

std::string described(ConstantSource const& one, CalibrationAnswer const& answer) {
    return significant(one.constant.value) + " of " + answer.evidence[one.evidence].name + " (" +
           std::string{name_of(one.constant.provenance)} + ")";
}

CalibratedConstant joined(std::vector<ConstantSource*> const& sources, CalibrationAnswer& answer) {
    std::vector<Fitted> values;
    Disagreement disagreement{.what = name_of_constant(sources.front()->id), .sources = {}, .pooled = {}};
    CalibratedConstant result;
    result.provenance = Provenance::measured;
    bool all_shares = true;
    for (ConstantSource const* one : sources) {
        values.push_back({one->constant.value, one->constant.low, one->constant.high});
        disagreement.sources.push_back(answer.evidence[one->evidence].name);
        result.source += (result.source.empty() ? "" : "; ") + one->constant.source;
        all_shares = all_shares && one->constant.high <= 1.0;
    }
    disagreement.pooled = pool(values);
    auto const& [value, low, high] = disagreement.pooled.value;
    result.value = result.independent = value;
    result.low = low;
    result.high = all_shares ? std::min(high, 1.0) : high;
    result.sources = static_cast<int>(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) { sources[i]->weight = disagreement.pooled.weights[i]; }
    answer.disagreements.push_back(std::move(disagreement));
    return result;
}

/// The constant of the best provenance. Measured ones are joined; of others the last one is taken.
CalibratedConstant chosen(std::vector<ConstantSource*> const& sources, CalibrationAnswer& answer) {
    ConstantSource const& best = **std::ranges::min_element(sources, [](auto a, auto b) { return better(*a, *b); });
    std::vector<ConstantSource*> equals;
    for (ConstantSource* one : sources) {
        if (one->constant.provenance == best.constant.provenance) { equals.push_back(one); }
    }
    bool const joins =
        equals.size() > 1 && std::ranges::all_of(equals, [](auto one) { return can_be_joined(one->constant); });
    CalibratedConstant const result = joins ? joined(equals, answer) : equals.back()->constant;
    if (!joins) { equals.back()->weight = 1.0; }
    for (ConstantSource* one : sources) {
        if (one->weight > 0.0) { continue; }
        bool const worse = one->constant.provenance != best.constant.provenance;
        one->why = worse ? std::string{name_of(best.constant.provenance)} + " goes before " +
                               std::string{name_of(one->constant.provenance)}
                         : "a later file states it too";
        if (one->constant.value == result.value) { continue; }
        answer.notes.push_back(
            {.remark = CalibrationRemark::constant_left_out,
             .names = {name_of_constant(one->id), described(*one, answer), significant(result.value), one->why}});
    }
    return result;
}

// ---- links ----------------------------------------------------------------------------------------------------------

/// Rows of a log that names no system belong to the one that the others name. A calibration is of one machine.
void join_systems(CalibrationQuestion const& question, CalibrationAnswer& answer) {
    std::string system = question.system;
    auto const meet = [&](std::string const& other) {
        if (other.empty() || other == system || !question.system.empty()) { return; }
        if (!system.empty()) { throw CalibrationRefused{system, other}; }
        system = other;
    };
    for (MeasuredCollective const& row : answer.links.rows) { meet(row.system); }
    for (Evidence const& one : answer.evidence) {
        if (one.kind == EvidenceKind::calibration) { meet(one.machine); }
    }
    for (MeasuredCollective& row : answer.links.rows) { row.system = system; }
    if (!answer.links.rows.empty() || !answer.link_sources.empty() || !answer.states.network.curves.empty()) {
        answer.states.network.system = system;
    }
}

bool same_question(MeasuredCurve const& one, MeasuredCurve const& other) {
    return one.collective == other.collective && one.ranks == other.ranks && one.nodes == other.nodes &&
           one.algorithm == other.algorithm;
}

/// Mean of the one's time over the other's, over the sizes at which pieces of either end.
double ratio_of(MeasuredCurve const& one, MeasuredCurve const& other) {
    double sum = 0.0, count = 0.0;
    for (MeasuredCurve const* curve : {&one, &other}) {
        for (MeasuredSegment const& segment : curve->segments) {
            for (Bytes const size : {segment.from, segment.to}) {
                double const first = one.time({size}).base(), second = other.time({size}).base();
                if (!(first > 0.0) || !(second > 0.0)) { continue; }
                sum += std::log(first / second);
                count += 1.0;
            }
        }
    }
    return count > 0.0 ? std::exp(sum / count) : 1.0;
}

/// Adds a curve. Curves have no intervals to join them by: the later replaces the earlier, with a note on their ratio.
void add_curve(MeasuredCurve curve, CalibrationAnswer& answer) {
    auto& curves = answer.states.network.curves;
    auto const known = std::ranges::find_if(curves, [&](auto const& one) { return same_question(one, curve); });
    if (known == curves.end()) {
        curves.push_back(std::move(curve));
        return;
    }
    if (!(*known == curve)) {
        answer.notes.push_back(
            {.remark = CalibrationRemark::curve_left_out,
             .names = {group_words(curve.collective, curve.ranks, curve.nodes), known->source, curve.source},
             .value = ratio_of(curve, *known)});
    }
    curves.erase(known);
    curves.push_back(std::move(curve));
}

/// Sources whose rows were fitted by one line, and lie on both sides of it.
void compare_sources(CalibrationAnswer& answer) {
    constexpr double worth_saying = 1.05;
    for (CommunicationFit const& one : answer.links.result.fits) {
        std::map<std::string, std::pair<double, double>> sums; // of logarithms, and how many
        for (FitResidual const& residual : one.residuals) {
            auto& [sum, count] = sums[answer.links.rows[residual.row].file];
            sum -= std::log1p(residual.relative_error);
            count += 1.0;
        }
        if (sums.size() < 2) { continue; }
        auto const mean = [](auto const& entry) { return entry.second.first / entry.second.second; };
        auto const [least, most] = std::ranges::minmax_element(sums, {}, mean);
        double const ratio = std::exp(mean(*most) - mean(*least));
        if (ratio < worth_saying) { continue; }
        answer.notes.push_back(
            {.remark = CalibrationRemark::sources_differ,
             .names = {words_of(one) + " on " + ranks_words(one.ranks, one.nodes), most->first, least->first},
             .value = ratio});
    }
}

std::vector<LinkSource> links_of(CommunicationFitAnswer const& fitted, std::string const& name) {
    std::vector<LinkSource> links;
    if (fitted.result.fits.empty()) { return links; }
    MeasuredNetwork const network = measured_network(fitted);
    if (network.scale_up) { links.push_back({false, *network.scale_up, name}); }
    if (network.scale_out) { links.push_back({true, *network.scale_out, name}); }
    return links;
}

/// Links as each source of rows gives them on its own; all rows together where fewer than two sources suffice.
std::vector<LinkSource> links_of_rows(CommunicationFitAnswer const& all, CommunicationFitSettings const& settings) {
    std::map<std::string, std::vector<MeasuredCollective>> by_source;
    for (MeasuredCollective const& row : all.rows) { by_source[row.file].push_back(row); }
    std::vector<LinkSource> together = links_of(all, "all rows"), links;
    if (by_source.size() == 1) {
        for (LinkSource& one : together) { one.name = by_source.begin()->first; }
        return together;
    }
    std::vector<LinkSource> alone;
    for (auto& [name, rows] : by_source) {
        CommunicationFitAnswer const one{.files = {}, .rows = rows, .result = fit_communication(rows, settings)};
        for (LinkSource& link : links_of(one, name)) { alone.push_back(std::move(link)); }
    }
    for (bool const scale_out : {false, true}) {
        auto const of_level = [&](LinkSource const& one) { return one.scale_out == scale_out; };
        auto const& from = std::ranges::count_if(alone, of_level) > 1 ? alone : together;
        std::ranges::copy_if(from, std::back_inserter(links), of_level);
    }
    return links;
}

/// An end at zero has no logarithm: the error downwards is then taken to be that upwards.
std::optional<Fitted> on_logarithms(MeasuredValue const& value) {
    if (!(value.value > 0.0)) { return {}; }
    return Fitted{value.value, value.low > 0.0 ? value.low : value.value * value.value / value.high, value.high};
}

std::optional<MeasuredValue> value_of(MeasuredLink const& link, Joined of) {
    return of == Joined::latency ? std::optional{link.latency_seconds} : link.bytes_per_second;
}

/// Joins the latencies or the rates of links. Links without it are passed over.
std::optional<MeasuredValue> joined_value(std::vector<LinkSource*> const& links, Joined of, std::string const& what,
                                          CalibrationAnswer& answer) {
    std::vector<Fitted> values;
    std::vector<LinkSource*> with;
    std::optional<MeasuredValue> any;
    for (LinkSource* one : links) {
        auto const value = value_of(one->link, of);
        if (!value) { continue; }
        any = value;
        if (auto const fitted = on_logarithms(*value)) {
            values.push_back(*fitted);
            with.push_back(one);
        }
    }
    if (values.empty()) { return any; }
    if (values.size() == 1) {
        with.front()->weight = 1.0;
        return value_of(with.front()->link, of);
    }
    Disagreement disagreement{.of = of, .what = what, .sources = {}, .pooled = pool(values)};
    for (std::size_t i = 0; i < with.size(); ++i) {
        with[i]->weight = disagreement.pooled.weights[i];
        disagreement.sources.push_back(with[i]->name);
    }
    auto const& value = disagreement.pooled.value;
    MeasuredValue const result{value.value, value.low, value.high};
    answer.disagreements.push_back(std::move(disagreement));
    return result;
}

std::optional<MeasuredLink> joined_link(bool scale_out, CalibrationAnswer& answer) {
    std::vector<LinkSource*> links;
    for (LinkSource& one : answer.link_sources) {
        if (one.scale_out == scale_out) { links.push_back(&one); }
    }
    if (links.empty()) { return {}; }
    if (links.size() == 1) {
        links.front()->weight = 1.0;
        return links.front()->link;
    }
    std::string const level = scale_out ? "between nodes" : "inside a node";
    MeasuredLink result;
    result.interconnect = links.front()->link.interconnect;
    result.latency_seconds = joined_value(links, Joined::latency, "latency " + level, answer).value_or(MeasuredValue{});
    result.bytes_per_second = joined_value(links, Joined::rate, "bytes a second " + level, answer);
    for (LinkSource const* one : links) { result.source += (result.source.empty() ? "" : "; ") + one->link.source; }
    return result;
}

void keep_links_of_cluster(CalibrationQuestion const& question, CalibrationAnswer& answer) {
    if (!question.cluster || answer.states.network.empty()) { return; }
    MeasuredNetwork const measured = std::move(answer.states.network);
    bool const same = !question.same_machine || question.same_machine(measured.system);
    FittingLinks links = fitting_links(measured, *question.cluster, same);
    answer.states.network = std::move(links.network);
    for (LinkMisfit const misfit : links.misfits) {
        answer.missing.push_back({.remark = CalibrationRemark::link_elsewhere,
                                  .names = {words_of(misfit, measured, *question.cluster, "")}});
    }
}

} // namespace

void fit_and_join_links(CalibrationQuestion const& question, CalibrationAnswer& answer) {
    join_systems(question, answer);
    auto curves = std::move(answer.states.network.curves);
    answer.states.network.curves.clear();
    for (MeasuredCurve& curve : curves) { add_curve(std::move(curve), answer); }
    if (!answer.links.rows.empty()) {
        CommunicationFitSettings const settings{.known = question.known_links};
        answer.links.result = fit_communication(answer.links.rows, settings);
        for (RefusedLevel const& one : answer.links.result.refused) {
            answer.missing.push_back({.remark = CalibrationRemark::link_refused,
                                      .names = {words_of(one)},
                                      .count = one.level.scale_out ? 1U : 0U});
        }
        for (SkippedGroup const& one : answer.links.result.skipped) {
            answer.missing.push_back({.remark = CalibrationRemark::group_too_small,
                                      .names = {group_words(one.collective, one.ranks, one.nodes), words_of(one)}});
        }
        for (LinkSource& one : links_of_rows(answer.links, settings)) { answer.link_sources.push_back(std::move(one)); }
        compare_sources(answer);
    }
    if (!answer.links.result.fits.empty()) {
        for (MeasuredCurve& curve : measured_network(answer.links).curves) { add_curve(std::move(curve), answer); }
    }
    answer.states.network.scale_up = joined_link(false, answer);
    answer.states.network.scale_out = joined_link(true, answer);
    keep_links_of_cluster(question, answer);
}

void join_constants(CalibrationAnswer& answer) {
    std::map<Constant, std::vector<ConstantSource*>> by_constant;
    for (ConstantSource& one : answer.constant_sources) { by_constant[one.id].push_back(&one); }
    answer.states.constants.clear();
    for (auto const& [id, sources] : by_constant) {
        CalibratedConstant const constant = chosen(sources, answer);
        answer.states.constants.emplace_back(id, constant);
        if (answer.base) { (*answer.base)[id] = constant; }
    }
}

CalibrationSet effective(CalibrationAnswer const& answer, CalibrationSet const& below) {
    CalibrationSet set = answer.base.value_or(below);
    for (auto const& [id, constant] : answer.states.constants) { set[id] = constant; }
    set.network = answer.states.network;
    return set;
}

CalibrationSet with_stated(CalibrationSet whole, StatedCalibration const& states) {
    if (states.bands_alone) {
        whole.bands.clear();
        whole.seen.reset();
    }
    for (auto const& [kind, band] : states.bands) { whole.bands.insert_or_assign(kind, band); }
    if (states.seen) { whole.seen = states.seen; }
    for (auto const& [framework, pace] : states.pace) { whole.pace.insert_or_assign(framework, pace); }
    if (states.dense) { whole.warm.dense = *states.dense; }
    if (states.mixtures) { whole.warm.mixtures = *states.mixtures; }
    whole.network = states.states.network;
    return whole;
}

} // namespace headroom::fit
