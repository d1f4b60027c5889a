#include "launch/launch_finish.hpp"
#include "launch/launch_mapping.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::io::launch {

namespace {

Entry* key_named(std::vector<Entry>& entries, std::string_view name) {
    auto const found =
        std::ranges::find_if(entries, [&](Entry const& entry) { return normalised(entry.key) == normalised(name); });
    return found != entries.end() ? &*found : nullptr;
}

/// Keys of LoRA ask for nothing where all weights are trained.
void drop_lora(std::vector<Entry>& entries, std::string const& reason) {
    for (Entry& entry : entries) {
        std::string const name = normalised(entry.key);
        bool const of_lora = name.starts_with("lora") || name.starts_with("peftuse") || name == "targetmodules" ||
                             name == "modulestosave" || name == "usedora" || name == "additionaltarget";
        if (!of_lora) { continue; }
        entry.is_null = true;
        entry.doubt = reason;
    }
}

/// LoRA by the key of its type, of which it is the default or not.
void finish_adapter(std::vector<Entry>& entries, std::string const& key, bool is_default) {
    bool const is_command =
        std::ranges::any_of(entries, [](Entry const& entry) { return entry.key.starts_with("--"); });
    std::string const prefix = is_command ? "--" : "";
    if (is_default && key_named(entries, key) == nullptr && key_named(entries, "tuner_type") == nullptr) {
        entries.push_back({prefix + key, "lora", 0});
    }
    Entry const* type = key_named(entries, key);
    if (type == nullptr || type->value.find('$') != std::string::npos) { return; }
    std::string const name = normalised(type->value);
    if (name == "full" || name == "freeze") { return drop_lora(entries, key + " is " + type->value); }
    if (name != "lora") { return; }
    int const line = type->line;
    bool const has_rank = key_named(entries, "lora_rank") != nullptr || key_named(entries, "lora_r") != nullptr;
    bool const has_modules =
        key_named(entries, "lora_target") != nullptr || key_named(entries, "target_modules") != nullptr;
    if (!has_rank) { entries.push_back({prefix + "lora_rank", "8", line}); } // its defaults
    if (!has_modules) { entries.push_back({prefix + "lora_target", "all", line}); }
}

} // namespace

void finish_axolotl(std::vector<Entry>& entries, Known known) {
    Entry const* method = key_named(entries, "adapter");
    bool const none = method == nullptr ? known.is_alone : method->is_null || normalised(method->value) == "none";
    if (none) { drop_lora(entries, "no method of LoRA is stated: all weights are trained"); }
    Entry* const bf16 = key_named(entries, "bf16"); // where the accelerator has it
    if (bf16 != nullptr && normalised(bf16->value) == "auto") { bf16->value = "true"; }
    Entry const* fp16 = key_named(entries, "fp16");
    bool const half = fp16 != nullptr && switch_in(fp16->value) == true;
    if (bf16 != nullptr && !bf16->is_null && switch_in(bf16->value) == false && !half) {
        bf16->to = "--precision";
        bf16->value = "fp32";
    }
    auto const section =
        std::ranges::find_if(entries, [](Entry const& one) { return one.key.starts_with("fsdp_config."); });
    Entry const* keeps = key_named(entries, "fsdp_config.reshard_after_forward");
    bool const says = key_named(entries, "fsdp") != nullptr ||
                      key_named(entries, "fsdp_config.fsdp_sharding_strategy") != nullptr ||
                      (keeps != nullptr && switch_in(keeps->value) == false);
    if (section != entries.end() && !says) {
        entries.push_back({"fsdp_config", "3", section->line, false, "--zero", {}});
    }
}

void finish_llama_factory(std::vector<Entry>& entries, Known known) {
    finish_adapter(entries, "finetuning_type", known.is_alone);
}
void finish_swift(std::vector<Entry>& entries, Known) { finish_adapter(entries, "train_type", true); }
void finish_swift_megatron(std::vector<Entry>& entries, Known) { finish_adapter(entries, "train_type", false); }

void finish_peft(std::vector<Entry>& entries, Known) {
    Entry* const peft = key_named(entries, "use_peft");
    if (peft == nullptr) { return; }
    bool const off = peft->is_null || switch_in(peft->value) == false;
    peft->value = off ? "full" : "lora";
    if (off) { drop_lora(entries, "use_peft is off"); }
}

} // namespace headroom::io::launch
