#include "training_logs/training_log_formats.hpp"

#include <array>
#include <charconv>

namespace headroom::io {
namespace {

/// "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]": degrees by their names, and the product of all.
void take_mesh(std::string_view line, TrainingLogBuilder& log) {
    auto const names_at = line.find("device mesh with [");
    auto const sizes_at = names_at == std::string_view::npos ? names_at : line.find("], [", names_at);
    if (sizes_at == std::string_view::npos) { return; }
    std::string_view names = line.substr(names_at, sizes_at - names_at), sizes = line.substr(sizes_at + 4);
    std::int64_t workers = 1;
    bool replicates = false, shards = false;
    for (std::size_t begin = names.find('\''); begin != std::string_view::npos; begin = names.find('\'')) {
        auto const end = names.find('\'', begin + 1);
        if (end == std::string_view::npos) { return; }
        std::string_view const name = names.substr(begin + 1, end - begin - 1);
        names.remove_prefix(end + 1);
        int size = 0;
        sizes = sizes.substr(std::min(sizes.find_first_of("0123456789"), sizes.size()));
        auto const [stop, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
        if (error != std::errc{} || size < 1 || workers > 100'000'000 / size) { return; }
        std::string_view const digits = sizes.substr(0, static_cast<std::size_t>(stop - sizes.data()));
        sizes.remove_prefix(digits.size());
        workers *= size;
        shards |= size > 1 && (name.starts_with("dp_shard") || name == "fsdp");
        replicates |= size > 1 && name == "dp_replicate";
        if (name == "tp" || name == "pp" || name == "cp") { log.count_fact("--" + std::string{name}, digits); }
    }
    log.fact("--workers", std::to_string(workers));
    if (shards || replicates) { log.fact("--zero", shards ? "3" : "0"); } // FSDP or HSDP; DDP
}

/// "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1, etp=1": experts split ranks of others.
void take_parallelism(std::string_view line, TrainingLogBuilder& log) {
    auto const at = line.find("device mesh with parallelism:");
    if (at == std::string_view::npos) { return; }
    std::string_view const text = line.substr(at);
    std::int64_t workers = 1;
    constexpr std::int64_t most = 100'000'000;
    for (char const* const name : {"pp=", "dp_replicate=", "dp_shard=", "cp=", "tp="}) {
        int const size = count_after(text, name);
        if (size < 1 || workers > most / size) { return; }
        workers *= size;
    }
    log.fact("--workers", std::to_string(workers));
    log.count_fact("--pp", word_after(text, "pp="));
    log.count_fact("--cp", word_after(text, "cp="));
    log.count_fact("--tp", word_after(text, "tp="));
    if (workers == 1) { return; }
    int const shards = count_after(text, "dp_shard="), replicas = count_after(text, "dp_replicate=");
    if (shards > 1 || replicas > 1) { log.fact("--zero", shards > 1 ? "3" : "0"); }
}

/// "Training starts at step 1, with local batch size 2, global batch size 8, ..."; since 2025 "Trainer is initialized with ...".
void take_header(std::string_view line, TrainingLogBuilder& log) {
    log.begin_run();
    log.count_fact("--global-batch", word_after(line, "global batch size"));
    log.count_fact("--sequence-length", word_after(line, "sequence length"));
    bool const stages = !log.fact("--pp").empty() && log.fact("--pp") != "1"; // which split the local batch
    if (!stages) { log.count_fact("--micro-batch", word_after(line, "local batch size")); }
}

/// Facts on sharding, recomputation and precision that are printed while the model is built.
void take_building(std::string_view line, TrainingLogBuilder& log) {
    struct Row {
        std::string_view text, option, value;
    };
    static constexpr std::array rows{
        Row{"Applied FSDP to the model", "--zero", "3"},
        Row{"Applied HSDP to the model", "--zero", "3"},
        Row{"Applied DDP to the model", "--zero", "0"},
        Row{"Applied full activation checkpointing", "--recompute", "full"},
        Row{"Applied selective activation checkpointing", "--recompute", "alternate"},
        Row{"Swapped to Float8Linear layers", "--precision", "fp8"},
    };
    for (Row const& row : rows) {
        if (line.find(row.text) != std::string_view::npos) { log.fact(row.option, row.value); }
    }
}

} // namespace

void take_torchtitan_line(std::string_view line, TrainingLogBuilder& log) {
    bool const starts = line.find("Training starts at step") != std::string_view::npos;
    if ((starts || line.find("Trainer is initialized with") != std::string_view::npos) &&
        line.find("batch size") != std::string_view::npos) {
        return take_header(line, log);
    }
    take_mesh(line, log);
    take_parallelism(line, log);
    if (line.find("to the model") != std::string_view::npos || line.find("Float8") != std::string_view::npos ||
        line.find("activation checkpointing") != std::string_view::npos) {
        take_building(line, log);
    }
    if (line.find("validate step:") != std::string_view::npos) { return log.evaluation(); }
    auto const number = whole_after(line, "step:");
    auto rate = number_after(line, "tps:");
    if (!rate) { rate = number_after(line, "wps:"); }
    bool const ours = line.find("loss:") != line.npos && line.find("memory:") != line.npos; // others' tps may be of all
    if (!number || !rate || !ours) { return; }
    if (auto const most = bytes_in(line.substr(std::min(line.find("memory:") + 7, line.size())))) { log.memory(*most); }
    log.step({.number = *number,
              .figure = StepFigure::tokens_per_second_per_accelerator,
              .value = *rate,
              .rates = rates_after(line, {{training::LogRateKind::accelerator_teraflops, "tflops:"}})});
}

} // namespace headroom::io
