#include "headroom/io/launch_file.hpp"

#include "launch/launch_formats.hpp"
#include "launch/serving_formats.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace headroom::io {

using namespace launch;

namespace {

constexpr char const* formats_known = "read are: Megatron-LM, NeMo and Slurm scripts, DeepSpeed and TrainingArguments "
                                      "JSON, torchtitan TOML, YAML of Accelerate, "
                                      "axolotl, LLaMA-Factory, MaxText and NeMo, commands of vLLM, SGLang and "
                                      "TensorRT-LLM";

std::string last_part(std::string_view key) {
    auto const dot = key.rfind('.');
    return std::string{dot == std::string_view::npos ? key : key.substr(dot + 1)};
}

KeyRow const* row_of(Format const& format, std::string_view key) {
    for (KeyRow const& row : format.rows) {
        bool const by_end = row.key.starts_with("*.") && (key.ends_with(row.key.substr(1)) || key == row.key.substr(2));
        bool const by_start = row.key.ends_with(".*") && key.starts_with(row.key.substr(0, row.key.size() - 1));
        if (row.key == key || by_end || by_start) { return &row; }
    }
    return nullptr;
}

/// Options that strategy and question have, as files may name them themselves: "--tp" in a script.
bool is_option(std::string_view name) {
    constexpr std::array others{"--workers",      "--nodes",           "--accelerators-per-node",
                                "--global-batch", "--sequence-length", "--tokens",
                                "--steps",        "--framework",       "--price",
                                "--cluster"};
    return std::ranges::count(others, name) > 0 ||
           (name.starts_with("--") && strategy_field(name.substr(2)) != nullptr &&
            strategy_field(name.substr(2))->option == name);
}

class Mapping {
public:
    Mapping(Format const& format, std::string_view path) : format_{format} {
        file_.path = path;
        file_.format = format.name;
    }

    LaunchFile map(std::vector<Entry> const& entries) {
        for (Entry const& entry : entries) { take(entry); }
        for (Implied const& one : format_.implied) {
            bool const in_layers = one.option == "--virtual-pp" && find("--layers-per-chunk") != nullptr;
            if (find(one.option) == nullptr && !in_layers) { file_.implied.emplace_back(one.option, one.value); }
        }
        return std::move(file_);
    }

private:
    void take(Entry const& entry) {
        KeyRow const* row = row_of(format_, entry.key);
        if (row != nullptr && row->to.empty()) { return ignore(entry, std::string{row->note}); }
        if (normalised(entry.value) == "auto") {
            bool const explained = row != nullptr && !row->note.empty();
            return ignore(entry, explained ? std::string{row->note} : "\"auto\" leaves it to the software");
        }
        if (entry.value.find('$') != std::string::npos || entry.value.starts_with('*')) {
            return ignore(entry, "its value is set elsewhere");
        }
        bool const is_null = normalised(entry.value) == "null" || entry.value == "~";
        std::string const name = row != nullptr ? std::string{row->to} : own_name(entry.key);
        if (name.empty() || is_null) { return ignore_unknown(entry, is_null); }
        std::string value = entry.value;
        if (row != nullptr && row->translate != nullptr) {
            value = row->translate(value);
            if (value.empty()) {
                return ignore(entry, row->note.empty() ? "it asks for nothing" : std::string{row->note});
            }
        }
        set(entry, name, value);
    }

    /// The option, or the other tool's name, that a key without a row is.
    [[nodiscard]] std::string own_name(std::string const& key) const {
        if (!format_.words) { return {}; }
        std::string name = last_part(key);
        if (is_option(name)) { return name; }
        if (name.starts_with("--")) { name = name.substr(2); }
        return habit_word(name) != nullptr ? name : std::string{};
    }

    void set(Entry const& entry, std::string const& name, std::string const& value) {
        if (name.starts_with("--") || name == "MODEL") { return give(entry, name, value); }
        HabitWord const& word = *habit_word(name);
        std::string const option = words::split(word.options, ' ').front();
        bool const is_switch = !word.fixed.empty();
        bool const alone = is_switch && !switch_in(value) &&
                           (word.translate == nullptr || word.translate(value) == value); // "--bf16 train.py"
        std::string const own = habit_value(word, alone ? "true" : value);
        if (own.empty()) { return ignore(entry, "it asks for nothing"); }
        give(entry, option, own);
        HabitSetting const more = habit_addition(word, value);
        if (!more.option.empty()) { give(entry, more.option, more.value); }
    }

