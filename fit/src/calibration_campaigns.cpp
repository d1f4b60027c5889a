#include "calibration_evidence.hpp"

#include "headroom/error.hpp"
#include "headroom/sample_statistics.hpp"
#include "headroom/text.hpp"
#include "headroom/training/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::training;

namespace {

using text::counted;
using text::join;
using text::percent;
using text::significant;

std::string name_of_campaign(Campaign const& campaign, CalibrationQuestion const& question) {
    return "campaign " + std::to_string(campaign.id) + (campaign.name.empty() ? "" : " " + quoted(campaign.name)) +
           " of " + question.store;
}

// ---- machines that differ -------------------------------------------------------------------------------------------

/// Facts that change on one machine from minute to minute.
bool is_of_the_moment(std::string_view name) {
    constexpr std::array names{"load", "clock", "memory available", "core numbers", "last cache, probed"};
    return std::ranges::any_of(names, [&](std::string_view one) { return name.starts_with(one); });
}

void compare_machines(Campaign const& first, Campaign const& other, CalibrationQuestion const& question,
                      CalibrationAnswer& answer) {
    std::vector<std::string> differences;
    for (auto const& [name, value] : first.machine) {
        auto const there = fact(other.machine, name);
        if (is_of_the_moment(name) || !there || *there == value) { continue; }
        differences.push_back(name + " (" + quoted(value) + ", " + quoted(*there) + ")");
    }
    if (differences.empty()) { return; }
    constexpr std::size_t shown = 4;
    std::size_t const all = differences.size();
    differences.resize(std::min(all, shown));
    CalibrationNote note{.remark = CalibrationRemark::machines_differ,
                         .names = {name_of_campaign(first, question), name_of_campaign(other, question)},
                         .count = all - differences.size()};
    std::ranges::move(differences, std::back_inserter(note.names));
    answer.notes.push_back(std::move(note));
}

// ---- every campaign -----------------------------------------------------------------------------------------

void say_state(Campaign const& campaign, std::string const& name, CalibrationAnswer& answer) {
    if (campaign.state != CampaignState::done) {
        answer.notes.push_back(
            {.remark = CalibrationRemark::unfinished, .names = {name, std::string{name_of(campaign.state)}}});
    }
    std::size_t bad = 0;
    std::vector<std::string> drifting;
    for (Sample const& sample : campaign.samples) {
        bad += sample.outcome != SampleOutcome::measured && sample.outcome != SampleOutcome::warm_up ? 1 : 0;
    }
    if (bad > 0) { answer.notes.push_back({.remark = CalibrationRemark::failed, .names = {name}, .count = bad}); }
    constexpr double notable = 0.1, by_chance = 0.01;
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) {
        auto const values = values_of(campaign, i);
        auto const drift = find_drift(values);
        if (!drift || drift->probability > by_chance || std::abs(drift->change) < notable) { continue; }
        drifting.push_back(campaign.points[i].label + " by " + percent(drift->change, 2) + " %");
    }
    if (drifting.empty()) { return; }
    constexpr std::size_t shown = 3;
    std::size_t const all = drifting.size();
    drifting.resize(std::min(all, shown));
    CalibrationNote note{.remark = CalibrationRemark::unsteady, .names = {name}, .count = all - drifting.size()};
    std::ranges::move(drifting, std::back_inserter(note.names));
    answer.notes.push_back(std::move(note));
}

Evidence evidence_of(Campaign const& campaign, std::string const& name, std::string const& system) {
    Evidence evidence{.name = name, .kind = EvidenceKind::campaign, .gives = {}, .samples = 0, .machine = system};
    for (std::uint32_t i = 0; i < campaign.points.size(); ++i) { evidence.samples += values_of(campaign, i).size(); }
    evidence.from = day_of(campaign.began_ns);
    std::int64_t last = std::max(campaign.began_ns, campaign.ended_ns);
    for (Sample const& sample : campaign.samples) { last = std::max(last, sample.began_ns); }
    evidence.to = day_of(last);
    return evidence;
}

/// Points that gave nothing. Each reason is listed once.
void say_left_out(std::string const& name, std::vector<LeftOutPoint> const& points, CalibrationAnswer& answer) {
    std::set<std::string> said;
    for (auto const& point : points) {
        if (!said.insert(point.why).second) { continue; }
        auto const same = std::ranges::count(points, point.why, &LeftOutPoint::why);
        answer.missing.push_back({.remark = CalibrationRemark::point_left_out,
                                  .names = {name, point.label, point.why},
                                  .count = static_cast<std::size_t>(same) - 1});
    }
}

// ---- by kind --------------------------------------------------------------------------------------------------------

struct Taken {
    Campaign const& campaign;
    std::string name, system;
};

std::string take_comm(Taken const& taken, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    auto found =
        measured_collectives(taken.campaign, {.system = taken.system, .source = taken.name, .nodes = question.nodes});
    say_left_out(taken.name, found.left_out, answer);
    std::ranges::move(found.rows, std::back_inserter(answer.links.rows));
    return "comm: " + counted(found.points, "point") + ", " + counted(found.samples, "sample");
}

/// Whether a campaign ran on the accelerator of the question: as its facts name it, or as the user says.
bool ran_on(std::string const& system, CalibrationQuestion const& question) {
    if (system.empty()) { return false; }
    std::string const& accelerator = question.accelerator->name;
    std::string const asked = normalised(accelerator), found = normalised(system);
    if (!asked.empty() && found.find(asked) != std::string::npos) { return true; }
    return question.catalog_name && question.catalog_name(system) == accelerator;
}

