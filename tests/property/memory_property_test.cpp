// Memory: nothing that saves it ever costs it, and what ranks hold of the parameters adds up to the model.

#include "../../core/src/training/stage.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using training::for_random_questions;
using training::is_legal;
using training::name_of;
using training::Priced;

constexpr int draws = 4200; ///< 600 of each family

MemoryUse memory(Question const& question) { return training::memory_of(question); }

/// Memory that is there whatever is going on; buffers are for what is on its way.
Bytes kept(MemoryUse const& use) { return use.total() - use.buffers; }
Bytes total(MemoryUse const& use) { return use.total(); }

/// Rounding; and where gradients are made as activations go, full recomputation counts tensors of the last block both as kept
/// and as made again. Largest seen: 0.13 %.
double slack_of(Question const& question, Question const& changed) {
    bool const again = question.strategy.recompute != Recompute::full && changed.strategy.recompute == Recompute::full;
    return again && question.framework.frees_gradients ? 0.002 : 1e-12;
}

/// Compares every random question with what `change` makes of it, where that is legal.
template <class Measure, class Change>
void expect_no_more(char const* what, Measure measure, Change change, int least = draws / 50) {
    int compared = 0;
    for_random_questions(draws, [&](Question question) {
        question.framework.pads_vocabulary = false; // more ranks pad to more words
        Question changed = question;
        if (!change(changed) || !is_legal(changed)) { return; }
        auto const before = memory(question), after = memory(changed);
        if (before.stage != after.stage) { return; } // of another stage nothing is said
        EXPECT_LE(measure(after).base(), measure(before).base() * (1.0 + slack_of(question, changed)))
            << name_of(question) << ": " << what << " gives " << short_name(changed.strategy);
        ++compared;
    });
    EXPECT_GE(compared, least) << what << " was hardly looked at";
}

TEST(Memory, MoreTensorRanksNeedNoMore) {
    expect_no_more("more tensor ranks", total, [](Question& q) {
        if (q.strategy.etp > 1) { q.strategy.etp *= 2; }
        q.strategy.tp *= 2;
        return true;
    });
}

/// There are as many copies of a sharded state of experts as of the rest, where that divides the ranks that hold them.
bool copies_come_out_even(Strategy const& s) {
    return s.zero == 0 || s.expert_data_ranks() % (s.data_ranks() / s.shard_ranks()) == 0;
}

TEST(Memory, MoreExpertRanksNeedNoMore) {
    // Expectation: with balanced tokens; skewed ones may not be on one rank and are on two.
    for (int const times : {2, 3}) {
        expect_no_more(
            "more expert ranks", total,
            [times](Question& q) {
                q.strategy.ep *= times;
                return q.model.moe.experts > 0 && q.workload.expert_skew == 1.0 && copies_come_out_even(q.strategy);
            },
            20);
    }
}

TEST(Memory, MoreContextRanksNeedNoMore) {
    // Expectation: the first peer adds a gradient bucket; apart from that a rank holds fewer tokens, and shards less.
    expect_no_more("more context ranks", kept, [](Question& q) {
        q.strategy.cp *= 2;
        return q.strategy.exchange != ContextExchange::all_to_all || q.model.heads % q.strategy.cp == 0;
    });
    expect_no_more("more context ranks, with peers", total, [](Question& q) {
        bool const peers = q.strategy.data_ranks() > 1;
        q.strategy.cp *= 2;
        return peers;
    });
}

TEST(Memory, MoreReplicasNeedNoMore) {
    expect_no_more("more replicas", kept, [](Question& q) {
        q.strategy.dp *= 2;
        q.workload.global_batch *= 2;
        return true;
    });
}

TEST(Memory, HigherZeroStagesKeepNoMore) {
    for (int const stage : {1, 2, 3}) {
        expect_no_more("a higher ZeRO stage", kept, [stage](Question& q) {
            if (q.strategy.zero != stage - 1) { return false; }
            // what autocast narrowed is a buffer up to stage 2, and the update's copies take its place
            if (stage == 3 && q.framework.wide_residual) { return false; }
            q.strategy.zero = stage;
            return true;
        });
    }
}

TEST(Memory, LargerShardGroupsKeepNoMore) {
    for (int const times : {2, 3}) {
        expect_no_more(
            "a larger shard group", kept,
            [times](Question& q) {
                q.strategy.shard *= times;
                return q.strategy.shard > 0;
            },
            10);
    }
}

