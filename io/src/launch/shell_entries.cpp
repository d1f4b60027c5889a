#include "launch/engine_entries.hpp"
#include "launch/launch_entries.hpp"
#include "launch/program_names.hpp"
#include "launch/shell_conditions.hpp"
#include "launch/shell_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

/// Program whose options a word is among.
enum class Owner { none, slurm, mpi, wrapper, launcher, deepspeed, composer, paddle, script };

/// Command as far as it was read.
struct Reading {
    std::vector<Entry> entries, overrides;
    std::string program;               ///< script or module: "pretrain_gpt.py"
    std::vector<std::string> programs; ///< it, and what starts it
    bool launches = false;
    bool starts_processes = false; ///< a launcher starts the script, once for each accelerator
    bool is_partial = false;
};

Owner owner_named(Text word) {
    std::string const name = base_name(word);
    if (is_one_of(name, {"srun", "sbatch", "salloc"})) { return Owner::slurm; }
    if (is_one_of(name, {"mpirun", "mpiexec", "horovodrun", "orterun", "jsrun"})) { return Owner::mpi; }
    if (is_one_of(name, {"docker", "podman",  "singularity", "apptainer", "enroot",  "numactl", "env", "nohup",
                         "time",   "timeout", "stdbuf",      "nsys",      "ncu",     "bash",    "sh",  "exec",
                         "sudo",   "conda",   "taskset",     "python",    "python3", "python2", "ray"})) {
        return Owner::wrapper;
    }
    if (is_one_of(name,
                  {"torchrun", "accelerate", "colossalai", "torch.distributed.run", "torch.distributed.launch",
                   "accelerate.commands.launch", "torchx", "gaudi_spawn.py", "determined.launch.torch_distributed"})) {
        return Owner::launcher;
    }
    if (is_one_of(name, {"deepspeed", "deepspeed.launcher.runner"})) { return Owner::deepspeed; }
    if (name == "composer") { return Owner::composer; }
    if (is_llm_c(name)) { return Owner::script; }
    if (name == "paddle.distributed.launch") { return Owner::paddle; }
    bool const trains = is_one_of(
        name, {"tune", "llamafactory-cli", "swift", "megatron", "axolotl", "litgpt", "xtuner", "trl", "nemo"});
    bool const python = name.ends_with(".py") || name.ends_with(".py\"");
    return trains || python ? Owner::script : Owner::none;
}

bool takes_list(Text key) {
    std::string name{key};
    std::ranges::replace(name, '_', '-');
    return is_one_of(name, {"--recompute-modules", "--lora-target-modules", "--target-modules", "--lora-target",
                            "--modules-to-save"});
}

bool is_option(Word const& word) {
    bool const dash = word.text.size() > 1 && word.text.starts_with('-') &&
                      (!word.quoted || word.text.find(' ') == std::string::npos);
    return dash && std::isdigit(static_cast<unsigned char>(word.text[1])) == 0 && word.text[1] != '.';
}

/// A variable, an output or a file that stands by itself, as of other options: "$DATA_ARGS", "$(cat args)", "@args.txt".
bool holds_words(Word const& word) {
    bool const output = (word.text.starts_with("$(") && !word.text.starts_with("$((")) || word.text.starts_with('`');
    bool const variable =
        word.text.starts_with('$') && !word.text.starts_with("$((") && word.text.find(' ') == std::string::npos;
    return output || variable || (word.text.starts_with('@') && word.text.size() > 1);
}

/// An option behind a dash that a text program has put in the place of "--".
bool has_other_dash(Text word) { return word.starts_with("\u2013") || word.starts_with("\u2014"); }

bool is_whole_number(Text text) {
    return !text.empty() && text.find_first_not_of("0123456789_") == Text::npos && text.front() != '_' &&
           text.back() != '_';
}

/// A file of settings behind the program.
bool is_file(Text word) {
    bool const settings =
        word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".toml") || word.ends_with(".json");
    return settings && word.find('=') == Text::npos;
}

