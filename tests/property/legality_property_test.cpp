// `illegal_because` against the rules written once more, from the text of legality.hpp and not from its code.

#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using test::CounterRandom;
using training::one_in;
using training::one_of;

bool divides(int divisor, int whole) { return divisor > 0 && whole % divisor == 0; }
bool either_divides(int a, int b) { return divides(a, b) || (b > 0 && a % b == 0); }

/// tp divides heads, widths and heads of a state space; it and groups that share keys, or matrices, divide each other.
bool splits_matrices(Strategy const& s, Model const& m) {
    int const routed = m.moe.ffn > 0 ? m.moe.ffn : m.ffn;
    int const shared = m.moe.shared_experts * (m.moe.shared_ffn > 0 ? m.moe.shared_ffn : routed);
    bool const attention = divides(s.tp, m.heads) && either_divides(s.tp, m.kv_heads);
    bool const scan =
        m.state_space.heads == 0 || (divides(s.tp, m.state_space.heads) && either_divides(s.tp, m.state_space.groups));
    return attention && scan && divides(s.tp, m.ffn) && divides(s.tp, shared);
}

bool splits_layers(Strategy const& s, Model const& m) {
    if (s.pp == 1) { return s.virtual_pp == 1; }
    bool const filled = s.virtual_pp == 1 || s.pp * s.virtual_pp <= m.layers + m.prediction_layers + 2;
    return s.pp >= 1 && s.pp <= m.layers && divides(s.virtual_pp, (m.layers + s.pp - 1) / s.pp) && filled;
}

bool splits_sequence(Strategy const& s, Model const& m, Workload const& w) {
    if (s.cp < 1) { return false; }
    if (s.cp > 1 && !divides(2 * s.cp, w.sequence_length)) { return false; }
    if (s.cp > 1 && s.exchange == ContextExchange::all_to_all && !divides(s.cp * s.tp, m.heads)) { return false; }
    return !s.sequence_parallel || (s.tp > 1 && divides(s.tp, w.sequence_length / s.cp));
}

bool splits_batch(Strategy const& s, Workload const& w) {
    if (!divides(s.dp, w.global_batch) || !divides(s.micro_batch, w.global_batch / s.dp)) { return false; }
    return s.virtual_pp == 1 || divides(s.pp, w.global_batch / s.dp / s.micro_batch);
}

/// A schedule other than 1F1B needs stages; interleaving chunks, the others none; a V halves of equal length on each stage;
/// two directions pairs of micro-batches, and of stages unless they are folded.
bool suits_schedule(Strategy const& s, Model const& m, Workload const& w) {
    using enum PipelineSchedule;
    int const micro_batches = w.global_batch / s.dp / s.micro_batch;
    bool const folds = s.pipeline == zbv || s.pipeline == v_half || s.pipeline == v_min || s.pipeline == dualpipe_v;
    switch (s.pipeline) {
    case one_f_one_b: return true;
    case interleaved: return s.pp > 1 && s.virtual_pp > 1;
    case dualpipe:
        return s.pp > 1 && s.virtual_pp == 1 && divides(2, s.pp) && divides(2, micro_batches) &&
               micro_batches >= 2 * s.pp;
    case dualpipe_v:
        if (micro_batches < 2 * s.pp) { return false; }
        break;
    default: break;
    }
    return s.pp > 1 && s.virtual_pp == 1 && (!folds || divides(2 * s.pp, m.layers));
}

bool splits_experts(Strategy const& s, Model const& m) {
    if (s.ep < 1 || s.etp < 1) { return false; }
    if (s.ep == 1 && s.etp == 1) { return true; }
    bool const cut = s.etp == 1 || (s.etp == s.tp && divides(s.etp, m.moe.ffn));
    return m.moe.experts > 0 && cut && divides(s.ep, m.moe.experts) && divides(s.ep * s.etp, s.dp * s.cp * s.tp);
}

bool shards_state(Strategy const& s) {
    if (s.zero < 0 || s.zero > 3) { return false; }
    if (s.zero >= 2 && s.pp > 1 && s.pipeline == PipelineSchedule::pipedream) { return false; }
    return s.shard == 0 || (s.zero > 0 && divides(s.shard, s.dp * s.cp));
}

/// Compression, servers and local updates: at most one, and each with the state that it needs.
bool synchronises(Strategy const& s) {
    bool const compresses = s.compression.kind != Compression::none, serves = s.servers > 0, local = s.local_steps > 1;
    if (compresses + serves + local > 1) { return false; }
    bool const groups = s.zero == 3 && s.shard > 0 && s.shard < s.dp * s.cp;
    int const worker = groups ? s.shard : 1; // holds whole sequences and all experts
    if (local && (worker % s.cp != 0 || worker * s.tp % (s.ep * s.etp) != 0)) { return false; }
    return s.zero == 0 || !(compresses || serves || (local && !groups));
}

