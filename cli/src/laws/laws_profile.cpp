#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

namespace headroom::cli {
namespace {

constexpr double least_share = 1e-9, least_gain = 1e-6, largest_gain = 1e9;

Ranks read_k0(Arguments const& arguments) {
    if (!arguments.has("--communication-share")) {
        arguments.require_all({{"--compute", "240ms"}, {"--communication", "60ms"}, {"--at-workers", "8"}});
    }
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
            refuse(option, "given with --communication-share", "a profile is two times or one share", "keep one");
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
            refuse("--overlap", "needs times", "a share of the step does not give the duration of hidden communication",
                   "give --compute and --communication in place of --communication-share");
        }
        question.overlap = io::parse_between(*overlap, 0.0, 1.0, "share of communication", "--overlap");
    }
    if (question.growth != Growth::fixed && question.profile.workers.count() == 1) {
        refuse("--growth", headroom::quoted(name_of(question.growth)) + " cannot be derived from one worker",
               "log2 1 = 0 and 1 - 1 = 0: communication that grows so is zero there, whatever it is on two",
               "profile on two workers or more");
    }
    return question;
}

/// --measured-speedup GAIN --from-workers K [--to-workers K]; empty without it.
std::optional<MeasuredGain> read_gain(Arguments const& arguments, CurveAnswer const& curve) {
    auto const text = arguments.text("--measured-speedup");
    if (!text) {
        for (char const* option : {"--from-workers", "--to-workers"}) {
            if (!arguments.has(option)) { continue; }
            refuse(option, "belongs to --measured-speedup", "it would be ignored", "say what was gained");
        }
        return std::nullopt;
    }
    int const from =
        io::parse_whole(arguments.required("--from-workers", "where the gain starts: 8"), "--from-workers");
    int const to = arguments.count("--to-workers").value_or(curve.question.k0);
    double const gain = io::parse_between(*text, least_gain, largest_gain, "speedup", "--measured-speedup");
    if (from >= to) {
        refuse("--from-workers", "a gain from " + workers_words(from) + " to " + workers_words(to),
               "it starts at the smaller count", "see --to-workers");
    }
    return measured_gain(curve, from, to, gain);
}

// ---- words --------------------------------------------------------------------------------------------------------