/// "key=value" of Hydra and of MaxText; "+key", "++key".
bool is_override(Text word) {
    while (word.starts_with('+')) { word.remove_prefix(1); }
    auto const equals = word.find('=');
    if (equals == Text::npos || equals == 0 || std::isalpha(static_cast<unsigned char>(word.front())) == 0) {
        return false;
    }
    return std::ranges::all_of(word.substr(0, equals), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '@' ||
               c == '/';
    });
}

class Command {
public:
    explicit Command(std::vector<Word> const& words) : words_{words} {}

    Reading read() {
        while (at_ < words_.size() && result_.entries.size() < most_entries) { step(); }
        add_slurm_options(slurm_, slurm_prefix_, slurm_line_, result_.entries);
        for (auto const& [key, name] :
             {std::pair{"NNODES", "--nnodes"}, std::pair{"NPROC_PER_NODE", "--nproc_per_node"}}) {
            bool const reads =
                owner_ == Owner::script &&
                is_one_of(base_name(result_.program), {"llamafactory-cli", "swift", "megatron", "xtuner"});
            for (Entry const& one : surroundings_) {
                if (reads && one.key == key) { result_.entries.push_back({name, one.value, one.line}); }
            }
        }
        count_visible_devices();
        return std::move(result_);
    }

private:
    /// CUDA_VISIBLE_DEVICES=0,1,2,3 before a launcher that takes all of them.
    void count_visible_devices() {
        std::string devices;
        for (Entry const& one : surroundings_) {
            bool const listed = one.key == "CUDA_VISIBLE_DEVICES" && !one.value.empty() &&
                                one.value.find_first_not_of("0123456789,") == std::string::npos;
            if (listed) { devices = std::to_string(1 + std::ranges::count(one.value, ',')); }
        }
        if (devices.empty()) { return; }
        bool counted = false;
        for (Entry& one : result_.entries) {
            bool const each = is_one_of(one.key, {"--nproc_per_node", "--nproc-per-node"});
            counted = counted || each || is_one_of(one.key, {"--num_processes", "--num-processes", "--config_file"});
            if (each && is_one_of(one.value, {"gpu", "auto", "-1"})) { one.value = devices; }
        }
        bool const takes_all = std::ranges::any_of(result_.programs, [](std::string const& name) {
            return is_one_of(name, {"accelerate", "accelerate.commands.launch", "llamafactory-cli"});
        });
        if (takes_all && !counted) {
            result_.entries.push_back({"CUDA_VISIBLE_DEVICES", devices, 0, false, "--workers", {}});
        }
    }

    void step() {
        Word const& word = words_[at_];
        bool const module = word.text == "-m" || word.text == "--module"; // python's, deepspeed's
        if (owner_ != Owner::script && owner_ != Owner::slurm && module && at_ + 1 < words_.size()) {
            ++at_;
            Owner const next = owner_named(words_[at_].text);
            bool const helps = words_[at_].text.starts_with("pip");
            own(next != Owner::none ? next : helps ? Owner::wrapper : Owner::script, words_[at_]);
            ++at_;
            return;
        }
        Owner const next = owner_ == Owner::script || is_option(word) ? Owner::none : owner_named(word.text);
        if (next != Owner::none) {
            own(next, word);
            ++at_;
            return;
        }
        bool const none_yet = owner_ == Owner::none && result_.entries.empty();
        if (none_yet && is_override(word.text)) {
            auto const equals = word.text.find('=');
            surroundings_.push_back({word.text.substr(0, equals), word.text.substr(equals + 1), word.line});
        }
        switch (owner_) {
        case Owner::slurm: slurm_.push_back(word.text); break;
        case Owner::wrapper: break;
        case Owner::mpi: processes(); break;
        default: option();
        }
        ++at_;
    }

    void own(Owner next, Word const& word) {
        owner_ = next;
        result_.programs.push_back(base_name(word.text));
        if (next == Owner::slurm) {
            slurm_prefix_ = base_name(word.text) + " ";
            slurm_line_ = word.line;
        }
        if (next == Owner::script) { result_.program = word.text; }
        is_tune_ = is_tune_ || (next == Owner::script && base_name(word.text) == "tune");
        if (is_tune_) { result_.overrides.push_back({"tune", "run", word.line}); }
        result_.starts_processes =
            result_.starts_processes || next == Owner::launcher || next == Owner::deepspeed || next == Owner::mpi;
        torchruns_ = torchruns_ || next == Owner::launcher || next == Owner::deepspeed;
        result_.launches = result_.launches || (next != Owner::wrapper && next != Owner::slurm && next != Owner::mpi);
    }