    void give(Entry const& entry, std::string const& option, std::string const& given) {
        if (given.empty()) { return ignore(entry, "it has no value"); }
        std::string* before = find(option);
        std::string value = given;
        if (before != nullptr && option == "--offload") { value = joined_offload(*before, given); }
        if (before != nullptr && option == "--train") { value = joined_training(*before, given); }
        if (before != nullptr && option == "--overlap" && *before != given) { value = *before + "," + given; }
        bool const eight = before != nullptr && option == "--precision" && (*before == "fp8" || given == "fp8");
        if (eight) { value = "fp8"; } // on top of a 16-bit format
        bool const merges = eight || option == "--offload" || option == "--train" || option == "--overlap";
        if (before != nullptr && !merges && *before != value) {
            file_.contradictions.push_back(fmt::format("{} is {} by {} and {} by {} (line {}): the later is taken",
                                                       option, *before, by_[option], value, entry.key, entry.line));
        }
        if (before != nullptr) {
            *before = value;
        } else {
            file_.options.emplace_back(option, value);
        }
        by_[option] = fmt::format("{} (line {})", entry.key, entry.line);
        file_.read.push_back({entry.key, entry.value, entry.line, option, given, {}});
    }

    /// Optimizer, parameters and activations, each of which a key offloads.
    static std::string joined_offload(std::string const& a, std::string const& b) {
        auto const any = [&](std::string_view name) { return a == name || b == name; };
        if (a == b || b == "none") { return a; }
        if (any("parameters") && any("activations")) { return "all"; }
        return any("parameters") ? "parameters" : any("none") ? b : "both";
    }

    /// "lora", "lora:8", "lora:16:linear" and "dora" of four keys as "dora:8:linear".
    static std::string joined_training(std::string const& a, std::string const& b) {
        auto const first = words::split(a, ':'), second = words::split(b, ':');
        if (!adapts(first.front()) || !adapts(second.front())) { return adapts(second.front()) && a != "all" ? a : b; }
        std::string const name = first.front() == "dora" ? first.front() : second.front();
        std::string const modules = second.size() > 2 ? second[2] : first.size() > 2 ? first[2] : "";
        bool const a_modules = first.size() > 2 && by_modules(a), b_modules = second.size() > 2 && by_modules(b);
        std::string const rank = second.size() > 1 && !b_modules  ? second[1]
                                 : first.size() > 1 && !a_modules ? first[1]
                                 : first.size() > 1               ? first[1]
                                 : second.size() > 1              ? second[1]
                                                                  : "";
        if (rank.empty() && modules.empty()) { return name; }
        return name + ":" + (rank.empty() ? "16" : rank) + (modules.empty() ? "" : ":" + modules);
    }
    static bool adapts(std::string const& name) { return name == "lora" || name == "dora"; }
    /// A text whose rank is the default that stands before modules.
    static bool by_modules(std::string const& text) {
        return text.starts_with("lora:16:") || text.starts_with("dora:16:");
    }

    void ignore(Entry const& entry, std::string note) {
        file_.ignored.push_back({entry.key, entry.value, entry.line, {}, {}, std::move(note)});
    }

    void ignore_unknown(Entry const& entry, bool is_null) {
        std::string_view const reason = neutral_reason(entry.key);
        ignore(entry, is_null ? "null" : reason.empty() ? "not understood" : std::string{reason});
    }

    std::string* find(std::string_view option) {
        for (auto& [name, value] : file_.options) {
            if (name == option) { return &value; }
        }
        return nullptr;
    }

