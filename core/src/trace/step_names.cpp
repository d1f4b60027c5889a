#include "trace/step_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace headroom::trace {
namespace {

/// Number that begins a text; nothing where none does.
std::optional<std::int64_t> leading_number(std::string_view text) {
    std::int64_t number = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && number >= 0 ? std::optional(number) : std::nullopt;
}

std::int64_t number_after(std::string_view text, std::string_view mark) {
    auto const at = text.find(mark);
    return at == std::string_view::npos ? 0 : leading_number(text.substr(at + mark.size())).value_or(0);
}

/// "..._context_2(512)_generation_3(3)": requests and tokens after a mark.
struct Batch {
    std::int64_t requests = 0, tokens = 0;
};
Batch batch_after(std::string_view name, std::string_view mark) {
    auto const at = name.find(mark);
    if (at == std::string_view::npos) { return {}; }
    auto const rest = name.substr(at + mark.size());
    return {leading_number(rest).value_or(0), number_after(rest.substr(0, rest.find('_')), "(")};
}

PhaseKind kind_of(bool prefills, bool decodes) {
    if (prefills && decodes) { return PhaseKind::mixed; }
    return prefills ? PhaseKind::prefill : decodes ? PhaseKind::decode : PhaseKind::none;
}

std::optional<NamedStep> step_of_vllm(std::string_view name) {
    if (!name.starts_with("execute_")) { return {}; }
    Batch const context = batch_after(name, "context_"), generation = batch_after(name, "generation_");
    return NamedStep{{},
                     {kind_of(context.requests > 0, generation.requests > 0), context.requests + generation.requests,
                      context.tokens + generation.tokens}};
}

std::optional<NamedStep> step_of_sglang(std::string_view name) {
    if (!name.starts_with("step[")) { return {}; }
    auto const holds = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
    bool const mixed = holds("MIXED");
    NamedStep step{{},
                   {kind_of(mixed || holds("EXTEND"), mixed || holds("DECODE")), number_after(name, "bs="),
                    number_after(name, "toks=")}};
    if (step.phase.kind == PhaseKind::decode) { step.phase.tokens = step.phase.requests; }
    return step;
}

/// "step 3" of "[step 3]", "step 3/100" and "epoch 0 step 3".
std::string_view without_context(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    if (name.starts_with('[') && name.ends_with(']')) { name = name.substr(1, name.size() - 2); }
    auto const slash = name.rfind('/');
    bool const of_all = slash != std::string_view::npos && slash > 0 && digits.find(name[slash - 1]) != digits.npos &&
                        name.find_first_not_of(digits, slash + 1) == std::string_view::npos;
    if (of_all) { name = name.substr(0, slash); }
    auto const number = name.find_first_of(digits);
    bool const of_epoch = (name.starts_with("epoch") || name.starts_with("Epoch")) && number != std::string_view::npos;
    return of_epoch ? name.substr(std::min(name.find_first_not_of(digits, number), name.size())) : name;
}

/// Letters of a name in lower case, without what parts its words; empty of a name with other signs.
std::string letters_of(std::string_view name) {
    std::string word;
    for (char const c : name) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter) {
            word += static_cast<char>(c | 0x20);
        } else if (std::string_view{" _#:-=/,"}.find(c) == std::string_view::npos) {
            return {};
        }
    }
    return word;
}

/// A word for a step, and a number at the end.
std::optional<NamedStep> numbered_step(std::string_view name) {
    constexpr std::array words{"iteration",      "iter",  "step",       "trainstep", "trainingstep",
                               "trainiteration", "train", "trainbatch", "batch",     "globalstep"};
    name = without_context(name);
    auto const digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits >= name.size() || name.size() - digits > 12) { return {}; }
    std::string const word = letters_of(name.substr(0, digits));
    if (std::ranges::find(words, std::string_view{word}) == words.end()) { return {}; }
    return NamedStep{leading_number(name.substr(digits)), {}};
}

} // namespace

bool names_training_step(std::string_view name) {
    constexpr std::array words{"iteration",         "trainstep",  "trainingstep", "trainiteration",
                               "trainingiteration", "trainbatch", "globalstep"};
    return std::ranges::find(words, letters_of(name)) != words.end();
}

std::optional<NamedStep> named_step(std::string_view name) {
    if (auto const step = step_of_vllm(name)) { return step; }
    if (auto const step = step_of_sglang(name)) { return step; }
    return numbered_step(name);
}

} // namespace headroom::trace
