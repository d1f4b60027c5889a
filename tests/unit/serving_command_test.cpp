// Commands that start engines, read as options of `headroom inference`, and written.

#include "headroom/io/launch_emit.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace headroom {
namespace {

using Options = std::map<std::string, std::string>;

Options options_in(char const* text) {
    io::LaunchFile const file = io::read_launch_file(text, "serve.sh");
    Options options{file.options.begin(), file.options.end()};
    options.insert(file.implied.begin(), file.implied.end());
    return options;
}

TEST(ServingCommand, OfVllm) {
    EXPECT_EQ(options_in("CUDA_VISIBLE_DEVICES=0,1 vllm serve meta-llama/Llama-3.1-8B -tp 2 --max-num-seqs=64 \\\n"
                         "  --gpu-memory-utilization 0.85 --kv-cache-dtype fp8_e5m2 --dtype half --port 8000"),
              (Options{{"MODEL", "meta-llama/Llama-3.1-8B"},
                       {"--tp", "2"},
                       {"--max-batch", "64"},
                       {"--memory-share", "0.85"},
                       {"--cache-precision", "fp8"},
                       {"--precision", "fp16"},
                       {"--engine", "vllm"}}));
    EXPECT_EQ(options_in("python -m vllm.entrypoints.openai.api_server --model mistralai/Mistral-7B-v0.1 "
                         "--pipeline-parallel-size 2 --max-num-batched-tokens 8192 --quantization fp8"),
              (Options{{"MODEL", "mistralai/Mistral-7B-v0.1"},
                       {"--pp", "2"},
                       {"--prefill-chunk", "8192"},
                       {"--precision", "fp8"},
                       {"--engine", "vllm"}}));
    EXPECT_EQ(options_in("docker run --gpus all vllm/vllm-openai:latest --model llama-3-8b -tp 4").at("--tp"), "4");
}

TEST(ServingCommand, DraftsOfVllmAreInsideOfJson) {
    auto const options = options_in(
        R"(vllm serve llama-3-70b --speculative-config '{"model": "llama-3.2-1b", "num_speculative_tokens": 3}')");
    EXPECT_EQ(options.at("--draft-tokens"), "3");
    EXPECT_EQ(options.at("--draft-model"), "llama-3.2-1b");
    EXPECT_EQ(options.at("MODEL"), "llama-3-70b");
}

TEST(ServingCommand, OfSglangAndTensorRtLlm) {
    EXPECT_EQ(options_in("python3 -m sglang.launch_server --model-path llama-3-8b --tp 2 --mem-fraction-static 0.8 "
                         "--chunked-prefill-size 4096 --max-running-requests 100 --dp 2"),
              (Options{{"MODEL", "llama-3-8b"},
                       {"--tp", "2"},
                       {"--memory-share", "0.8"},
                       {"--prefill-chunk", "4096"},
                       {"--max-batch", "100"},
                       {"--engine", "sglang"}}));
    EXPECT_EQ(options_in("trtllm-serve serve llama-3-8b --tp_size 4 --max_batch_size 512 --max_num_tokens 8192"),
              (Options{{"MODEL", "llama-3-8b"},
                       {"--tp", "4"},
                       {"--max-batch", "512"},
                       {"--prefill-chunk", "8192"},
                       {"--engine", "tensorrt-llm"}}));
}

TEST(ServingCommand, WeightsOfFourBitsLeaveProductsInSixteen) {
    auto const options = options_in("vllm serve llama-3-70b --quantization gptq_marlin --dtype half");
    EXPECT_EQ(options.at("--weights"), "int4");
    EXPECT_EQ(options.at("--precision"), "fp16");
    EXPECT_EQ(options_in("vllm serve llama-3-70b -q fp8").at("--precision"), "fp8");
}

TEST(ServingCommand, SaysWhyAKeyIsNotUsed) {
    auto const file = io::read_launch_file(
        "vllm serve llama-3-8b --quantization bitsandbytes --data-parallel-size 4 --enable-prefix-caching --odd 3",
        "a.sh");
    std::map<std::string, std::string> notes;
    for (auto const& key : file.ignored) { notes[key.key] = key.note; }
    EXPECT_NE(notes.at("--quantization").find("--weights"), std::string::npos);
    EXPECT_NE(notes.at("--data-parallel-size").find("--replicas"), std::string::npos);
    EXPECT_NE(notes.at("--enable-prefix-caching").find("--prefix-hits"), std::string::npos);
    EXPECT_EQ(notes.at("--odd"), "not understood");
}

TEST(ServingCommand, IsWrittenWithWhatItLacks) {
    io::ServingLaunch const launch{
        .options = {{"MODEL", "a model"}, {"--tp", "4"}, {"--memory-share", "0.9"}, {"--precision", "fp8"}},
        .replicas = 3,
        .command = "headroom inference"};
    EXPECT_EQ(io::emit_serving(io::ServingTarget::vllm, launch).text,
              "#!/bin/bash\n# headroom inference\n# one of 3 replicas\nvllm serve \\\n    'a model' \\\n"
              "    --tensor-parallel-size 4 \\\n    --gpu-memory-utilization 0.9 \\\n    --quantization fp8\n");
    auto const bare = io::emit_serving(io::ServingTarget::trtllm, launch);
    EXPECT_EQ(bare.not_expressed, (std::vector<std::string>{"--memory-share 0.9", "--precision fp8"}));
}

} // namespace
} // namespace headroom