void add_share(Constant id, MeasuredRate const& rate, double peak, std::string const& of, Taken const& taken,
               CalibrationAnswer& answer) {
    if (!(peak > 0.0)) { return; }
    double const share = rate.value.value / peak;
    std::string const what = rate.kernel + (rate.level.empty() ? "" : " from " + rate.level) +
                             (rate.format.empty() ? "" : " in " + rate.format);
    if (share > 1.0) {
        answer.missing.push_back(
            {.remark = CalibrationRemark::above_catalog, .names = {taken.name, what, of}, .value = share});
        return;
    }
    answer.constant_sources.push_back(
        {.id = id,
         .constant = {.value = share,
                      .low = rate.value.low / peak,
                      .high = std::min(rate.value.high / peak, 1.0),
                      .independent = share,
                      .spread = 0.0,
                      .provenance = Provenance::measured,
                      .source = what + " over " + of + ": " + counted(rate.samples, "sample") + " of " + taken.name +
                                ", " + answer.evidence.back().to,
                      .sources = 1},
         .evidence = answer.evidence.size() - 1,
         .samples = rate.samples});
}

void add_shares(CampaignRates const& rates, Accelerator const& accelerator, Taken const& taken,
                CalibrationAnswer& answer) {
    std::string const of = " of " + accelerator.name;
    if (auto const* memory = memory_rate(rates)) {
        add_share(Constant::memory_fraction, *memory, accelerator.memory_bandwidth.base(), "the memory" + of, taken,
                  answer);
    } else {
        answer.missing.push_back({.remark = CalibrationRemark::no_memory, .names = {taken.name}});
    }
    auto const* product = product_rate(rates, "bf16");
    if (product == nullptr) { product = product_rate(rates, "fp16"); }
    if (product != nullptr) {
        add_share(gemm_constant(accelerator), *product, peak_rate(accelerator, Precision::bf16).base(),
                  "the 16-bit peak" + of, taken, answer);
    }
    auto const* single = product_rate(rates, "fp32");
    if (single != nullptr) {
        add_share(Constant::gemm_fp32, *single, accelerator.peak.fp32.base(), "the 32-bit peak" + of, taken, answer);
    }
    if (product == nullptr && single == nullptr) {
        answer.missing.push_back({.remark = CalibrationRemark::no_product, .names = {taken.name}});
    }
}

std::string take_roofline(Taken const& taken, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    CampaignRates const rates = measured_rates(taken.campaign);
    std::string gives = "roofline: " + counted(rates.bytes.size(), "rate") + " of bytes, " +
                        std::to_string(rates.flops.size()) + " of arithmetic";
    if (!question.accelerator) {
        answer.missing.push_back({.remark = CalibrationRemark::no_cluster, .names = {taken.name}});
    } else if (!ran_on(taken.system, question)) {
        answer.missing.push_back({.remark = CalibrationRemark::other_machine,
                                  .names = {taken.name, taken.system, question.accelerator->name}});
    } else {
        add_shares(rates, *question.accelerator, taken, answer);
    }
    say_left_out(taken.name, rates.left_out, answer);
    answer.machines.push_back(taken.campaign);
    return gives;
}

std::string take_scaling(Taken const& taken, CalibrationAnswer& answer) {
    CampaignSteps steps = measured_steps(taken.campaign);
    say_left_out(taken.name, steps.left_out, answer);
    std::string gives = "scaling: times of " + counted(steps.steps.size(), "count") + " of workers";
    answer.scaling.push_back({taken.name, std::move(steps)});
    return gives;
}

/// The yield of a campaign in words; empty for none.
std::string take_campaign(Taken const& taken, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    std::string const& kind = taken.campaign.kind;
    if (answer.evidence.back().samples == 0) { return {}; }
    if (kind == "comm") { return take_comm(taken, question, answer); }
    if (kind == "roofline") { return take_roofline(taken, question, answer); }
    return kind == "scaling" ? take_scaling(taken, answer) : std::string{};
}

} // namespace

void take_campaigns(std::span<Campaign const> campaigns, CalibrationQuestion const& question,
                    CalibrationAnswer& answer) {
    for (std::size_t i = 0; i < campaigns.size(); ++i) {
        Campaign const& campaign = campaigns[i];
        std::string const& said = question.system;
        Taken const taken{campaign, name_of_campaign(campaign, question), said.empty() ? system_of(campaign) : said};
        answer.evidence.push_back(evidence_of(campaign, taken.name, taken.system));
        say_state(campaign, taken.name, answer);
        std::string gives = take_campaign(taken, question, answer);
        if (gives.empty()) {
            bool const empty = answer.evidence.back().samples == 0;
            auto const remark = empty ? CalibrationRemark::no_sample : CalibrationRemark::no_use;
            answer.missing.push_back({.remark = remark, .names = {taken.name, campaign.kind}});
            gives = words_of(answer.missing.back()).substr(taken.name.size() + std::string_view{" gives "}.size());
        }
        answer.evidence.back().gives = std::move(gives);
        if (i > 0) { compare_machines(campaigns[0], campaign, question, answer); }
    }
}

} // namespace headroom::fit
