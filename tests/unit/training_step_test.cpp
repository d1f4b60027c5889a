// Around the model of the training step: buckets, profiles, sleeps, predictions, options.

#include "step/buckets.hpp"
#include "step/options.hpp"
#include "step/pace.hpp"
#include "step/prediction.hpp"
#include "step/profile.hpp"

#include "headroom/bucketed_exchange.hpp"
#include "headroom/error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace headroom::training {
namespace {

TEST(Buckets, CoverEverythingOnceFromTheEnd) {
    for (std::size_t const elements : {1U, 7U, 10U, 11U}) {
        for (std::size_t const most : {1U, 3U, 10U, 100U}) {
            std::size_t next = elements;
            for (Bucket const bucket : buckets_of(elements, most)) {
                EXPECT_EQ(bucket.last, next);
                EXPECT_LT(bucket.first, bucket.last);
                EXPECT_LE(bucket.last - bucket.first, most);
                next = bucket.first;
            }
            EXPECT_EQ(next, 0U) << elements << " by " << most;
        }
    }
    EXPECT_EQ(bucket_elements(1e6, 4), 250000U);
    EXPECT_EQ(bucket_elements(3.0, 4), 1U);
}

class Queue : public testing::TestWithParam<bool> {};

TEST_P(Queue, ReducesEachBucketOfEachStepOnceInOrderAndNoneTooEarly) {
    std::vector<Bucket> const buckets = buckets_of(100, 30);
    std::vector<Bucket> reduced;
    std::atomic<std::size_t> finished{100};
    bool early = false;
    BucketQueue queue{buckets, GetParam(), [&](Bucket bucket) {
                          early = early || bucket.first < finished;
                          reduced.push_back(bucket);
                      }};
    for (int step = 0; step < 50; ++step) {
        reduced.clear();
        for (std::size_t const place : {95U, 70U, 69U, 12U, 0U}) {
            finished = place;
            queue.finished(place);
        }
        queue.wait();
        EXPECT_EQ(reduced, buckets);
        finished = 100;
    }
    EXPECT_FALSE(early);
}

INSTANTIATE_TEST_SUITE_P(Beside, Queue, testing::Bool(), [](auto const& given) { return given.param ? "Yes" : "No"; });

TEST(Sleeper, EndsNotLongBeforeItShould) {
    Sleeper const sleeper;
    double const when = seconds_now() + 0.02;
    sleeper.until(when);
    // Expectation: late by as much as the machine is busy, early by no more than is taken off.
    EXPECT_GE(seconds_now(), when - sleeper.overshoot());
    double const past = seconds_now();
    sleeper.until(past - 3600.0);
    EXPECT_LT(seconds_now() - past, 600.0);
}

/// 8 sequences; 100 elements in the last half of the pass, the rest at its end.
StepProfile profile() {
    TransformerShape const shape{.layers = 1, .hidden = 4, .heads = 2, .sequence = 3, .vocabulary = 5};
    return {.shape = shape,
            .batch = 8,
            .gemm = "own",
            .forward = 0.3,
            .backward = 0.5,
            .optimizer = 0.05,
            .marks = {{shape.parameters() - 100, 0.25}, {0, 0.5}}};
}

TEST(Profile, IsReadAsItWasWritten) {
    StepProfile const given = profile();
    StepProfile const read = read_profile(profile_text(given), "p.txt");
    EXPECT_EQ(read.shape, given.shape);
    EXPECT_EQ(read.batch, 8U);
    EXPECT_EQ(read.gemm, "own");
    EXPECT_EQ(read.forward, 0.3);
    EXPECT_EQ(read.backward, 0.5);
    EXPECT_EQ(read.optimizer, 0.05);
    ASSERT_EQ(read.marks.size(), 2U);
    EXPECT_EQ(read.marks[0].place, given.marks[0].place);
    EXPECT_EQ(read.ready(given.shape.parameters() - 50), 0.25);
    EXPECT_EQ(read.ready(given.shape.parameters() - 101), 0.5);
}

std::string complaint(std::string const& text) {
    try {
        read_profile(text, "p.txt");
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::unreadable);
        return error.what();
    }
    return "none";
}

std::string with(std::string const& old, std::string const& now) {
    std::string text = profile_text(profile());
    std::size_t const at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), now);
}

