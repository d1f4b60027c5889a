#include "headroom/io/training_log.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "traces/decompressors.hpp"
#include "training_logs/training_log_formats.hpp"
#include "unread_bytes.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

/// A format of lines. Where a log has lines of several, the first with a step is taken.
struct LineFormat {
    std::string_view name;
    std::string_view framework; ///< of the catalog, that such a log most likely is of; empty: none
    void (*take)(std::string_view line, TrainingLogBuilder& log);
};
constexpr std::array formats{
    LineFormat{"Megatron-LM", "megatron-core", take_megatron_line},
    LineFormat{"NeMo", "", take_nemo_line},
    LineFormat{"torchtitan", "torchtitan", take_torchtitan_line},
    LineFormat{"nanotron", "nanotron", take_nanotron_line},
    LineFormat{"MaxText", "maxtext", take_maxtext_line},
    LineFormat{"Composer", "llm-foundry", take_composer_line},
    LineFormat{"MLPerf", "", take_mlperf_line},
    LineFormat{"litgpt", "litgpt", take_litgpt_line},
    LineFormat{"nanoGPT", "", take_nanogpt_line},
    LineFormat{"modded-nanogpt", "", take_modded_nanogpt_line},
    LineFormat{"llm.c", "llm-c", take_llm_c_line},
    LineFormat{"torchtune", "torchtune", take_torchtune_bar},
    LineFormat{"torchtune disk log", "torchtune", take_torchtune_line},
    LineFormat{"levanter", "", take_levanter_line},
    LineFormat{"DeepSpeed", "", take_deepspeed_line},
    LineFormat{"bar of an epoch", "lightning", take_epoch_bar},
    LineFormat{"Hugging Face Trainer", "hf-trainer", take_hf_trainer_line},
};
constexpr std::size_t place_of(std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(formats, name, &LineFormat::name) - formats.begin());
}
constexpr std::size_t megatron = place_of("Megatron-LM"), deepspeed = place_of("DeepSpeed"),
                      epoch_bar = place_of("bar of an epoch"), hf_trainer = place_of("Hugging Face Trainer");
constexpr std::size_t table = formats.size(); ///< where the steps of a table are kept

std::string_view name_of(MetricsTable kind) {
    switch (kind) {
    case MetricsTable::wandb: return "W&B export";
    case MetricsTable::tensorboard: return "TensorBoard export";
    case MetricsTable::mlflow: return "MLflow export";
    case MetricsTable::lightning: return "Lightning CSV";
    case MetricsTable::lines: return "labelled lines";
    case MetricsTable::plain:
    case MetricsTable::none: break;
    }
    return "table";
}

/// Heads of what looks like a table, for the line that refuses it.
std::string heads_of(std::string_view first) {
    constexpr std::size_t longest = 100;
    bool const heads = first.find_first_of(",;\t") != std::string_view::npos &&
                       first.find_first_of("|={[]:\"*") == std::string_view::npos;
    return heads ? shortened(trimmed_line(first).substr(0, longest)) : std::string{};
}

[[noreturn]] void refuse_unknown(std::string const& where, std::string_view first = {}, std::string const& issue = {}) {
    if (issue.starts_with("step ")) { unreadable_error(where, "no known training log", "every line is a " + issue); }
    if (std::string const heads = heads_of(first); !heads.empty()) {
        unreadable_error(where, "no known training log",
                         "its heads, " + heads + ", have no step with a time, a rate or a clock that is known",
                         "name them step and step_time_s");
    }
    unreadable_error(
        where, "no known training log",
        "no line that times steps in a way that is known, as of Megatron-LM, torchtitan, DeepSpeed or Hugging Face "
        "Trainer",
        "tables need a column of steps and one of times");
}

/// Whether the lines of two formats say which framework wrote them together.
std::string framework_of(std::size_t format, TrainingLogBuilder const& builder) {
    bool const below = builder.lines_of(deepspeed) > 0;
    if (format == megatron && below) { return "megatron-deepspeed"; }
    if (builder.lines_of(hf_trainer) > 0 && below) { return "hf-deepspeed"; }
    if (format == epoch_bar && !builder.announced.lightning) { return {}; }
    bool const bar_alone = format == hf_trainer && !builder.announced.header && !builder.announced.dictionaries;
    return std::string{bar_alone ? "" : formats[format].framework};
}

