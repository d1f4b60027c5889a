#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::io {

/// Option and value; empty for none.
struct HabitSetting {
    std::string option, value;
};

/// Names that other tools give to an option of Headroom's. The one table of them serves the command line and the readers of
/// launch files: a new name is a word in a row.
struct HabitWord {
    std::string_view names;   ///< separated by blanks, without hyphens at the front: "gpus num-gpus world-size"
    std::string_view options; ///< "--workers --ranks": the first that a verb has; "MODEL" is the positional argument
    /// Value of a switch, which stands alone or before true and false; empty for a name that takes a value.
    std::string_view fixed = {};
    /// Translates a value; empty where nothing is to be set ("no_shard" asks for no option). Null: taken as it is.
    std::string (*translate)(std::string_view value) = nullptr;
    /// Reading of a name that tools use for different things, for a note; empty where there is one reading.
    std::string_view note = {};
    /// Second option that a value sets: `--qlora` is --train lora and --base nf4. Null: none.
    HabitSetting (*also)(std::string_view value) = nullptr;
};
std::span<HabitWord const> habit_words();

/// Row of a name, however it is spelled (`normalised`); none when unknown.
HabitWord const* habit_word(std::string_view name);

/// "true", "yes", "on", "1" as true, "false", "no", "off", "0", "none" and "null" as false; none for other texts.
std::optional<bool> switch_in(std::string_view text);

/// Value that a row gives to its option; empty where nothing is to be set.
std::string habit_value(HabitWord const& word, std::string_view value);
/// Option that a value sets in addition; empty for none.
HabitSetting habit_addition(HabitWord const& word, std::string_view value);

} // namespace headroom::io
