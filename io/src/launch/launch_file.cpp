#include "headroom/io/launch_file.hpp"

#include "launch/job_description.hpp"
#include "launch/launch_finish.hpp"
#include "launch/launch_mapping.hpp"
#include "launch/launch_overrides.hpp"
#include "launch/launch_refusals.hpp"
#include "launch/serving_formats.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace headroom::io {

using namespace launch;

namespace {

constexpr char const* formats_known =
    "read are: Megatron-LM, NeMo and Slurm scripts, DeepSpeed and TrainingArguments "
    "JSON, torchtitan TOML, YAML of Accelerate, "
    "axolotl, LLaMA-Factory, MaxText, GPT-NeoX, torchtune, NeMo, Lightning, litgpt, nanotron, Levanter and LLM "
    "Foundry, "
    "commands of fairseq, vLLM, SGLang and TensorRT-LLM, and any of these commands in YAML of Kubernetes and SkyPilot";

/// Files of Megatron's tests have options as keys: "MODEL_ARGS.--micro-batch-size".
bool has_options_as_keys(std::vector<Entry> const& entries) {
    return std::ranges::any_of(entries, [](Entry const& entry) { return last_part(entry.key).starts_with("--"); });
}

LaunchFile read_options(std::vector<Entry> entries, std::string_view path, LaunchContext const& context) {
    for (Entry& entry : entries) { entry.key = last_part(entry.key); }
    finish_megatron(entries, {.layers = context.layers});
    Format const* format = format_among(shell_formats(), entries);
    Format const& taken = format != nullptr ? *format : shell_formats().back();
    Mapping mapping{path, context.workers};
    mapping.take(entries, taken);
    return mapping.result(taken);
}

LaunchFile read_entries(std::vector<Entry> entries, std::span<Format const> formats, std::string_view path,
                        std::string_view syntax, LaunchContext const& context) {
    refuse_other_steps(entries, path);
    Mapping mapping{path, context.workers};
    for (std::string& text : keep_last(entries)) { mapping.note(std::move(text)); }
    Format const* format = format_among(formats, entries);
    std::vector<LaunchKey> const overrides =
        format != nullptr ? take_overrides(entries, context.overrides, *format) : std::vector<LaunchKey>{};
    for (LaunchKey const& one : overrides) { mapping.note(one.note); }
    put_in_references(entries);
    if (format == nullptr && has_options_as_keys(entries)) { return read_options(std::move(entries), path, context); }
    if (format == nullptr) {
        unreadable_error(path, fmt::format("{} of no launch file that is known", syntax), "none of its keys is of one",
                         formats_known);
    }
    std::string_view const name = format->name;
    std::vector<Entry> const inner = name.starts_with("Hugging") ? parted(entries, "deepspeed.") : std::vector<Entry>{};
    if (format->finish != nullptr) { format->finish(entries, {.layers = context.layers}); }
    finish_sharding(entries);
    if (format->words) {
        for (std::string& text : finish_named_stage(entries)) { mapping.note(std::move(text)); }
    }
    mapping.take(entries, *format);
    if (!inner.empty()) { mapping.take(inner, nested_deepspeed()); }
    LaunchFile file = mapping.result(*format);
    file.has_settings = true;
    file.overrides = overrides;
    return file;
}

/// The first character that says something: "{" of JSON.
char first_of(std::string_view text) {
    auto const at = text.find_first_not_of(" \t\r\n");
    return at == std::string_view::npos ? '\0' : text[at];
}

/// JSON without its comments, whose lines stay: "// text" and "/* text */" outside of quotation marks.
std::string without_comments(std::string_view text) {
    std::string plain;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        char const c = text[at];
        bool const escaped = quoted && c == '\\' && at + 1 < text.size();
        if (c == '"') { quoted = !quoted; }
        std::string_view const two = text.substr(at, 2);
        if (!quoted && (two == "//" || two == "/*")) {
            std::size_t const end = two == "//" ? text.find('\n', at) : text.find("*/", at + 2);
            std::size_t const stop = end == std::string_view::npos ? text.size() : two == "//" ? end : end + 2;
            plain.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                             text.begin() + static_cast<std::ptrdiff_t>(stop), '\n')),
                         '\n');
            at = stop - 1;
            continue;
        }
        plain += c;
        if (escaped) { plain += text[++at]; }
    }
    return plain;
}

