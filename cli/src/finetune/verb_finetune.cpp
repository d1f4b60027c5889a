#include "launch_files.hpp"
#include "left_out.hpp"
#include "predict/prediction_report.hpp"
#include "setting_words.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/launch_emit.hpp"
#include "headroom/io/words.hpp"
#include "headroom/training/training_answers.hpp"

#include <array>

namespace headroom::cli::verb_finetune {
namespace {

constexpr double most_epochs = 10'000.0;
constexpr int usual_length = 2048;
constexpr std::size_t most_sizes = 64;

constexpr std::array positionals{
    Positional{"MODEL", "a catalog name (llama-3-8b), a Hugging Face config.json (file or folder), or a .toml file"},
};

constexpr std::array options{
    Option{"--method", "NAME", "lora (default), qlora, dora, qdora or full", "Fine-tuning"},
    Option{"--dataset-tokens", "N", "tokens of the data set: 50M", "Fine-tuning"},
    Option{"--epochs", "N", "passes over the data set (default: 1)", "Fine-tuning"},
};

/// Shared options with the defaults of fine-tuning.
constexpr std::array reworded{
    Option{"--workers", "COUNTS",
           "accelerators: 8, or several: 1..8 (default: those of --cluster, one node of it where it states no number)",
           "Question"},
    Option{"--global-batch", "SEQUENCES",
           "sequences a step (default: 16, or one an accelerator), or tokens: '32k tokens'", "Question"},
    Option{"--sequence-length", "N", "tokens a sequence (default: 2048); 8k is 8192", "Question"},
    Option{"--tokens", "N", "refused: the run is --epochs of --dataset-tokens", "Question"},
    Option{"--steps", "N", "refused: the run is --epochs of --dataset-tokens", "Question"},
    Option{"--framework", "NAME", "the training software (default: hf-fsdp for --method full, else hf-trainer)",
           "Question"},
};

constexpr char const* examples = "  headroom finetune llama-3-8b --cluster 2x4090 --method qlora \\\n"
                                 "      --dataset-tokens 50M\n"
                                 "  headroom finetune llama-3-8b --cluster 8xH100 --method full \\\n"
                                 "      --dataset-tokens 1B --epochs 3\n"
                                 "  headroom finetune llama-3-8b --cluster dgx-h100 --workers 1..8 \\\n"
                                 "      --dataset-tokens 50M\n"
                                 "  headroom finetune llama-3-70b --cluster 8xH100 --dataset-tokens 50M";

/// The data set and how it is trained on.
struct Tuning {
    std::string method;
    double tokens = 0.0, epochs = 1.0;
};

/// Method by the weights that --train and --base state. Errors: InputError where --method states another.
std::string read_method(Arguments const& arguments) {
    auto const named = arguments.choice("--method", {"lora", "qlora", "dora", "qdora", "full"});
    PartialStrategy stated;
    std::string options;
    for (std::string const option : {"--train", "--base"}) {
        auto const text = arguments.text(option);
        if (!text) { continue; }
        io::known_strategy_field(option.substr(2), option).assign(stated, *text, option);
        options += (options.empty() ? "" : " ") + option + " " + *text;
    }
    std::string const method = named.value_or("lora");
    bool quantised = method.starts_with('q');
    std::string kind = method.substr(quantised ? 1 : 0);
    if (stated.trained) {
        bool const lengths = (stated.adapter_modules.value_or(0) & adapter_module::magnitudes) != 0;
        kind = *stated.trained != Trained::lora ? "full" : lengths ? "dora" : "lora";
    }
    if (stated.frozen) { quantised = *stated.frozen == FrozenFormat::nf4 || *stated.frozen == FrozenFormat::int4; }
    std::string const read = (quantised && kind != "full" ? "q" : "") + kind;
    if (named && read != method && read != "q" + method) {
        refuse("--method", method + " contradicts " + options, "with " + options + " the method is " + read,
               "write --method " + read + ", or leave " + options + " out");
    }
    return read;
}

Tuning read_tuning(Arguments const& arguments) {
    Tuning tuning;
    tuning.method = read_method(arguments);
    tuning.tokens = io::parse_spelled_count(
        arguments.required("--dataset-tokens", "how large is the data set? --dataset-tokens 50M"), "--dataset-tokens");
    if (auto const epochs = arguments.text("--epochs")) {
        tuning.epochs = io::parse_between(*epochs, 0.001, most_epochs, "number of epochs", "--epochs");
    }
    for (char const* option : {"--tokens", "--steps"}) {
        if (arguments.has(option)) {
            refuse(option, "given with --dataset-tokens", "the run is its epochs", "leave it out");
        }
    }
    return tuning;
}

/// Options that the method and habits of fine-tuning state, where nobody does.
struct Completed {
    Arguments arguments;
    std::vector<Assumption> assumptions; ///< values of habit, which the answer lists
};

Completed with_defaults(Arguments arguments, Tuning const& tuning) {
    std::vector<Assumption> assumptions;
    auto const set = [&](std::string const& option, std::string const& field, std::string const& value,
                         std::string const& reason) {
        if (arguments.has(option)) { return; }
        arguments.add(option, {value});
        assumptions.push_back({field, value, reason});
    };
    bool const quantised = tuning.method.starts_with('q');
    if (tuning.method != "full") {
        set("--train", "train", tuning.method.substr(quantised ? 1 : 0),
            "the method, with its usual rank and modules; --train lora:64:linear names others");
    }
    if (quantised && !arguments.has("--base")) { arguments.add("--base", {"nf4"}); }
    set("--framework", "framework", tuning.method == "full" ? "hf-fsdp" : "hf-trainer",
        "what such jobs most likely run; name yours with --framework");
    set("--sequence-length", "sequence_length", std::to_string(usual_length), "usual for fine-tuning");
    return {std::move(arguments), std::move(assumptions)};
}

/// One node where nobody states a number; a batch of at least 16 sequences, as many on each accelerator.
void complete(Setting& setting, Arguments const& arguments, std::vector<std::string>& notes) {
    if (setting.workers.empty()) {
        setting.workers = {setting.cluster.accelerators_per_node};
        notes.push_back("one node is assumed: --workers " + std::to_string(setting.workers.front()));
    }
    if (arguments.has("--global-batch") || arguments.has("--grad-accum") || arguments.has("--micro-batch")) { return; }
    setting.workload.global_batch = finetune_batch(setting.workers.front());
    setting.batch_assumed = false;
    for (Assumption& one : setting.assumptions) {
        if (one.field != "global_batch") { continue; }
        one.value = std::to_string(setting.workload.global_batch);
        one.reason = "default of fine-tuning: at least 16 sequences, as many on each accelerator";
    }
}

Table curve_table(std::vector<FinetuneSize> const& curve) {
    auto const [least, most] = batches_of(curve);
    bool const batches = least != most;
    Table table{.title = "", .columns = {"workers", wrapped("plan")}};
    if (batches) { table.columns.push_back("batch"); }
    table.columns.insert(table.columns.end(), {"step s", spare("GiB"), "fits %", "min/epoch", "cost $"});
    for (FinetuneSize const& size : curve) {
        std::vector<std::string> row{std::to_string(size.workers)};
        if (!size.prediction) {
            row.push_back("cannot run: " + size.refused);
            row.insert(row.end(), table.columns.size() - row.size(), "-");
        } else {
            Prediction const& p = *size.prediction;
            auto const cost = cost_of(p);
            row.push_back(short_name(p.question.strategy));
            if (batches) { row.push_back(std::to_string(p.question.workload.global_batch)); }
            row.insert(row.end(), {significant(p.step().base()), significant(p.memory.total().in(units::GiB)),
                                   p.odds   ? percent(p.odds->fits, 2)
                                   : p.fits ? "yes"
                                            : "no",
                                   significant(*epoch_minutes(size)), cost ? scaled(cost->base()) : "-"});
        }
        if (size.recommended) { table.marked = table.rows.size(); }
        table.rows.push_back(std::move(row));
    }
    return table;
}

Document document_of(FinetuneAnswer const& answer, Setting const& setting, Length length, ScreenSize screen) {
    Prediction const& p = answer.prediction;
    Document document{"Fine-tuning: " + setting.model.name + " on " + setting.cluster.name, {}, ""};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{unknown_model_words(setting.model) + answer.verdict, "", true});
    if (answer.curve.size() > 1) { blocks.emplace_back(curve_table(answer.curve)); }
    blocks.emplace_back(Paragraph{short_name(p.question.strategy) + "; " +
                                      batch_words(p.question.workload, p.question.model) + "; " +
                                      p.question.framework.name,
                                  "plan"});
    blocks.emplace_back(Paragraph{significant(p.tokens_per_second) + " tokens/s, a step of " + step_words(p), "rate"});
    if (length == Length::full) {
        blocks.emplace_back(assumptions_table(p.question.assumptions));
    } else {
        blocks.emplace_back(assumed_in_short(p.question.assumptions));
    }
    blocks.emplace_back(command_block(answer.command, screen));
    return document;
}

/// One screen: of many sizes those next to the recommended one, the first and the last.
Document screen_document(FinetuneAnswer const& answer, Setting const& setting, Length length, ScreenSize screen) {
    constexpr std::size_t table = 1, least_rows = 3;
    Document document = document_of(answer, setting, length, screen);
    if (length == Length::full || answer.curve.size() < 2 || fits_screen(document, screen)) { return document; }
    document.blocks.emplace_back(Paragraph{"10 sizes: --full", "not shown"});
    fit_to_screen(document, table, least_rows, screen);
    std::size_t const hidden = answer.curve.size() - std::get<Table>(document.blocks[table]).rows.size();
    document.blocks.back() = Paragraph{counted(hidden, "size") + ": --full", "not shown"};
    if (hidden == 0) { document.blocks.pop_back(); }
    return document;
}

/// Numbers that --require may ask about.
std::vector<Metric> metrics(FinetuneAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"step", "step_seconds"}, {"memory", "memory_bytes"}, {"cost", "cost_dollars"}});
}

