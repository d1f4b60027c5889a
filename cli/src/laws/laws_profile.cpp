#include "arguments.hpp"
#include "document/text.hpp"
#include "laws/laws_gain.hpp"
#include "laws/laws_scale_up.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr double least_share = 1e-9;

struct ProfileQuestion {
    Profile profile;
    bool timed = true;
    Growth growth = Growth::fixed;
    double overlap = 0.0;
};

std::string_view name_of(Growth growth) {
    switch (growth) {
    case Growth::fixed: return "fixed";
    case Growth::logarithmic: return "log";
    case Growth::linear: return "linear";
    }
    return "";
}

Ranks read_k0(Arguments const& arguments) {
    if (!arguments.has("--at-workers")) {
        refuse("--at-workers", "missing",
               "a share of communication belongs to the worker count it was measured at, and is not Amdahl's "
               "serial fraction on one worker",
               "say how many workers were profiled: --at-workers 8");
    }
    return Ranks{io::parse_whole(arguments.required("--at-workers", "for example 8"), "--at-workers")};
}

/// Two times, or the share of one of them: then times are relative to the step at K0.
void read_parts(Arguments const& arguments, ProfileQuestion& question) {
    if (auto const share = arguments.text("--communication-share")) {
        for (char const* option : {"--compute", "--communication"}) {
            if (!arguments.has(option)) { continue; }
            refuse(option, "given beside --communication-share", "a profile is two times or one share", "keep one");
        }
        double const s = io::parse_between(*share, 0.0, 1.0, "share of the step", "--communication-share");
        if (s > 0.0 && s < least_share) {
            refuse("--communication-share", headroom::quoted(*share) + " is too small", "it ends at 1e-9", "");
        }
        question.timed = false;
        question.profile.compute = Seconds{1.0 - s};
        question.profile.communication = Seconds{s};
        return;
    }
    char const* const hint = "a profile is two times: --compute 240ms --communication 60ms";
    question.profile.compute = read_time(arguments.required("--compute", hint), "--compute");
    question.profile.communication = read_time(arguments.required("--communication", hint), "--communication");
    if (question.profile.compute + question.profile.communication <= Seconds{}) {
        refuse("--compute", "nothing was measured", "both times are zero", hint);
    }
}

ProfileQuestion read_question(Arguments const& arguments) {
    ProfileQuestion question{.profile = {.compute = {}, .communication = {}, .workers = read_k0(arguments)}};
    read_parts(arguments, question);
    std::string const growth = arguments.choice("--growth", {"fixed", "log", "linear"}).value_or("fixed");
    question.growth = growth == "log" ? Growth::logarithmic : growth == "linear" ? Growth::linear : Growth::fixed;
    if (auto const overlap = arguments.text("--overlap")) {
        if (!question.timed) {
            refuse("--overlap", "needs times", "a share of the step does not tell how long what is hidden lasts",
                   "give --compute and --communication in place of --communication-share");
        }
        question.overlap = io::parse_between(*overlap, 0.0, 1.0, "share of communication", "--overlap");
    }
    if (question.growth == Growth::logarithmic && question.profile.workers.count() == 1) {
        refuse("--growth", "'log' cannot be told from one worker",
               "log2 1 = 0: communication that grows with log2 K is zero there, whatever it is on two",
               "profile on two workers or more");
    }
    return question;
}

// ---- words --------------------------------------------------------------------------------------------------------

/// Where a valley is: on how many workers the step is shortest.
std::string valley_words(CurveResult const& result) {
    int const k0 = result.question.k0;
    std::string const on = "on " + workers_words(*result.best);
    std::string const then = result.slower ? "from " + std::to_string(*result.slower) + " on it gets slower."
                                           : "more workers leave it as it is.";
    if (*result.best == k0) { return "The step is shortest " + on + ", as profiled; " + then; }
    if (*result.best < k0 && result.slower) {
        return std::to_string(k0) + " workers are past the best: " + on + " the step is " +
               times(result.ceiling_over_k0) + " as fast, and " + then;
    }
    return "The step is shortest " + on + ": " + times(result.ceiling_over_k0) + " as fast as on " +
           std::to_string(k0) + "; " + then;
}

std::string stops_words(CurveResult const& result) {
    if (result.best == 1 && !result.slower) { return "No worker more shortens this step: nothing of it divides."; }
    if (result.best) { return valley_words(result); }
    if (!result.ceiling_over_k0) { return "Nothing of this step stays as workers are added: it has no ceiling."; }
    std::string const text = "More workers than " + std::to_string(result.question.k0) + " make this step at most " +
                             times(result.ceiling_over_k0) + " as fast";
    if (!result.for_share) { return text + "."; }
    return text + "; " + percent_of(result.question.share) + " % of that takes " + workers_words(*result.for_share) +
           ".";
}

std::string share_words(CurveResult const& result) {
    int const k0 = result.question.k0;
    std::string text = "communication is " + percent_of(result.share_at_k0) + " % of the step at " + workers_words(k0);
    if (result.ceiling_over_one && result.serial_fraction && k0 > 1) {
        text += "; on one worker the same time is " + percent_of(result.serial_fraction) +
                " %, which is Amdahl's serial fraction: the ceiling over one worker is " +
                times(result.ceiling_over_one) + ", not " + times(1.0 / result.share_at_k0);
    }
    return text;
}

std::string index_words(CurveResult const& result) {
    return "'index' is the share at K put into Amdahl's formula. It peaks at " + workers_words(result.index->integer) +
           " (" + plain(result.index->value) + ", at K = " + plain(result.index->workers, 4) +
           ") and then falls, while the step gets shorter all the time: the step decides, the index is no speedup";
}