void count_long_lines(LogFeed const& feed, TrainingLog& log) {
    if (feed.long_lines() == 0) { return; }
    count_issue(log.issues,
                Issue{.kind = "line longer than 64 KiB, read up to there", .count = feed.long_lines(), .kept = true});
}

/// The batch of a trainer that splits it over all accelerators, where the log states micro-batch and accumulation.
void state_batch(std::size_t format, TrainingLogBuilder& builder) {
    std::string_view const framework = formats[format].framework;
    bool const replicas = framework == "hf-trainer" || framework == "litgpt" || framework == "torchtune";
    auto const each = printed_count(builder.fact("--micro-batch")), steps = printed_count(builder.fact("accumulation"));
    bool const known = builder.question().global_batch > 0 || !builder.fact("--global-batch").empty();
    double const batch = each.value_or(0) * static_cast<double>(steps.value_or(0)) * builder.workers();
    bool const workers = builder.question().workers > 0 || !builder.fact("--workers").empty();
    if (!replicas || known || !workers || batch < 1.0 || batch > 1e9) { return; }
    builder.fact("--global-batch", fmt::format("{:.0f}", batch));
    builder.note(fmt::format("its batch is {:.0f}: micro-batch x accumulation x accelerators", batch));
}

/// Warns where lines number iterations and a step has several micro-batches. Errors: InputError{insufficient} where the log itself
/// states so.
void settle_iterations(MetricsReader const& reader, TrainingLogBuilder& builder, std::string const& where) {
    if (!reader.times_iterations()) { return; }
    if (printed_count(builder.fact("accumulation")).value_or(1) > 1) {
        throw InputError{Fault::insufficient,
                         {.where = where,
                          .problem = "its lines count steps or micro-batches",
                          .why = fmt::format("it states {} accumulation steps, and its lines number iterations",
                                             builder.fact("accumulation")),
                          .hint = "state the time of a step: --measured-step"}};
    }
    if (builder.question().accumulation > 1) {
        builder.warn(fmt::format("its iterations count as steps: of --grad-accum {} they may be micro-batches",
                                 builder.question().accumulation));
    }
}

/// The log of lines that no format knows, by their labels.
TrainingLog read_labelled(LabelledLines const& lines, TrainingLogBuilder& builder, std::string const& where) {
    builder.at(table, 0, -1);
    builder.text({});
    MetricsReader reader{MetricsTable::lines, lines.heads(), where, builder};
    reader.learn(lines.marks());
    lines.each([&](std::uint64_t number, std::string const& row) {
        builder.at_line(number);
        reader.take(number, row, builder);
    });
    int const each = printed_count(builder.fact("accumulation")).value_or(builder.question().accumulation);
    if (lines.counts_batches() && each > 1) {
        reader.count_batches();
    } else if (lines.counts_batches()) {
        builder.note("a batch counts as a step: with gradient accumulation it is a part of one");
    }
    reader.finish(builder);
    if (!lines.counts_batches()) { settle_iterations(reader, builder, where); }
    TrainingLog log = builder.finish(table, where);
    log.format = name_of(MetricsTable::lines);
    return log;
}

/// The log of the first format that has a step, with its fellows named.
TrainingLog chosen(TrainingLogBuilder& builder, LabelledLines const& lines, std::string const& where,
                   std::string_view first) {
    std::size_t format = 0;
    while (format < formats.size() && builder.lines_of(format) == 0) { ++format; }
    if (format == formats.size()) {
        builder.flush_clocks();
        format = 0;
        while (format < formats.size() && builder.lines_of(format) == 0) { ++format; }
    }
    if (format == formats.size() && lines.shows_steps()) { return read_labelled(lines, builder, where); }
    if (format == formats.size()) { refuse_unknown(where, first, builder.first_issue()); }
    bool const rate_alone = format == deepspeed && builder.fact("--global-batch").empty(); // says less than a clock
    bool const trainer = builder.announced.header || builder.announced.dictionaries;
    if (rate_alone && builder.lines_of(epoch_bar) > 0) { format = epoch_bar; }
    if ((rate_alone || (format == epoch_bar && trainer)) && builder.lines_of(hf_trainer) > 0) { format = hf_trainer; }
    std::vector<std::string> others;
    for (std::size_t i = 0; i < formats.size(); ++i) {
        if (i != format && builder.lines_of(i) > 0) {
            others.push_back(fmt::format("{} of {}", builder.lines_of(i), formats[i].name));
        }
    }
    if (!others.empty()) {
        builder.note(fmt::format("lines of {} were used; {} were not", formats[format].name, fmt::join(others, ", ")));
    }
    state_batch(format, builder);
    TrainingLog log = builder.finish(format, where);
    log.format = formats[format].name;
    log.framework = framework_of(format, builder);
    return log;
}