/// An answer with what it was computed from.
struct Answered {
    Arguments arguments;
    Setting setting;
    Question question;
    FinetuneAnswer answer;
};

Answered answer_of(Arguments const& given, Tuning const& tuning) {
    std::vector<std::string> notes;
    auto [arguments, assumed] = with_defaults(given, tuning);
    arguments.add("--tokens", {whole(tuning.tokens * tuning.epochs)});
    Setting setting = read_setting(arguments);
    complete(setting, arguments, notes);
    Question question = make_question(arguments, setting);
    for (Assumption& one : assumed) {
        for (auto const& [option, value] : io::options_of(question.strategy, question.workload)) {
            if (option == "--" + one.field) { one.value = value; } // with its rank and modules
        }
    }
    question.assumptions.insert(question.assumptions.begin(), assumed.begin(), assumed.end());
    notes.insert(notes.end(), setting.notes.begin(), setting.notes.end());
    if (auto remark = assumed_framework_note(question); !remark.empty()) { notes.push_back(std::move(remark)); }
    FinetuneAnswer answer{.prediction = predict(question, setting.calibration),
                          .method = tuning.method,
                          .dataset_tokens = tuning.tokens,
                          .epochs = tuning.epochs,
                          .verdict = {},
                          .command = predict_command(arguments, question),
                          .notes = std::move(notes)};
    answer.curve = {{.workers = answer.prediction.workers,
                     .prediction = answer.prediction,
                     .dataset_tokens = tuning.tokens,
                     .recommended = true}};
    answer.verdict = finetune_verdict(answer);
    return {std::move(arguments), std::move(setting), std::move(question), std::move(answer)};
}

