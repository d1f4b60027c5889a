#include "support/serving.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/inference_answer.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

using namespace serving;

InferenceQuestion question(char const* model, std::vector<int> degrees) {
    return {.model = training::catalog().model(model),
            .cluster = dgx(),
            .framework = stack(),
            .calibration = training::fitted(),
            .degrees = std::move(degrees),
            .degrees_given = true,
            .traffic = {.prompt_tokens = 512.0, .output_tokens = 128.0}};
}

TEST(InferenceAnswerTest, SeventyBillionParametersNeedTwoAccelerators) {
    InferenceAnswer const answer = answer_inference(question("llama-3-70b", {1, 4}), {});
    EXPECT_EQ(answer.plans[0].obstacle, ServingObstacle::memory); // 141 GB of weights
    EXPECT_FALSE(answer.plans[1].obstacle);
    EXPECT_EQ(answer.row()->plan.tp, 4);
    EXPECT_TRUE(answer.feasible());
    EXPECT_EQ(answer.choice(), nullptr) << "no requests arrive";
}

TEST(InferenceAnswerTest, ATokenFasterThanTheWeightsAreReadIsNotGiven) {
    InferenceQuestion asked = question("llama-3-8b", {1});
    asked.experiment.objectives.per_token = Seconds{1e-3}; // 16 GB at 3.35 TB/s take 4.8 ms
    InferenceAnswer const answer = answer_inference(asked, {});
    EXPECT_EQ(answer.plans[0].obstacle, ServingObstacle::token);
    EXPECT_FALSE(answer.feasible());
}

TEST(InferenceAnswerTest, OneTokenIsNoSlowerThanTwo) {
    // Expectation: requests of one token have no further one, so that the limit of a further one bounds no batch; a
    // second token is more work.
    InferenceQuestion asked = question("llama-3-70b", {4});
    asked.experiment.objectives.per_token = Seconds{0.1};
    auto const rate = [&asked](double output) {
        asked.traffic.output_tokens = output;
        return answer_inference(asked, {}).plans[0].steady->requests_per_second;
    };
    double const one = rate(1.0), two = rate(2.0);
    EXPECT_GE(one, two);
    asked.experiment.objectives.per_token = {};
    EXPECT_EQ(rate(1.0), one);
}

TEST(InferenceAnswerTest, OnlyDegreesThatWereGivenAreRefused) {
    InferenceQuestion asked = question("llama-3-8b", {1, 3}); // 3 does not divide 32 heads
    EXPECT_THROW(answer_inference(asked, {}), InputError);
    asked.degrees_given = false;
    EXPECT_EQ(answer_inference(asked, {}).plans.size(), 1);
}

} // namespace
} // namespace headroom