TEST(Profile, OfAnotherKindIsRefusedWithItsLine) {
    std::string const hint = ". write one with headroom-step --profile FILE";
    EXPECT_EQ(complaint(""), "p.txt:1: is no profile of headroom-step (its first line is '')" + hint);
    EXPECT_EQ(complaint(with("batch 8", "batch 0")), "p.txt:2: '0' is no whole number from 1 to 1048576" + hint);
    EXPECT_EQ(complaint(with("batch 8", "batch 8\nbatch 8")), "p.txt:3: 'batch' is there twice" + hint);
    EXPECT_EQ(complaint(with("batch 8", "bunch 8")), "p.txt:2: unknown key 'bunch'" + hint);
    EXPECT_EQ(complaint(with("tied no", "tied maybe")), "p.txt:8: 'maybe' is neither yes nor no" + hint);
    EXPECT_EQ(complaint(with("0.3", "nan")), "p.txt:12: 'nan' is no number of seconds" + hint);
    EXPECT_EQ(complaint(with("0.3", "-1")), "p.txt:12: '-1' is no number of seconds" + hint);
    EXPECT_EQ(complaint(with("finished 0 0.5", "finished 0 0.1")),
              "p.txt:15: what is finished does not grow with time" + hint);
    EXPECT_EQ(complaint(with("finished 0 0.5\n", "")),
              "p.txt:14: no line 'finished 0 SECONDS' (the pass has no end)" + hint);
    EXPECT_EQ(complaint(with("finished 0 0.5", "finished 0 0.6")),
              "p.txt:15: gradients are finished later than backward_seconds" + hint);
    EXPECT_EQ(complaint(with("heads 2", "heads 3")), "p.txt:15: hidden is no multiple of heads" + hint);
    EXPECT_EQ(complaint(with("hidden 4", "hidden 1048576")), "p.txt:15: more than 2^30 parameters" + hint);
    EXPECT_EQ(complaint(with("hidden 4\n", "")), "p.txt:14: no hidden" + hint);
}

TEST(Prediction, OfOneWorkerIsItsProfile) {
    PredictedStep const step = predict_step(profile(), {.batch = 8, .link = {Seconds{1.0}, BytesPerSecond{1.0}}}, 1);
    EXPECT_DOUBLE_EQ(step.step, 0.85);
    EXPECT_EQ(step.gamma, 0.0);
    EXPECT_DOUBLE_EQ(step.serial_share, 0.05 / 0.85);
    EXPECT_DOUBLE_EQ(step.speedup, 1.0);
}

TEST(Prediction, DividesComputingAndAddsWhatIsExposed) {
    // Expectation: 4 workers, two buckets of 100 and n - 100 floats at 1000 B/s and 1 ms: a ring's 6 messages and 1.5 n.
    StepProfile const one = profile();
    double const rest = static_cast<double>(one.shape.parameters() - 100);
    Link const link{Seconds{0.001}, BytesPerSecond{1000.0}};
    // buckets hold as many bytes as the larger one: from the end first n - 100, then 100
    Division division{.batch = 8, .bucket_bytes = 4.0 * rest, .link = link};
    double const first = 6e-3 + 1.5 * 4.0 * rest / 1000.0, second = 6e-3 + 1.5 * 4.0 * 100.0 / 1000.0;
    PredictedStep const after = predict_step(one, division, 4);
    EXPECT_NEAR(after.all_reduce, first + second, 1e-12);
    EXPECT_NEAR(after.exposed, first + second, 1e-12);
    EXPECT_NEAR(after.step, (0.3 + 0.5) / 4 + 0.05 + first + second, 1e-12);
    EXPECT_NEAR(after.gamma, (first + second) / 0.25, 1e-12);
    EXPECT_NEAR(after.serial_share, (0.05 + first + second) / after.step, 1e-12);
    EXPECT_NEAR(after.speedup, 0.85 / after.step, 1e-12);
    EXPECT_NEAR(*after.ceiling, (0.8 + 0.05 + first + second) / (0.05 + first + second), 1e-9);

    division.bucket_bytes = 400.0; // the first is finished at half of the pass, hidden by what is left of it
    division.overlap = true;
    division.link = {Seconds{}, BytesPerSecond{1.5 * 4.0 * 100.0 / 0.0125}}; // 12.5 ms a full bucket
    PredictedStep const beside = predict_step(one, division, 4);
    EXPECT_NEAR(beside.exposed, beside.all_reduce - 0.0125, 1e-12);
}

