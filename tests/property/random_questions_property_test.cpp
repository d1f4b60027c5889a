// Random questions of the property tests: few of them still are of every kind.

#include "support/draws.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

namespace headroom {
namespace {

using namespace training;

std::set<std::string> traits_of(Question const& question) {
    auto const& [model, cluster, s] = std::tie(question.model, question.cluster, question.strategy);
    std::set<std::string> traits{model.name.substr(0, model.name.find(' ')),
                                 cluster.name,
                                 question.framework.name,
                                 "zero " + std::to_string(s.zero),
                                 std::string{name_of(s.recompute)} + " recomputed",
                                 std::string{name_of(s.exchange)} + " exchange",
                                 std::string{name_of(s.offload)} + " offloaded",
                                 spelled_training(s).substr(0, 4) + " trained",
                                 "precision " + std::to_string(static_cast<int>(s.precision)),
                                 "compression " + std::to_string(static_cast<int>(s.compression.kind)),
                                 "overlap " + spelled(s.overlap)};
    auto const add = [&](bool has, char const* trait) {
        if (has) { traits.insert(trait); }
    };
    add(s.tp > 1, "tp"), add(s.pp > 1, "pp"), add(s.cp > 1, "cp"), add(s.ep > 1, "ep"), add(s.etp > 1, "etp");
    add(s.virtual_pp > 1, "interleaved"), add(s.sequence_parallel, "sequence parallel"),
        add(s.shard > 0, "shard group");
    add(s.capacity > 0.0, "capacity"), add(s.local_steps > 1, "local updates"), add(s.servers > 0, "servers");
    add(s.recompute_layers > 0, "some blocks recomputed"), add(model.moe.experts > 0, "experts");
    add(question.workload.documents > 0.0, "documents"), add(question.workload.fill < 1.0, "padding");
    add(question.workload.expert_skew > 1.0, "skew"), add(question.disturbance.imbalance > 1.0, "imbalance");
    add(question.disturbance.congestion > 0.0, "congestion"), add(question.disturbance.spread > 0.0, "spread");
    return traits;
}

std::set<std::string> traits_of_random(int count) {
    std::set<std::string> all;
    for_random_questions(count, [&](Question const& question) { all.merge(traits_of(question)); });
    return all;
}

TEST(RandomQuestions, FewAreStillOfEveryKind) {
    // Expectation: the least number that a test draws has all traits that thousands have.
    EXPECT_EQ(traits_of_random(test::draws_of(1050, enough_random)), traits_of_random(4200));
}

TEST(RandomQuestions, SomeOfTheGridAreStillOfEveryKind) {
    std::set<std::string> some, all;
    auto const add = [](std::set<std::string>& to, Question const& question) {
        to.merge(traits_of(question));
        to.insert(question.model.name + " with " + short_name(question.strategy));
    };
    for_some_questions([&](Question const& question) { add(some, question); });
    for_all_questions([&](Question const& question) { add(all, question); });
    EXPECT_EQ(some, all);
}

} // namespace
} // namespace headroom
