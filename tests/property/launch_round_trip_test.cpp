// A launch file that is written reads back to the strategy that it was written for.

#include "support/draws.hpp"

#include "headroom/io/launch_emit.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace {

using namespace headroom;
using namespace headroom::training;
using io::LaunchTarget;

int one_of(std::mt19937_64& random, std::initializer_list<int> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
}

Strategy any_strategy(std::mt19937_64& random) {
    Strategy s;
    s.dp = one_of(random, {1, 2, 4, 8, 64});
    s.tp = one_of(random, {1, 2, 8});
    s.pp = one_of(random, {1, 2, 4});
    s.cp = one_of(random, {1, 1, 2});
    s.ep = one_of(random, {1, 1, 8});
    s.virtual_pp = s.pp > 1 ? one_of(random, {1, 2, 5}) : 1;
    s.zero = one_of(random, {0, 1, 2, 3});
    s.shard = s.zero > 0 && s.dp % 4 == 0 && random() % 2 == 0 ? s.dp / 2 : 0;
    s.micro_batch = one_of(random, {1, 2, 4});
    s.sequence_parallel = s.tp > 1 && random() % 2 == 0;
    s.recompute = recomputations[random() % recomputations.size()];
    if (s.recompute == Recompute::full && random() % 2 == 0) { s.recompute_layers = 20; }
    s.precision = random() % 3 == 0 ? Precision::fp8 : random() % 2 == 0 ? Precision::bf16 : Precision::fp16;
    s.exchange = s.cp > 1 && random() % 2 == 0 ? ContextExchange::ring : ContextExchange::gather;
    s.offload = random() % 4 == 0 ? Offload::optimizer : random() % 4 == 0 ? Offload::parameters : Offload::none;
    return s;
}

char const* name_of_file(LaunchTarget target) {
    switch (target) {
    case LaunchTarget::torchtitan: return "job.toml";
    case LaunchTarget::deepspeed: return "job.json";
    case LaunchTarget::accelerate:
    case LaunchTarget::nemo: return "job.yaml";
    default: return "job.sh";
    }
}

/// Value of an option that asks for nothing: a file may leave it out.
std::string unset(std::string const& option) {
    if (option == "--shard") { return "0"; }
    if (option == "--recompute") { return "none"; }
    return option == "--sequence-parallel" ? "off" : "1";
}

TEST(LaunchRoundTrip, EmittedFilesReadBackToTheSameOptions) {
    std::mt19937_64 random{7};
    for (int draw = 0; draw < test::draws_of(1000); ++draw) {
        Strategy const strategy = any_strategy(random);
        Workload work;
        work.global_batch = strategy.dp * strategy.micro_batch * one_of(random, {1, 8, 32});
        work.sequence_length = one_of(random, {2048, 8192});
        io::LaunchPlan const plan{.accelerators_per_node = 8,
                                  .workers = strategy.workers(),
                                  .options = io::options_of(strategy, work),
                                  .command = "headroom predict"};
        for (LaunchTarget const target : {LaunchTarget::megatron, LaunchTarget::torchtitan, LaunchTarget::deepspeed,
                                          LaunchTarget::accelerate, LaunchTarget::nemo, LaunchTarget::slurm}) {
            io::EmittedLaunch const launch = io::emit_launch(target, plan);
            io::LaunchFile const file = io::read_launch_file(launch.text, name_of_file(target));
            EXPECT_TRUE(file.contradictions.empty()) << launch.text << file.contradictions.front();
            std::map<std::string, std::string> found{file.options.begin(), file.options.end()};
            found.insert(file.implied.begin(), file.implied.end());
            for (auto const& [option, value] : plan.options) {
                std::string const both = option + " " + value;
                bool const elsewhere = std::ranges::count(launch.not_expressed, both) > 0;
                auto const read = found.find(option);
                if (option == "--dp" && read == found.end()) { continue; } // follows from the workers
                if (elsewhere && read == found.end()) { continue; }
                bool const same = read != found.end() && read->second == value;
                bool const absent = read == found.end() && value == unset(option);
                EXPECT_TRUE(same || absent || elsewhere)
                    << both << " reads back as " << (read == found.end() ? "nothing" : read->second) << "\n"
                    << launch.text;
            }
            auto const number = [&found](char const* name) {
                auto const at = found.find(name);
                return at == found.end() ? 0 : std::atoi(at->second.c_str());
            };
            int const counted =
                number("--workers") > 0 ? number("--workers") : number("--nodes") * number("--accelerators-per-node");
            if (target != LaunchTarget::torchtitan && target != LaunchTarget::deepspeed) {
                EXPECT_EQ(counted, plan.workers) << launch.text;
            }
        }
    }
}

} // namespace