/// Where a valley is: on how many workers the step is shortest.
std::string valley_words(CurveAnswer const& result) {
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

std::string stops_words(CurveAnswer const& result) {
    if (result.best == 1 && !result.slower) { return "No worker more shortens this step: nothing of it divides."; }
    if (result.best) { return valley_words(result); }
    if (!result.ceiling_over_k0) { return "Nothing of this step stays as workers are added: it has no ceiling."; }
    std::string const text = "More workers than " + std::to_string(result.question.k0) + " make this step at most " +
                             times(result.ceiling_over_k0) + " as fast";
    if (!result.for_share) { return text + "."; }
    return text + "; " + percent_of(result.question.share) + " % of that takes " + workers_words(*result.for_share) +
           ".";
}

std::string share_words(CurveAnswer const& result) {
    int const k0 = result.question.k0;
    std::string text = "communication is " + percent_of(result.share_at_k0) + " % of the step at " + workers_words(k0);
    if (result.ceiling_over_one && result.serial_fraction && k0 > 1) {
        text += "; on one worker the same time is " + percent_of(result.serial_fraction) +
                " %, which is Amdahl's serial fraction: the ceiling over one worker is " +
                times(result.ceiling_over_one) + ", not " + times(1.0 / result.share_at_k0);
    }
    return text;
}

std::string index_words(CurveAnswer const& result) {
    return "'index' is the share at K put into Amdahl's formula. It peaks at " + workers_words(result.index->integer) +
           " (" + plain(result.index->value) + ", at K = " + plain(result.index->workers, 4) +
           ") and then falls, while the step gets shorter all the time: the step decides, the index is no speedup";
}

std::string gain_words(MeasuredGain const& gain, CurveAnswer const& result) {
    std::string const span = "from " + std::to_string(gain.from) + " to " + workers_words(gain.to);
    std::string text =
        "The measured gain " + span + " is " + times(gain.gain) + ", the profile gives " + times(gain.profile);
    if (!gain.contradicts) { return text + ": they agree within " + percent_of(gain_tolerance) + " %."; }
    text += ": both cannot hold.";
    if (gain.gain < gain.compute_alone * (1.0 - gain_tolerance)) {
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

std::string assumptions(ProfileQuestion const& question) {
    std::string text = "computation divides evenly among the workers; communication ";
    switch (question.growth) {
    case Growth::fixed: text += "lasts as long at every K (a ring or a fixed exchange)"; break;
    case Growth::logarithmic: text += "grows with log2 K (a tree)"; break;
    case Growth::linear: text += "grows with K - 1 (a chain of links, or one server)"; break;
    }
    if (question.overlap > 0.0) {
        text += ", up to " + percent_of(question.overlap) + " % of it hidden, and no longer than the computation lasts";
    }
    return text + ". Another course: --growth, --overlap";
}

Table rows_table(CurveAnswer const& result) {
    Table table{.title = "The problem as profiled, K0 = " + std::to_string(result.question.k0),
                .columns = {"workers", result.question.timed ? "step" : "step x", "compute", "exposed", "comm. %",
                            "over K0", "eff. %", "doubling", "index"}};
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

Table weak_table(CurveAnswer const& result) {
    Table table{.title = "A problem that grows: each worker keeps what it had on " + std::to_string(result.question.k0),
                .columns = {"workers", result.question.timed ? "step" : "step x", "efficiency %"}};
    for (CurveRow const& row : result.rows) {
        table.rows.push_back({std::to_string(row.workers), step_words(result, result.step_at_k0 * row.weak_over_k0),
                              percent_of(1.0 / row.weak_over_k0)});
    }
    return table;
}

std::vector<Block> blocks_of(ProfileAnswer const& answer) {
    CurveAnswer const& curve = answer.curve;
    std::vector<Block> blocks{Paragraph{stops_words(curve), "", true}};
    if (answer.measured) {
        blocks.emplace_back(Paragraph{gain_words(*answer.measured, curve), "", answer.measured->contradicts});
    }
    blocks.emplace_back(Paragraph{share_words(curve), "share"});
    if (curve.index) { blocks.emplace_back(Paragraph{index_words(curve), "index", false, Part::detail}); }
    blocks.emplace_back(rows_table(curve));
    if (answer.question.growth != Growth::fixed) { blocks.emplace_back(weak_table(curve)); }
    add_curve_chart(blocks, curve,
                    curve.best ? "The step is shortest at the peak; to its right more workers cost time."
                               : "The curve leaves the ideal line as communication takes over, and bends towards "
                                 "its ceiling.");
    add_scale_up(blocks, answer.scale_up);
    if (auto const& efficiency = curve.question.efficiency) {
        blocks.emplace_back(Paragraph{held_words(*efficiency, curve.most_efficient, curve.question.k0), "efficiency"});
    }
    blocks.emplace_back(Paragraph{assumptions(answer.question), "assumes"});
    return blocks;
}

} // namespace

int run_profile(Arguments const& arguments, LawsCall const& call) {
    ProfileAnswer answer{.question = read_question(arguments)};
    ProfileQuestion const& question = answer.question;
    StepCurve const curve = curve_of(question.profile, question.growth, question.overlap);
    int const k0 = question.profile.workers.count();
    answer.curve = steps_of({.curve = curve,
                             .k0 = k0,
                             .timed = question.timed,
                             .workers = read_law_workers(arguments, doubling_workers(curve, k0)),
                             .share = read_share(arguments),
                             .efficiency = read_efficiency(arguments)});
    answer.measured = read_gain(arguments, answer.curve);
    if (auto const asked = read_scale_up(arguments)) { answer.scale_up = scale_up_of(answer.curve, *asked); }
    return write_answer(call, answer, rows_of_curve, "Speedup from a profile", blocks_of(answer));
}

} // namespace headroom::cli