/// Accelerators of each size, in ascending order; empty where one size is asked about, or none is stated.
std::vector<int> sizes_of(Arguments const& given, Tuning const& tuning) {
    for (char const* option : {"--workers", "--nodes"}) {
        auto const text = given.text(option);
        if (!text || parse_counts(*text, option).size() < 2) { continue; }
        Setting const setting = read_setting(with_defaults(given, tuning).arguments);
        if (setting.workers.size() > most_sizes) {
            refuse(option, std::to_string(setting.workers.size()) + " sizes given",
                   "at most " + std::to_string(most_sizes) + " are answered", "ask for fewer");
        }
        return setting.workers;
    }
    return {};
}

/// Answer of the recommended one of several sizes, with all of them; a size that cannot run has its reason.
/// Errors: InputError where no size can run.
Answered answer_of_sizes(Arguments const& given, Tuning const& tuning, std::vector<int> const& sizes,
                         std::stop_token const& stop) {
    auto const answer_at = [&](int workers) {
        Arguments arguments = given.without("--nodes");
        arguments.add("--workers", {std::to_string(workers)});
        return answer_of(arguments, tuning);
    };
    std::vector<FinetuneSize> curve;
    std::optional<InputError> first;
    for (int const workers : sizes) {
        keep_on(stop);
        try {
            curve.push_back(std::move(answer_at(workers).answer.curve.front()));
            curve.back().recommended = false;
        } catch (InputError const& error) {
            if (!first) { first = error; }
            ErrorText const& text = error.text();
            curve.push_back(
                {.workers = workers,
                 .refused = text.where + ": " + text.problem + (text.why.empty() ? "" : " (" + text.why + ")")});
        }
    }
    auto const chosen = recommended_size(curve);
    if (!chosen) { throw *first; }
    Answered result = answer_at(curve[*chosen].workers);
    curve[*chosen].recommended = true;
    result.answer.curve = std::move(curve);
    result.answer.verdict = finetune_verdict(result.answer);
    return result;
}