    /// "-np 32", "-n 16", "-N 8" and "--npernode 8" of mpirun.
    void processes() {
        std::string const& name = words_[at_].text;
        bool const sets = base_name(result_.programs.back()) == "jsrun";
        bool const all = is_one_of(name, {"-np", "-n", "--np", sets ? "--nrs" : "-c"}),
                   each = is_one_of(name, {"-N", "-npernode", "--npernode", "-ppn", "--ppn"}),
                   of_set = sets && is_one_of(name, {"-g", "--gpu_per_rs"});
        if (of_set && at_ + 1 < words_.size() && !result_.entries.empty()) { // GPUs of each resource set
            std::string& count = result_.entries.back().value;
            long const workers = std::atol(count.c_str()) * std::atol(words_[++at_].text.substr(0, 6).c_str());
            if (workers > 0 && workers < 1'000'000) { count = std::to_string(workers); }
            return;
        }
        if ((all || each) && at_ + 1 < words_.size()) {
            ++at_;
            result_.entries.push_back({all ? "mpirun -np" : "mpirun -N", words_[at_].text, words_[at_].line});
        }
    }

    void option() {
        Word const& word = words_[at_];
        if (!is_option(word) || (word.text.starts_with("--") && word.text.size() < 3)) {
            if (owner_ != Owner::script) { return; }
            if (holds_words(word)) {
                result_.is_partial = result_.is_partial || word.text != "$@";
                result_.entries.push_back(
                    {word.text, {}, word.line, false, {}, "more options may be in it: it is set elsewhere"});
            } else if (has_other_dash(word.text)) {
                result_.entries.push_back(
                    {word.text, {}, word.line, false, {}, "it begins with a long dash, not with --"});
            } else if (is_file(word.text) && base_name(word.text) == "base.yml") { // MaxText's defaults
                result_.entries.push_back({word.text, {}, word.line, false, {}, "the defaults"});
            } else if (is_file(word.text)) {
                result_.entries.push_back({"--config", word.text, word.line});
            } else if (is_override(word.text)) {
                std::string const text = word.text.substr(word.text.find_first_not_of('+'));
                auto const equals = text.find('=');
                result_.overrides.push_back({text.substr(0, equals), text.substr(equals + 1), word.line});
            }
            return;
        }
        bool const of_python = !word.text.starts_with("--") && owner_ != Owner::script && owner_ != Owner::composer;
        if (of_python) { return; } // "-u"
        auto const equals = word.text.find('=');
        std::string const key = named(word.text.substr(0, equals));
        if (equals != std::string::npos) { return add(key, word.text.substr(equals + 1), word.line, true); }
        std::string value;
        std::size_t const first = at_;
        while (at_ + 1 < words_.size() && !is_option(words_[at_ + 1]) && (at_ == first || takes_list(key))) {
            bool const rest = words_[at_ + 1].text == "$@" || has_other_dash(words_[at_ + 1].text) ||
                              owner_starts(words_[at_ + 1].text);
            if (rest) { break; }
            ++at_;
            value += (value.empty() ? "" : ",") + words_[at_].text;
        }
        add(key, std::move(value), word.line, at_ > first);
    }

    /// An option; an empty text that is its value is null. A number may have underscores, 4_096.
    void add(std::string key, std::string value, int line, bool has_value) {
        if (is_whole_number(value)) { std::erase(value, '_'); }
        bool const is_null = has_value && value.empty();
        result_.entries.push_back({std::move(key), std::move(value), line, is_null});
    }

    /// A launcher's switch stands before the script: "--multi_gpu train.py".
    [[nodiscard]] bool owner_starts(Text word) const {
        return owner_ != Owner::script && owner_named(word) != Owner::none;
    }