std::string assumptions(ProfileQuestion const& question) {
    std::string text = "computation divides evenly among the workers; communication ";
    switch (question.growth) {
    case Growth::fixed: text += "lasts as long at every K (a ring or a fixed exchange)"; break;
    case Growth::logarithmic: text += "grows with log2 K (a tree)"; break;
    case Growth::linear: text += "grows with K (a chain, or one server)"; break;
    }
    if (question.overlap > 0.0) {
        text += ", up to " + percent_of(question.overlap) + " % of it hidden, and no longer than the computation lasts";
    }
    return text + ". Another course: --growth, --overlap";
}

Table rows_table(CurveResult const& result) {
    Table table{.title = "The problem as profiled, K0 = " + std::to_string(result.question.k0),
                .columns = {{"workers"},
                            {result.question.timed ? "step" : "step x"},
                            {"compute"},
                            {"exposed"},
                            {"comm. %"},
                            {"over K0"},
                            {"eff. %"},
                            {"doubling"},
                            {"index"}},
                .rows = {}};
    for (CurveRow const& row : result.rows) {
        if (row.workers == result.question.k0) { table.marked = table.rows.size(); }
        table.rows.push_back({std::to_string(row.workers), step_words(result, row.step),
                              step_words(result, row.compute), step_words(result, row.exposed),
                              row.communication_share < 1e-5 ? "0" : percent_of(row.communication_share),
                              times(row.speedup), percent_of(row.efficiency), times(row.gain),
                              row.amdahl_of_s < 1e5 ? plain(row.amdahl_of_s) : scaled(row.amdahl_of_s)});
    }
    return table;
}

Table weak_table(CurveResult const& result) {
    Table table{.title = "A problem that grows: each worker keeps what it had on " + std::to_string(result.question.k0),
                .columns = {{"workers"}, {result.question.timed ? "step" : "step x"}, {"efficiency %"}},
                .rows = {}};
    for (CurveRow const& row : result.rows) {
        table.rows.push_back({std::to_string(row.workers), step_words(result, result.step_at_k0 * row.weak_over_k0),
                              percent_of(1.0 / row.weak_over_k0)});
    }
    return table;
}

// ---- the answer ---------------------------------------------------------------------------------------------------

void fill_people(LawsAnswer& answer, ProfileQuestion const& question, CurveResult const& result,
                 std::optional<MeasuredGain> const& gain) {
    auto& blocks = answer.blocks;
    blocks.emplace_back(Paragraph{stops_words(result), "", true});
    if (gain) { blocks.emplace_back(Paragraph{gain_words(*gain, result), "", gain->contradicts}); }
    blocks.emplace_back(Paragraph{share_words(result), "share"});
    if (result.index) { blocks.emplace_back(Paragraph{index_words(result), "index"}); }
    blocks.emplace_back(rows_table(result));
    if (question.growth != Growth::fixed) { blocks.emplace_back(weak_table(result)); }
    add_curve_chart(answer, result,
                    result.best ? "The step is shortest at the peak; to its right more workers cost time."
                                : "The curve leaves the ideal line as communication takes over, and bends towards "
                                  "its ceiling.");
}

void add_profile_members(LawsAnswer& answer, ProfileQuestion const& question, CurveResult const& result) {
    Profile const& profile = question.profile;
    Json const compute = question.timed ? Json{profile.compute.base()} : Json{};
    Json const communication = question.timed ? Json{profile.communication.base()} : Json{};
    answer.members.emplace_back("profile", Json::object()
                                               .set("compute_seconds", compute)
                                               .set("communication_seconds", communication)
                                               .set("at_workers", profile.workers.count())
                                               .set("growth", name_of(question.growth))
                                               .set("overlap", question.overlap));
    answer.members.emplace_back("share_at_k0", result.share_at_k0);
    answer.members.emplace_back("serial_fraction",
                                Json::object().set("value", result.serial_fraction).set("at_workers", 1));
}

std::optional<std::int64_t> workers_to_match(CurveResult const& result, double factor) {
    return workers_for_step(result.question.curve, step_at(result.question.curve, 1.0) / factor);
}

} // namespace

LawsAnswer profile_answer(Arguments const& arguments) {
    ProfileQuestion const question = read_question(arguments);
    StepCurve const curve = curve_of(question.profile, question.growth, question.overlap);
    int const k0 = question.profile.workers.count();
    CurveResult const result = result_of({.curve = curve,
                                          .k0 = k0,
                                          .timed = question.timed,
                                          .workers = read_curve_workers(arguments, curve, k0),
                                          .share = read_share(arguments)});
    auto const gain = read_gain(arguments, result);
    auto const scale_up = read_scale_up(arguments);
    LawsAnswer answer{.title = "Speedup from a profile", .members = {}, .blocks = {}, .sheet = curve_sheet(result)};
    add_profile_members(answer, question, result);
    add_curve_members(answer, result);
    answer.members.emplace_back("measured", gain_json(gain));
    fill_people(answer, question, result, gain);
    ScaleOut out{.curve = law_curve_of(result), .serial_fraction = result.serial_fraction, .to_match = {}};
    std::ranges::transform(result.rows, out.curve.speedup.begin(), &CurveRow::over_one);
    if (scale_up) { out.to_match = workers_to_match(result, scale_up->factor); }
    add_scale_up(answer, scale_up, {out});
    answer.blocks.emplace_back(Paragraph{assumptions(question), "assumes"});
    return answer;
}

} // namespace headroom::cli
