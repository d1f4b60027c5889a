#pragma once

#include "headroom/io/csv.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// A head of a column in English: "number GPUs" of "Anzahl GPUs", "throughput (images/s)" of "吞吐量(images/s)". German, French, Spanish,
/// Italian, Portuguese, Chinese, Japanese and Korean words of counts, times, rates and speedups are known; a head without one
/// stays as it is.
std::string in_english(std::string_view head);

/// Writes the heads of a table in English. Those that changed, as they were and as they are.
std::vector<std::pair<std::string, std::string>> translate_heads(CsvTable& table);

} // namespace headroom::io