TrainingLog read_table(MetricsTable kind, std::string_view first, LogFeed& feed, TrainingLogBuilder& builder,
                       std::string const& where) {
    builder.at(table, feed.number(), -1);
    std::string const head{first};
    MetricsReader reader{kind, head, where, builder};
    builder.text({}); // a table has a clock of its own
    for (std::string_view line; feed.next(line);) {
        builder.at(table, feed.number(), -1);
        reader.take(feed.number(), line, builder);
    }
    reader.finish(builder);
    settle_iterations(reader, builder, where);
    TrainingLog log = builder.finish(table, where);
    log.format = name_of(kind);
    if (kind == MetricsTable::lightning) { log.framework = "lightning"; }
    return log;
}

/// Whether a text holds figures of reinforcement learning, whose steps generate text: verl, TRL.
bool generates_text(std::string_view text) {
    return std::ranges::any_of(std::array{"timing_s/gen", "completions/mean_length", "completion_length"},
                               [text](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

constexpr std::uint64_t lines_of_signs = 10'000;

void warn_of_generation(TrainingLog& log) {
    log.warnings.emplace_back("its steps generate text (reinforcement learning), which is not modelled: a step here is "
                              "more than the training that is predicted");
}

TrainingLog read_feed(LogFeed& feed, TrainingLogQuestion const& question, std::string const& where) {
    TrainingLogBuilder builder{formats.size() + 1, question};
    bool const numbered = numbers_lines(feed.ahead());
    bool first = true, generates = false;
    std::string first_line;
    std::optional<TrainingLog> log;
    LabelledLines labelled;
    for (std::string_view line; feed.next(line);) {
        generates = generates || (feed.number() < lines_of_signs && generates_text(line));
        bool const heads = first && !trimmed_line(line).empty() && !line.starts_with('#');
        bool const of_results = line.starts_with('|') && line.find("oss") == line.npos; // of configurations, not steps
        if ((heads && !of_results) || (line.starts_with('|') && !of_results && !builder.has_steps())) {
            first = false;
            if (line.starts_with(byte_order_mark)) { line.remove_prefix(byte_order_mark.size()); }
            if (heads) { first_line = line; }
            if (auto const kind = metrics_table(line); kind != MetricsTable::none) {
                log = read_table(kind, line, feed, builder, where);
                break;
            }
        }
        if (line.find('\0') != std::string_view::npos) {
            builder.at(0, feed.number(), -1);
            builder.issue("line with zero bytes", line);
            continue;
        }
        auto const [text, rank] = without_marks(line, numbered);
        builder.text(line); // the stamp may be a mark
        builder.at(0, feed.number(), rank);
        take_fact_line(text, builder);
        if (saves_checkpoint(text)) { builder.checkpoint(); }
        for (std::size_t i = 0; i < formats.size(); ++i) {
            builder.at(i, feed.number(), rank);
            formats[i].take(text, builder);
        }
        if (!builder.has_steps()) { labelled.take(feed.number(), text, line); }
    }
    if (feed.stopped() && !builder.has_steps()) { throw Interrupted{}; }
    if (!log) { log = chosen(builder, labelled, where, first_line); }
    count_long_lines(feed, *log);
    if (!feed.damage().empty()) { unreadable_error(where, fmt::format("the archive is {}", feed.damage())); }
    if (generates) { warn_of_generation(*log); }
    log->lines = feed.number();
    log->bytes = feed.bytes();
    log->complete = !feed.stopped();
    return std::move(*log);
}

/// A log of JSON, with the lines of its text that are none.
TrainingLog of_json(TrainingLog log, std::string_view text, ObjectRest const& rest) {
    if (rest.lines > 0) {
        count_issue(
            log.issues,
            Issue{.kind = "line that is no whole object of JSON", .count = rest.lines, .line = rest.first_line});
    } else if (!rest.whole) {
        count_issue(log.issues, Issue{.kind = "file that is cut short", .count = 1});
    }
    log.lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n')) + 1;
    log.bytes = text.size();
    return log;
}

TrainingLog read_json(std::string_view text, TrainingLogQuestion const& question, std::string const& where) {
    ObjectRest const rest = scan_objects(text, [](FlatObject const&) {});
    for (std::string const& lines : {table_of_json(text), lines_of_json(text)}) {
        if (lines.empty()) { continue; }
        LogFeed feed{lines};
        return of_json(read_feed(feed, question, where), text, rest);
    }
    TrainingLogBuilder builder{formats.size() + 1, question};
    builder.at(hf_trainer, 1, -1);
    read_hf_json(text, builder);
    builder.flush_clocks();
    if (builder.lines_of(hf_trainer) == 0 && rest.lines > 0) { // a printed log that begins with an object
        LogFeed feed{text};
        return read_feed(feed, question, where);
    }
    if (builder.lines_of(hf_trainer) == 0) {
        bool const state = text.find("\"log_history\"") != std::string_view::npos;
        if (!state) { refuse_unknown(where); }
        throw InputError{Fault::insufficient,
                         {.where = where,
                          .problem = "it times no step",
                          .why = "train_runtime is written when the run ends",
                          .hint = "give the printed log, whose progress bar has a clock"}};
    }
    TrainingLog log = builder.finish(hf_trainer, where);
    if (generates_text(text)) { warn_of_generation(log); }
    log.format = "Hugging Face Trainer JSON";
    log.framework = formats[hf_trainer].framework;
    return of_json(std::move(log), text, rest);
}

void refuse_other_bytes(std::string_view head, std::string const& where) {
    refuse_unread(head, where, "it is not read as a log",
                  {.zip = "unpack it first: unzip", .database = "give the log"});
    constexpr std::size_t tar_mark = 257;
    if (head.substr(std::min(tar_mark, head.size())).starts_with("ustar")) {
        unreadable_error(where, "a tar archive", "it is not read as a log", "unpack it first: tar -xf");
    }
    if (head.find("brain.Event") != std::string_view::npos) {
        unreadable_error(where, "an event file of TensorBoard", "it is not read as a log",
                         "give the CSV that TensorBoard exports");
    }
    if (head.find('\0') != std::string_view::npos) {
        unreadable_error(where, "no text", "it holds zero bytes",
                         "if they are a gap in a log that was cut, take them out: tr -d '\\0'");
    }
    if (trimmed_line(head).empty()) { unreadable_error(where, "an empty file"); }
}

/// All of the text that a source holds. Errors: InputError{unreadable} where it is damaged or over 256 MiB.
std::string text_of(ByteSource& source, std::string const& where) {
    constexpr std::size_t block = std::size_t{1} << 20;
    std::string text;
    for (std::size_t got = block; got == block && text.size() <= training_log_limit;) {
        std::size_t const before = text.size();
        text.resize(before + block);
        got = source.read(text.data() + before, block);
        text.resize(before + got);
    }
    bool const large = text.size() > training_log_limit;
    if (large) { unreadable_error(where, "more than 256 MiB after unpacking"); }
    if (!source.damage().empty()) { unreadable_error(where, fmt::format("the archive is {}", source.damage())); }
    return text;
}

} // namespace

TrainingLog read_training_log(std::filesystem::path const& path, TrainingLogQuestion const& question,
                              std::stop_token const& stop) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        return read_training_log_text(read_file(path, training_log_limit), path.string(), question);
    }
    std::string const head = unpacked_head(path, 4096);
    refuse_other_bytes(head, path.string());
    if (looks_like_json(head)) {
        return read_training_log_text(read_file(path, training_log_limit), path.string(), question);
    }
    LogFeed feed{path, stop};
    return read_feed(feed, question, path.string());
}

TrainingLog read_training_log_text(std::string_view text, std::string const& where,
                                   TrainingLogQuestion const& question) {
    bool const packed = begins_as_gzip(text) || begins_as_zstd(text);
    std::string const unpacked = packed ? text_of(*open_source(text, where, log_limits), where) : std::string{};
    if (packed) { text = unpacked; }
    refuse_other_bytes(text.substr(0, 4096), where);
    if (looks_like_json(text)) { return read_json(text, question, where); }
    LogFeed feed{text};
    return read_feed(feed, question, where);
}

} // namespace headroom::io
