#include "inference/inference_question.hpp"

#include <array>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a node of the catalog (dgx-h100), an accelerator, or a .toml file", "Question"},
    Option{"--objective", "LIMITS", "ttft_p99<=500ms,tpot_p99<=50ms,latency_p99<=10s: what users must get", "Question"},
    Option{"--against", "NAME|FILE", "another machine for the same money an hour: which gives the better p99",
           "Question"},
    Option{"--price", "DOLLARS/h", "price of one accelerator (default: median on-demand price)", "Question"},
    Option{"--layers", "N", "only the first N layers of the model", "Question"},
    Option{"--arrivals", "RATE", "requests at the whole fleet: 20/s; with --requests its times are scaled to it",
           "What arrives"},
    Option{"--burst", "N", "so many requests at once, as an offline batch: how long until all are answered",
           "What arrives"},
    Option{"--concurrency", "N", "users, each of whom sends the next request when the one before is answered",
           "What arrives"},
    Option{"--burstiness", "X", "squared coefficient of variation of gaps (default: 1, Poisson)", "What arrives"},
    Option{"--prompt-tokens", "N", "of a request, on average (default: 1024)", "What arrives"},
    Option{"--output-tokens", "N", "of a request, on average (default: 256)", "What arrives"},
    Option{"--prompt-variation", "X", "squared coefficient of variation of prompts (default: 0, all alike)",
           "What arrives"},
    Option{"--output-variation", "X", "the same of outputs", "What arrives"},
    Option{"--prefix-hits", "SHARE", "of a prompt that a cache of prefixes holds: 60% (default: 0)", "What arrives"},
    Option{"--requests", "FILE", "recorded ones: CSV or JSON lines with arrival, prompt and output tokens",
           "What arrives"},
    Option{"--time-column", "NAME", "of --requests, where its name is unusual", "What arrives"},
    Option{"--prompt-column", "NAME", "the same for tokens of prompts", "What arrives"},
    Option{"--output-column", "NAME", "the same for tokens that came out", "What arrives"},
    Option{"--time-unit", "UNIT", "of times in --requests that are bare numbers: ms", "What arrives"},
    Option{"--duration", "TIME", "that is simulated; of --requests so much is taken (default: 20 000 requests)",
           "What arrives"},
    Option{"--seed", "N", "of what is drawn (default: 1)", "What arrives"},
    Option{"--tp", "DEGREES", "accelerators of a replica: 1,2,4,8 (default: every one that fits a node)", "Engine"},
    Option{"--pp", "N", "stages of layers of a replica, each with a batch in flight (default: 1)", "Engine"},
    Option{"--draft-tokens", "N", "speculative decoding: tokens drafted in an iteration (default: 0)", "Engine"},
    Option{"--acceptance", "SHARE", "probability that a drafted token is accepted, 70%: needed with --draft-tokens",
           "Engine"},
    Option{"--draft-model", "MODEL", "model that drafts (default: drafts cost nothing, as of n-grams)", "Engine"},
    Option{"--prefill-replicas", "N", "further replicas that compute prompts alone and send their caches (default: 0)",
           "Engine"},
    Option{"--replicas", "COUNTS", "answer these (default: the fewest that keep the objectives)", "Engine"},
    Option{"--precision", "NAME", "of weights and products: bf16, fp16, fp8, ...", "Engine"},
    Option{"--weights", "NAME", "kept in few bits, with products in 16: int8, int4 (AWQ, GPTQ), mxfp4, q8_0, q4_k",
           "Engine"},
    Option{"--cache-precision", "NAME", "of keys and values (default: 16 bits)", "Engine"},
    Option{"--max-batch", "N", "sequences in one iteration (default: the engine's)", "Engine"},
    Option{"--prefill-chunk", "TOKENS", "of prompts in one iteration at most (default: the engine's)", "Engine"},
    Option{"--memory-share", "SHARE", "of the accelerator's memory that the engine takes (default: 90%)", "Engine"},
    Option{"--dispatch", "NAME",
           "which replica gets a request: shortest-line (default), two-choices, round-robin, random", "Engine"},
    Option{"--engine", "NAME", "vllm, sglang, tensorrt-llm, lmdeploy, tgi, ... (default: vllm)", "Engine"},
    Option{"--framework", "NAME", "training framework whose fused kernels the engine is taken to have", "Engine"},
    Option{"--calibration", "FILE", "constants of your own (TOML)", "Data"},
    Option{"--catalog", "DIR", "records that replace or extend the built-in ones", "Data"},
    Option{"--require", "CONDITIONS", "exit 99 unless they hold: 'ttft_p99<=1s,cost<=2'", "Output"},
};

} // namespace

std::span<Option const> inference_options() { return options; }

} // namespace headroom::cli
