// Around the model of the training step: buckets, profiles, sleeps, predictions, options.

#include "step/exchange.hpp"
#include "step/options.hpp"
#include "step/profile.hpp"

#include "headroom/error.hpp"
#include "headroom/network/bucketed_exchange.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace headroom::step_example {

using namespace headroom::network;

namespace {

TEST(Buckets, CoverEverythingOnceFromTheEnd) {
    for (std::size_t const elements : {1U, 7U, 10U, 11U}) {
        for (std::size_t const most : {1U, 3U, 10U, 100U}) {
            std::size_t next = elements;
            for (Bucket const bucket : buckets_of(elements, 4.0 * static_cast<double>(most), 4)) {
                EXPECT_EQ(bucket.last, next);
                EXPECT_LT(bucket.first, bucket.last);
                EXPECT_LE(bucket.last - bucket.first, most);
                next = bucket.first;
            }
            EXPECT_EQ(next, 0U) << elements << " by " << most;
        }
    }
    EXPECT_EQ(buckets_of(600000, 1e6, 4), (std::vector<Bucket>{{350000, 600000}, {100000, 350000}, {0, 100000}}));
    EXPECT_EQ(buckets_of(2, 3.0, 4).size(), 2U); // one element at least
}

class Queue : public testing::TestWithParam<bool> {};

TEST_P(Queue, ReducesEachBucketOfEachStepOnceInOrderAndNoneTooEarly) {
    std::vector<Bucket> const buckets = buckets_of(100, 120.0, 4);
    std::vector<Bucket> reduced;
    std::atomic<std::size_t> finished{100};
    bool early = false;
    BucketQueue::Reduce const reduce = [&](Bucket bucket) {
        early = early || bucket.first < finished;
        reduced.push_back(bucket);
    };
    for (int step = 0; step < 50; ++step) {
        reduced.clear();
        finished = 100;
        BucketQueue queue{buckets, GetParam(), reduce};
        for (std::size_t const place : {95U, 70U, 69U, 12U, 0U}) {
            finished = place;
            queue.finished(place);
        }
        EXPECT_GE(queue.wait(), 0.0);
        EXPECT_EQ(reduced, buckets);
    }
    EXPECT_FALSE(early);
}

INSTANTIATE_TEST_SUITE_P(Beside, Queue, testing::Bool(), [](auto const& given) { return given.param ? "Yes" : "No"; });

TEST(Sleep, EndsNotBeforeItShould) {
    double const when = seconds_now() + 0.02;
    sleep_until(when);
    EXPECT_GE(seconds_now(), when);
    double const past = seconds_now();
    sleep_until(past - 3600.0);
    sleep_until(-1.0); // before the clock's zero, as an hour ago is on a machine that has just started
    EXPECT_LT(seconds_now() - past, 600.0);
}

/// 8 sequences; 100 elements in the last half of the pass, the rest at its end.
std::string const text = R"({"kind": "run", "workers": 1, "model": {"layers": 2, "hidden": 9, "sequence": 3},
  "precision": "single", "batch": 8,
  "phases": {"forward_seconds": 0.3, "backward_seconds": 0.5, "optimizer_seconds": 0.05},
  "finished": [{"place": 62, "seconds": 0.25}, {"place": 0, "seconds": 0.5}]})";

StepProfile profile() { return read_profile(text, "p.json"); }

TEST(Profile, IsTheRunOfOneWorker) {
    StepProfile const read = profile();
    EXPECT_EQ(read.shape, (NetworkShape{.layers = 2, .hidden = 9, .sequence = 3}));
    EXPECT_EQ(read.shape.parameters(), 162U);
    EXPECT_EQ(read.batch, 8U);
    EXPECT_FALSE(read.is_double);
    EXPECT_EQ(read.forward, 0.3);
    EXPECT_EQ(read.backward, 0.5);
    EXPECT_EQ(read.optimizer, 0.05);
    ASSERT_EQ(read.marks.size(), 2U);
    EXPECT_EQ(read.ready(62), 0.25);
    EXPECT_EQ(read.ready(61), 0.5);
}

/// The refusal of the profile with some words replaced.
std::string complaint(std::string const& old, std::string const& now) {
    std::string changed = text;
    std::size_t const at = changed.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    changed.replace(at, old.size(), now);
    try {
        read_profile(changed, "p.json");
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        return error.what();
    }
    return "none";
}

