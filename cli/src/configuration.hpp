#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// One key of a file of options.
struct ConfigurationEntry {
    std::string table; ///< empty before the first table
    std::string key;
    std::vector<std::string> values; ///< "true" and "false" for a switch
    bool is_switch = false;          ///< written as true or false, without quotes
    int line = 0;
};

/// Reads the part of TOML that options need: tables, and keys with a text, a number, a switch, or a list of
/// texts and numbers on one line.
/// Errors: InputError{unreadable} with file and line on anything else, and on a key that is there twice.
std::vector<ConfigurationEntry> parse_configuration(std::string_view text, std::string const& file);

} // namespace headroom::cli