/// Counted by a mean of unlike blocks: a stage that has a fraction of a block that is trained, or computed again, on
/// average; blocks on their way to the host of which some are computed again.
bool is_thin(Strategy const& s) {
    bool const part = s.recompute_layers > 0;
    return s.pp > 1 ? part || s.trained == Trained::last_layers : part && offloads_activations(s.offload);
}

TEST(Memory, RecomputationNeedsNoMore) {
    expect_no_more("recomputation", total, [](Question& q) {
        auto const before = q.strategy.recompute;
        if (before == Recompute::full || is_thin(q.strategy)) { return false; }
        q.strategy.recompute = before == Recompute::none ? Recompute::selective : Recompute::full;
        return true;
    });
    expect_no_more("recomputation of more layers", total, [](Question& q) {
        if (is_thin(q.strategy) || q.strategy.recompute_layers == 0) { return false; }
        ++q.strategy.recompute_layers;
        return true;
    });
}

TEST(Memory, OffloadNeedsNoMore) {
    for (auto const offload : {Offload::optimizer, Offload::activations, Offload::both}) {
        expect_no_more("offload", total, [offload](Question& q) {
            if (q.strategy.offload != Offload::none) { return false; }
            q.strategy.offload = offload;
            return true;
        });
    }
}

TEST(Memory, TrainingLessNeedsNoMore) {
    expect_no_more("fewer trained layers", total, [](Question& q) {
        if (is_thin(q.strategy) || q.strategy.trained != Trained::last_layers) { return false; }
        --q.strategy.trained_layers;
        return true;
    });
    for (auto const trained : {Trained::lora, Trained::last_layers}) {
        expect_no_more("part of the weights trained", total, [trained](Question& q) {
            if (q.strategy.trained != Trained::all || !q.model.operators.empty()) { return false; }
            // LoRA adds weights of its own: less is kept only where state of the frozen ones was
            if (trained == Trained::lora && offloads_optimizer(q.strategy.offload)) { return false; }
            q.strategy.trained = trained;
            q.strategy.trained_layers = q.model.layers;
            return true;
        });
    }
}

TEST(Memory, WhatIsKeptBesidesIsDeclared) {
    // Expectation: local updates keep 8 bytes for each parameter of a rank that is trained, compression the error of its
    // kind: nothing, 4 (32-bit factors), two 32-bit sums, or a worker's and a server's.
    for_random_questions(draws, [](Question question) {
        question.strategy.local_steps = 1;
        question.strategy.servers = question.strategy.zero = question.strategy.shard = 0;
        question.strategy.compression = {};
        question.strategy.trained = Trained::all;
        auto const plain = memory(question);
        double const held =
            plain.weights.base() / question.framework.parameter_bytes * trained_share_of_operators(question.model);
        Question local = question;
        local.strategy.local_steps = 4;
        auto const slow = memory(local);
        if (slow.stage == plain.stage) {
            EXPECT_NEAR((slow.total() - plain.total()).base(), 8.0 * held, 1e-9 * plain.total().base())
                << name_of(question);
        }
        Question sparse = question;
        sparse.strategy.compression.kind = Compression::top_k;
        auto const fed_back = memory(sparse);
        if (fed_back.stage == plain.stage) {
            bool const sends = question.strategy.data_ranks() > 1; // one rank has nobody to send gradients to
            EXPECT_NEAR((fed_back.total() - plain.total()).base(),
                        sends ? 2.0 * question.framework.reduced_bytes * held : 0.0, 1e-9 * plain.total().base())
                << name_of(question);
        }
    });
}

// ---- parameters ---------------------------------------------------------------------------------------------------

struct StageLayers {
    int first = 0, last = 0, between = 0, fullest = 0;
};
StageLayers layers_of(int layers, int pp) {
    int const first = stage_layers(layers, pp, StagePlace::first), last = stage_layers(layers, pp, StagePlace::last);
    return {first, last, layers - first - last, stage_layers(layers, pp, StagePlace::middle)};
}

TEST(StageLayers, AddUpAndComeOutAsEvenAsTheyCan) {
    // Expectation: every stage has a layer, none more than the fullest, which has no more than an even split needs; what
    // the ends leave fills the stages between them.
    for (int layers = 1; layers <= 130; ++layers) {
        EXPECT_EQ(stage_layers(layers, 1, StagePlace::whole), layers);
        for (int pp = 2; pp <= layers; ++pp) {
            auto const of = layers_of(layers, pp);
            EXPECT_EQ(of.fullest, (layers + pp - 1) / pp) << layers << " layers on " << pp;
            EXPECT_GE(std::min(of.first, of.last), 1) << layers << " layers on " << pp;
            EXPECT_LE(std::max(of.first, of.last), of.fullest) << layers << " layers on " << pp;
            EXPECT_LE(of.last, of.first) << layers << " layers on " << pp << ": the projection weighs more";
            EXPECT_LE(of.between, (pp - 2) * of.fullest) << layers << " layers on " << pp;
            EXPECT_GT(of.between, pp > 2 ? (pp - 2) * (of.fullest - 1) : -1) << layers << " layers on " << pp;
            if (layers % pp == 0) { EXPECT_EQ(of.last, layers / pp) << layers << " layers on " << pp; }
        }
    }
}

