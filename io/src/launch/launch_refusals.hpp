#pragma once

#include "launch/launch_entries.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

// Files of which no figure is right are refused by the name of what they are.

/// A step that generates or compares is no step of training alone: of verl, DPO and GRPO, by keys and values.
/// Errors: InputError{unreadable} with the line.
void refuse_other_steps(std::vector<Entry> const& entries, std::string_view path);
/// Refuses such a step by the program that a command runs: "main_ppo", "grpo.py".
/// Errors: InputError{unreadable}.
void refuse_other_programs(std::vector<std::string> const& programs, std::string_view path);
/// A program in Python, whose values only Python knows.
void refuse_python(std::string_view text, std::string_view path);

} // namespace headroom::io::launch
