#include "launch_files.hpp"
#include "left_out.hpp"
#include "measured_steps.hpp"
#include "setting.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/support.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli::verb_support {
namespace {

constexpr int largest_node_count = 128;

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-8b), a Hugging Face config.json (file or folder), or a .toml file"},
    Positional{"CLUSTER",
               "a node of the catalog (dgx-h100), an accelerator, a number of them (8xH100), or a .toml file"},
};

constexpr char const* examples = "  headroom support llama-3-70b dgx-h100\n"
                                 "  headroom support llama-3-8b 2x4090 --framework hf-trainer --train lora\n"
                                 "  headroom support mixtral-8x7b dgx-b200 --workers 64 --full";

/// CLUSTER joins the options.
Arguments with_cluster(Arguments arguments) {
    auto const named = arguments.text("CLUSTER");
    if (!named) { return arguments; }
    if (arguments.has("--cluster")) {
        refuse("--cluster", "given with CLUSTER", "both name the machine", "leave one of them out");
    }
    arguments.add("--cluster", {*named});
    return arguments;
}

/// Number of accelerators that nobody stated: as many whole nodes as the model needs to fit, 1, 2, 4, ...
Prediction smallest_that_fits(Arguments arguments, Setting& setting) {
    int const node = setting.cluster.accelerators_per_node;
    for (int nodes = 1;; nodes *= 2) {
        arguments.add("--workers", {std::to_string(nodes * node)});
        Setting sized = read_setting(arguments);
        use_measured_steps(arguments, sized);
        Prediction prediction = predict(make_question(arguments, sized), sized.calibration);
        if (!prediction.fits && nodes < largest_node_count) { continue; }
        setting = std::move(sized);
        setting.notes.push_back("--workers " + std::to_string(nodes * node) + " is assumed: " +
                                (prediction.fits ? "the fewest nodes on which it fits" : "it fits on none up to them"));
        return prediction;
    }
}

Prediction prediction_of(Arguments const& arguments, Setting& setting) {
    bool const product = arguments.has("--dp") && arguments.has("--tp") && arguments.has("--pp");
    if (setting.workers.empty() && !product) { return smallest_that_fits(arguments, setting); }
    use_measured_steps(arguments, setting);
    return predict(make_question(arguments, setting), setting.calibration);
}

// ---- for people -----------------------------------------------------------------------------------------------------------

std::string known_words(SupportAnswer const& answer, Length length) {
    std::vector<std::string> parts;
    for (KnownFact const& fact : answer.known) {
        bool const is_main =
            fact.what == "model" || fact.what == "accelerator" || fact.what == "links" || fact.what == "price";
        if (length != Length::full && !is_main) { continue; }
        parts.push_back(fact.what + " " + fact.value + (fact.source.empty() ? "" : " (" + fact.source + ")"));
    }
    return join(parts, "; ");
}

std::string runs_words(SimilarRuns const& one) {
    std::string text = one.respect + ": " + counted(static_cast<std::size_t>(one.runs), "run");
    if (one.runs == 0) { return text; }
    return text + " on " + std::to_string(*one.least_workers) +
           (one.least_workers == one.most_workers ? "" : " to " + std::to_string(*one.most_workers));
}

/// Runs of each respect, "hopper: 221 runs on 1 to 16384"; of those that leave the runs as they were the narrowest alone.
std::string measured_words(SupportAnswer const& answer) {
    auto const& all = answer.evidence;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool const narrows = i < 2 || i + 1 == all.size() || all[i].runs != all[i + 1].runs;
        if (narrows || all[i].runs == 0) { parts.push_back(runs_words(all[i])); }
        if (i > 1 && all[i].runs == 0) { break; }
    }
    if (all.front().runs > 0) { parts.front() += all.front().most_workers == 1 ? " accelerator" : " accelerators"; }
    return join(parts, "; ");
}

std::string fitted_words(SupportAnswer const& answer) {
    std::vector<std::string> parts;
    for (Provenance const provenance : provenances) {
        auto const keys = constants_of(answer, provenance);
        if (keys.empty()) { continue; }
        constexpr std::size_t most = 4;
        bool const named = provenance == Provenance::guessed && keys.size() <= most;
        parts.push_back(std::to_string(keys.size()) + " " + std::string{name_of(provenance)} +
                        (named ? " (" + join(keys, ", ") + ")" : ""));
    }
    return "of " + counted(answer.constants.size(), "constant") + " that this step uses: " + join(parts, ", ");
}

