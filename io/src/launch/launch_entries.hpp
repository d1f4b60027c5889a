#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// One value of a file, with the path of its key: "parallelism.tensor_parallel_degree". A list of values is one, joined by
/// commas.
struct Entry {
    std::string key, value;
    int line = 0;
    bool is_null = false; ///< of YAML and JSON: null, or nothing behind the colon
    std::string to{};     ///< option that it is, whatever its key: "--nodes" of "#SBATCH -N"
    std::string doubt{};  ///< reason for which the value is not known: "4 or 8, ..."; of a null, for which it is none
};

/// Text that a script writes to a file: `cat <<EOF`.
struct Heredoc {
    std::string text;
    int line = 0;
};

/// Circumstances in which keys are read.
struct Known {
    int layers = 0;       ///< of the model that is trained; 0: not known
    bool is_alone = true; ///< no other file has values than that of the software's defaults
};

inline constexpr std::size_t most_entries = 20'000;

/// Values of a YAML or JSON text. An alias has the values of its anchor; one of none is "*name".
/// Errors: InputError{unreadable} with the line.
std::vector<Entry> yaml_entries(std::string_view text, std::string_view where);
/// Errors: InputError{unreadable} with the line.
std::vector<Entry> toml_entries(std::string_view text, std::string_view where);
/// A script, read as far as launching goes.
struct ShellEntries {
    /// Options of the command that trains ("--tp 8", "--tp=8"; a switch has an empty value), of Slurm headers ("#SBATCH --nodes")
    /// and of its launchers ("srun -N", "mpirun -np"). Of a program that starts a serving engine: an entry named like the
    /// engine, its options, short ones too, and its first other word as "MODEL".
    std::vector<Entry> entries;
    std::vector<Entry> overrides;      ///< "key=value" behind the program: "trainer.devices"
    std::vector<std::string> notes;    ///< commands and conditions that are not read
    std::vector<std::string> programs; ///< of the command that trains: "torchrun", "train.py"
    std::vector<Heredoc> heredocs;     ///< texts that the script writes to files
    bool is_partial = false;           ///< variables of other places may hold more options
    bool sets_variables = false;       ///< that no command of it uses
    bool too_large = false;
};
/// `before` is a script whose variables hold in it.
ShellEntries shell_entries(std::string_view text, std::string_view before = {});

} // namespace headroom::io::launch
