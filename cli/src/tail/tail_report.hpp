#pragma once

#include "document/document.hpp"
#include "document/json.hpp"
#include "output.hpp"
#include "tail/tail_answer.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

Document document_of(TailAnswer const& answer, io::Catalog const& catalog);
/// With the figures that a terminal has no room for.
Document page_of(TailAnswer const& answer, io::Catalog const& catalog);
Json json_of(TailAnswer const& answer, io::Catalog const& catalog);
/// A row a quantile: of all samples, and of each part with --each.
Sheet sheet_of(TailAnswer const& answer);

// ---- parts of them, each in a file of its own -----------------------------------------------------------------------

/// What was found, the answer to what was asked first.
std::vector<std::string> verdict_of(TailAnswer const& answer);
/// What makes the numbers less than they look, and what was left out.
std::vector<std::string> warnings_of(TailAnswer const& answer);
/// How the percentiles moved from the baseline.
std::string comparison_words(TailAnswer const& answer);
/// Why so many replicas, or none.
std::string replicas_words(ReplicasForSlo const& slo, TailUnit unit);
/// What twice the replicas change.
std::string doubling_words(ReplicasForSlo const& slo, TailUnit unit);

std::vector<Block> percentile_blocks(TailAnswer const& answer);
std::vector<Block> comparison_blocks(TailAnswer const& answer);
std::vector<Block> fan_out_blocks(TailAnswer const& answer);
std::vector<Block> hedging_blocks(TailAnswer const& answer);
std::vector<Block> replica_blocks(TailAnswer const& answer);
std::vector<Block> step_blocks(TailAnswer const& answer);

/// Value over how rare it is, and how many are faster.
std::vector<Chart> sample_charts(TailAnswer const& answer);
/// For pages, each beside its table; none where there is nothing to compare.
std::vector<Chart> fan_out_charts(TailAnswer const& answer);
std::vector<Chart> hedging_charts(TailAnswer const& answer);
std::vector<Chart> replica_charts(TailAnswer const& answer);

Json fan_out_json(TailAnswer const& answer);
Json hedging_json(TailAnswer const& answer);
Json comparison_json(TailAnswer const& answer);
Json replicas_json(TailAnswer const& answer);

} // namespace headroom::cli