/// The answer; where the method does not fit, the verdict names one of less memory that does.
Answered answered(Arguments const& given, Tuning const& tuning, std::stop_token const& stop) {
    std::vector<int> const sizes = sizes_of(given, tuning);
    auto const answer_by = [&](Tuning const& method) {
        return sizes.empty() ? answer_of(given, method) : answer_of_sizes(given, method, sizes, stop);
    };
    Answered result = answer_by(tuning);
    bool const chosen = given.has("--train") || given.has("--base") || given.has("--framework");
    if (result.answer.prediction.fits || chosen) { return result; }
    for (std::string const& method : leaner_methods(tuning.method)) {
        Tuning other = tuning;
        other.method = method;
        FinetuneAnswer const leaner = answer_by(other).answer;
        if (!leaner.prediction.fits) { continue; }
        result.answer.verdict += leaner_words(leaner);
        break;
    }
    return result;
}

int run(Arguments const& given) {
    Output const output = read_output(given, screen_lines);
    bool const states_data = given.has("--dataset-tokens");
    require_question(given, false, false,
                     states_data ? std::vector<std::string>{} : std::vector<std::string>{"--dataset-tokens (50M)"});
    check_gates(given, [&] { return metrics(nullptr); });
    Tuning const tuning = read_tuning(given);
    Watch const watch{"answering fine-tuning", output.quiet};
    Answered const all = answered(given, tuning, watch.token());
    FinetuneAnswer const& answer = all.answer;
    auto const gates = check_gates(all.arguments, [&] { return metrics(&answer); });
    for (std::string const& text : answer.notes) { note(output, "note: " + text); }
    Result result = result_of(
        head_of("finetune", all.setting.catalog, all.setting.calibration.name), answer,
        [&] { return document_of(answer, all.setting, output.length, output.screen); }, {gates, stats_of(output)},
        answer.curve.size() > 1 ? [&] { return row_sheet(answer.curve); } : std::function<Sheet()>{});
    result.screen = [&] { return screen_document(answer, all.setting, output.length, output.screen); };
    result.page = [&] { return document_of(answer, all.setting, Length::full, {}); };
    result.line = [&] { return answer.verdict; };
    if (!write_launch(all.arguments, all.question, output)) { write_result(output, result); }
    if (answer.prediction.fits) { return report_gates(gates) ? Exit::done : Exit::gate; }
    refusal("strategy", "does not fit: " + answer.prediction.why_not);
    return Exit::infeasible;
}

Verb described() {
    Verb verb{"finetune", "fine-tuning on a data set: does it fit, minutes an epoch, cost", positionals, examples, run};
    verb.options = {options,          setting_options(), launch_options(), strategy_options(), left_out_options(),
                    length_options(), output_options()};
    verb.reworded = reworded;
    verb.answers = tables_of<FinetuneAnswer>();
    return verb;
}

} // namespace
} // namespace headroom::cli::verb_finetune

headroom::cli::Verb headroom::cli::finetune_verb() { return verb_finetune::described(); }
