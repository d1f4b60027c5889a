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

/// Reads a TOML file of options: keys, and tables of keys, that hold a text, a number, a switch, or a list of
/// texts and numbers.
/// Errors: InputError{unreadable} when the text is not TOML, InputError{usage} on deeper tables, on values that no
/// option takes, and on two spellings of one key (`micro-batch`, `micro_batch`).
std::vector<ConfigurationEntry> read_configuration(std::string_view text, std::string_view where);

} // namespace headroom::io
