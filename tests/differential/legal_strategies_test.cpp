// Strategies that the search goes through against all tuples of degrees, sieved by rules of their own.

#include "support/planning.hpp"

#include "headroom/training/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

using planning::h100_cluster;
using planning::megatron;
using planning::small_model;

struct Case {
    Model model;
    Cluster cluster;
    Workload workload;
    int workers = 1;
};

Model tiny(int layers, int heads, int kv_heads, int ffn) {
    Model model = small_model();
    model.layers = layers;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.hidden = heads * 64;
    model.head_dim = 64;
    model.ffn = ffn;
    return model;
}

std::vector<Case> cases() {
    Cluster quads = h100_cluster();
    quads.domain = 4;
    quads.accelerators_per_node = 4;
    Model mixture = tiny(4, 8, 4, 1024);
    mixture.moe = {.experts = 6, .top_k = 2, .ffn = 513, .shared_experts = 1, .shared_ffn = 1028};
    return {
        {small_model(), h100_cluster(), {.sequence_length = 4096, .global_batch = 64}, 8},
        {tiny(6, 12, 12, 3072), h100_cluster(), {.sequence_length = 6144, .global_batch = 48}, 24},
        {tiny(10, 8, 2, 2560), quads, {.sequence_length = 8192, .global_batch = 40}, 32},
        {mixture, h100_cluster(), {.sequence_length = 4096, .global_batch = 12}, 24},
    };
}

auto key(Strategy const& s) {
    return std::tuple{s.dp,
                      s.tp,
                      s.pp,
                      s.virtual_pp,
                      s.cp,
                      s.ep,
                      s.etp,
                      s.zero,
                      s.shard,
                      s.micro_batch,
                      s.sequence_parallel,
                      static_cast<int>(s.recompute)};
}
using Key = decltype(key(Strategy{}));

std::set<Key> keys(std::vector<Strategy> const& strategies) {
    std::set<Key> set;
    for (Strategy const& one : strategies) { set.insert(key(one)); }
    return set;
}

// The rules and the bounds once more, written from the text of legality.hpp and plan.hpp and not from the code.
bool keeps_expert_rules(Strategy const& s, Model const& m) {
    if (m.moe.experts == 0) { return s.ep == 1 && s.etp == 1; }
    bool const cut = s.etp == 1 || (s.etp == s.tp && m.moe.ffn % s.etp == 0);
    return cut && m.moe.experts % s.ep == 0 && s.dp * s.cp * s.tp % (s.ep * s.etp) == 0;
}

bool keeps_rules(Strategy const& s, Case const& c) {
    Model const& m = c.model;
    if (!keeps_expert_rules(s, m)) { return false; }
    int const batch = c.workload.global_batch;
    int const length = c.workload.sequence_length;
    if (m.heads % s.tp != 0 || m.ffn % s.tp != 0) { return false; }
    if (m.kv_heads % s.tp != 0 && s.tp % m.kv_heads != 0) { return false; }
    int const fullest = (m.layers + s.pp - 1) / s.pp; // layers of a stage: the ends may have fewer
    if (s.pp > m.layers || fullest % s.virtual_pp != 0) { return false; }
    if (s.virtual_pp > 1 && s.pp * s.virtual_pp > m.layers + m.prediction_layers + 2) {
        return false;
    } // embedding, head
    if (m.moe.shared_experts * m.moe.shared_ffn % s.tp != 0) { return false; }
    if (s.pp == 1 && s.virtual_pp > 1) { return false; }
    if (s.cp > 1 && length % (2 * s.cp) != 0) { return false; }
    if (batch % s.dp != 0 || (batch / s.dp) % s.micro_batch != 0) { return false; }
    if (s.virtual_pp > 1 && (batch / s.dp / s.micro_batch) % s.pp != 0) { return false; }
    if (s.sequence_parallel && (s.tp == 1 || length / s.cp % s.tp != 0)) { return false; }
    return s.shard == 0 || (s.zero > 0 && s.dp * s.cp % s.shard == 0);
}