    Format const& format_;
    LaunchFile file_;
    std::map<std::string, std::string> by_;
};

bool is_format(Format const& format, std::vector<Entry> const& entries) {
    std::vector<std::string> const signs = words::split(format.signs, ' ');
    return std::ranges::any_of(entries, [&](Entry const& entry) { return std::ranges::count(signs, entry.key) > 0; });
}

Format const* format_among(std::span<Format const> formats, std::vector<Entry> const& entries) {
    for (Format const& format : formats) {
        if (is_format(format, entries)) { return &format; }
    }
    return nullptr;
}

// ---- what needs several keys --------------------------------------------------------------------------------------

Entry const* entry_of(std::vector<Entry> const& entries, std::initializer_list<std::string_view> keys) {
    for (Entry const& entry : entries) {
        if (std::ranges::count(keys, std::string_view{entry.key}) > 0) { return &entry; }
    }
    return nullptr;
}

/// torchtitan: the local batch is the micro-batch, or what a pipeline cuts into micro-batches; replicas and shards make dp.
void finish_torchtitan(std::vector<Entry>& entries) {
    bool const pipeline = [&] {
        Entry const* stages = entry_of(entries, {"parallelism.pipeline_parallel_degree"});
        return stages != nullptr && stages->value != "1";
    }();
    Entry const* cut = entry_of(entries, {"parallelism.pipeline_parallel_microbatch_size"});
    Entry const* replicas = entry_of(entries, {"parallelism.data_parallel_replicate_degree"});
    Entry const* shards = entry_of(entries, {"parallelism.data_parallel_shard_degree"});
    for (Entry& entry : entries) {
        bool const local = entry.key == "training.local_batch_size" || entry.key == "training.batch_size";
        if (local && !pipeline) { entry.key = "micro_batch"; }
        if (&entry == cut && pipeline) { entry.key = "micro_batch"; }
    }
    Entry const* keeps = entry_of(entries, {"parallelism.fsdp_reshard_after_forward"});
    std::vector<Entry> more;
    bool const counted = shards != nullptr && shards->value != "-1";
    int const each = counted ? std::atoi(shards->value.c_str()) : 0,
              copies = replicas != nullptr ? std::atoi(replicas->value.c_str()) : 1;
    bool const sane = each > 0 && each < 1'000'000 && copies > 0 && copies < 1'000;
    if (sane) { more.push_back({"dp", std::to_string(each * copies), shards->line}); }
    if (sane && copies > 1 && each > 1) { more.push_back({"shard", std::to_string(each), shards->line}); }
    Entry const* tensor = entry_of(entries, {"parallelism.tensor_parallel_degree"});
    bool const splits = tensor != nullptr && tensor->value != "1";
    more.push_back({"sequence_parallel", splits ? "on" : "off", tensor != nullptr ? tensor->line : 0});
    bool const gathered = keeps != nullptr && normalised(keeps->value) == "never";
    for (Entry& entry : entries) {
        bool const degree = entry.key == "parallelism.data_parallel_shard_degree";
        if (degree && gathered) { entry.key += ", kept gathered"; }
    }
    if (pipeline && cut == nullptr) { more.push_back({"micro_batch", "1", 0}); }
    entries.insert(entries.end(), more.begin(), more.end());
}

/// HYBRID_SHARD of FSDP shards within a node.
void finish_sharding(std::vector<Entry>& entries) {
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
    if (type != nullptr && normalised(type->value) == "multigpu") { entries.push_back({"zero", "0", type->line}); }
}

/// A script states the processes of a node in several places: torchrun's count before Slurm's GPUs, these before tasks.
void finish_shell(std::vector<Entry>& entries) {
    auto const header = [](Entry const& entry) { return entry.key.starts_with("#SBATCH"); };
    bool const torchrun = entry_of(entries, {"--nproc_per_node", "--nproc-per-node"}) != nullptr;
    bool gpus = torchrun;
    for (Entry& entry : entries) {
        if (!header(entry)) { continue; }
        std::string const name = entry.key.substr(8);
        if (name == "--nodes" || name == "-N") { entry.key = "--nodes"; }
        bool const of_node = name == "--gpus-per-node" || name == "--gres";
        bool const is_gpu = name != "--gres" || entry.value.starts_with("gpu");
        if (of_node && is_gpu && !torchrun) {
            entry.key = "--accelerators-per-node";
            entry.value =
                entry.value.substr(entry.value.rfind(':') == std::string::npos ? 0 : entry.value.rfind(':') + 1);
            gpus = true;
        }
        if ((name == "--gpus" || name == "-G") && !torchrun) {
            entry.key = "--workers";
            entry.value =
                entry.value.substr(entry.value.rfind(':') == std::string::npos ? 0 : entry.value.rfind(':') + 1);
        }
    }
    for (Entry& entry : entries) {
        bool const tasks = entry.key == "#SBATCH --ntasks-per-node" && !gpus && entry.value != "1";
        if (tasks) { entry.key = "--accelerators-per-node"; }
    }
}

/// Megatron and NeMo recompute a number of layers of each model chunk where their method is "block".
void finish_recomputation(std::vector<Entry>& entries) {
    auto const named = [&entries](std::initializer_list<std::string_view> keys) {
        return std::ranges::find_if(
            entries, [&](Entry const& entry) { return std::ranges::count(keys, last_part(entry.key)) > 0; });
    };
    auto const method = named({"--recompute-method", "activations_checkpoint_method"});
    if (method == entries.end() || normalised(method->value) != "block") { return; }
    auto const number = [&](std::initializer_list<std::string_view> keys) {
        auto const entry = named(keys);
        int const value = entry != entries.end() ? std::atoi(entry->value.c_str()) : 1;
        return value > 0 && value < 1000 ? value : 1;
    };
    int const chunks = number({"--pipeline-model-parallel-size", "pipeline_model_parallel_size"}) *
                       number({"--num-virtual-stages-per-pipeline-rank", "--virtual-pipeline-model-parallel-size",
                               "virtual_pipeline_model_parallel_size"});
    auto const layers = named({"--recompute-num-layers", "activations_checkpoint_num_layers"});
    int const each = layers != entries.end() ? std::atoi(layers->value.c_str()) : 0;
    if (each > 0 && each < 10'000) { *layers = {"--recompute-layers", std::to_string(each * chunks), layers->line}; }
}

LaunchFile read_entries(std::vector<Entry> entries, std::span<Format const> formats, std::string_view path,
                        std::string_view syntax) {
    Format const* format = format_among(formats, entries);
    if (format == nullptr) {
        unreadable_error(path, fmt::format("{} of no launch file that is known", syntax), "none of its keys is of one",
                         formats_known);
    }
    if (format->name.starts_with("torchtitan")) { finish_torchtitan(entries); }
    if (format->name.starts_with("NeMo")) { finish_recomputation(entries); }
    finish_sharding(entries);
    return Mapping{*format, path}.map(entries);
}

/// The first character that says something: "{" of JSON.
char first_of(std::string_view text) {
    auto const at = text.find_first_not_of(" \t\r\n");
    return at == std::string_view::npos ? '\0' : text[at];
}

/// Lines "key: value" at the margin, as YAML has them, against options of a script.
bool looks_like_yaml(std::string_view text) {
    if (text.starts_with("#!") || text.find("#SBATCH") != std::string_view::npos) { return false; }
    int keys = 0, options = 0;
    for (std::string const& line : words::split(text, '\n')) {
        auto const colon = line.find(':');
        std::string_view const name = std::string_view{line}.substr(0, colon);
        bool const is_key = colon != std::string::npos && !name.empty() &&
                            name.find_first_of(" \t\"'-$#=") == std::string_view::npos &&
                            (colon + 1 == line.size() || line[colon + 1] == ' ');
        keys += is_key ? 1 : 0;
        options += line.starts_with("--") || line.find(" --") != std::string::npos ? 1 : 0;
    }
    return keys > options;
}

bool looks_like_toml(std::string_view text, std::string_view path) {
    if (path.ends_with(".toml")) { return true; }
    return text.starts_with("[") || text.find("\n[") != std::string_view::npos;
}

} // namespace

LaunchFile read_launch_file(std::string_view text, std::string_view path) {
    if (text.size() > record_limit) { unreadable_error(path, "too large for a launch file", "more than 4 MiB"); }
    if (text.find('\0') != std::string_view::npos) {
        unreadable_error(path, "not a text", "it has zero bytes", formats_known);
    }
    if (first_of(text) == '{') { return read_entries(yaml_entries(text, path), json_formats(), path, "JSON"); }
    bool const yaml = path.ends_with(".yaml") || path.ends_with(".yml") || looks_like_yaml(text);
    if (yaml) { return read_entries(yaml_entries(text, path), yaml_formats(), path, "YAML"); }
    if (looks_like_toml(text, path)) { return read_entries(toml_entries(text, path), toml_formats(), path, "TOML"); }
    std::vector<Entry> entries = shell_entries(text);
    if (entries.empty()) { unreadable_error(path, "no option of a launch in it", {}, formats_known); }
    if (Format const* engine = serving_format(entries)) {
        finish_serving(entries);
        return Mapping{*engine, path}.map(entries);
    }
    finish_shell(entries);
    finish_recomputation(entries);
    Format const* megatron = format_among(shell_formats(), entries);
    LaunchFile file = Mapping{megatron != nullptr ? *megatron : shell_formats().back(), path}.map(entries);
    if (file.read.empty()) { unreadable_error(path, "no option of a launch that is known", {}, formats_known); }
    return file;
}

} // namespace headroom::io
