#include "launch/serving_formats.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

/// Formats of caches and of what is not quantised, in the words of engines.
std::string sixteen_bits(Text value) {
    std::string const name = normalised(value);
    if (name.starts_with("fp8") || name.starts_with("float8")) { return "fp8"; }
    if (name == "bfloat16") { return "bf16"; }
    if (name == "half" || name == "float16") { return "fp16"; }
    return name == "float" || name == "float32" ? "fp32" : std::string{value};
}

/// Weights that are kept in four bits, with products in 16.
std::string kept_in_four(Text value) {
    std::string const name = normalised(value);
    bool const four = name.starts_with("awq") || name.starts_with("gptq") || name == "marlin";
    return four ? "int4" : name == "mxfp4" ? "mxfp4" : name == "w8a16" ? "int8" : std::string{};
}

/// Quantised weights whose products are computed in their own format; of others the products are in 16 bits.
std::string quantised(Text value) {
    std::string const name = normalised(value);
    if (name == "fp8" || name == "ptpcfp8" || name == "fbgemmfp8" || name == "modelopt" || name == "w8a8fp8") {
        return "fp8";
    }
    return name == "modeloptfp4" || name == "nvfp4" ? "nvfp4" : std::string{};
}

constexpr Text replicas = "copies are asked for by --replicas, with what arrives";
constexpr Text hits = "how much it saves depends on the prompts: --prefix-hits";
constexpr Text checkpoint = "the checkpoint says how many bits weights have: --weights";
constexpr Text lengths = "a limit of lengths; mean lengths are asked for by --prompt-tokens and --output-tokens";
constexpr Text server = "no effect on an iteration";
constexpr Text free_share = "a share of what weights leave; --memory-share is of the whole accelerator";
constexpr Text with_graphs = "kernels are priced as replayed graphs";

constexpr std::array vllm_rows{
    KeyRow{"MODEL", "MODEL"},
    KeyRow{"--model", "MODEL"},
    KeyRow{"--tensor-parallel-size", "--tp"},
    KeyRow{"-tp", "--tp"},
    KeyRow{"--pipeline-parallel-size", "--pp"},
    KeyRow{"-pp", "--pp"},
    KeyRow{"--data-parallel-size", "", replicas},
    KeyRow{"-dp", "", replicas},
    KeyRow{"--max-num-seqs", "--max-batch"},
    KeyRow{"--max-num-batched-tokens", "--prefill-chunk"},
    KeyRow{"--gpu-memory-utilization", "--memory-share"},
    KeyRow{"--dtype", "--precision", {}, sixteen_bits},
    KeyRow{"--quantization", "--precision", checkpoint, quantised},
    KeyRow{"kept weights", "--weights", {}, kept_in_four},
    KeyRow{"-q", "--precision", checkpoint, quantised},
    KeyRow{"--kv-cache-dtype", "--cache-precision", {}, sixteen_bits},
    KeyRow{"num_speculative_tokens", "--draft-tokens"},
    KeyRow{"--num-speculative-tokens", "--draft-tokens"},
    KeyRow{"speculative model", "--draft-model"},
    KeyRow{"--speculative-model", "--draft-model"},
    KeyRow{"--enable-prefix-caching", "", hits},
    KeyRow{"--max-model-len", "", lengths},
    KeyRow{"--enforce-eager", "", with_graphs},
    KeyRow{"--enable-chunked-prefill", "", server},
    KeyRow{"--host", "", server},
    KeyRow{"--port", "", server},
    KeyRow{"--served-model-name", "", server},
    KeyRow{"--trust-remote-code", "", server},
};
constexpr std::array sglang_rows{
    KeyRow{"MODEL", "MODEL"},
    KeyRow{"--model-path", "MODEL"},
    KeyRow{"--model", "MODEL"},
    KeyRow{"--tp", "--tp"},
    KeyRow{"--tp-size", "--tp"},
    KeyRow{"--tensor-parallel-size", "--tp"},
    KeyRow{"--pp-size", "--pp"},
    KeyRow{"--pipeline-parallel-size", "--pp"},
    KeyRow{"--dp", "", replicas},
    KeyRow{"--dp-size", "", replicas},
    KeyRow{"--data-parallel-size", "", replicas},
    KeyRow{"--max-running-requests", "--max-batch"},
    KeyRow{"--chunked-prefill-size", "--prefill-chunk"},
    KeyRow{"--mem-fraction-static", "--memory-share"},
    KeyRow{"--dtype", "--precision", {}, sixteen_bits},
    KeyRow{"--quantization", "--precision", checkpoint, quantised},
    KeyRow{"kept weights", "--weights", {}, kept_in_four},
    KeyRow{"--kv-cache-dtype", "--cache-precision", {}, sixteen_bits},
    KeyRow{"--speculative-num-steps", "--draft-tokens"},
    KeyRow{"--speculative-draft-model-path", "--draft-model"},
    KeyRow{"--context-length", "", lengths},
    KeyRow{"--disable-cuda-graph", "", with_graphs},
    KeyRow{"--host", "", server},
    KeyRow{"--port", "", server},
    KeyRow{"--trust-remote-code", "", server},
};
constexpr std::array tensorrt_rows{
    KeyRow{"MODEL", "MODEL"},
    KeyRow{"--tp_size", "--tp"},
    KeyRow{"--pp_size", "--pp"},
    KeyRow{"--max_batch_size", "--max-batch"},
    KeyRow{"--max_num_tokens", "--prefill-chunk"},
    KeyRow{"--max_seq_len", "", lengths},
    KeyRow{"--kv_cache_free_gpu_memory_fraction", "", free_share},
    KeyRow{"--free_gpu_memory_fraction", "", free_share},
    KeyRow{"--backend", "", server},
    KeyRow{"--host", "", server},
    KeyRow{"--port", "", server},
    KeyRow{"--trust_remote_code", "", server},
};
constexpr Text vllm_implied = "--engine vllm";
constexpr Text sglang_implied = "--engine sglang";
constexpr Text tensorrt_implied = "--engine tensorrt-llm";

