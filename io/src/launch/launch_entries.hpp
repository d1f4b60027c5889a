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
    std::string doubt{};  ///< reason for which the value is not known: "4 or 8, ..."
};

inline constexpr std::size_t most_entries = 20'000;

/// Values of a YAML or JSON text. Aliases are not followed: their value is "*name".
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
    std::vector<Entry> overrides;   ///< "key=value" behind the program: "trainer.devices"
    std::vector<std::string> notes; ///< commands and conditions that are not read
    bool is_partial = false;        ///< variables of other places may hold more options
    bool too_large = false;
};
ShellEntries shell_entries(std::string_view text);

} // namespace headroom::io::launch