/// DeepSpeed's JSON that a script writes to a file for its own command, which names it by an option.
std::vector<Entry> written_deepspeed(std::vector<Heredoc> const& texts, std::string_view path,
                                     std::vector<Entry>& options) {
    std::vector<Entry> found;
    for (Heredoc const& one : texts) {
        if (first_of(one.text) != '{') { continue; }
        try {
            found = yaml_entries(without_comments(one.text), path);
        } catch (InputError const&) { continue; } // no JSON
        Format const* format = format_among(json_formats(), found);
        if (format == nullptr || !format->name.starts_with("DeepSpeed")) {
            found.clear();
            continue;
        }
        for (Entry& entry : found) { entry.line += one.line - 1; }
        for (Entry& option : options) {
            std::string const key = normalised(option.key);
            bool const names_it = key == "deepspeed" || key == "deepspeedconfig" || key == "deepspeedconfigfile";
            if (names_it) { option.doubt = "its text is in the script"; }
        }
        break;
    }
    return found;
}

/// A script: options of the command that trains and of what starts it, and keys of YAML that it overrides.
LaunchFile read_script(ShellEntries script, std::string_view path, LaunchContext const& context) {
    std::vector<Entry>& entries = script.entries;
    refuse_other_programs(script.programs, path);
    refuse_other_steps(entries, path);
    refuse_other_steps(script.overrides, path);
    Mapping mapping{path, context.workers};
    for (std::vector<Entry>* const list : {&entries, &script.overrides}) {
        for (std::string& text : keep_last(*list)) { mapping.note(std::move(text)); }
    }
    std::vector<LaunchKey> const overrides = overrides_of(script, path, context.overrides);
    finish_shell(entries);
    finish_megatron(entries, {.layers = context.layers});
    for (std::string& text : finish_command(entries)) { mapping.note(std::move(text)); }
    for (std::string& text : script.notes) { mapping.note(std::move(text)); }
    for (std::string& text : finish_named_stage(entries)) { mapping.note(std::move(text)); }
    Format const* format = format_of_programs(shell_formats(), script.programs);
    if (format == nullptr) { format = format_among(shell_formats(), entries); }
    Format const& taken = format != nullptr ? *format : shell_formats().back();
    auto const runs = [&script](std::string_view program) { return std::ranges::count(script.programs, program) > 0; };
    Known const known{.layers = context.layers, .is_alone = std::ranges::count(entries, "--config", &Entry::key) == 0};
    if (taken.finish != nullptr) { taken.finish(entries, known); }
    finish_peft(entries, known);
    if (runs("litgpt") || runs("torchtitan.train")) {
        std::ranges::move(keys_of_options(entries, runs("litgpt")), std::back_inserter(script.overrides));
    }
    Format const* keys = format_among(yaml_formats(), script.overrides);
    if (keys == nullptr) { keys = format_among(toml_formats(), script.overrides); }
    std::vector<Entry> const written = written_deepspeed(script.heredocs, path, entries);
    mapping.take(entries, taken);
    if (!written.empty()) { mapping.take(written, nested_deepspeed()); }
    if (!script.overrides.empty()) {
        if (keys != nullptr && keys->finish != nullptr) { keys->finish(script.overrides, known); }
        mapping.take(script.overrides, keys != nullptr ? *keys : taken);
    }
    LaunchFile file = mapping.result(format == nullptr && keys != nullptr ? *keys : taken, script.is_partial);
    if (keys != nullptr && format == nullptr) { file.format = fmt::format("script with keys of {}", keys->name); }
    file.overrides = overrides;
    if (file.read.empty() && !context.has_others) {
        unreadable_error(path, "no option of a launch that is known", {}, formats_known);
    }
    return file;
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

/// A script, or the command of a job: of a training run or of a serving engine.
LaunchFile read_commands(std::string_view text, std::string_view path, std::vector<Entry> machines,
                         LaunchContext const& context) {
    ShellEntries script = shell_entries(text, context.before);
    if (script.too_large) {
        unreadable_error(path, "too much of a script", "its conditions or its variables grow too large");
    }
    if (script.entries.empty() && script.overrides.empty()) {
        refuse_python(text, path);
        if (context.has_others && script.sets_variables) {
            LaunchFile file;
            file.path = path;
            file.format = "variables of the other scripts";
            file.sets_variables = true;
            return file;
        }
        unreadable_error(path, "no option of a launch in it", {}, formats_known);
    }
    if (Format const* engine = serving_format(script.entries)) {
        finish_serving(script.entries);
        Mapping mapping{path};
        mapping.take(script.entries, *engine);
        return mapping.result(*engine);
    }
    script.entries.insert(script.entries.begin(), machines.begin(), machines.end());
    return read_script(std::move(script), path, context);
}

/// Accelerators that a file states; 0 where it does not.
int workers_of(LaunchFile const& file) {
    auto const number = [&file](std::string_view name) {
        auto const found = std::ranges::find(file.options, name, &std::pair<std::string, std::string>::first);
        int const value = found != file.options.end() ? std::atoi(found->second.c_str()) : 0;
        return value > 0 && value < 10'000 ? value : 0;
    };
    return number("--workers") > 0 ? number("--workers") : number("--nodes") * number("--accelerators-per-node");
}

} // namespace

