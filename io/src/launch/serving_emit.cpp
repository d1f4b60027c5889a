#include "headroom/io/launch_emit.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace headroom::io {

using namespace headroom::serving;

namespace {

using Text = std::string_view;

/// An option of Headroom's and an engine's for it.
struct OptionName {
    Text own, engine;
};

struct ServingFormat {
    Text start;                       ///< the program
    Text model_option;                ///< empty: the model is its first word
    std::span<OptionName const> same; ///< whose values are the same
    bool formats = false;             ///< has options for the formats of weights and caches
    bool drafts = false;              ///< has one for drafts
};

constexpr std::array vllm_names{
    OptionName{"--tp", "--tensor-parallel-size"}, OptionName{"--pp", "--pipeline-parallel-size"},
    OptionName{"--max-batch", "--max-num-seqs"}, OptionName{"--prefill-chunk", "--max-num-batched-tokens"},
    OptionName{"--memory-share", "--gpu-memory-utilization"}};
constexpr std::array sglang_names{OptionName{"--tp", "--tp-size"}, OptionName{"--pp", "--pp-size"},
                                  OptionName{"--max-batch", "--max-running-requests"},
                                  OptionName{"--prefill-chunk", "--chunked-prefill-size"},
                                  OptionName{"--memory-share", "--mem-fraction-static"}};
constexpr std::array trtllm_names{OptionName{"--tp", "--tp_size"}, OptionName{"--pp", "--pp_size"},
                                  OptionName{"--max-batch", "--max_batch_size"},
                                  OptionName{"--prefill-chunk", "--max_num_tokens"}};
/// In the order of `ServingTarget`.
constexpr std::array formats{
    ServingFormat{"vllm serve", "", vllm_names, true, true},
    ServingFormat{"python -m sglang.launch_server", "--model-path", sglang_names, true, false},
    ServingFormat{"trtllm-serve", "", trtllm_names, false, false},
};

std::string sixteen_bits(Text value) {
    return value == "bf16" ? "bfloat16" : value == "fp16" ? "float16" : std::string{};
}

/// The engine's words for an option of a format or of drafts; empty where it has none.
std::string written(ServingFormat const& format, Text option, Text value, LaunchOptions const& all) {
    if (format.formats && option == "--precision") {
        if (value == "fp8") { return "--quantization fp8"; }
        std::string const name = sixteen_bits(value);
        return name.empty() ? name : "--dtype " + name;
    }
    if (format.formats && option == "--weights") { return value == "int4" ? "--quantization awq" : std::string{}; }
    if (format.formats && option == "--cache-precision") {
        return value == "fp8" ? "--kv-cache-dtype fp8_e4m3" : std::string{};
    }
    if (!format.drafts || option != "--draft-tokens") { return {}; }
    auto const model = std::ranges::find(all, "--draft-model", &LaunchOptions::value_type::first);
    std::string const drafts =
        model == all.end() ? R"("method": "ngram")" : fmt::format(R"("model": "{}")", model->second);
    return fmt::format("--speculative-config '{{{}, \"num_speculative_tokens\": {}}}'", drafts, value);
}

/// Whether an engine takes the value by default.
bool is_usual(Text option, Text value) { return option == "--cache-precision" && !sixteen_bits(value).empty(); }

} // namespace

ServingTarget serving_target(std::string_view name, std::string_view where) {
    std::vector<std::string> const names{"vllm", "sglang", "trtllm"};
    std::string const chosen = parse_choice(name, names, where);
    return static_cast<ServingTarget>(std::ranges::find(names, chosen) - names.begin());
}

LaunchOptions options_of(ServingPlan const& plan, std::string const& model) {
    LaunchOptions all{{"MODEL", model}};
    auto const count = [&all](char const* option, int value) { all.emplace_back(option, std::to_string(value)); };
    count("--tp", plan.tp);
    count("--pp", plan.pp);
    all.emplace_back("--precision", name_of(plan.weights));
    if (plan.kept != nullptr) { all.emplace_back("--weights", plan.kept->name); }
    all.emplace_back("--cache-precision", name_of(plan.cache));
    count("--max-batch", plan.most_sequences);
    count("--prefill-chunk", plan.prefill_chunk);
    all.emplace_back("--memory-share", fmt::format("{}", plan.memory_share));
    if (plan.speculation.draft_tokens > 0) {
        count("--draft-tokens", plan.speculation.draft_tokens);
        if (plan.speculation.draft) { all.emplace_back("--draft-model", plan.speculation.draft->name); }
    }
    return all;
}

EmittedLaunch emit_serving(ServingTarget target, ServingLaunch const& launch) {
    ServingFormat const& format = formats.at(static_cast<std::size_t>(target));
    EmittedLaunch result;
    std::string lines;
    for (auto const& [option, value] : launch.options) {
        auto const same = std::ranges::find(format.same, option, &OptionName::own);
        std::string text;
        if (option == "MODEL") {
            std::string const head = format.model_option.empty() ? "" : std::string{format.model_option} + " ";
            text = head + words::shell_word(value);
        } else if (same != format.same.end()) {
            text = fmt::format("{} {}", same->engine, value);
        } else {
            text = written(format, option, value, launch.options);
        }
        bool const inside = option == "--draft-model" && format.drafts;
        if (!text.empty()) {
            lines += " \\\n    " + text;
        } else if (!inside && !is_usual(option, value)) {
            result.not_expressed.push_back(option + " " + value);
        }
    }
    result.text = "#!/bin/bash\n# " + launch.command + "\n";
    if (launch.replicas > 1) { result.text += fmt::format("# one of {} replicas\n", launch.replicas); }
    for (std::string const& option : result.not_expressed) { result.text += "# not in this command: " + option + "\n"; }
    result.text += std::string{format.start} + lines + "\n";
    return result;
}

} // namespace headroom::io
