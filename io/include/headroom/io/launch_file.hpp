#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// One key of a launch file.
struct LaunchKey {
    std::string key;   ///< as the file has it: "zero_optimization.stage", "--tensor-model-parallel-size"
    std::string value; ///< as the file has it
    int line = 0;      ///< where it is, from 1
    std::string option,
        setting;        ///< option of Headroom's that it sets, and its value there; empty for a key that is ignored
    std::string note;   ///< reason for which it is ignored
    std::string needed; ///< options, parted by blanks, of which one must be given in its place; empty where none must
};

/// A file that starts a training run, read as options.
struct LaunchFile {
    std::string path;
    std::string format; ///< "DeepSpeed JSON"
    std::vector<LaunchKey> read, ignored;
    std::vector<std::string>
        contradictions; ///< notes: of two keys that set one option, the later is taken; commands that are not read
    /// Options in the order of the file, each once: name ("--tp", or "MODEL") and value.
    std::vector<std::pair<std::string, std::string>> options;
    /// Options that hold where no key, no other file and nobody says otherwise: defaults of the software.
    std::vector<std::pair<std::string, std::string>> implied;
    std::set<std::string>
        suppressed; ///< options that keys set to values that the file does not have: no default holds for them
    bool sets_variables = false; ///< a script that has no command, for others: that which they "source"
    bool has_settings = false;   ///< keys that a script may set in their place
    /// Keys of a file of settings that the command of a script sets, "trainer.devices=8"; of such a file, those that it takes.
    std::vector<LaunchKey> overrides;
};

/// Numbers that a file counts parts of, where they are known elsewhere; 0: not known.
struct LaunchContext {
    int layers = 0;          ///< of the model that is trained
    int workers = 0;         ///< accelerators
    bool has_others = false; ///< files are read with it: a script may set keys of theirs alone
    std::string before{};    ///< script whose variables hold in a script
    /// Keys that a script sets: a file of settings takes them, and the script does not.
    std::vector<LaunchKey> overrides{};
};

/// Reads arguments of Megatron-LM and NeMo, shell scripts with Slurm headers, DeepSpeed JSON, Hugging Face TrainingArguments
/// JSON, torchtitan TOML, YAML of Accelerate, axolotl, LLaMA-Factory, MaxText and NeMo, and commands that start vLLM, SGLang
/// or TensorRT-LLM.
/// Errors: InputError{unreadable} with the line of a text that does not parse, or of which no format is known, and of a run whose
/// step is no step of training alone (reinforcement learning, preferences).
LaunchFile read_launch_file(std::string_view text, std::string_view path, LaunchContext const& context = {});

/// A file's name and its text.
struct LaunchText {
    std::string path, text;
};

/// Reads several files as `read_launch_file` does. What a script's command sets of the keys of a file of settings is read there;
/// variables of a script without a command hold in the others.
std::vector<LaunchFile> read_launch_files(std::vector<LaunchText> const& files, LaunchContext const& context = {});

class Catalog;
/// Layers of a model; 0 for one that is not known.
int layers_of_model(Catalog const& catalog, std::string const& model);
/// Notes on layers and hidden size that a file states and a model does not have. None for a model that is not known.
std::vector<std::string> differences_of_model(LaunchFile const& file, Catalog const& catalog, std::string const& model);

} // namespace headroom::io