std::string guess_words(GuessEffect const& one) {
    std::string const text = one.field + " " + one.value;
    if (!one.low) { return text; }
    return text + " (x" + significant(*one.low) + " to x" + significant(*one.high) + ")";
}

std::string guessed_words(SupportAnswer const& answer) {
    std::vector<GuessEffect> sorted = answer.guessed; // those that move the step most first
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             [](GuessEffect const& one) { return one.low ? *one.high / *one.low : 0.0; });
    if (sorted.empty()) { return "nothing"; }
    constexpr std::size_t most_untried = 6;
    std::vector<std::string> tried, untried;
    for (GuessEffect const& one : sorted) { (one.low ? tried : untried).push_back(guess_words(one)); }
    std::size_t const more = untried.size() > most_untried ? untried.size() - most_untried : 0;
    untried.resize(untried.size() - more);
    std::string text = tried.empty() ? "" : "step with other values: " + join(tried, ", ");
    if (untried.empty()) { return text; }
    text += (tried.empty() ? "not tried: " : "; not tried: ") + join(untried, ", ");
    return more > 0 ? text + " and " + std::to_string(more) + " more" : text;
}

Table runs_table(SupportAnswer const& answer) {
    return field_rows(
        "Measured runs", answer.evidence,
        {{"respect", "that share"}, {"runs"}, {"least_workers", "from"}, {"most_workers", "to accelerators"}});
}

Table constants_table(SupportAnswer const& answer) {
    return field_rows("Constants in use", answer.constants,
                      {{"key"}, {"value"}, {"low"}, {"high"}, {"provenance"}, {"source"}});
}

Document document_of(SupportAnswer const& answer, Setting const& setting, Length length) {
    Question const& question = answer.prediction.question;
    Document document{"Support: " + question.model.name + " on " + question.cluster.name,
                      {},
                      footer(setting.catalog, setting.calibration.name)};
    auto& blocks = document.blocks;
    auto const line = [&blocks](std::string label, std::string text) {
        if (!text.empty()) { blocks.emplace_back(Paragraph{std::move(text), std::move(label), false, Part::answer}); }
    };
    blocks.emplace_back(Paragraph{answer.verdict, "", true});
    line("known", known_words(answer, length));
    if (!answer.evidence.empty()) { line("measured", measured_words(answer)); }
    line("fitted", fitted_words(answer));
    line("guessed", guessed_words(answer));
    line("never seen", answer.never_seen.empty() ? "nothing that is modelled" : join(answer.never_seen, "; "));
    line("measure first", words_of(answer.narrows));
    if (!answer.evidence.empty()) { blocks.emplace_back(as(Part::detail, runs_table(answer))); }
    blocks.emplace_back(as(Part::detail, constants_table(answer)));
    blocks.emplace_back(as(Part::detail, assumptions_table(question.assumptions)));
    return document;
}

int run(Arguments const& given) {
    Output const output = read_output(given, screen_lines);
    Arguments const arguments = with_cluster(given);
    require_question(arguments, false, false);
    Setting setting = read_setting(arguments);
    Prediction prediction = prediction_of(arguments, setting);
    auto known = io::known_facts(setting.catalog, *arguments.text("MODEL"), prediction.question);
    SupportAnswer answer =
        support_of(std::move(prediction), setting.calibration, io::run_groups(setting.catalog), std::move(known));
    answer.notes = setting.notes;
    for (std::string const& text : setting.notes) { note(output, "note: " + text); }
    Result result = result_of(head_of("support", setting.catalog, setting.calibration.name), answer,
                              [&] { return document_of(answer, setting, Length::full); }, {{}, stats_of(output)});
    result.screen = [&] { return screen_of(document_of(answer, setting, Length::screen), output.screen); };
    result.line = [&] { return answer.verdict; };
    write_result(output, result);
    return Exit::done;
}

Verb described() {
    Verb verb{"support", "what a prediction rests on: known, fitted, guessed, never seen", positionals, examples, run};
    verb.options = {setting_options(),  launch_options(), strategy_options(),
                    left_out_options(), length_options(), output_options()};
    verb.answers = tables_of<SupportAnswer>();
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_support

headroom::cli::Verb headroom::cli::support_verb() { return verb_support::described(); }
