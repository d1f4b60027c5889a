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
};

inline constexpr std::size_t most_entries = 20'000;

/// Values of a YAML or JSON text. Aliases are not followed: their value is "*name".
/// Errors: InputError{unreadable} with the line.
std::vector<Entry> yaml_entries(std::string_view text, std::string_view where);
/// Errors: InputError{unreadable} with the line.
std::vector<Entry> toml_entries(std::string_view text, std::string_view where);
/// Options of commands ("--tp 8", "--tp=8"; a switch has an empty value) and of Slurm headers (key "#SBATCH --nodes"), with
/// plain variables of the script put in. From a program on that starts a serving engine all is of it: an entry named like the
/// engine, its options, short ones too, and its first other word as "MODEL".
std::vector<Entry> shell_entries(std::string_view text);

} // namespace headroom::io::launch