bool inside_bounds(Strategy const& s, Case const& c) {
    auto const power_of_two = [](int n) { return n > 0 && (n & (n - 1)) == 0; };
    if (s.tp > c.cluster.domain) { return false; }
    if (!power_of_two(s.cp) || s.cp > 16 || (s.cp > 1 && c.workload.sequence_length / s.cp < 2048)) { return false; }
    bool const whole_replica = s.micro_batch == c.workload.global_batch / s.dp;
    if (s.micro_batch > 16 || !(power_of_two(s.micro_batch) || whole_replica)) { return false; }
    if (s.zero > 0 && s.dp * s.cp == 1) { return false; }
    if (s.zero == 2 && s.pp > 1) { return false; } // as ZeRO 1
    // where every rank has all experts they are cut like the rest, else they are whole
    if (c.model.moe.experts > 0 && s.etp != (s.ep == 1 ? s.tp : 1)) { return false; }
    int const inside = c.cluster.domain / (s.tp * s.cp);
    return s.shard == 0 || (s.zero == 3 && s.shard == inside && inside > 1 && inside < s.dp && s.dp % inside == 0);
}

/// Calls `visit` with every way to spread the experts of a layer; once for a dense model.
template <class Visit> void for_all_experts(Case const& c, Strategy s, Visit visit) {
    for (s.ep = 1; s.ep <= std::max(1, c.model.moe.experts); ++s.ep) {
        for (int const etp : std::set<int>{1, c.model.moe.experts > 0 ? s.tp : 1}) {
            s.etp = etp;
            visit(s);
        }
    }
}

/// Calls `visit` with every tuple of degrees that makes `workers`.
template <class Visit> void for_all_tuples(Case const& c, Visit visit) {
    int const k = c.workers;
    for (int tp = 1; tp <= k; ++tp) {
        for (int pp = 1; tp * pp <= k; ++pp) {
            for (int cp = 1; tp * pp * cp <= k; ++cp) {
                if (k % (tp * pp * cp) != 0) { continue; }
                Strategy s{.dp = k / (tp * pp * cp), .tp = tp, .pp = pp, .cp = cp};
                std::set<int> const shards{0, c.cluster.domain / (tp * cp)};
                for (s.virtual_pp = 1; s.virtual_pp <= c.model.layers; ++s.virtual_pp) {
                    for (s.micro_batch = 1; s.micro_batch <= c.workload.global_batch; ++s.micro_batch) {
                        for (s.zero = 0; s.zero <= 3; ++s.zero) {
                            for (int const shard : shards) {
                                s.shard = shard;
                                for (bool const sequence_parallel : {false, true}) {
                                    s.sequence_parallel = sequence_parallel;
                                    for_all_experts(c, s, visit);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST(LegalStrategies, AreWhatABruteForceOverAllTuplesLeaves) {
    for (Case const& c : cases()) {
        auto const legal = legal_strategies(c.model, c.cluster, megatron(), c.workload, c.workers, {});
        std::set<Key> expected;
        for_all_tuples(c, [&](Strategy s) {
            if (!keeps_rules(s, c) || !inside_bounds(s, c)) { return; }
            for (Recompute const recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
                s.recompute = recompute;
                expected.insert(key(s));
            }
        });
        EXPECT_EQ(legal.size(), expected.size()) << c.workers << " workers";
        EXPECT_TRUE(keys(legal) == expected) << c.workers << " workers";
    }
}

TEST(LegalStrategies, AgreeWithIllegalBecause) {
    for (Case const& c : cases()) {
        for (Strategy const& s : legal_strategies(c.model, c.cluster, megatron(), c.workload, c.workers, {})) {
            ASSERT_EQ(illegal_because(s, c.model, c.workload), "") << short_name(s);
        }
        for_all_tuples(c, [&](Strategy const& s) {
            ASSERT_EQ(illegal_because(s, c.model, c.workload).empty(), keeps_rules(s, c)) << short_name(s);
        });
    }
}

} // namespace
} // namespace headroom
