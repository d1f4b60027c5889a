// A feature at the value that means "off", or at a degree of one, changes nothing: on random models of every family.

#include "support/draws.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using training::for_random_questions;
using training::name_of;
using training::parts_of;
using training::Priced;

int const identity_draws = test::draws_of(1050, training::enough_random); ///< at most 150 of each family

/// Every part of time and memory the same but for rounding.
void expect_same(Question const& one, Question const& other, char const* what) {
    Priced const a{one}, b{other};
    double const slack = 1e-12 * a.time.total().base(), bytes = 1e-12 * a.memory().total().base();
    auto const times = parts_of(a.time), other_times = parts_of(b.time);
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_NEAR(times[i].base(), other_times[i].base(), slack) << name_of(one) << ": " << what << ", part " << i;
    }
    auto const memory = parts_of(a.memory()), other_memory = parts_of(b.memory());
    for (std::size_t i = 0; i < memory.size(); ++i) {
        EXPECT_NEAR(memory[i].base(), other_memory[i].base(), bytes) << name_of(one) << ": " << what << ", part " << i;
    }
}

/// Compares every random question that `applies` with the same one changed.
template <class Applies, class Change> void expect_identity(char const* what, Applies applies, Change change) {
    int compared = 0;
    for_random_questions(identity_draws, [&](Question const& question) {
        if (!applies(question)) { return; }
        Question changed = question;
        change(changed);
        expect_same(question, changed, what);
        ++compared;
    });
    EXPECT_GT(compared, identity_draws / 20) << what << " was hardly looked at";
}

constexpr auto is_stack = [](Question const& q) { return q.model.operators.empty(); };

TEST(Identity, WithoutExpertsTheirSettingsChangeNothing) {
    expect_identity(
        "experts of a dense model", [](Question const& q) { return q.model.moe.experts == 0; },
        [](Question& q) {
            q.model.moe = {.experts = 0, .top_k = 7, .ffn = 13, .first_dense = 1, .every = 2, .latent = 5};
            q.strategy.capacity = 2.0;
            q.workload.expert_skew = 3.0;
        });
}

TEST(Identity, OneContextRankExchangesNothing) {
    for (auto const exchange : {ContextExchange::gather, ContextExchange::ring, ContextExchange::all_to_all}) {
        expect_identity(
            "exchange of one context rank", [](Question const& q) { return q.strategy.cp == 1; },
            [exchange](Question& q) { q.strategy.exchange = exchange; });
    }
}

TEST(Identity, AWindowAsLongAsTheSequenceIsNone) {
    for (double const longer : {1.0, 3.0}) {
        for (int const full_every : {0, 2}) {
            expect_identity(
                "a window as long as the sequence",
                [](Question const& q) { return is_stack(q) && q.model.window == 0; },
                [=](Question& q) {
                    double const length = std::max(1.0, q.model.decoder_length) * q.workload.tokens();
                    q.model.window = static_cast<int>(std::ceil(longer * length));
                    q.model.full_every = full_every;
                });
        }
    }
}

TEST(Identity, ACapacityOfOneIsBalanced) {
    expect_identity(
        "a capacity of one",
        [](Question const& q) { return q.strategy.capacity == 0.0 && q.workload.expert_skew == 1.0; },
        [](Question& q) { q.strategy.capacity = 1.0; });
    // Expectation: what is over the capacity is dropped, so how skewed the tokens were does not matter.
    expect_identity(
        "skew beyond the capacity", [](Question const& q) { return q.strategy.capacity > 0.0; },
        [](Question& q) { q.workload.expert_skew = 5.0; });
}

TEST(Identity, OneExpertRankHasAllTokensHoweverSkewed) {
    expect_identity(
        "skew on one expert rank", [](Question const& q) { return q.strategy.ep == 1; },
        [](Question& q) { q.workload.expert_skew = 2.0; });
}

TEST(Identity, SettingsOfWhatIsOffChangeNothing) {
    expect_identity(
        "rank of no adapters", [](Question const& q) { return q.strategy.trained != Trained::lora; },
        [](Question& q) { q.strategy.adapter_rank = 128; });
    expect_identity(
        "layers that all are trained", [](Question const& q) { return q.strategy.trained != Trained::last_layers; },
        [](Question& q) { q.strategy.trained_layers = 1; });
    expect_identity(
        "compression that is none", [](Question const& q) { return q.strategy.compression.kind == Compression::none; },
        [](Question& q) {
            q.strategy.compression = {.kind = Compression::none, .rank = 1, .bits = 1.0, .share = 0.5};
        });
}

TEST(Identity, RecomputingEveryLayerIsFullRecomputation) {
    expect_identity(
        "all layers computed again",
        [](Question const& q) {
            return is_stack(q) && q.strategy.recompute != Recompute::none && q.strategy.recompute_layers == 0;
        },
        [](Question& q) { q.strategy.recompute_layers = q.model.layers; });
}

