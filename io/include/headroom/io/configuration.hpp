#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// One key of a file of options.
struct ConfigurationEntry {
    std::string table; ///< empty before the first table
    std::string key;
    std::vector<std::string> values; ///< as they would be typed; "true" and "false" for a switch
    bool is_switch = false;          ///< written as true or false, without quotes
    std::string place;               ///< "file:line"
};

/// The file of options that is read where none is named: ./headroom.toml, else headroom/headroom.toml in the user's
/// configuration folder ($XDG_CONFIG_HOME, ~/.config); empty where there is neither.
std::string found_configuration();

/// Options as such a file, in one table: each reads back as it is.
std::string written_configuration(std::vector<ConfigurationEntry> const& entries, std::string_view table);

/// Reads a TOML file of options: keys, and tables of keys, that hold a text, a number, a switch, or a list of
/// texts and numbers.
/// Errors: InputError{unreadable} when the text is not TOML, InputError{usage} on deeper tables, on values that no
/// option takes, and on two spellings of one key (`micro-batch`, `micro_batch`).
std::vector<ConfigurationEntry> read_configuration(std::string_view text, std::string_view where);

} // namespace headroom::io
