#include "tables/cell_text.hpp"
#include "training_logs/line_figures.hpp"
#include "training_logs/training_log_formats.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

enum class FactKind { count, flag, precision, distributed_optimizer, recompute };

/// Name that frameworks print, and the option of `predict` that says it; "layers" and "hidden" are checked against
/// the model, "accumulation" is that of micro-batches.
struct FactRow {
    std::string_view name, option;
    FactKind kind = FactKind::count;
};
constexpr std::array fact_rows{
    FactRow{"world_size", "--workers"},
    FactRow{"num_nodes", "nodes"}, // of Lightning and NeMo
    FactRow{"devices", "devices"}, // of a node
    FactRow{"tensor_model_parallel_size", "--tp"},
    FactRow{"pipeline_model_parallel_size", "--pp"},
    FactRow{"virtual_pipeline_model_parallel_size", "--virtual-pp"},
    FactRow{"context_parallel_size", "--cp"},
    FactRow{"expert_model_parallel_size", "--ep"},
    FactRow{"expert_tensor_parallel_size", "--etp"},
    FactRow{"micro_batch_size", "--micro-batch"},
    FactRow{"train_micro_batch_size_per_gpu", "--micro-batch"},
    FactRow{"train_batch_size", "--global-batch"},
    FactRow{"global_batch_size_to_train_on", "--global-batch"},
    FactRow{"seq_length", "--sequence-length"},
    FactRow{"encoder_seq_length", "--sequence-length"},
    FactRow{"max_target_length", "--sequence-length"},
    FactRow{"sequence_len", "--sequence-length"}, // axolotl
    FactRow{"cutoff_len", "--sequence-length"},   // LLaMA-Factory
    FactRow{"max_seq_length", "--sequence-length"},
    FactRow{"max_length=", "--sequence-length"}, // of TRL; others call much else so
    FactRow{"per_device_train_batch_size=", "--micro-batch"},
    FactRow{"model_parallel_size", "--tp"}, // GPT-NeoX
    FactRow{"pipe_parallel_size", "--pp"},
    FactRow{"zero_optimization_stage", "--zero"},
    FactRow{"gradient_accumulation_steps", "accumulation"},
    FactRow{"num_layers", "layers"},
    FactRow{"hidden_size", "hidden"},
    FactRow{"sequence_parallel", "--sequence-parallel", FactKind::flag},
    FactRow{"use_distributed_optimizer", "--zero", FactKind::distributed_optimizer},
    FactRow{"recompute_granularity", "--recompute", FactKind::recompute},
    FactRow{"fp8", "fp8", FactKind::precision},
    FactRow{"bf16", "bf16", FactKind::precision},
    FactRow{"bfloat16_enabled", "bf16", FactKind::precision},
    FactRow{"fp16", "fp16", FactKind::precision},
};

bool is_true(std::string_view value) { return same_caseless(value, "true"); }

/// Accelerators of nodes and devices of a node, where nothing states them.
void take_workers(TrainingLogBuilder& log) {
    double const nodes = printed_count(log.fact("nodes")).value_or(0),
                 devices = printed_count(log.fact("devices")).value_or(0);
    if (nodes * devices >= 1.0 && nodes * devices <= 1e9 && log.fact("--workers").empty()) {
        log.count_fact("--workers", fmt::format("{:.0f}", nodes * devices));
    }
}

void take(FactRow const& row, std::string_view value, TrainingLogBuilder& log) {
    switch (row.kind) {
    case FactKind::count:
        log.count_fact(row.option, value);
        if (row.option == "nodes" || row.option == "devices") { take_workers(log); }
        return;
    case FactKind::flag:
        if (is_true(value) || same_caseless(value, "false")) { log.fact(row.option, is_true(value) ? "on" : "off"); }
        return;
    case FactKind::distributed_optimizer:
        if (is_true(value)) { log.fact(row.option, "1"); }
        return;
    case FactKind::recompute:
        if (value == "full" || value == "selective") { log.fact(row.option, value); }
        if (same_caseless(value, "none")) { log.fact(row.option, "none"); }
        return;
    case FactKind::precision:
        bool const eight = row.option == "fp8" && (value == "e4m3" || value == "hybrid");
        bool const sixteen = row.option != "fp8" && is_true(value) && log.fact("--precision") != "fp8";
        if (eight || sixteen) { log.replace_fact("--precision", row.option); }
        return;
    }
}

