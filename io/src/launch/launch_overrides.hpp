#pragma once

#include "launch/launch_formats.hpp"

#include "headroom/io/launch_file.hpp"

#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// Keys of a file of settings that the command of a script sets: "trainer.devices=8", "--training.steps 10". Those that a file
/// has taken are no longer among what the script says.
std::vector<LaunchKey> overrides_of(ShellEntries& script, std::string_view path, std::vector<LaunchKey> const& taken);

/// Puts those that belong to a file in the place of its values; returns them, each with a note.
std::vector<LaunchKey> take_overrides(std::vector<Entry>& entries, std::vector<LaunchKey> const& overrides,
                                      Format const& format);

} // namespace headroom::io::launch
