#include "support/made_trace.hpp"
#include "support/trace_times.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using test::MadeTrace;

/// Kernels one after the other, with pauses of the host between.
class KernelTrain {
public:
    void run(std::string const& name, Ticks duration = 100, int stream = 7) {
        auto const kind = name.starts_with("nccl") ? SpanKind::communication : SpanKind::compute;
        made_.on_stream(kind, name, stream, now_, now_ + duration);
        now_ += duration + 10;
    }
    void pause(Ticks duration) { now_ += duration; }
    [[nodiscard]] Ticks now() const { return now_; }
    RankTrace const& trace() { return made_.trace(); }

private:
    MadeTrace made_;
    Ticks now_ = 0;
};

void forward(KernelTrain& train, int layers) {
    train.run("embedding");
    for (int layer = 0; layer < layers; ++layer) {
        for (auto const* name : {"norm", "gemm", "attention", "gemm", "gelu", "gemm"}) { train.run(name); }
    }
    train.run("head");
    train.run("loss");
}

void backward(KernelTrain& train, int layers) {
    train.run("loss backward");
    for (int layer = 0; layer < layers; ++layer) {
        for (auto const* name : {"gemm", "gemm", "gelu backward", "attention backward", "norm backward"}) {
            train.run(name, 200);
        }
        train.run("ncclDevKernel_AllReduce", 50, 20);
    }
    train.run("embedding backward");
}

void optimizer(KernelTrain& train) {
    for (int i = 0; i < 5; ++i) { train.run("adam", 150); }
}

std::vector<Ticks> lengths(std::vector<TraceStep> const& steps) {
    std::vector<Ticks> result;
    for (auto const& step : steps) { result.push_back(step.end - step.begin); }
    return result;
}

TEST(DetectedSteps, AreTheWholeRepetitionAndNotItsLayers) {
    KernelTrain train;
    std::vector<Ticks> begins;
    std::mt19937_64 random{3};
    train.run("fill", 500);
    for (int step = 0; step < 6; ++step) {
        train.pause(static_cast<Ticks>(random() % 3000)); // a data loader
        begins.push_back(train.now());
        forward(train, 24);
        backward(train, 24);
        optimizer(train);
    }
    auto const breakdown = breakdown_of(train.trace());
    EXPECT_TRUE(breakdown.steps_detected);
    ASSERT_EQ(breakdown.steps.size(), 5U); // the last has no successor that would say where it ends
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(breakdown.steps[i].step.number, static_cast<std::int64_t>(i));
        EXPECT_EQ(breakdown.steps[i].step.begin, begins[i]);
        EXPECT_EQ(breakdown.steps[i].step.end, begins[i + 1]);
        EXPECT_TRUE(breakdown.steps[i].detected);
    }
}

TEST(DetectedSteps, AreNotMicroBatchesOfLargerSteps) {
    KernelTrain train;
    for (int step = 0; step < 4; ++step) {
        for (int batch = 0; batch < 16; ++batch) {
            forward(train, 4);
            backward(train, 4);
        }
        optimizer(train);
        train.run("gradient norm");
    }
    EXPECT_EQ(detected_steps(train.trace()).size(), 3U);
}

TEST(DetectedSteps, AreNoneInOneStep) {
    KernelTrain train;
    forward(train, 48);
    backward(train, 48);
    optimizer(train);
    EXPECT_TRUE(detected_steps(train.trace()).empty());
    KernelTrain with_micro_batches;
    for (int batch = 0; batch < 16; ++batch) {
        forward(with_micro_batches, 4);
        backward(with_micro_batches, 4);
    }
    optimizer(with_micro_batches);
    EXPECT_TRUE(detected_steps(with_micro_batches.trace()).empty());
}

TEST(DetectedSteps, AreNoneWhereNothingRepeats) {
    std::mt19937_64 random{11};
    for (int round = 0; round < 30; ++round) {
        KernelTrain train;
        for (int i = 0; i < 500; ++i) { train.run("kernel " + std::to_string(random() % 40)); }
        EXPECT_TRUE(detected_steps(train.trace()).empty()) << round;
    }
    KernelTrain mixture; // every thousand kernels have every name equally often, to a tenth
    for (int i = 0; i < 30000; ++i) {
        mixture.run(i % 10000 == 5000 ? "log" : "kernel " + std::to_string(random() % 5));
    }
    EXPECT_TRUE(detected_steps(mixture.trace()).empty());
    KernelTrain loop;
    for (int i = 0; i < 100; ++i) { loop.run("gemm"); } // a loop over one kernel has no steps
    EXPECT_TRUE(detected_steps(loop.trace()).empty());
}

TEST(DetectedSteps, AreFoundWhereEveryNameComesSeveralTimesAStep) {
    KernelTrain train;
    for (int step = 0; step < 8; ++step) {
        for (auto const* name : {"gemm", "relu", "gemm", "relu", "gemm", "add", "add", "relu", "add", "gemm"}) {
            train.run(name);
        }
        train.pause(1000);
    }
    auto const steps = detected_steps(train.trace());
    ASSERT_GE(steps.size(), 6U);
    EXPECT_EQ(lengths(steps), std::vector<Ticks>(steps.size(), 10 * 110 + 1000));
}

TEST(DetectedSteps, SurviveStepsThatDifferALittle) {
    KernelTrain train;
    std::mt19937_64 random{5};
    for (int i = 0; i < 40; ++i) { train.run("tune " + std::to_string(i), 300); } // the first step tries kernels
    for (int step = 0; step < 12; ++step) {
        forward(train, 6);
        for (auto extra = random() % 3; extra > 0; --extra) { train.run("overflow check", 5); }
        backward(train, 6);
        optimizer(train);
        if (step % 4 == 3) { train.run("log", 5); }
    }
    EXPECT_EQ(detected_steps(train.trace()).size(), 11U);
}

TEST(DetectedSteps, OfTheHostAreThoseOfItsBusiestThread) {
    MadeTrace made;
    Ticks now = 0;
    for (int step = 0; step < 5; ++step) {
        for (auto const* name : {"aten::linear", "aten::relu", "aten::linear", "aten::loss", "sgd::step"}) {
            made.on_thread(SpanKind::host, name, 1, now, now + 80);
            now += 100;
        }
        made.on_thread(SpanKind::communication, "gloo:all_reduce", 2, now - 150, now - 20);
    }
    EXPECT_EQ(lengths(detected_steps(made.trace())), std::vector<Ticks>(4, 500));
}

} // namespace
} // namespace headroom
