#pragma once

#include "launch/launch_entries.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// A key of a format and its option. `to` is an option of Headroom's ("--tp"), a name of another tool that one goes by
/// ("bf16", see `habit_words`), or "" for a key whose absence of effect has the reason `note`.
struct KeyRow {
    std::string_view key; ///< path, or with "*." in front its last part
    std::string_view to;
    std::string_view note = {};
    std::string (*translate)(std::string_view value) = nullptr; ///< empty result: the value asks for nothing
    std::string_view may_set = {}; ///< options of a second file that a key names: no default holds for them
};

/// Option that a format implies, whatever its keys.
struct Implied {
    std::string_view option, value;
};

/// A format of launch files, with the keys by which it is recognised.
struct Format {
    std::string_view name;
    std::string_view signs; ///< keys, parted by blanks: any of them makes a file this format
    std::span<KeyRow const> rows;
    std::span<Implied const> implied = {};
    bool words = false;          ///< other keys are looked up by their last part among the names that tools use
    bool switches_alone = false; ///< switches have no value: "--bf16 $DATA_ARGS"
    bool batch_alone = false;    ///< of a global batch alone one micro-batch is made
    bool fine_tunes = false;     ///< the file says what is trained
};

std::span<Format const> yaml_formats();
std::span<Format const> json_formats();
std::span<Format const> toml_formats();
/// Keys of DeepSpeed's JSON within another file.
Format const& nested_deepspeed();
std::span<Format const> shell_formats();

/// Reason for which a key has no effect on a step's time and memory; empty where none is known.
std::string_view neutral_reason(std::string_view key);

} // namespace headroom::io::launch
