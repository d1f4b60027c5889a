#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Whether a head names a column of published runs by other words, in any order: "# GPUs" is accelerators_total, "ctx" seq_len,
/// "BS/GPU" micro_batch.
bool is_head_of(std::string_view column, std::string_view head);
/// Place among the other heads of a column, the surest first; none where a head is not among them.
std::optional<int> place_of_head(std::string_view column, std::string_view head);

/// Words that the brackets of a column's head may hold: "sequences" of "global batch size (sequences)".
std::string_view remarks_of(std::string_view column);
/// Whether a head speaks of a batch or of the accumulation of one: "batch (M tokens)", "num_microbatches".
bool speaks_of_batch(std::string_view head);

/// Head that stands for a column in messages; empty where it has its own name only.
std::string usual_head(std::string_view column);

/// A head without the group of an export: "config.seq_len", "summary/step_time".
std::string_view without_group(std::string_view head);

} // namespace headroom::io