TEST(Profile, OfAnotherKindIsRefused) {
    std::string const hint = ". write one with headroom-step --profile FILE";
    std::string const other = "p.json: is no run of one worker of headroom-step" + hint;
    EXPECT_EQ(complaint(text, ""), other);
    EXPECT_EQ(complaint(text, "headroom-step profile 1"), other);
    EXPECT_EQ(complaint("\"run\"", "\"replay\""), other);
    EXPECT_EQ(complaint("\"workers\": 1", "\"workers\": 2"), other);
    EXPECT_EQ(complaint("8,", "0,"), "p.json: /batch: 0 is no whole number from 1 to 1048576" + hint);
    EXPECT_EQ(complaint("8,", "2.5,"), "p.json: /batch: 2.5 is no whole number from 1 to 1048576" + hint);
    EXPECT_EQ(complaint("\"batch\"", "\"bunch\""), "p.json: no /batch" + hint);
    EXPECT_EQ(complaint("single", "half"), "p.json: /precision is neither single nor double" + hint);
    EXPECT_EQ(complaint("0.3", "null"), "p.json: /phases/forward_seconds is no number of seconds" + hint);
    EXPECT_EQ(complaint("0.3", "-1"), "p.json: /phases/forward_seconds is no number of seconds" + hint);
    EXPECT_EQ(complaint("0.5}]", "0.1}]"), "p.json: /finished/1 is earlier than the one before" + hint);
    EXPECT_EQ(complaint("0.5}]", "0.6}]"), "p.json: gradients are finished later than /phases/backward_seconds" + hint);
    EXPECT_EQ(complaint("\"place\": 0", "\"place\": 1"), "p.json: /finished does not end at place 0" + hint);
    EXPECT_EQ(complaint("0.5}]", "0.5}, {\"place\": 0, \"seconds\": 0.5}]"),
              "p.json: /finished does not end at place 0" + hint);
    EXPECT_EQ(complaint("\"place\": 62", "\"place\": 162"),
              "p.json: /finished/0/place: 162 is no whole number from 0 to 161" + hint);
    EXPECT_EQ(complaint("\"hidden\": 9", "\"hidden\": 1048576"), "p.json: more than 2^30 parameters" + hint);
}

/// A ring among workers that share 8 sequences.
Options asked(double latency, double bandwidth) {
    Options options;
    options.batch = 8;
    options.algorithm = "ring";
    options.latency = latency;
    options.bandwidth = bandwidth;
    return options;
}

TEST(Prediction, OfOneWorkerIsItsProfile) {
    PredictedStep const step = predict_step(profile(), asked(1.0, 1.0), 1);
    EXPECT_DOUBLE_EQ(step.step, 0.85);
    EXPECT_EQ(step.gamma, 0.0);
    EXPECT_DOUBLE_EQ(step.serial_share, 0.05 / 0.85);
    EXPECT_DOUBLE_EQ(step.speedup, 1.0);
}

TEST(Prediction, DividesComputingAndAddsWhatIsExposed) {
    // Expectation: 4 workers, two buckets of 100 and 62 floats at 1000 B/s and 1 ms: a ring's 6 messages and 1.5 n.
    StepProfile const one = profile();
    double const rest = static_cast<double>(one.shape.parameters() - 100);
    // buckets of 100 floats: the first of the last 100, the second of the 62 before
    Options options = asked(0.001, 1000.0);
    options.bucket_bytes = 4.0 * 100.0;
    double const first = 6e-3 + 1.5 * 4.0 * rest / 1000.0, second = 6e-3 + 1.5 * 4.0 * 100.0 / 1000.0;
    PredictedStep const after = predict_step(one, options, 4);
    EXPECT_NEAR(after.all_reduce, first + second, 1e-12);
    EXPECT_NEAR(after.exposed, first + second, 1e-12);
    EXPECT_NEAR(after.step, (0.3 + 0.5) / 4 + 0.05 + first + second, 1e-12);
    EXPECT_NEAR(after.gamma, (first + second) / 0.25, 1e-12);
    EXPECT_NEAR(after.serial_share, (0.05 + first + second) / after.step, 1e-12);
    EXPECT_NEAR(after.speedup, 0.85 / after.step, 1e-12);
    EXPECT_NEAR(*after.ceiling, (0.8 + 0.05 + first + second) / (0.05 + first + second), 1e-9);

    options.overlap = true; // the first is finished at half of the pass, hidden by what is left of it
    options.latency = 0.0;
    options.bandwidth = 1.5 * 4.0 * 100.0 / 0.0125; // 12.5 ms a full bucket
    PredictedStep const beside = predict_step(one, options, 4);
    EXPECT_NEAR(beside.exposed, beside.all_reduce - 0.0125, 1e-12);
}

