#include "support/serving.hpp"

#include "headroom/error.hpp"

#include <gmock/gmock.h>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace serving;

std::vector<ServingRequest> traffic(double rate) {
    return draw_requests({.requests_per_second = rate,
                          .prompt_tokens = 512.0,
                          .output_tokens = 128.0,
                          .output_variation = 0.5,
                          .duration = Seconds{120.0}});
}
Model const& small() {
    static Model const model = training::catalog().model("llama-3-8b");
    return model;
}
Cluster priced() {
    Cluster cluster = dgx();
    cluster.price = DollarsPerSecond{3.6 / 3600.0};
    return cluster;
}
ServingExperiment experiment(double whole) {
    return {.objectives = {.whole = Seconds{whole}}, .warm_up = Seconds{20.0}};
}

TEST(ServingChoices, MoneyBuysTokens) {
    auto const requests = traffic(20.0);
    auto const choice = serve(small(), priced(), stack(), fitted_values(), {.tp = 2}, requests,
                              {.replicas = 3, .warm_up = Seconds{20.0}});
    EXPECT_TRUE(choice.serves());
    EXPECT_EQ(choice.accelerators, 6);
    EXPECT_DOUBLE_EQ(choice.price.value().base(), 6.0 * 1e-3);
    EXPECT_DOUBLE_EQ(choice.dollars_per_million_output_tokens.value(),
                     6e-3 / choice.result.output_tokens_per_second * 1e6);
    Cluster free = dgx();
    free.price.reset();
    auto const without = serve(small(), free, stack(), fitted_values(), {}, requests, {});
    EXPECT_FALSE(without.price);
    EXPECT_FALSE(without.dollars_per_million_output_tokens);
}

TEST(ServingChoices, WhatDoesNotFitSaysWhy) {
    auto const model = training::catalog().model("llama-3-70b");
    auto const choice = serve(model, dgx(), stack(), fitted_values(), {}, traffic(1.0), {});
    EXPECT_FALSE(choice.serves());
    EXPECT_FALSE(choice.meets);
    EXPECT_EQ(choice.obstacle, ChoiceObstacle::memory);
    EXPECT_TRUE(choice.memory.weights_alone_exceed());
}

TEST(ServingChoices, TheFewestReplicasKeepTheObjectiveAndOneFewerDoesNot) {
    auto const requests = traffic(200.0);
    for (double const whole : {3.5, 5.0, 10.0}) {
        auto const found = replicas_for(small(), dgx(), stack(), fitted_values(), {}, requests, experiment(whole));
        ASSERT_TRUE(found);
        EXPECT_TRUE(found->meets);
        EXPECT_GE(found->result.met, 0.99);
        ASSERT_GT(found->replicas, 1) << whole;
        auto fewer = experiment(whole);
        fewer.replicas = found->replicas - 1;
        EXPECT_FALSE(serve(small(), dgx(), stack(), fitted_values(), {}, requests, fewer).meets) << whole;
    }
}

TEST(ServingChoices, NoNumberOfReplicasMakesARequestFasterThanAlone) {
    EXPECT_FALSE(replicas_for(small(), dgx(), stack(), fitted_values(), {}, traffic(20.0), experiment(0.1), 64));
    EXPECT_FALSE(replicas_for(training::catalog().model("llama-3-70b"), dgx(), stack(), fitted_values(), {},
                              traffic(20.0), experiment(100.0)));
    EXPECT_THROW(replicas_for(small(), dgx(), stack(), fitted_values(), {}, {}, experiment(1.0)), InputError);
}

TEST(ServingChoices, WideReplicasAreFewer) {
    auto const choices = serving_choices(small(), priced(), stack(), fitted_values(), {}, 8, traffic(20.0), {});
    ASSERT_EQ(choices.size(), 4U);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        EXPECT_EQ(choices[i].plan.tp, 1 << i);
        EXPECT_EQ(choices[i].replicas, 8 >> i);
        EXPECT_EQ(choices[i].accelerators, 8);
        EXPECT_DOUBLE_EQ(choices[i].price.value().base(), 8e-3);
        EXPECT_TRUE(choices[i].serves());
    }
    // nearly idle, an answer comes sooner from a wide replica; loaded to the brim, many narrow ones waste nothing on talk
    auto const idle = serving_choices(small(), priced(), stack(), fitted_values(), {}, 8, traffic(2.0), {});
    EXPECT_NE(best_choice(idle, ServingMeasure::whole), 0U);
    auto const full = serving_choices(small(), priced(), stack(), fitted_values(), {}, 8, traffic(300.0), {});
    EXPECT_EQ(best_choice(full, ServingMeasure::whole), 0U);
    EXPECT_TRUE(full[0].result.stable);
    EXPECT_FALSE(full[3].result.stable);
}

TEST(ServingChoices, DegreesThatCannotServeSayWhyAndAreNotChosen) {
    auto const model = training::catalog().model("llama-3-70b");
    auto const choices = serving_choices(model, dgx(), stack(), fitted_values(), {}, 12, traffic(2.0), {});
    ASSERT_EQ(choices.size(), 4U); // 8 of 12 serve where a replica has 8
    EXPECT_FALSE(choices[0].serves());
    EXPECT_TRUE(choices[2].serves());
    EXPECT_EQ(choices[3].replicas, 1);
    EXPECT_EQ(choices[3].accelerators, 12);
    auto const best = best_choice(choices, ServingMeasure::per_token);
    ASSERT_TRUE(best);
    EXPECT_TRUE(choices[*best].serves());
    EXPECT_FALSE(best_choice(std::span{choices}.first(1), ServingMeasure::per_token));
    auto const gpt2 = training::catalog().model("gpt2-xl"); // 25 heads
    auto const odd = serving_choices(gpt2, dgx(), stack(), fitted_values(), {}, 2, traffic(2.0), {});
    ASSERT_EQ(odd.size(), 2U);
    EXPECT_TRUE(odd[0].serves());
    EXPECT_EQ(odd[1].obstacle, ChoiceObstacle::degree);
    EXPECT_EQ(odd[1].why_not, "2 does not divide 25 heads");
}

TEST(ServingChoices, TheSameMoneyRentsMoreOfWhatIsCheaper) {
    Cluster const h100 = priced();
    EXPECT_EQ(accelerators_for(h100, DollarsPerSecond{8e-3}), 8);
    EXPECT_EQ(accelerators_for(h100, 3.0 * h100.price.value()), 3);
    EXPECT_EQ(accelerators_for(h100, DollarsPerSecond{0.5e-3}), 0);
    Cluster free = h100;
    free.price.reset();
    EXPECT_FALSE(accelerators_for(free, DollarsPerSecond{1.0}));
    EXPECT_THROW(serving_choices(small(), h100, stack(), fitted_values(), {}, 0, traffic(2.0), {}), InputError);
}

} // namespace
} // namespace headroom
