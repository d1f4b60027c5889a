#pragma once

#include "launch/launch_entries.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::io::launch {

/// Commands that a YAML file has a scheduler run: Kubernetes, SkyPilot, Determined, Azure, dstack, Docker compose.
struct JobDescription {
    std::string script;          ///< its lines are those of the file
    std::vector<Entry> machines; ///< nodes and accelerators, as options
};

/// None where no key holds a command.
std::optional<JobDescription> job_description(std::vector<Entry> const& entries);

/// Key whose value is a command, or its words: the reader of YAML keeps these apart.
bool is_command_key(std::string_view path);
/// Key whose list has a command in each item.
bool is_command_list(std::string_view path);

} // namespace headroom::io::launch