bool saves(Strategy const& s, Model const& m) {
    bool const trains = s.trained != Trained::last_layers || (s.trained_layers >= 1 && s.trained_layers <= m.layers);
    bool const recomputes =
        s.recompute_layers == 0 || (s.recompute != Recompute::none && s.recompute_layers <= m.layers);
    return trains && recomputes;
}

bool keeps_every_rule(Strategy const& s, Model const& m, Workload const& w) {
    if (!m.operators.empty() && (s.tp > 1 || s.pp > 1 || s.cp > 1 || s.ep > 1)) { return false; }
    return splits_matrices(s, m) && splits_layers(s, m) && splits_sequence(s, m, w) && splits_experts(s, m) &&
           splits_batch(s, w) && suits_schedule(s, m, w) && shards_state(s) && synchronises(s) && saves(s, m);
}

/// Puts one field of a strategy out of order.
void upset(Strategy& s, Workload& w, CounterRandom& random) {
    int const other = random.below(7); // 0 among them
    switch (random.below(20)) {
    case 0: s.dp = other; break;
    case 1: s.tp = other; break;
    case 2: s.pp = other + random.below(40); break;
    case 3: s.virtual_pp = other; break;
    case 4: s.cp = other; break;
    case 5: s.ep = other; break;
    case 6: s.etp = other; break;
    case 7: s.zero = other - 1; break;
    case 8: s.shard = other; break;
    case 9: s.micro_batch = other; break;
    case 10: s.sequence_parallel = !s.sequence_parallel; break;
    case 11: s.recompute_layers = other + random.below(30); break;
    case 12: s.exchange = ContextExchange::all_to_all; break;
    case 13: s.trained = Trained::last_layers, s.trained_layers = other + random.below(30); break;
    case 14: s.local_steps = 1 + other; break;
    case 15: s.servers = other; break;
    case 16: s.compression.kind = one_of(random, {Compression::none, Compression::top_k}); break;
    case 17: s.pipeline = static_cast<PipelineSchedule>(random.below(pipeline_schedule_count)); break;
    case 18: // one that may be possible
        s.pipeline = static_cast<PipelineSchedule>(random.below(pipeline_schedule_count));
        s.virtual_pp = s.pipeline == PipelineSchedule::interleaved ? s.virtual_pp : 1;
        w.global_batch = std::max(1, s.dp * s.micro_batch * 2 * s.pp);
        break;
    default: w.global_batch = 1 + random.below(96); break;
    }
}

/// Gives a model a width or a count that few degrees divide.
void upset(Model& m, CounterRandom& random) {
    int const odd = 1 + 2 * random.below(50);
    switch (random.below(7)) {
    case 0: m.ffn = odd; break;
    case 1: m.kv_heads = odd; break;
    case 2: m.moe.ffn = m.moe.experts > 0 ? odd : 0; break;
    case 3: m.moe.shared_ffn = odd; break;
    case 4: m.state_space.groups = odd; break;
    case 5: m.state_space.heads = m.state_space.heads > 0 ? odd : 0; break;
    default: m.heads = odd; break;
    }
}

TEST(Legality, IsTheOracles) {
    // Expectation: 10 000 strategies, some quarter of them legal.
    int legal = 0;
    for (std::uint64_t seed = 0; seed < 10000; ++seed) {
        CounterRandom random{seed};
        Model model = training::random_model(training::families[seed % training::families.size()], random);
        Strategy s = training::random_strategy(model, random);
        Workload workload = training::random_workload(model, s, random);
        for (int upsets = random.below(3); upsets > 0; --upsets) { upset(s, workload, random); }
        if (model.operators.empty() && one_in(random, 4)) { upset(model, random); }
        bool const expected = keeps_every_rule(s, model, workload);
        std::string const because = illegal_because(s, model, workload);
        EXPECT_EQ(because.empty(), expected) << "seed " << seed << ": " << short_name(s) << ": '" << because << "'";
        EXPECT_EQ(because.find('\n'), std::string::npos) << because;
        legal += expected ? 1 : 0;
    }
    EXPECT_GT(legal, 2000);
    EXPECT_LT(legal, 7500);
}

TEST(Legality, EveryLegalStrategyIsAnswered) {
    // Expectation: what is legal has a finite time above zero and memory above zero, whatever it is.
    training::for_random_questions(4200, [](Question const& question) {
        training::Priced const priced{question};
        EXPECT_GT(priced.time.total().base(), 0.0) << training::name_of(question);
        EXPECT_TRUE(std::isfinite(priced.time.total().base())) << training::name_of(question);
        EXPECT_GT(priced.memory().total().base(), 0.0) << training::name_of(question);
        EXPECT_TRUE(std::isfinite(priced.memory().total().base())) << training::name_of(question);
    });
}

} // namespace
} // namespace headroom
