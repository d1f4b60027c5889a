#pragma once

// Helpers for pipeline schedules: durations, a check of completeness, and a second implementation that runs them.

#include "support/random.hpp"

#include "headroom/training/pipeline.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace headroom::test {

inline std::string told(training::PipelineSchedule id, training::PipelineShape const& shape) {
    return std::string{training::name_of(id)} + " p " + std::to_string(shape.stages) + " v " +
           std::to_string(shape.chunks) + " m " + std::to_string(shape.micro_batches);
}

/// Equal durations for every stage and chunk, without transfers.
inline training::PipelineTimes equal_times(training::PipelineShape const& shape, training::PassTicks chunk,
                                           Ticks hop = 0, bool blocking = false) {
    auto const stages = static_cast<std::size_t>(shape.stages);
    return {std::vector<training::PassTicks>(stages * static_cast<std::size_t>(shape.chunks), chunk),
            std::vector<Ticks>(hop > 0 ? stages : 0, hop), blocking};
}

/// Times of every place and hop drawn by chance.
inline training::PipelineTimes random_times(training::PipelineShape const& shape, CounterRandom& random, int most,
                                            int most_hop) {
    training::PipelineTimes times;
    for (int i = 0; i < shape.stages * shape.chunks; ++i) {
        times.passes.push_back({1 + random.below(most), 1 + random.below(most), 1 + random.below(most)});
    }
    for (int i = 0; i < shape.stages; ++i) { times.hop.push_back(random.below(most_hop + 1)); }
    times.blocking = random.below(2) == 1;
    return times;
}

/// The two parts of a pass, which determine its dependencies.
inline bool makes_input_gradient(training::PassKind kind) {
    return kind == training::PassKind::backward || kind == training::PassKind::input_gradient;
}
inline bool makes_weight_gradient(training::PassKind kind) {
    return kind == training::PassKind::backward || kind == training::PassKind::weight_gradient;
}

/// Peak activations of a stage, in units of those of the whole stage for one micro-batch.
inline double depths_held(training::PipelineRun const& run, training::PipelineShape const& shape,
                          training::ChunkLayout layout, std::size_t stage) {
    return run.chunks_held[stage] / (layout == training::ChunkLayout::bidirectional ? 1.0 : shape.chunks);
}

/// Whether a micro-batch passes this chunk at all: with two directions the first half goes down, the second up.
inline bool passes_through(training::PipelineOrder const& order, int chunk, int micro_batch) {
    return order.layout != training::ChunkLayout::bidirectional ||
           (micro_batch < order.shape.micro_batches / 2) == (chunk == 0);
}

/// Each micro-batch goes once forward, once backward for inputs and once for weights through every chunk that is its own.
inline void expect_complete(training::PipelineOrder const& order) {
    using Key = std::tuple<int, int, int>; // part, chunk, micro-batch
    for (int stage = 0; stage < order.shape.stages; ++stage) {
        std::map<Key, int> times;
        for (training::Pass const& pass : order.row(stage)) {
            if (pass.kind == training::PassKind::forward) { ++times[{0, pass.chunk, pass.micro_batch}]; }
            if (makes_input_gradient(pass.kind)) { ++times[{1, pass.chunk, pass.micro_batch}]; }
            if (makes_weight_gradient(pass.kind)) { ++times[{2, pass.chunk, pass.micro_batch}]; }
        }
        std::size_t expected = 0;
        for (int chunk = 0; chunk < order.shape.chunks; ++chunk) {
            for (int k = 0; k < order.shape.micro_batches; ++k) {
                if (!passes_through(order, chunk, k)) { continue; }
                for (int part = 0; part < 3; ++part, ++expected) { ASSERT_EQ((times[{part, chunk, k}]), 1) << stage; }
            }
        }
        ASSERT_EQ(times.size(), expected) << stage;
    }
}

/// The longest chain of a graph of passes and transfers: the makespan of rows, found by no simulation. Empty where they
/// wait for each other in a circle.
std::optional<Ticks> longest_chain(training::PipelineOrder const& order, training::PipelineTimes const& times);

/// Rows as text, two characters a tick: kind and micro-batch of a pass, `==` while it lasts, lower case for the second
/// chunk, ` .` where a stage waits.
std::string drawing(training::PipelineOrder const& order, training::PipelineTimes const& times);

} // namespace headroom::test