LaunchFile read_launch_file(std::string_view text, std::string_view path, LaunchContext const& context) {
    if (text.size() > record_limit) { unreadable_error(path, "too large for a launch file", "more than 4 MiB"); }
    if (text.find('\0') != std::string_view::npos) {
        unreadable_error(path, "not a text", "it has zero bytes", formats_known);
    }
    if (first_of(text) == '{' || path.ends_with(".json")) {
        return read_entries(yaml_entries(without_comments(text), path), json_formats(), path, "JSON", context);
    }
    if (path.ends_with(".py")) { refuse_python(text, path); }
    bool const yaml = path.ends_with(".yaml") || path.ends_with(".yml") || looks_like_yaml(text);
    if (yaml) {
        std::vector<Entry> entries = yaml_entries(text, path);
        bool const known = format_among(yaml_formats(), entries) != nullptr;
        auto job = known ? std::nullopt : job_description(entries);
        if (job) { return read_commands(job->script, path, std::move(job->machines), context); }
        return read_entries(std::move(entries), yaml_formats(), path, "YAML", context);
    }
    if (looks_like_toml(text, path)) {
        return read_entries(toml_entries(text, path), toml_formats(), path, "TOML", context);
    }
    return read_commands(text, path, {}, context);
}

std::vector<LaunchFile> read_launch_files(std::vector<LaunchText> const& files, LaunchContext const& context) {
    LaunchContext shared = context;
    shared.has_others = files.size() > 1;
    std::vector<LaunchFile> read;
    for (LaunchText const& one : files) {
        read.push_back(read_launch_file(one.text, one.path, shared));
        if (read.back().sets_variables) { shared.before += one.text + "\n"; }
    }
    auto const again = [&](std::size_t i, LaunchContext const& with) {
        read[i] = read_launch_file(files[i].text, files[i].path, with);
    };
    std::vector<LaunchKey> overrides, taken;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!shared.before.empty() && !read[i].has_settings && !read[i].sets_variables) { again(i, shared); }
        std::ranges::copy(read[i].overrides, std::back_inserter(overrides));
    }
    LaunchContext of_settings = shared, of_scripts = shared;
    for (LaunchFile const& file : read) {
        if (of_settings.workers == 0) { of_settings.workers = workers_of(file); }
    }
    of_settings.overrides = overrides;
    for (std::size_t i = 0; i < files.size() && !overrides.empty(); ++i) {
        if (!read[i].has_settings) { continue; }
        again(i, of_settings);
        std::ranges::copy(read[i].overrides, std::back_inserter(of_scripts.overrides));
    }
    for (std::size_t i = 0; i < files.size() && !of_scripts.overrides.empty(); ++i) {
        if (!read[i].has_settings && !read[i].overrides.empty()) { again(i, of_scripts); }
    }
    return read;
}

} // namespace headroom::io