    /// Options of a launcher that mean something else elsewhere.
    [[nodiscard]] std::string named(std::string key) const {
        bool const counts = owner_ == Owner::deepspeed && (key == "--num_gpus" || key == "--include");
        if (counts) { return "deepspeed " + key; }
        if (owner_ == Owner::paddle && is_one_of(key, {"--gpus", "--devices", "--npus", "--xpus"})) {
            return "paddle --gpus";
        }
        if (owner_ == Owner::launcher && key == "--world_size") { return "gaudi_spawn --world_size"; }
        if (is_tune_ && key == "--config") { return "tune --config"; }
        bool const of_llm_c =
            owner_ == Owner::script && is_llm_c(result_.program) && is_one_of(key, {"-b", "-t", "-d", "-z", "-r"});
        if (of_llm_c) { return "llm.c " + key; }
        bool const prepared = std::ranges::find(result_.programs, "accelerate") != result_.programs.end();
        if (prepared && is_one_of(key, {"--train-batch-size", "--train_batch_size"})) { return "accelerate " + key; }
        bool const each = torchruns_ && is_one_of(key, {"--batch-size", "--batch_size"});
        if (each) { return "torchrun " + key; }
        return owner_ == Owner::composer && key == "-n" ? "composer -n" : key;
    }

    std::vector<Word> const& words_;
    std::size_t at_ = 0;
    Owner owner_ = Owner::none;
    bool is_tune_ = false;
    bool torchruns_ = false; ///< a launcher of Python starts the script
    Reading result_;
    std::vector<std::string> slurm_;
    std::string slurm_prefix_;
    int slurm_line_ = 0;
    std::vector<Entry> surroundings_;
};

/// Values of a key over the readings of a command, where they differ: "1, 2 or 4".
std::string listed(std::vector<std::string> const& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
    }
    return text;
}

/// One list of the readings: a value that differs among them is not known.
std::vector<Entry> united(std::vector<std::vector<Entry>> const& readings, std::vector<std::string>& notes) {
    std::vector<Entry> all;
    std::set<std::string> seen;
    for (std::vector<Entry> const& reading : readings) {
        for (Entry const& entry : reading) {
            bool const known = !seen.insert(entry.key).second;
            if (readings.size() == 1) {
                all.push_back(entry);
                continue;
            }
            if (known) { continue; }
            std::vector<std::string> values, resolved;
            for (std::vector<Entry> const& other : readings) {
                auto const found =
                    std::find_if(other.rbegin(), other.rend(), [&](Entry const& one) { return one.key == entry.key; });
                std::string const text = found == other.rend()  ? "left out"
                                         : found->value.empty() ? "set"
                                                                : found->value;
                if (std::ranges::count(values, text) == 0) { values.push_back(text); }
                bool const is_known = !text.starts_with('$');
                if (is_known && std::ranges::count(resolved, text) == 0) { resolved.push_back(text); }
            }
            Entry one = entry;
            if (resolved.size() == 1 && values.size() > 1) {
                one.value = resolved.front() == "set" ? std::string{} : resolved.front();
                notes.push_back(fmt::format("{} (line {}) is {}, by a condition of the script: {} is taken", entry.key,
                                            entry.line, listed(values), resolved.front()));
            } else if (values.size() > 1) {
                one.doubt = fmt::format("{}, by a condition or a loop of the script", listed(values));
            }
            all.push_back(std::move(one));
        }
    }
    return all;
}

struct Candidate {
    ShellCommand const* command;
    Reading first;
};

std::string name_of(Candidate const& one) {
    std::string const name =
        base_name(one.first.program.empty() ? one.command->readings.front().front().text : one.first.program);
    return fmt::format("{} (line {})", name, one.command->line);
}

/// The last command that trains; those that do something else, and earlier ones, are named in notes.
Candidate const* chosen(std::vector<Candidate> const& candidates, std::vector<std::string>& notes) {
    auto const rank = [](Candidate const& one) {
        if (one.first.entries.empty() && one.first.overrides.empty()) { return 0; }
        if (does_other_work(one.first.program)) { return 1; }
        if (!one.first.launches) { return 2; }
        return one.first.starts_processes || trains_by_name(one.first.program) ? 4 : 3;
    };
    Candidate const* best = nullptr;
    for (Candidate const& one : candidates) {
        if (rank(one) > 0 && (best == nullptr || rank(one) >= rank(*best))) { best = &one; }
    }
    if (best == nullptr) { return nullptr; }
    std::vector<std::string> trains, others;
    for (Candidate const& one : candidates) {
        if (rank(one) == 0 || &one == best) { continue; }
        (rank(one) >= 3 && rank(one) == rank(*best) ? trains : others).push_back(name_of(one));
    }
    if (!others.empty()) {
        notes.push_back(
            fmt::format("not read: options of {}: another program than {}", fmt::join(others, ", "), name_of(*best)));
    }
    if (!trains.empty()) {
        notes.push_back(fmt::format("{} commands train: the last, {}, is read, and not {}", trains.size() + 1,
                                    name_of(*best), fmt::join(trains, ", ")));
    }
    return best;
}

