// A command of an engine that is written reads back to the replica that it was written for.

#include "support/draws.hpp"

#include "headroom/io/launch_emit.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace {

using namespace headroom;

template <class T> T one_of(std::mt19937_64& random, std::initializer_list<T> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

serving::ServingPlan any_plan(std::mt19937_64& random) {
    auto const any = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
    serving::ServingPlan plan{.tp = any(8), .pp = any(4)};
    plan.weights = one_of(random, {Precision::bf16, Precision::fp16, Precision::fp8, Precision::nvfp4});
    plan.cache = one_of(random, {Precision::bf16, Precision::fp16, Precision::fp8});
    plan.most_sequences = any(65536), plan.prefill_chunk = any(100000);
    plan.memory_share = static_cast<double>(any(1000)) / 1000.0;
    bool const wide = plan.weights == Precision::bf16 || plan.weights == Precision::fp16;
    auto const formats = serving::weight_formats();
    if (wide && random() % 2 == 0) { plan.kept = &formats[random() % formats.size()]; }
    if (random() % 2 == 0) { plan.speculation.draft_tokens = any(8); }
    if (plan.speculation.draft_tokens > 0 && random() % 2 == 0) {
        training::Model draft;
        draft.name = one_of(random, {"llama-3.2-1b", "org/a-draft"});
        plan.speculation.draft = std::make_shared<training::Model const>(draft);
    }
    return plan;
}

TEST(ServingRoundTrip, CommandsReadBackToTheSameOptions) {
    std::mt19937_64 random{11};
    for (int draw = 0; draw < headroom::test::draws_of(2000); ++draw) {
        auto const plan = any_plan(random);
        std::string const model = one_of(random, {"meta-llama/Llama-3.1-8B", "./a folder/config.json", "llama-3-70b"});
        io::ServingLaunch const launch{.options = io::options_of(plan, model), .command = "headroom inference"};
        for (auto const target : {io::ServingTarget::vllm, io::ServingTarget::sglang, io::ServingTarget::trtllm}) {
            io::EmittedLaunch const written = io::emit_serving(target, launch);
            io::LaunchFile const file = io::read_launch_file(written.text, "serve.sh");
            EXPECT_TRUE(file.contradictions.empty() && file.ignored.empty()) << written.text;
            std::map<std::string, std::string> const found{file.options.begin(), file.options.end()};
            for (auto const& [option, value] : launch.options) {
                bool const elsewhere = std::ranges::count(written.not_expressed, option + " " + value) > 0;
                bool const usual = option == "--cache-precision" && value != "fp8";
                auto const read = found.find(option);
                EXPECT_EQ(read == found.end(), elsewhere || usual) << option << "\n" << written.text;
                if (read != found.end()) { EXPECT_EQ(read->second, value) << option << "\n" << written.text; }
            }
            ASSERT_EQ(file.implied.size(), 1U);
            EXPECT_EQ(file.implied.front().first, "--engine");
        }
    }
}

} // namespace