/// Parameters that all ranks of one replica hold, each counted as often as a rank holds it for itself alone.
double held_by_all(StepSetting const& setting, Strategy const& s) {
    double const everyone = s.tp, of_experts = static_cast<double>(s.ep) * s.etp;
    auto const all = [&](StageParameters const& one) { return one.dense * everyone + one.experts * of_experts; };
    if (s.pp == 1) { return all(stage_parameters(setting, s, StagePlace::whole)); }
    auto const of = layers_of(depth_of(setting.model), s.pp);
    double const middle = all(stage_parameters(setting, s, StagePlace::middle)) / of.fullest * of.between;
    return all(stage_parameters(setting, s, StagePlace::first)) + middle +
           all(stage_parameters(setting, s, StagePlace::last));
}

TEST(Parameters, OverAllRanksAreThoseOfTheModel) {
    // Expectation: over tensor ranks, experts over their own, stages of unequal depth: the model's total and its
    // prediction blocks; a table that is tied, or that those read, is on the first stage and on the last.
    for_random_questions(draws, [](Question const& question) {
        Priced const priced{question};
        auto const count = count_parameters(question.model);
        bool const both = question.model.tied_embeddings || question.model.prediction_layers > 0; // ends read the table
        bool const twice = both && question.strategy.pp > 1;
        double const table = static_cast<double>(question.model.vocab) * question.model.hidden;
        double const expected = count.total + count.prediction + (twice ? table : 0.0);
        EXPECT_NEAR(held_by_all(priced.setting(), question.strategy) / expected, 1.0, 1e-12) << name_of(question);
    });
}

TEST(Parameters, TheFullestStageIsOneOfThem) {
    for_random_questions(draws, [](Question const& question) {
        Priced const priced{question};
        auto const setting = priced.setting();
        double const fullest = fullest_stage_parameters(setting, question.strategy).all();
        double most = 0.0;
        if (question.strategy.pp == 1) { most = stage_parameters(setting, question.strategy, StagePlace::whole).all(); }
        for (auto const place : {StagePlace::first, StagePlace::middle, StagePlace::last}) {
            if (question.strategy.pp == 1 || (question.strategy.pp == 2 && place == StagePlace::middle)) { continue; }
            most = std::max(most, stage_parameters(setting, question.strategy, place).all());
        }
        EXPECT_EQ(fullest, most) << name_of(question);
    });
}

TEST(Parameters, OfAShardedStateOverItsRanksAreOneCopy) {
    // Expectation: a copy is spread over its shard group and no further: copies times shards are the ranks that hold the
    // same parameters.
    for_random_questions(draws, [](Question const& question) {
        auto const& s = question.strategy;
        auto const dense = shards_of(s), experts = expert_shards_of(s);
        double const data = s.data_ranks(), same = s.expert_data_ranks();
        double const group = s.shard_ranks(), of_experts = experts.optimizer;
        bool const sums_whole = s.zero < 2 || s.pp > 1; // over the micro-batches of a pipeline
        EXPECT_EQ(dense.weights, s.zero == 3 ? group : 1.0) << name_of(question);
        EXPECT_EQ(dense.gradients, sums_whole ? 1.0 : group) << name_of(question);
        EXPECT_EQ(dense.optimizer, s.zero > 0 ? group : 1.0) << name_of(question);
        EXPECT_EQ(experts.weights, s.zero == 3 ? of_experts : 1.0) << name_of(question);
        EXPECT_EQ(experts.gradients, sums_whole ? 1.0 : of_experts) << name_of(question);
        if (s.zero > 0 && s.shard == 0) { EXPECT_EQ(of_experts, same) << name_of(question); }
        if (s.zero == 3) {
            EXPECT_EQ(static_cast<int>(same) % static_cast<int>(experts.weights), 0) << name_of(question);
            double const copies = data / s.shard_ranks();
            EXPECT_GE(same / experts.weights, std::min(copies, same)) << name_of(question) << ": as many copies";
        }
    });
}

} // namespace
} // namespace headroom