/// The batch of all accelerators, under the names of loops: "Total batch size: 262,144 tokens", "effective_batch_size = 64".
void take_batch(std::string_view name, std::string_view value, TrainingLogBuilder& log) {
    static constexpr std::array<std::string_view, 7> batches{
        "globalbatchsize",     "totalbatchsize",          "totaldesiredbatchsize", "effectivebatchsize",
        "totaltrainbatchsize", "effectivetrainbatchsize", "trainbatchsizetotal"};
    static constexpr std::array<std::string_view, 6> tokens{"tokensperbatch",        "tokensperstep",
                                                            "tokensperiteration",    "totalbatchsizetokens",
                                                            "globalbatchsizetokens", "effectivebatchsizetokens"};
    name.remove_prefix(name.find_last_of("|]>") + 1);
    if (auto const dash = name.rfind(" - "); dash != name.npos) { name.remove_prefix(dash + 3); }
    constexpr std::size_t longest = 40;
    if (name.size() > longest ||
        (name.find("atch") == name.npos && name.find("per ") == name.npos && name.find("per_") == name.npos)) {
        return;
    }
    std::string const key = normalised(name);
    std::string_view const unit = trimmed_line(value.substr(std::min(number_length(value), value.size())));
    bool const batch = std::ranges::find(batches, key) != batches.end();
    auto const count = whole_after(value, "");
    bool const sequences = unit.starts_with("seq") || unit.starts_with("sample") || unit.starts_with("tok");
    bool const remark =
        unit.starts_with('(') && unit.find(')') + 1 == unit.size() && unit.find('=') == unit.npos; // "64 (8 x 8)"
    bool const whole = unit.empty() || unit == "," || unit == "." || remark; // not "8 * 8 = 64", "262_144", "4M tokens"
    if (!count || *count < 1 || !(whole || sequences)) { return; }
    constexpr std::int64_t most = 65'536; // sequences
    bool const large = key != "globalbatchsize" && *count > most;
    if (std::ranges::find(tokens, key) != tokens.end() || (batch && (large || unit.starts_with("tok")))) {
        return log.tokens_of_step(*count);
    }
    if (batch && *count <= 1'000'000'000) { log.count_fact("--global-batch", std::to_string(*count)); }
}

/// The name of a line "name ....... value" or "name: value", behind "Config param " and what loggers put in brackets.
std::string_view name_in(std::string_view line, std::string_view& value) {
    auto const dots = std::min(line.find(" ..."), line.find(" .. "));
    auto const equals = line.find('=');
    std::string_view const whole = trimmed_line(line);
    if (equals != std::string_view::npos && whole.ends_with(',') && whole.find_first_of(" \t") == whole.npos) {
        value = trimmed_line(line.substr(equals + 1));
        return trimmed_line(line.substr(0, equals + 1));
    }
    auto const colon = std::min(line.find(": "), line.find(" = ") == line.npos ? line.npos : line.find(" = ") + 1);
    if (dots != std::string_view::npos) {
        value = trimmed_line(line.substr(std::min(line.find_first_not_of(". ", dots), line.size())));
        std::string_view const name = trimmed_line(line.substr(0, dots));
        return name.substr(name.find_last_of(" \t]") + 1);
    }
    if (colon == std::string_view::npos) { // DeepSpeed's names of 28 letters and more have no dots behind them
        auto const gap = line.rfind("  ");
        if (gap == std::string_view::npos) { return {}; }
        value = trimmed_line(line.substr(gap));
        std::string_view const name = trimmed_line(line.substr(0, gap));
        return name.substr(name.find_last_of(" \t]") + 1);
    }
    value = trimmed_line(line.substr(colon + 2));
    std::string_view name = trimmed_line(line.substr(0, colon));
    bool const quoted = name.size() > 2 && name.front() == name.back() && (name.front() == '\'' || name.front() == '"');
    if (quoted) { name = name.substr(1, name.size() - 2); } // of a dictionary, one name a line
    if (auto const config = name.find("Config param "); config != std::string_view::npos) {
        name = name.substr(config + std::string_view{"Config param "}.size());
    }
    return name;
}

/// Micro-batches of a step, as arguments of any framework are printed: "gradient_accumulation_steps=8,".
void take_accumulation(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("accum") == std::string_view::npos) { return; }
    for (char const* const label : {"gradient_accumulation_steps", "gradient_accumulation_iters",
                                    "accumulate_grad_batches", "grad_accum_steps", "accumulative_counts"}) {
        if (int const count = count_after(line, label); count > 0) {
            return log.count_fact("accumulation", std::to_string(count));
        }
    }
}

} // namespace

namespace {

/// Length of the sequences in a line of Megatron-DeepSpeed: "actual seqlen: 2048", or its tokens over its samples.
void take_length(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("consumed samples:") == std::string_view::npos) { return; }
    if (line.find("actual seqlen:") != std::string_view::npos) {
        return log.count_fact("--sequence-length", word_after(line, "actual seqlen:"));
    }
    auto const samples = whole_after(line, "consumed samples:"), tokens = whole_after(line, "consumed tokens:");
    if (!samples || !tokens || *samples < 1 || *tokens < 1 || *tokens % *samples != 0) { return; }
    if (log.fact("--sequence-length").empty()) {
        log.count_fact("--sequence-length", std::to_string(*tokens / *samples));
    }
}

} // namespace

void take_fact_line(std::string_view line, TrainingLogBuilder& log) {
    take_length(line, log);
    constexpr std::size_t longest = 400;
    if (line.size() > longest) { return; }
    take_accumulation(line, log);
    std::string_view value;
    std::string_view const name = name_in(line, value);
    if (name.empty() || value.empty()) { return; }
    if (line.front() != ' ' && line.front() != '\t') {
        take_batch(name, value, log);
    } // indented, it may be of an evaluation
    value = value.substr(0, value.find_first_of(" \t,}"));
    value = value.substr(0, value.find("..")); // "2048......updated" of GPT-NeoX
    auto const row = std::ranges::find(fact_rows, name, &FactRow::name);
    if (row != fact_rows.end()) { take(*row, value, log); }
}

} // namespace headroom::io