std::vector<Candidate> candidates_of(std::vector<ShellCommand> const& commands) {
    std::vector<Candidate> all;
    for (ShellCommand const& command : commands) {
        if (is_helper(command.readings.front().front().text)) { continue; }
        all.push_back({&command, Command{command.readings.front()}.read()});
    }
    return all;
}

void add_command(ShellCommand const& command, ShellEntries& to) {
    std::vector<std::vector<Entry>> entries, overrides;
    for (std::vector<Word> const& words : command.readings) {
        Reading reading = Command{words}.read();
        to.is_partial = to.is_partial || reading.is_partial;
        to.programs = std::move(reading.programs);
        entries.push_back(std::move(reading.entries));
        overrides.push_back(std::move(reading.overrides));
    }
    std::ranges::move(united(entries, to.notes), std::back_inserter(to.entries));
    std::ranges::move(united(overrides, to.notes), std::back_inserter(to.overrides));
}

/// A file of arguments has an option on each line: together they are one command.
void join_lines_of_options(std::vector<ShellCommand>& commands) {
    std::vector<ShellCommand> joined;
    bool open = false;
    for (ShellCommand& command : commands) {
        bool const options = command.readings.front().front().text.starts_with("--");
        if (!options || !open) {
            joined.push_back(std::move(command));
            open = options;
            continue;
        }
        for (std::size_t i = 0; i < joined.back().readings.size(); ++i) {
            std::vector<Word> const& more = command.readings[std::min(i, command.readings.size() - 1)];
            joined.back().readings[i].insert(joined.back().readings[i].end(), more.begin(), more.end());
        }
    }
    commands = std::move(joined);
}

bool has_options(ShellEntries const& found) {
    return !found.overrides.empty() ||
           std::ranges::any_of(found.entries, [](Entry const& entry) { return entry.key.starts_with("--"); });
}

} // namespace

ShellEntries shell_entries(std::string_view text, std::string_view before) {
    ShellScript script = run_shell(text, before);
    join_lines_of_options(script.commands);
    ShellEntries found{.entries = script.headers,
                       .overrides = {},
                       .notes = script.notes,
                       .programs = {},
                       .heredocs = script.heredocs,
                       .is_partial = false,
                       .sets_variables = !script.variables.empty(),
                       .too_large = script.too_large};
    for (ShellCommand const& command : script.commands) {
        std::vector<Entry> engine = engine_entries(command.readings.front());
        if (!engine.empty()) {
            found.entries = std::move(engine);
            return found;
        }
    }
    std::vector<Candidate> const candidates = candidates_of(script.commands);
    if (Candidate const* best = chosen(candidates, found.notes)) { add_command(*best->command, found); }
    for (Heredoc const& one : script.heredocs) { // a script that is written, and run by another command
        if (has_options(found)) { break; }
        ShellScript const inner = run_shell(one.text);
        std::vector<Candidate> const others = candidates_of(inner.commands);
        Candidate const* best = chosen(others, found.notes);
        if (best == nullptr || !best->first.launches) { continue; }
        std::size_t const outer = found.entries.size();
        found.entries.insert(found.entries.end(), inner.headers.begin(), inner.headers.end());
        add_command(*best->command, found);
        for (std::size_t i = outer; i < found.entries.size(); ++i) { found.entries[i].line += one.line - 1; }
    }
    if (!has_options(found)) {
        for (ShellCommand const& variable : script.variables) { add_command(variable, found); }
    }
    return found;
}

} // namespace headroom::io::launch