TEST(Prediction, OfWeakScalingKeepsEachWorkersShare) {
    Division const division{.batch = 16, .local = true, .link = {Seconds{}, BytesPerSecond{1e30}}};
    PredictedStep const step = predict_step(profile(), division, 3);
    EXPECT_NEAR(step.step, 2.0 * 0.8 + 0.05, 1e-9);
    EXPECT_NEAR(step.speedup, 3.0, 1e-9);
    EXPECT_FALSE(step.ceiling.has_value());
    EXPECT_EQ((Division{.batch = 10}.largest_share(4)), 3U);
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

TEST(Prediction, SlowsABackwardPassBesideWhichGradientsMove) {
    Division division{.batch = 8, .bucket_bytes = 400.0, .overlap = true, .load = 0.25};
    division.link = {Seconds{}, BytesPerSecond{1.5 * 4.0 * 100.0 / 0.0125}};
    PredictedStep const loaded = predict_step(profile(), division, 4);
    division.load = 0.0;
    PredictedStep const free = predict_step(profile(), division, 4);
    EXPECT_EQ(free.slowed, 0.0);
    EXPECT_GT(loaded.slowed, 0.0);
    EXPECT_NEAR(loaded.step, free.forward + free.backward + loaded.slowed + loaded.exposed + free.optimizer, 1e-12);
    division.load = 0.25;
    division.overlap = false; // nothing is computed beside it
    EXPECT_EQ(predict_step(profile(), division, 4).slowed, 0.0);
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
    EXPECT_EQ(refusal({"--layers", "0"}),
              "--layers: '0' is no whole number from 1 to 1048576. see headroom-step --help");
    EXPECT_EQ(refusal({"--layrs", "2"}), "headroom-step: unknown option '--layrs'. did you mean '--layers'?");
    EXPECT_EQ(refusal({"--steps"}), "--steps: needs a value. see headroom-step --help");
    EXPECT_EQ(refusal({"--heads", "3"}), "--heads: 3 heads do not divide a width of 128. see headroom-step --help");
    EXPECT_EQ(refusal({"--batch", "4", "--local-batch", "2"}),
              "--local-batch: a batch was given already (it is of all workers, or of each). give --batch or "
              "--local-batch, once");
    EXPECT_EQ(refusal({"--exchange-load", "100%"}),
              "--exchange-load: '100%' is no share from 0% to less than 100%. see headroom-step --help");
    EXPECT_EQ(refusal({"--exchange-load", "0.2"}),
              "--exchange-load: says nothing about a step that runs. it belongs to --predict");
    EXPECT_EQ(refusal({"--compute", "replay:"}),
              "--compute: 'replay:' is neither real nor replay:FILE. see headroom-step --help");
    EXPECT_EQ(refusal({"--all-reduce", "tree"}),
              "--all-reduce: 'tree' is no way to add up gradients. choose from mpi, ring; with --predict from ring, "
              "recursive_doubling, rabenseifner");
    EXPECT_EQ(refusal({"--all-reduce", "rabenseifner"}),
              "--all-reduce: is not there as a program (it can only be predicted). choose from mpi, ring");
    EXPECT_EQ(refusal({"--predict", "2,4"}),
              "--predict: needs what one worker measured. give --compute replay:FILE of --profile FILE");
    EXPECT_EQ(refusal({"--compute", "replay:p", "--predict", "2"}),
              "--latency: missing (--predict needs the link between workers). measure it with headroom measure comm");
    EXPECT_EQ(refusal({"--latency", "1us"}), "--latency: says nothing about a step that runs. it belongs to --predict");
    EXPECT_EQ(refusal({"--compute", "replay:p", "--layers", "2"}),
              "--compute: the profile states the model (the two might differ). leave out the options of its shape");
    EXPECT_EQ(refusal({"--compute", "replay:p", "--check"}),
              "--check: a replay has no gradients to compare. see headroom-step --help");
    EXPECT_EQ(refusal({"--check", "--profile", "p"}),
              "--profile: is written by steps that compute, without --check. see headroom-step --help");
    EXPECT_EQ(refusal({"--check", "--tied", "--overlap", "--bucket", "64KB"}), "none");
}

TEST(Options, AreAllInTheHelp) {
    std::string const help = usage();
    for (std::size_t begin = 0; begin < help.size(); begin = help.find('\n', begin) + 1) {
        EXPECT_LE(help.find('\n', begin) - begin, 80U) << help.substr(begin, 60);
    }
    EXPECT_NE(help.find("--local-batch N"), std::string::npos);
}

} // namespace
} // namespace headroom::training
