#pragma once

#include "headroom/io/training_question.hpp"

#include <string>

namespace headroom::io {

inline constexpr int largest_batch = 1'000'000'000; ///< sequences a step

/// A batch that nobody stated.
struct DefaultBatch {
    int sequences = 0;
    std::string note = {}; ///< effect of sizes that are no power of two: "raised from 1024 for 24 accelerators"
};

/// A batch, raised to a multiple of `pieces`.
int multiple_of(int pieces, int batch);

/// Sequences of a usual batch: of LoRA as in fine-tuning, at least 16 and as many on each accelerator of the smallest size.
int usual_batch_of(TrainingSetting const& setting);

/// The batch that the stated degrees imply; else the usual one, raised to a multiple of what they and the workers share it by.
/// Errors: InputError{usage} where the degrees make more than `largest_batch`.
DefaultBatch default_batch(TrainingSetting const& setting);

} // namespace headroom::io
