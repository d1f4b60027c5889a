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
    std::string_view may_set =
        {};               ///< options that the key, or a file that it names, may set: no default holds for them
    bool decides = false; ///< the key does set one of those, and which is not known: it must be given
};

/// A format of launch files, with the keys by which it is recognised.
struct Format {
    std::string_view name;
    std::string_view signs; ///< keys, parted by blanks: any of them makes a file this format
    std::span<KeyRow const> rows;
    std::string_view implied = {}; ///< defaults of the software, options and values by turns: "--tp 1 --zero 0"
    bool words = false;            ///< other keys are looked up by their last part among the names that tools use
    bool switches_alone = false;   ///< switches have no value: "--bf16 $DATA_ARGS"
    bool batch_alone = false;      ///< of a global batch alone one micro-batch is made
    bool fine_tunes = false;       ///< the file says what is trained
    void (*finish)(std::vector<Entry>& entries, Known known) = nullptr; ///< keys that are read together; none: null
    std::string_view programs = {}; ///< of a command: launchers and scripts, parted by blanks, that make it this format
};

/// Modules with LoRA matrices: "q_proj,v_proj", "all".
std::string lora_targets(std::string_view value);
/// A number, of which -1 and 0 ask for nothing.
std::string above_zero(std::string_view value);
/// Sharding of PaddleNLP: "stage2 offload".
std::string paddle_stage(std::string_view value);
/// Embedding and output projection among modules that are trained whole; empty where they are not.
std::string trained_tables(std::string_view modules);

/// Reason for which a key that names another file is not used, and what DeepSpeed's may set.
inline constexpr std::string_view second_file = "a second file: give it with --from, too";
inline constexpr std::string_view of_deepspeed = "--zero --offload --precision";

/// Defaults that a file and a command of one software share.
inline constexpr std::string_view trainer_defaults =
    "--framework hf-trainer --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --precision fp32 --recompute none --micro-batch 8 "
    "--grad-accum 1";
inline constexpr std::string_view factory_defaults =
    "--framework llama-factory --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --recompute full --micro-batch 8 --grad-accum 1";
inline constexpr std::string_view paddle_defaults =
    "--framework paddlenlp --tp 1 --pp 1 --cp 1 --ep 1 --zero 0 --precision fp32 --recompute none --micro-batch 8 "
    "--grad-accum 1";

std::span<Format const> yaml_formats();
std::span<Format const> json_formats();
std::span<Format const> toml_formats();
/// Keys of DeepSpeed's JSON within another file.
Format const& nested_deepspeed();
std::span<Format const> shell_formats();

/// Reason for which a key has no effect on a step's time and memory; empty where none is known.
std::string_view neutral_reason(std::string_view key);

} // namespace headroom::io::launch
