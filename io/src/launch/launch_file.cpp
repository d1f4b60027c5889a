#include "headroom/io/launch_file.hpp"

#include "launch/launch_finish.hpp"
#include "launch/launch_mapping.hpp"
#include "launch/serving_formats.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace launch;

namespace {

constexpr char const* formats_known =
    "read are: Megatron-LM, NeMo and Slurm scripts, DeepSpeed and TrainingArguments "
    "JSON, torchtitan TOML, YAML of Accelerate, "
    "axolotl, LLaMA-Factory, MaxText, GPT-NeoX, torchtune and NeMo, commands of vLLM, SGLang and "
    "TensorRT-LLM";

/// Files of Megatron's tests have options as keys: "MODEL_ARGS.--micro-batch-size".
bool has_options_as_keys(std::vector<Entry> const& entries) {
    return std::ranges::any_of(entries, [](Entry const& entry) { return last_part(entry.key).starts_with("--"); });
}

LaunchFile read_options(std::vector<Entry> entries, std::string_view path) {
    for (Entry& entry : entries) { entry.key = last_part(entry.key); }
    finish_recomputation(entries);
    Format const* format = format_among(shell_formats(), entries);
    Format const& taken = format != nullptr ? *format : shell_formats().back();
    Mapping mapping{path};
    mapping.take(entries, taken);
    return mapping.result(taken);
}

LaunchFile read_entries(std::vector<Entry> entries, std::span<Format const> formats, std::string_view path,
                        std::string_view syntax) {
    Format const* format = format_among(formats, entries);
    if (format == nullptr && has_options_as_keys(entries)) { return read_options(std::move(entries), path); }
    if (format == nullptr) {
        unreadable_error(path, fmt::format("{} of no launch file that is known", syntax), "none of its keys is of one",
                         formats_known);
    }
    std::string_view const name = format->name;
    std::vector<Entry> const inner = name.starts_with("Hugging") ? parted(entries, "deepspeed.") : std::vector<Entry>{};
    if (name.starts_with("torchtitan")) { finish_torchtitan(entries); }
    if (name.starts_with("NeMo")) { finish_recomputation(entries); }
    if (name.starts_with("MaxText")) { finish_maxtext(entries); }
    if (name.starts_with("GPT-NeoX")) { finish_neox(entries); }
    if (name.starts_with("axolotl")) { finish_axolotl(entries); }
    if (name.starts_with("LLaMA-Factory")) { finish_llama_factory(entries); }
    finish_sharding(entries);
    Mapping mapping{path};
    if (format->words) {
        for (std::string& text : finish_named_stage(entries)) { mapping.note(std::move(text)); }
    }
    mapping.take(entries, *format);
    if (!inner.empty()) { mapping.take(inner, nested_deepspeed()); }
    return mapping.result(*format);
}

/// A script: options of the command that trains and of what starts it, and keys of YAML that it overrides.
LaunchFile read_script(ShellEntries script, std::string_view path) {
    std::vector<Entry>& entries = script.entries;
    finish_shell(entries);
    finish_recomputation(entries);
    Mapping mapping{path};
    for (std::string& text : script.notes) { mapping.note(std::move(text)); }
    for (std::string& text : finish_named_stage(entries)) { mapping.note(std::move(text)); }
    Format const* format = format_among(shell_formats(), entries);
    Format const& taken = format != nullptr ? *format : shell_formats().back();
    if (taken.name.starts_with("LLaMA-Factory")) { finish_llama_factory(entries); }
    Format const* keys = format_among(yaml_formats(), script.overrides);
    mapping.take(entries, taken);
    if (!script.overrides.empty()) {
        if (keys != nullptr && keys->name.starts_with("NeMo")) { finish_recomputation(script.overrides); }
        if (keys != nullptr && keys->name.starts_with("MaxText")) { finish_maxtext(script.overrides); }
        mapping.take(script.overrides, keys != nullptr ? *keys : taken);
    }
    LaunchFile file = mapping.result(format == nullptr && keys != nullptr ? *keys : taken, script.is_partial);
    if (keys != nullptr && format == nullptr) { file.format = fmt::format("script with keys of {}", keys->name); }
    if (file.read.empty()) { unreadable_error(path, "no option of a launch that is known", {}, formats_known); }
    return file;
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

/// A table of TOML on a line of its own: "[parallelism]".
bool looks_like_toml(std::string_view text, std::string_view path) {
    if (path.ends_with(".toml")) { return true; }
    if (path.ends_with(".sh") || text.starts_with("#!")) { return false; }
    for (std::string const& line : words::split(text, '\n')) {
        auto const close = line.find(']');
        bool const table = line.starts_with('[') && close != std::string::npos && close > 1 && line.find(' ') > close &&
                           line.find_first_not_of(" \t\r", close + 1) == std::string::npos;
        if (table) { return true; }
    }
    return false;
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
    ShellEntries script = shell_entries(text);
    if (script.too_large) {
        unreadable_error(path, "too much of a script", "its conditions or its variables grow too large");
    }
    if (script.entries.empty() && script.overrides.empty()) {
        unreadable_error(path, "no option of a launch in it", {}, formats_known);
    }
    if (Format const* engine = serving_format(script.entries)) {
        finish_serving(script.entries);
        Mapping mapping{path};
        mapping.take(script.entries, *engine);
        return mapping.result(*engine);
    }
    return read_script(std::move(script), path);
}

} // namespace headroom::io
