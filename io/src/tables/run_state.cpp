#include "tables/run_state.hpp"

#include "tables/phrases.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

template <class Value> struct Phrase {
    std::string_view words;
    Value value;
};

/// Value of the first row whose phrase the text states.
template <class Value, std::size_t count>
std::optional<Value> stated_value(std::string_view text, std::array<Phrase<Value>, count> const& rows) {
    auto const found = std::ranges::find_if(rows, [text](auto const& row) { return states_phrase(text, row.words); });
    return found == rows.end() ? std::nullopt : std::optional{found->value};
}

using OptimizerPhrase = Phrase<std::string_view>;
constexpr std::array optimizers{
    OptimizerPhrase{"8-bit adam", "adamw-8bit"},
    OptimizerPhrase{"8-bit adamw", "adamw-8bit"},
    OptimizerPhrase{"adamw_8bit", "adamw-8bit"},
    OptimizerPhrase{"paged_adamw_8bit", "adamw-8bit"},
    OptimizerPhrase{"adamw_bnb_8bit", "adamw-8bit"},
    OptimizerPhrase{"paged adamw", "paged-adamw"},
    OptimizerPhrase{"paged_adamw_32bit", "paged-adamw"},
    OptimizerPhrase{"adafactor", "adafactor"},
    OptimizerPhrase{"lion", "lion"},
    OptimizerPhrase{"muon", "muon"},
    OptimizerPhrase{"lamb", "lamb"},
};

/// Moments, weights and gradients in 16 bits.
constexpr std::array pure_moments{"adamw states bf16", "adamw states in bf16", "adamw states 16-bit",
                                  "adamw states in 16 bits"};
constexpr std::array pure_weights{"pure_bf16", "pure bf16", "pure 16-bit"};

using BasePhrase = Phrase<FrozenFormat>;
constexpr std::array bases{
    BasePhrase{"nf4 base", FrozenFormat::nf4},   BasePhrase{"int4 base", FrozenFormat::int4},
    BasePhrase{"int8 base", FrozenFormat::int8}, BasePhrase{"int4 gptq base", FrozenFormat::int4},
    BasePhrase{"qlora", FrozenFormat::nf4},      BasePhrase{"q-lora", FrozenFormat::nf4},
};

using ModulesPhrase = Phrase<unsigned>;
constexpr unsigned query_key_value = adapter_module::query | adapter_module::key | adapter_module::value;
constexpr std::array modules{
    ModulesPhrase{"all linear", adapter_module::linear},
    ModulesPhrase{"all attention and mlp projections", adapter_module::linear},
    ModulesPhrase{"attention input projection", query_key_value},
    ModulesPhrase{"q,k,v,o", adapter_module::attention},
    ModulesPhrase{"q,k,v", query_key_value},
    ModulesPhrase{"q,v", adapter_module::query | adapter_module::value},
};

template <std::size_t count> bool states_any(std::string_view text, std::array<char const*, count> const& phrases) {
    return std::ranges::any_of(phrases, [text](char const* phrase) { return states_phrase(text, phrase); });
}

} // namespace

void add_noted_state(RunCells const& row, PartialStrategy& partial) {
    std::string const notes = in_lower_case(row.text("notes"));
    bool const moments = states_any(notes, pure_moments), column = !row.text("weights_precision").empty();
    bool const pure = !column && (moments || states_any(notes, pure_weights));
    if (!partial.pure && pure) { partial.pure = true; }
    if (!partial.optimizer) {
        auto const optimizer = stated_value(notes, optimizers);
        if (optimizer) { partial.optimizer = std::string{*optimizer}; }
        if (!optimizer && moments && pure) { partial.optimizer = "adamw-bf16"; }
    }
    if (partial.trained != Trained::lora) { return; }
    if (!partial.frozen && !column) { partial.frozen = stated_value(in_lower_case(row.text("precision")), bases); }
    if (!partial.frozen && !column) { partial.frozen = stated_value(notes, bases); }
    if (partial.adapter_modules) { return; }
    partial.adapter_modules = stated_value(notes, modules);
    if (states_phrase(notes, "embedding and output layer trained too")) {
        partial.adapter_modules = partial.adapter_modules.value_or(adapter_module::attention) | adapter_module::tables;
    }
}

} // namespace headroom::io