TEST(Identity, TrainingEveryLayerIsTrainingAllButTheTables) {
    // Expectation: kernels and communication inside of a step are the same; state and its traffic lack the embedding. Fewer
    // gradients are added up: stages drain no later, and the host has no more time to get ahead.
    for_random_questions(identity_draws, [](Question const& question) {
        if (!is_stack(question) || question.strategy.trained != Trained::all) { return; }
        Question last = question;
        last.strategy.trained = Trained::last_layers;
        last.strategy.trained_layers = question.model.layers;
        Priced const a{question}, b{last};
        EXPECT_EQ(a.time.compute, b.time.compute) << name_of(question);
        EXPECT_LE(a.time.host, b.time.host) << name_of(question);
        EXPECT_EQ(a.time.tensor_communication, b.time.tensor_communication) << name_of(question);
        EXPECT_EQ(a.time.context_communication, b.time.context_communication) << name_of(question);
        EXPECT_EQ(a.time.expert_communication, b.time.expert_communication) << name_of(question);
        EXPECT_GE(a.time.pipeline_bubble, b.time.pipeline_bubble * (1.0 - 1e-9)) << name_of(question);
        EXPECT_EQ(a.memory().weights, b.memory().weights) << name_of(question);
        EXPECT_NEAR(a.memory().activations / b.memory().activations, 1.0, 1e-12) << name_of(question);
        EXPECT_LE(b.time.optimizer, a.time.optimizer) << name_of(question);
        EXPECT_LE(b.memory().optimizer, a.memory().optimizer) << name_of(question);
    });
}

TEST(Identity, DocumentsAsLongAsTheSequenceAreNone) {
    for (double const longer : {1.0, 4.0}) {
        expect_identity(
            "documents as long as the sequence", [](Question const& q) { return q.workload.documents == 0.0; },
            [longer](Question& q) { q.workload.documents = longer * q.workload.sequence_length; });
    }
}

TEST(Identity, PaddingThatIsNotComputedIsAShorterSequence) {
    expect_identity(
        "tokens without padding",
        [](Question const& q) { return is_stack(q) && q.workload.tokens() == std::floor(q.workload.tokens()); },
        [](Question& q) {
            q.workload.sequence_length = static_cast<int>(q.workload.tokens());
            q.workload.fill = 1.0;
        });
}

TEST(Identity, NothingIsDisturbedByDefault) {
    for_random_questions(identity_draws, [](Question const& question) {
        Question calm = question;
        calm.disturbance = {};
        EXPECT_EQ(Priced{calm}.time.imbalance, Seconds{}) << name_of(question);
        calm.disturbance.spread = 0.0;
        EXPECT_EQ(Priced{calm}.time.stragglers, Seconds{}) << name_of(question);
        // Expectation: without that of stacks of their own an absent spread is one of zero.
        Calibration constants = training::fitted().values();
        constants[Constant::rank_spread] = 0.0;
        Question absent = calm;
        absent.disturbance = {};
        EXPECT_EQ(Priced(absent, constants).time.total(), Priced(calm, constants).time.total()) << name_of(question);
    });
}

TEST(Identity, AShardGroupOfAllDataRanksIsNoGroup) {
    expect_identity(
        "a shard group of all ranks", [](Question const& q) { return q.strategy.zero > 0 && q.strategy.shard == 0; },
        [](Question& q) { q.strategy.shard = q.strategy.data_ranks(); });
}

TEST(Identity, OneStageHasNoBubbleAndSendsNothing) {
    for_random_questions(identity_draws, [](Question const& question) {
        if (question.strategy.pp > 1) { return; }
        auto const time = Priced{question}.time;
        EXPECT_EQ(time.pipeline_bubble, Seconds{}) << name_of(question);
        EXPECT_EQ(time.pipeline_communication, Seconds{}) << name_of(question);
    });
}

TEST(Identity, OneRankOfADimensionHasNoRow) {
    // Expectation: a dimension of one rank sends nothing; of more than one it has a row, if the stage whose time is the step's
    // has what is sent: all blocks attend, train and have experts, or none does.
    for_random_questions(identity_draws, [](Question const& question) {
        auto const& s = question.strategy;
        auto const rows = Priced{question}.rows();
        auto const expect = [&](std::initializer_list<char const*> dimensions, bool several, bool every_stage) {
            bool const has = std::ranges::any_of(rows, [&](CommunicationRow const& row) {
                return std::ranges::find(dimensions, row.dimension) != dimensions.end();
            });
            if (has) { EXPECT_TRUE(several) << name_of(question); }
            if (several && every_stage) { EXPECT_TRUE(has) << name_of(question); }
        };
        bool const one_stage = s.pp == 1, alike = one_stage || block_runs(question.model).size() == 1;
        bool const alone = s.data_ranks() == 1 && (question.model.moe.experts == 0 || s.expert_data_ranks() == 1);
        expect({"tensor"}, s.tp > 1, true);
        expect({"context"}, s.cp > 1, alike);
        expect({"experts"}, s.ep > 1, alike);
        expect({"pipeline"}, s.pp > 1, true);
        expect({"data", "expert data"}, !alone, one_stage || (alike && s.trained == Trained::all));
    });
}

} // namespace
} // namespace headroom
