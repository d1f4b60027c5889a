#include "launch/launch_finish.hpp"

#include "launch/launch_mapping.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace headroom::io::launch {

namespace {

bool is_key(std::string_view key, std::initializer_list<std::string_view> list) {
    return std::ranges::find(list, key) != list.end();
}

Entry const* entry_of(std::vector<Entry> const& entries, std::initializer_list<std::string_view> keys) {
    for (Entry const& entry : entries) {
        if (std::ranges::count(keys, std::string_view{entry.key}) > 0) { return &entry; }
    }
    return nullptr;
}

int whole(Entry const* entry, int otherwise) {
    int const value = entry != nullptr ? std::atoi(entry->value.c_str()) : otherwise;
    return value > 0 && value < 1'000'000 ? value : otherwise;
}

/// Keys that torchtitan had before its section of parallelism.
void rename_old_keys(std::vector<Entry>& entries) {
    for (Entry& entry : entries) {
        bool const old = entry.key.starts_with("experimental.") || entry.key.starts_with("training.");
        std::string const name = last_part(entry.key);
        if (!old || name.find("parallel") == std::string::npos) { continue; }
        entry.key = "parallelism." + (name == "data_parallel_degree" ? "data_parallel_shard_degree" : name);
    }
}

/// Sequences of a micro-batch, and micro-batches of a step where no global batch is stated.
void add_micro_batches(std::vector<Entry>& entries, bool pipeline) {
    Entry const* cut = entry_of(entries, {"parallelism.pipeline_parallel_microbatch_size"});
    Entry const* pieces = entry_of(entries, {"parallelism.pipeline_parallel_microbatches"});
    Entry const* global = entry_of(entries, {"training.global_batch_size"});
    Entry* local = nullptr;
    for (Entry& entry : entries) {
        if (entry.key == "training.local_batch_size" || entry.key == "training.batch_size") { local = &entry; }
    }
    if (!pipeline) {
        if (local != nullptr) { local->to = "--micro-batch"; }
        return;
    }
    int const sequences = whole(local, 8);
    int const micro = cut != nullptr ? whole(cut, 1) : std::max(1, sequences / whole(pieces, sequences));
    int const line = cut != nullptr ? cut->line : pieces != nullptr ? pieces->line : 0;
    std::string const key = cut != nullptr ? cut->key : pieces != nullptr ? pieces->key : "micro-batch of a pipeline";
    bool const stated = global != nullptr && std::atoi(global->value.c_str()) > 0;
    std::vector<Entry> more{{key, std::to_string(micro), line, false, "--micro-batch", {}}};
    if (!stated && sequences % micro == 0) {
        more.push_back({local != nullptr ? local->key : "local batch",
                        std::to_string(sequences / micro),
                        line,
                        false,
                        "--grad-accum",
                        {}});
    }
    if (cut != nullptr || pieces != nullptr) {
        std::erase_if(entries, [&](Entry const& one) { return one.key == more.front().key; });
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

/// Selective recomputation of every n-th layer, where it is not that of every second product ("op").
void count_recomputed_layers(std::vector<Entry>& entries, int layers) {
    auto const named = [&entries](std::string_view key) -> Entry* {
        auto const found = std::ranges::find(entries, key, &Entry::key);
        return found != entries.end() ? &*found : nullptr;
    };
    Entry* const mode = named("activation_checkpoint.mode");
    Entry* const option = named("activation_checkpoint.selective_ac_option");
    int const each = option != nullptr ? std::atoi(option->value.c_str()) : 0;
    bool const selective = mode != nullptr && normalised(mode->value) == "selective";
    if (!selective || each <= 0 || each > layers) { return; }
    mode->value = "full";
    option->to = "--recompute-layers";
    option->value = std::to_string(layers / each);
}

} // namespace

void finish_torchtitan(std::vector<Entry>& entries, Known known) {
    rename_old_keys(entries);
    count_recomputed_layers(entries, known.layers);
    Entry const* stages = entry_of(entries, {"parallelism.pipeline_parallel_degree"});
    add_micro_batches(entries, stages != nullptr && stages->value != "1");
    Entry const* replicas = entry_of(entries, {"parallelism.data_parallel_replicate_degree"});
    Entry const* shards = entry_of(entries, {"parallelism.data_parallel_shard_degree"});
    Entry const* keeps = entry_of(entries, {"parallelism.fsdp_reshard_after_forward"});
    std::vector<Entry> more;
    bool const counted = shards != nullptr && shards->value != "-1";
    int const each = counted ? std::atoi(shards->value.c_str()) : 0,
              copies = replicas != nullptr ? std::atoi(replicas->value.c_str()) : 1;
    bool const sane = each > 0 && each < 1'000'000 && copies > 0 && copies < 1'000;
    if (sane) { more.push_back({"dp", std::to_string(each * copies), shards->line}); }
    if (sane && copies > 1 && each > 1) { more.push_back({"shard", std::to_string(each), shards->line}); }
    if (!counted && copies > 1 && copies < 1'000) { // all the rest, whose number the workers give
        more.push_back({"shard", "dp/" + std::to_string(copies), replicas->line});
    }
    Entry const* tensor = entry_of(entries, {"parallelism.tensor_parallel_degree"});
    bool const splits = tensor != nullptr && tensor->value != "1";
    more.push_back({"sequence_parallel", splits ? "on" : "off", tensor != nullptr ? tensor->line : 0});
    bool const gathered = keeps != nullptr && normalised(keeps->value) == "never";
    for (Entry& entry : entries) {
        if (entry.key == "parallelism.data_parallel_shard_degree" && gathered) { entry.key += ", kept gathered"; }
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

namespace {

/// Replicas of shards by the sizes that Accelerate and axolotl state.
void add_mesh(std::vector<Entry>& entries) {
    Entry const* copies =
        entry_of(entries, {"dp_replicate_size", "parallelism_config.parallelism_config_dp_replicate_size"});
    Entry const* shards = entry_of(entries, {"dp_shard_size", "parallelism_config.parallelism_config_dp_shard_size"});
    int const each = whole(shards, 0), times = whole(copies, 1);
    if (each == 0 || times > 1'000) { return; }
    Entry const one = *shards;
    entries.push_back({one.key, std::to_string(each * times), one.line, false, "--dp", {}});
    if (times > 1) { entries.push_back({one.key, std::to_string(each), one.line, false, "--shard", {}}); }
    std::erase_if(entries, [](Entry const& entry) {
        std::string const name = last_part(entry.key);
        return entry.to.empty() && (name.ends_with("dp_replicate_size") || name.ends_with("dp_shard_size"));
    });
}

} // namespace

/// HYBRID_SHARD of FSDP shards within a node.
void finish_sharding(std::vector<Entry>& entries) {
    add_mesh(entries);
    Entry const* strategy = entry_of(entries, {"fsdp_config.fsdp_sharding_strategy"});
    bool const hybrid = strategy != nullptr && (normalised(strategy->value).starts_with("hybrid") ||
                                                strategy->value == "4" || strategy->value == "5");
    if (hybrid) { entries.push_back({"shard", "node", strategy->line}); }
    Entry const* processes = entry_of(entries, {"num_processes"});
    Entry const* machines = entry_of(entries, {"num_machines"});
    if (processes != nullptr && machines != nullptr) { // a machine may have more accelerators than are used
        int const all = std::atoi(processes->value.c_str()), nodes = std::atoi(machines->value.c_str());
        bool const even = nodes > 0 && all > 0 && all % nodes == 0;
        if (even) { entries.push_back({"num_processes / num_machines", std::to_string(all / nodes), processes->line}); }
    }
    Entry const* type = entry_of(entries, {"distributed_type"});
    Entry const* keeps = entry_of(entries, {"fsdp_config.fsdp_reshard_after_forward"});
    std::string const kind = type != nullptr ? normalised(type->value) : std::string{};
    bool const is_open = entry_of(entries, {"fsdp_config.fsdp_sharding_strategy"}) == nullptr &&
                         (keeps == nullptr || switch_in(keeps->value) == true);
    if (kind == "multigpu" || (kind == "fsdp" && is_open)) {
        entries.push_back({"zero", kind == "fsdp" ? "3" : "0", type->line});
    }
}

namespace {

/// Megatron and NeMo recompute a number of layers of each model chunk where their method is "block".
void finish_recomputation(std::vector<Entry>& entries, int layers_of_model) {
    auto const named = [&entries](std::initializer_list<std::string_view> keys) {
        return std::ranges::find_if(
            entries, [&](Entry const& entry) { return std::ranges::count(keys, last_part(entry.key)) > 0; });
    };
    auto const method = named({"--recompute-method", "activations_checkpoint_method", "recompute_method"});
    if (method == entries.end() || normalised(method->value) != "block") { return; }
    auto const number = [&](std::initializer_list<std::string_view> keys) {
        auto const entry = named(keys);
        int const value = entry != entries.end() ? std::atoi(entry->value.c_str()) : 1;
        return value > 0 && value < 1000 ? value : 1;
    };
    int const stages = number({"--pipeline-model-parallel-size", "pipeline_model_parallel_size"}) *
                       number({"--num-virtual-stages-per-pipeline-rank", "--virtual-pipeline-model-parallel-size",
                               "virtual_pipeline_model_parallel_size"});
    auto const layers = named({"--recompute-num-layers", "activations_checkpoint_num_layers", "recompute_num_layers"});
    if (layers == entries.end()) { return; }
    auto const unknown = [&](std::initializer_list<std::string_view> keys) {
        auto const entry = named(keys);
        return entry != entries.end() && (entry->value.find('$') != std::string::npos || !entry->doubt.empty());
    };
    auto const by_chunk = named({"--num-layers-per-virtual-pipeline-stage", "num_layers_per_virtual_pipeline_stage"});
    int const all = layers_of_model > 0 ? layers_of_model : number({"--num-layers", "num_layers"}),
              of_chunk = by_chunk != entries.end() ? std::atoi(by_chunk->value.c_str()) : 0;
    bool const counted = of_chunk == 0 || (of_chunk > 0 && all > 1 && all % of_chunk == 0);
    int const chunks = of_chunk > 0 && counted ? all / of_chunk : stages;
    int const each = std::atoi(layers->value.c_str());
    layers->to = "--recompute-layers";
    if (!counted || each <= 0 || each >= 10'000 ||
        unknown({"--pipeline-model-parallel-size", "pipeline_model_parallel_size"})) {
        layers->doubt = "layers of each model chunk, whose number is not in the file: give --recompute-layers";
    } else {
        layers->value = std::to_string(each * chunks);
    }
}

/// Layers of every stage, where those of the first or of the last are stated.
void finish_stages(std::vector<Entry>& entries, int layers) {
    auto const named = [&entries](std::initializer_list<std::string_view> keys) -> Entry* {
        auto const found = std::ranges::find_if(
            entries, [&](Entry const& entry) { return is_key(last_part(entry.key), keys) && !entry.is_null; });
        return found != entries.end() ? &*found : nullptr;
    };
    Entry* const first = named({"--decoder-first-pipeline-num-layers", "num_layers_in_first_pipeline_stage"});
    Entry* const last = named({"--decoder-last-pipeline-num-layers", "num_layers_in_last_pipeline_stage"});
    if (first == nullptr && last == nullptr) { return; }
    int const stages = whole(named({"--pipeline-model-parallel-size", "pipeline_model_parallel_size"}), 0);
    int const ends = (first != nullptr ? 1 : 0) + (last != nullptr ? 1 : 0);
    int const rest = layers - whole(first, 0) - whole(last, 0), between = stages - ends;
    if (stages > 512 || between <= 0 || rest <= 0 || rest % between != 0) { return; } // the row says so
    std::string counts;
    for (int i = 0; i < stages; ++i) {
        Entry const* const end = i == 0 ? first : i + 1 == stages ? last : nullptr;
        counts += (i > 0 ? "," : "") + std::to_string(end != nullptr ? whole(end, 0) : rest / between);
    }
    for (Entry* const one : {first, last}) {
        if (one == nullptr) { continue; }
        one->to = "--layers-per-stage";
        one->value = counts;
    }
}

} // namespace

void finish_megatron(std::vector<Entry>& entries, Known known) {
    finish_recomputation(entries, known.layers);
    finish_stages(entries, known.layers);
    finish_layout(entries, known.layers);
}

namespace {

/// Values that MaxText has where the file has none.
void add_defaults_of_maxtext(std::vector<Entry>& entries) {
    for (auto const& [key, value] :
         {std::pair{"per_device_batch_size", "12"}, std::pair{"ici_fsdp_parallelism", "-1"}}) {
        if (entry_of(entries, {key}) == nullptr) { entries.push_back({key, value, 0}); }
    }
}

/// Replicas over slices, each of which shards over its own chips.
void add_shards_of_maxtext(std::vector<Entry>& entries) {
    Entry const* inside = entry_of(entries, {"ici_fsdp_parallelism"});
    Entry const* across = entry_of(entries, {"dcn_fsdp_parallelism"});
    bool copies = false;
    for (Entry const& entry : entries) {
        bool const data = is_key(entry.key, {"dcn_data_parallelism", "ici_data_parallelism"});
        copies = copies || (data && whole(&entry, 1) > 1);
    }
    int const each = whole(inside, 0) * whole(across, 1);
    if (!copies || inside == nullptr || inside->value == "1") { return; }
    Entry one{inside->key, std::to_string(each), inside->line, false, "--shard", {}};
    if (each == 0) { one.doubt = "a part of the replicas, whose number is not in the file: give --shard"; }
    entries.push_back(std::move(one));
}

} // namespace

void finish_maxtext(std::vector<Entry>& entries, Known known) {
    if (known.is_alone) { add_defaults_of_maxtext(entries); }
    add_shards_of_maxtext(entries);
    Entry* each = nullptr;
    double ranks = 1.0;
    int stages = 1;
    Entry const* pieces = entry_of(entries, {"num_pipeline_microbatches"});
    for (Entry& entry : entries) {
        if (entry.key == "per_device_batch_size") { each = &entry; }
        bool const splits =
            is_key(entry.key, {"ici_tensor_parallelism", "ici_context_parallelism", "dcn_tensor_parallelism"});
        bool const cuts = is_key(entry.key, {"ici_pipeline_parallelism", "dcn_pipeline_parallelism"});
        int const degree = std::atoi(entry.value.c_str());
        if (splits && degree > 0) { ranks *= degree; }
        if (cuts && degree > 0) { stages *= degree; }
    }
    if (each == nullptr) { return; }
    int const micro_batches = stages > 1 ? whole(pieces, stages) : 1;
    double const sequences = std::atof(each->value.c_str()) * ranks * stages / micro_batches;
    bool const is_whole =
        sequences >= 1.0 && sequences < 1e6 && sequences == static_cast<double>(static_cast<int>(sequences));
    each->to = "--micro-batch";
    if (!is_whole) { each->doubt = "no whole number of sequences in a micro-batch: give --micro-batch"; }
    if (is_whole) { each->value = std::to_string(static_cast<int>(sequences)); }
    if (stages > 1 && pieces == nullptr) {
        entries.push_back(
            {"micro-batches of the pipeline", std::to_string(stages), each->line, false, "--grad-accum", {}});
    }
}

void finish_neox(std::vector<Entry>& entries, Known) {
    for (Entry& entry : entries) { std::ranges::replace(entry.key, '-', '_'); }
    Entry const* type = entry_of(entries, {"fp16.type"});
    if (type == nullptr || normalised(type->value) != "bfloat16") { return; }
    for (Entry& entry : entries) {
        if (entry.key == "fp16.enabled") { entry.key = "bf16.enabled"; }
    }
}

std::vector<Entry> keys_of_options(std::vector<Entry>& entries, bool all) {
    auto const is_one = [all](Entry const& entry) {
        bool const launches = is_key(entry.key, {"--nnodes", "--nproc_per_node", "--nproc-per-node", "--config"});
        return entry.key.starts_with("--") && !launches && entry.to.empty() &&
               (all || entry.key.find('.') != std::string::npos);
    };
    std::vector<Entry> keys;
    for (Entry const& entry : entries) {
        if (!is_one(entry)) { continue; }
        keys.push_back(entry);
        keys.back().key.erase(0, 2);
        if (entry.value.empty()) { keys.back().value = "true"; }
    }
    std::erase_if(entries, is_one);
    return keys;
}

void finish_torchtune(std::vector<Entry>& entries, Known) {
    Entry const* model = entry_of(entries, {"model._component_"});
    Entry const* attention = entry_of(entries, {"model.lora_attn_modules"});
    Entry const* mlp = entry_of(entries, {"model.apply_lora_to_mlp"});
    Entry const* rank = entry_of(entries, {"model.lora_rank"});
    std::string const name = model != nullptr ? last_part(model->value) : std::string{};
    std::vector<Entry> more;
    if (name.starts_with("qlora_")) { more.push_back({model->key, "nf4", model->line, false, "--base", {}}); }
    if (attention != nullptr) {
        std::string modules = attention->value;
        if (mlp != nullptr && switch_in(mlp->value) == true) { modules += ",gate_proj,up_proj,down_proj"; }
        std::ranges::replace(modules, ',', '+');
        if (auto const at = modules.find("output_proj"); at != std::string::npos) { modules.replace(at, 6, "o"); }
        std::string const of_rank = rank != nullptr ? rank->value : "8";
        more.push_back({attention->key, "lora:" + of_rank + ":" + modules, attention->line, false, "--train", {}});
        std::erase_if(entries, [](Entry const& entry) {
            return is_key(entry.key, {"model.lora_attn_modules", "model.apply_lora_to_mlp", "model.lora_rank"});
        });
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

void finish_litgpt(std::vector<Entry>& entries, Known) {
    std::string modules;
    Entry const* rank = entry_of(entries, {"lora_r"});
    constexpr std::array switches{std::pair{"lora_query", "q"}, std::pair{"lora_key", "k"},
                                  std::pair{"lora_value", "v"}, std::pair{"lora_projection", "o"},
                                  std::pair{"lora_mlp", "gate+up+down"}};
    for (auto const& [key, name] : switches) {
        Entry const* one = entry_of(entries, {key});
        bool const on = one != nullptr ? switch_in(one->value) == true
                                       : name == std::string_view{"q"} || name == std::string_view{"v"};
        if (on) { modules += (modules.empty() ? "" : "+") + std::string{name}; }
    }
    Entry const* precision = entry_of(entries, {"precision", "trainer.precision"});
    std::vector<Entry> more;
    if (rank != nullptr && !modules.empty()) {
        more.push_back({rank->key, "lora:" + rank->value + ":" + modules, rank->line, false, "--train", {}});
    }
    if (precision != nullptr && precision->value == "bf16-true") {
        more.push_back({precision->key, "on", precision->line, false, "--pure-bf16", {}});
    }
    if (rank != nullptr) {
        std::erase_if(entries, [](Entry const& entry) { return entry.key.starts_with("lora_"); });
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

std::vector<std::string> finish_command(std::vector<Entry>& entries) {
    std::vector<std::string> notes;
    std::vector<Entry> more;
    auto const named = [&](std::string_view name) -> Entry* {
        auto const found = std::ranges::find_if(
            entries, [&](Entry const& entry) { return normalised(entry.key) == normalised(name); });
        return found != entries.end() ? &*found : nullptr;
    };
    bool const accumulates = std::ranges::any_of(entries, [](Entry const& one) {
        return one.key.find("accum") != std::string::npos || one.key.starts_with('$');
    });
    bool const nano = named("--block_size") != nullptr && named("--per_device_train_batch_size") == nullptr;
    for (Entry& entry : entries) {
        bool const batch = is_key(entry.key, {"torchrun --batch-size", "torchrun --batch_size"});
        bool const own = nano && entry.key == "--batch_size";
        if (own) { entry.to = "--micro-batch"; }
        if (batch && named("--micro_batch_size") != nullptr) { // of all accelerators
            entry.to = "--global-batch";
            continue;
        }
        if (batch && !nano) {
            notes.push_back(
                fmt::format("{} {} (line {}) is read as the sequences of one accelerator: give --global-batch "
                            "where they are those of all",
                            entry.key.substr(9), entry.value, entry.line));
        }
        if (batch && !nano && !accumulates) { more.push_back({entry.key, "1", entry.line, false, "--grad-accum", {}}); }
        Entry* const steps = (batch || own) && nano ? named("--gradient_accumulation_steps") : nullptr;
        int const all = steps != nullptr ? whole(&entry, 0) * std::min(whole(steps, 0), 1000) : 0;
        if (all > 0) {
            steps->to = "--global-batch";
            steps->value = std::to_string(all);
        }
    }
    entries.insert(entries.end(), more.begin(), more.end());
    if (Entry* const habana = named("--use_habana")) {
        bool const deepspeed = named("--deepspeed") != nullptr || named("--use_deepspeed") != nullptr;
        habana->value = deepspeed ? "optimum-habana-deepspeed" : "optimum-habana";
    }
    return notes;
}

std::vector<Entry> parted(std::vector<Entry>& entries, std::string_view prefix) {
    std::vector<Entry> inner;
    for (Entry const& entry : entries) {
        if (!entry.key.starts_with(prefix)) { continue; }
        inner.push_back(entry);
        inner.back().key.erase(0, prefix.size());
    }
    std::erase_if(entries, [&](Entry const& entry) { return entry.key.starts_with(prefix); });
    return inner;
}

std::vector<std::string> finish_named_stage(std::vector<Entry>& entries) {
    std::vector<std::string> notes;
    std::vector<Entry> more;
    for (Entry const& entry : entries) {
        bool const of_trl = normalised(entry.key) == "accelerateconfig"; // "zero2", "fsdp1"
        bool const file = of_trl || is_key(normalised(entry.key),
                                           {"deepspeed", "deepspeedconfig", "deepspeedconfigfile", "configfile"});
        std::string const name = normalised(
            entry.value.substr(entry.value.rfind('/') == std::string::npos ? 0 : entry.value.rfind('/') + 1));
        if (!file) { continue; }
        bool const states_precision = std::ranges::any_of(entries, [](Entry const& one) {
            return is_key(normalised(one.key), {"bf16", "fp16", "mixedprecision"});
        });
        if (of_trl && !states_precision) { more.push_back({entry.key, "bf16", entry.line, false, "--precision", {}}); }
        if (of_trl && name.starts_with("fsdp")) { more.push_back({entry.key, "3", entry.line, false, "--zero", {}}); }
        for (std::string_view const word : {"zero", "stage", "dsz"}) {
            auto const at = name.find(word);
            char const digit = at != std::string::npos && at + word.size() < name.size() ? name[at + word.size()] : ' ';
            if (digit < '1' || digit > '3') { continue; }
            more.push_back({entry.key, std::string{digit}, entry.line, false, "--zero", {}});
            notes.push_back(
                fmt::format("--zero {} is read from the name {}: give that file with --from", digit, entry.value));
            break;
        }
    }
    entries.insert(entries.end(), more.begin(), more.end());
    return notes;
}

} // namespace headroom::io::launch