TEST(Prediction, OfWeakScalingKeepsEachWorkersShare) {
    Options options = asked(0.0, 1e30);
    options.batch = 16;
    options.local_batch = true;
    PredictedStep const step = predict_step(profile(), options, 3);
    EXPECT_NEAR(step.step, 2.0 * 0.8 + 0.05, 1e-9);
    EXPECT_NEAR(step.speedup, 3.0, 1e-9);
    EXPECT_FALSE(step.ceiling.has_value());
    options.local_batch = false;
    EXPECT_EQ(options.largest_share(5), 4U);
}

TEST(TimedBuckets, QueueBehindTheComputation) {
    std::vector<TimedBucket> const buckets{
        {Seconds{1.0}, Seconds{0.5}}, {Seconds{1.2}, Seconds{0.5}}, {Seconds{4.0}, Seconds{0.25}}};
    BucketedExchange const found = bucketed_exchange(buckets, Seconds{4.0});
    EXPECT_DOUBLE_EQ(found.total.base(), 1.25);
    EXPECT_DOUBLE_EQ(found.exposed.base(), 0.25);
    EXPECT_DOUBLE_EQ(bucketed_exchange(std::span{buckets}.first(2), Seconds{1.6}).exposed.base(), 0.4);
    EXPECT_EQ(bucketed_exchange(std::span<TimedBucket const>{}, Seconds{1.0}).exposed, Seconds{});
    // equal buckets evenly made have the closed form
    std::vector<TimedBucket> even;
    for (int i = 1; i <= 5; ++i) { even.push_back({Seconds{0.2 * i}, Seconds{0.3}}); }
    EXPECT_NEAR(bucketed_exchange(even, Seconds{1.0}).exposed.base(),
                bucketed_exchange(Seconds{0.3}, 5.0, Seconds{1.0}).exposed.base(), 1e-12);
}

TEST(TimedBuckets, OfALongComputationAreNeverExposed) {
    for (int i = 1; i <= 2000; ++i) { // what is done and what is left round to more or less than the whole
        std::vector<TimedBucket> const buckets{{Seconds{0.1 * i / 7.0}, Seconds{0.3 / i}}, {Seconds{}, Seconds{0.7}}};
        EXPECT_EQ(bucketed_exchange(buckets, Seconds{3.7 * i}).exposed, Seconds{}) << i;
    }
}

TEST(TimedBuckets, SlowTheComputationWhoseProcessorTheyTake) {
    // a bucket after 1 s, on its way for 2 s at half speed: 1 s is done meanwhile, 1 s is left
    std::vector<TimedBucket> const one{{Seconds{1.0}, Seconds{2.0}}};
    BucketedExchange const within = bucketed_exchange(one, Seconds{3.0}, 0.5);
    EXPECT_DOUBLE_EQ(within.slowed.base(), 1.0);
    EXPECT_EQ(within.exposed, Seconds{});
    // the computation ends on the way: 0.5 s of it take 1 s, and 1 s of the exchange is left
    BucketedExchange const beyond = bucketed_exchange(one, Seconds{1.5}, 0.5);
    EXPECT_DOUBLE_EQ(beyond.slowed.base(), 0.5);
    EXPECT_DOUBLE_EQ(beyond.exposed.base(), 1.0);
    // what is ready at the end slows nothing
    BucketedExchange const after = bucketed_exchange(one, Seconds{1.0}, 0.5);
    EXPECT_EQ(after.slowed, Seconds{});
    EXPECT_DOUBLE_EQ(after.exposed.base(), 2.0);
    EXPECT_THROW(bucketed_exchange(one, Seconds{1.0}, 1.0), ContractError);
}

TEST(Prediction, SlowsABackwardPassThatOverlapsWithTheExchange) {
    Options options = asked(0.0, 1.5 * 4.0 * 100.0 / 0.0125);
    options.bucket_bytes = 400.0;
    options.overlap = true;
    options.load = 0.25;
    PredictedStep const loaded = predict_step(profile(), options, 4);
    options.load = 0.0;
    PredictedStep const free = predict_step(profile(), options, 4);
    EXPECT_EQ(free.slowed, 0.0);
    EXPECT_GT(loaded.slowed, 0.0);
    EXPECT_NEAR(loaded.step, free.forward + free.backward + loaded.slowed + loaded.exposed + free.optimizer, 1e-12);
    options.load = 0.25;
    options.overlap = false; // nothing is computed meanwhile
    EXPECT_EQ(predict_step(profile(), options, 4).slowed, 0.0);
}

