// Work is conserved: whatever the degrees, the operations of the step program over all ranks are those of the model.

#include "support/closed_form.hpp"
#include "support/counting.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::training;

namespace {

using closed_form::stack_work;
using counting::core_flops;
using counting::over_blocks;
using counting::over_model;
using counting::product_flops;
using training::for_random_questions;
using training::name_of;

constexpr int draws = 4200; ///< 600 of each family

auto products(Phase phase) {
    return [phase](LayerProgram const& program) { return product_flops(program, phase); };
}
auto cores(Phase phase) {
    return [phase](LayerProgram const& program) { return core_flops(program, phase); };
}

StepProgram program_of(Question question) {
    question.framework.pads_vocabulary = false; // padding is work that no token asked for
    return step_program(question.model, shape_of(question.strategy, question.workload), question.framework);
}

/// Ranks that share one micro-batch: each layer's work times them is the micro-batch's.
double sharers(Strategy const& s) { return static_cast<double>(s.tp) * s.cp; }

void expect_near(double counted, double expected, Question const& question, char const* what) {
    EXPECT_NEAR(counted, expected, 1e-11 * std::max(1.0, expected)) << name_of(question) << ": " << what;
}

/// Groups of a state space that are fewer than ranks would be on several of them: not looked at here.
bool holds_groups_once(Question const& q) {
    auto const& scan = q.model.state_space;
    return scan.heads == 0 || scan.groups % q.strategy.tp == 0;
}

TEST(Work, OfAllRanksIsThatOfTheMicroBatch) {
    // Expectation: for every kind of block, by tp, cp (each exchange), ep, etp, packed and unpadded: products and cores of
    // a rank, times the ranks that share the micro-batch, are the closed form's.
    for_random_questions(draws, [](Question const& question) {
        auto const& s = question.strategy;
        if (!question.model.operators.empty() || !holds_groups_once(question)) { return; }
        auto const program = program_of(question);
        double const tokens = s.micro_batch * question.workload.tokens();
        double const attended = question.workload.attended();
        auto const expected = stack_work(question.model, tokens, attended, s.tp, expert_load(s, question.workload));
        double const head = closed_form::head_work(question.model, tokens);
        expect_near(over_model(program, products(Phase::forward)) * sharers(s), expected.matrix + head, question,
                    "products");
        expect_near(over_model(program, cores(Phase::forward)) * sharers(s), expected.core, question, "cores");
    });
}

TEST(Work, OfAllRanksAndMicroBatchesIsTheFlopCount) {
    // Expectation: over a whole step, where nothing is held twice and experts are balanced: `forward_flops` of the batch.
    for_random_questions(draws, [](Question question) {
        auto const& s = question.strategy;
        question.strategy.capacity = 0.0;
        question.workload.expert_skew = 1.0;
        bool const once = s.tp == 1 || (question.model.kv_heads % s.tp == 0 && !question.model.latent.used());
        if (!once || !holds_groups_once(question)) { return; }
        auto const program = program_of(question);
        double const everywhere = sharers(s) * s.dp * micro_batch_count(s, question.workload);
        auto const counted = forward_flops(question.model, question.workload.tokens(), question.workload.attended(),
                                           AttentionConvention::causal);
        double const batch = question.workload.global_batch;
        expect_near(over_model(program, products(Phase::forward)) * everywhere,
                    batch * (counted.matrix + counted.head).base(), question, "products of the step");
        bool const scans = question.model.state_space.heads > 0; // a scan moves bytes, it has no products
        if (!scans) {
            expect_near(over_model(program, cores(Phase::forward)) * everywhere, batch * counted.attention.base(),
                        question, "cores of the step");
        }
    });
}

TEST(Work, ForwardFlopsAreTheClosedForm) {
    for_random_questions(draws, [](Question const& question) {
        auto const& m = question.model;
        double const tokens = question.workload.tokens(), attended = question.workload.attended();
        auto const counted = forward_flops(m, tokens, attended, AttentionConvention::causal);
        if (!m.operators.empty()) {
            expect_near(counted.matrix.base(), closed_form::operator_work(m, tokens), question, "operators");
            return;
        }
        auto const expected = stack_work(m, tokens, attended);
        double scans = 0.0;
        for (int i = 0; i < m.layers; ++i) {
            if (closed_form::layer_at(m, i).mixer == 'M') {
                scans += 7.0 * tokens * m.state_space.heads * m.state_space.head_dim * m.state_space.state;
            }
        }
        if (m.prediction_layers > 0 && closed_form::layer_at(m, m.layers - 1).mixer == 'M') {
            scans +=
                m.prediction_layers * 7.0 * tokens * m.state_space.heads * m.state_space.head_dim * m.state_space.state;
        }
        expect_near(counted.matrix.base(), expected.matrix, question, "matrix");
        expect_near(counted.attention.base(), expected.core + scans, question, "attention and scans");
        expect_near(counted.head.base(), closed_form::head_work(m, tokens), question, "head");
    });
}

TEST(Work, OfAnOperatorListIsThatOfItsProducts) {
    for_random_questions(draws, [](Question const& question) {
        if (question.model.operators.empty()) { return; }
        auto const program = program_of(question);
        double const samples = question.strategy.micro_batch;
        expect_near(over_blocks(program, products(Phase::forward)), closed_form::operator_work(question.model, samples),
                    question, "operators");
        bool const all = std::ranges::all_of(question.model.operators, &Operator::trained);
        if (all) {
            expect_near(over_blocks(program, products(Phase::backward)),
                        2.0 * closed_form::operator_work(question.model, samples), question, "backward");
        }
    });
}

/// Share of the blocks that have a backward pass.
double trained_share(Question const& q) {
    bool const last = q.strategy.trained == Trained::last_layers;
    return last ? static_cast<double>(q.strategy.trained_layers) / q.model.layers : 1.0;
}

TEST(Work, BackwardIsTwiceForward) {
    // Expectation: a product has one for the gradient of its input and one for that of its weight; frozen weights with
    // LoRA adapters leave the first, frozen layers none. A core has two operands and so always both.
    for_random_questions(draws, [](Question const& question) {
        if (!question.model.operators.empty()) { return; }
        auto const program = program_of(question);
        double const passes = question.strategy.trained == Trained::lora ? 1.0 : 2.0;
        double const share = trained_share(question);
        expect_near(over_blocks(program, products(Phase::backward)),
                    passes * share * over_blocks(program, products(Phase::forward)), question, "products");
        expect_near(over_blocks(program, cores(Phase::backward)),
                    2.0 * share * over_blocks(program, cores(Phase::forward)), question, "cores");
        expect_near(product_flops(program.head, Phase::backward), passes * product_flops(program.head, Phase::forward),
                    question, "head");
    });
}

TEST(Work, LoraMultipliesByItsMatrices) {
    // Expectation: rank (in + out) multiply-adds a token and matrix, over all tensor ranks; twice as many backward; again where
    // blocks are recomputed whole. Written out for queries, keys, values and outputs, and the dense feed-forward part.
    int seen = 0;
    for_random_questions(draws, [&](Question question) {
        auto const& m = question.model;
        bool const plain = m.operators.empty() && m.moe.experts == 0 && m.state_space.heads == 0 && !m.latent.used() &&
                           m.encoder_layers == 0 && training::is_uniform(m);
        if (!plain) { return; }
        question.strategy.trained = Trained::lora;
        question.strategy.adapter_rank = 64;
        question.strategy.adapter_modules = adapter_module::attention | adapter_module::linear;
        question.strategy.recompute = Recompute::full;
        question.strategy.recompute_layers = 0;
        ++seen;
        double const h = m.hidden, q = static_cast<double>(m.heads) * m.head_dim;
        double const k = static_cast<double>(m.kv_heads) * m.head_dim, f = m.ffn;
        double const attention = (h + q) + 2.0 * (h + k) + (q + h);
        double const feed_forward = (m.feed_forward == FeedForward::gated ? 3.0 : 2.0) * (h + f);
        double const tokens = question.workload.tokens() * question.strategy.micro_batch;
        double const once = 2.0 * tokens * 64.0 * m.layers * (attention + feed_forward);
        auto const program = program_of(question);
        auto const counted = [&](Phase phase) {
            return sharers(question.strategy) * over_blocks(program, [phase](LayerProgram const& block) {
                       return product_flops(block, phase, true);
                   });
        };
        expect_near(counted(Phase::forward), once, question, "forward");
        expect_near(counted(Phase::backward), 2.0 * once, question, "backward");
        expect_near(counted(Phase::recompute), once, question, "recomputed");
    });
    EXPECT_GT(seen, draws / 20);
}

TEST(Work, RecomputationRepeatsItsShareOfTheForwardPass) {
    // Expectation: full: products and cores of the blocks it is for, of those that are trained; selective: cores; the
    // head never.
    for_random_questions(draws, [](Question const& question) {
        auto const& s = question.strategy;
        if (!question.model.operators.empty()) { return; }
        auto const program = program_of(question);
        double share = trained_share(question);
        if (s.recompute_layers > 0) {
            share = std::min(share, static_cast<double>(s.recompute_layers) / question.model.layers);
        }
        double const products_again = s.recompute == Recompute::full ? share : 0.0;
        double const cores_again = s.recompute == Recompute::none ? 0.0 : share;
        expect_near(over_blocks(program, products(Phase::recompute)),
                    products_again * over_blocks(program, products(Phase::forward)), question, "products");
        expect_near(over_blocks(program, cores(Phase::recompute)),
                    cores_again * over_blocks(program, cores(Phase::forward)), question, "cores");
        EXPECT_EQ(product_flops(program.head, Phase::recompute), 0.0) << name_of(question);
    });
}

TEST(Work, HardwareFlopsAreThoseOfTheProgram) {
    // Expectation: forward, backward and recomputed operations of a step, by the program and by the closed forms that
    // MFU and HFU are shares of.
    for_random_questions(draws, [](Question question) {
        auto const& s = question.strategy;
        question.strategy.capacity = 0.0;
        question.workload.expert_skew = 1.0;
        bool const once = s.tp == 1 || (question.model.kv_heads % s.tp == 0 && !question.model.latent.used());
        bool const scans = question.model.state_space.heads > 0;
        if (!once || scans || !question.model.operators.empty() || question.model.prediction_layers > 0) { return; }
        auto const program = program_of(question);
        double counted = 0.0;
        for (auto const phase : {Phase::forward, Phase::recompute, Phase::backward}) {
            counted += over_model(program, products(phase)) + over_model(program, cores(phase));
        }
        auto const forward = forward_flops(question.model, question.workload.tokens(), question.workload.attended(),
                                           AttentionConvention::causal);
        double const asked =
            hardware_flops(forward, trained_work(s, question.model), recomputed_work(s, question.model)).base();
        expect_near(counted * sharers(s) / s.micro_batch, asked, question, "operations of a sequence");
    });
}

TEST(Work, BlocksAddUpToTheLayers) {
    for_random_questions(draws, [](Question const& question) {
        if (!question.model.operators.empty()) { return; }
        auto const program = program_of(question);
        double count = 0.0;
        for (auto const& run : program.blocks) {
            EXPECT_GT(run.count, 0.0) << name_of(question);
            count += run.count;
        }
        EXPECT_NEAR(count, question.model.layers, 1e-12 * count) << name_of(question);
        EXPECT_EQ(program.depth, question.model.layers) << name_of(question);
        int runs = 0;
        for (auto const& run : block_runs(question.model)) { runs += run.count; }
        EXPECT_EQ(runs, question.model.layers) << name_of(question);
    });
}

TEST(Work, AnExpertAsWideAsADenseLayerIsOne) {
    // Expectation: one expert of one that every token passes is a dense layer and a router of h weights.
    for_random_questions(draws, [](Question const& question) {
        Model const& dense = question.model;
        if (training::is_uniform(dense) == false) { return; }
        Model routed = dense;
        routed.moe = {.experts = 1, .top_k = 1, .ffn = dense.ffn};
        double const router = 2.0 * 1000.0 * dense.layers * dense.hidden;
        auto const convention = AttentionConvention::causal;
        expect_near(forward_flops(routed, 1000.0, 1000.0, convention).matrix.base(),
                    forward_flops(dense, 1000.0, 1000.0, convention).matrix.base() + router, question, "one expert");
        EXPECT_EQ(count_parameters(routed).total, count_parameters(dense).total + router / 2000.0) << name_of(question);
    });
}

} // namespace
} // namespace headroom