constexpr std::array formats{
    Format{"vLLM command", "vllm", vllm_rows, vllm_implied},
    Format{"SGLang command", "sglang", sglang_rows, sglang_implied},
    Format{"TensorRT-LLM command", "trtllm-serve", tensorrt_rows, tensorrt_implied},
};

/// The number or text behind a key of a JSON object on one line; empty where it has none.
std::string json_value(Text json, Text key) {
    auto at = json.find('"' + std::string{key} + '"');
    if (at == Text::npos) { return {}; }
    at = json.find(':', at + key.size() + 2);
    if (at == Text::npos) { return {}; }
    do { ++at; } while (at < json.size() && std::isspace(static_cast<unsigned char>(json[at])) != 0);
    bool const text = at < json.size() && json[at] == '"';
    std::size_t const begin = text ? at + 1 : at;
    std::size_t const end = std::min(json.find_first_of(text ? "\"" : ",} \t", begin), json.size());
    return std::string{json.substr(std::min(begin, json.size()), end - std::min(begin, end))};
}

} // namespace

Format const* serving_format(std::vector<Entry>& entries) {
    for (Format const& format : formats) {
        auto const is_command = [&](Entry const& entry) { return entry.key == format.signs; };
        if (std::ranges::none_of(entries, is_command)) { continue; }
        std::erase_if(entries, is_command);
        return &format;
    }
    return nullptr;
}

void finish_serving(std::vector<Entry>& entries) {
    std::vector<Entry> all;
    for (Entry const& entry : entries) {
        bool const quantises = entry.key == "--quantization" || entry.key == "-q";
        if (quantises && !kept_in_four(entry.value).empty()) {
            all.push_back({"kept weights", entry.value, entry.line});
            continue;
        }
        bool const drafts = entry.key == "--speculative-config" && entry.value.starts_with('{');
        if (!drafts) {
            all.push_back(entry);
            continue;
        }
        for (auto const& [key, name] :
             {std::pair{"num_speculative_tokens", "num_speculative_tokens"}, std::pair{"model", "speculative model"}}) {
            std::string value = json_value(entry.value, key);
            if (!value.empty()) { all.push_back({name, std::move(value), entry.line}); }
        }
    }
    entries = std::move(all);
}

} // namespace headroom::io::launch
