#pragma once

#include "output.hpp"
#include "tail/tail_words.hpp"

#include "headroom/document/document.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

Document document_of(serving::TailAnswer const& answer, io::Catalog const& catalog);
/// With the figures that a terminal has no room for.
Document page_of(serving::TailAnswer const& answer, io::Catalog const& catalog);
/// The verdicts and warnings of an answer, written into it.
void add_words(serving::TailAnswer& answer);
/// Numbers that --require may ask about; of an answer that is not known yet: null.
std::vector<Metric> metrics_of(serving::TailAnswer const* answer, bool times);

// ---- parts of them, each in a file of its own -----------------------------------------------------------------------

/// Why so many replicas, or none.
std::string replicas_words(serving::ReplicasForSlo const& slo, TailUnit unit);
/// The option or the fact that is missing for an answer.
std::string missing_words(serving::ReplicaInput input, serving::ReplicasForSlo const& slo,
                          serving::TailQuestion const& question);
/// Sentence on the effect of twice the replicas.
std::string doubling_words(serving::ReplicasForSlo const& slo, TailUnit unit);

std::vector<Block> percentile_blocks(serving::TailAnswer const& answer);
std::vector<Block> comparison_blocks(serving::TailAnswer const& answer);
std::vector<Block> fan_out_blocks(serving::TailAnswer const& answer);
std::vector<Block> hedging_blocks(serving::TailAnswer const& answer);
std::vector<Block> replica_blocks(serving::TailAnswer const& answer);
std::vector<Block> step_blocks(serving::TailAnswer const& answer);

/// Value over how rare it is, and how many are faster.
std::vector<Chart> sample_charts(serving::TailAnswer const& answer);
/// For pages, each next to its table; none where there is nothing to compare.
std::vector<Chart> fan_out_charts(serving::TailAnswer const& answer);
std::vector<Chart> hedging_charts(serving::TailAnswer const& answer);
std::vector<Chart> replica_charts(serving::TailAnswer const& answer);

} // namespace headroom::cli