std::string refusal(std::vector<std::string> words) {
    words.insert(words.begin(), "headroom-step");
    std::vector<char*> arguments;
    for (std::string& word : words) { arguments.push_back(word.data()); }
    try {
        read_options(arguments);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.what();
    }
    return "none";
}

TEST(Options, ThatCannotBeAreRefused) {
    std::string const help = ". see headroom-step --help";
    EXPECT_EQ(refusal({"--layers", "0"}), "headroom-step: --layers: Value 0 not in range 1 to 1048576" + help);
    EXPECT_EQ(refusal({"--layers", "2.5"}), "headroom-step: --layers: Value 2.5 not in range 1 to 1048576" + help);
    EXPECT_EQ(refusal({"--layrs", "2"}), "headroom-step: unknown option '--layrs'. did you mean '--layers'?");
    EXPECT_EQ(refusal({"--steps"}), "headroom-step: --steps: 1 required N missing" + help);
    EXPECT_EQ(refusal({"--batch", "4", "--local-batch", "2"}), "headroom-step: --batch excludes --local-batch" + help);
    EXPECT_EQ(refusal({"--hidden", "1048576"}), "--hidden: more than 2^30 parameters" + help);
    EXPECT_EQ(refusal({"--exchange-load", "100%"}),
              "--exchange-load: '100%' is no share from 0% to less than 100%" + help);
    EXPECT_EQ(refusal({"--exchange-load", "0.2"}), "headroom-step: --exchange-load requires --predict" + help);
    EXPECT_EQ(refusal({"--compute", "replay:"}), "--compute: 'replay:' is neither real nor replay:FILE" + help);
    EXPECT_EQ(refusal({"--all-reduce", "tree"}),
              "headroom-step: --all-reduce: tree not in {mpi,rabenseifner,recursive_doubling,ring}" + help);
    EXPECT_EQ(refusal({"--all-reduce", "rabenseifner"}),
              "--all-reduce: is not there as a program (it can only be predicted). choose from mpi, ring");
    EXPECT_EQ(refusal({"--predict", "2,4", "--latency", "1us", "--bandwidth", "1GB/s"}),
              "--predict: needs what one worker measured. give --compute replay:FILE of --profile FILE");
    EXPECT_EQ(refusal({"--compute", "replay:p", "--predict", "2"}),
              "headroom-step: --predict requires --latency" + help);
    EXPECT_EQ(refusal({"--compute", "replay:p", "--predict", "2", "--latency", "1us", "--bandwidth", "1GB/s",
                       "--all-reduce", "mpi"}),
              "--all-reduce: 'mpi' cannot be predicted (the library may take any algorithm). choose from ring, "
              "recursive_doubling, rabenseifner");
    EXPECT_EQ(refusal({"--latency", "1us"}), "headroom-step: --latency requires --predict" + help);
    EXPECT_EQ(refusal({"--compute", "replay:p", "--layers", "2"}),
              "--compute: the profile states the model (the two might differ). leave out the options of its shape");
    EXPECT_EQ(refusal({"--compute", "replay:p", "--check"}), "--check: a replay has no gradients to compare" + help);
    EXPECT_EQ(refusal({"--compute", "replay:p", "--profile", "q"}),
              "--profile: is written by steps that compute" + help);
    EXPECT_EQ(refusal({"--check", "--profile", "p"}), "headroom-step: --profile excludes --check" + help);
    EXPECT_EQ(refusal({"--check", "--precision", "double", "--overlap", "--bucket", "64KB"}), "none");
}

TEST(Options, AreAllInTheHelp) {
    std::string program = "headroom-step", word = "--help";
    char* words[] = {program.data(), word.data()};
    std::string const help = read_options(words).help;
    for (std::size_t begin = 0; begin < help.size(); begin = help.find('\n', begin) + 1) {
        EXPECT_LE(help.find('\n', begin) - begin, 80U) << help.substr(begin, 60);
    }
    EXPECT_NE(help.find("--local-batch N"), std::string::npos);
}

} // namespace
} // namespace headroom::step_example
