#pragma once

#include "headroom/io/training_question.hpp"

namespace headroom::io {

/// Lists what nobody stated of a machine and its software that their users put together: the network between nodes, the limit
/// of an accelerator's power, the overlap of communication. Each is taken as the records have it; the records of other software are of
/// vendors' reference machines. Clouds publish the network of their instances, a cluster file states its own.
void list_machine_guesses(TrainingRequest const& request, TrainingSetting& setting);

} // namespace headroom::io
