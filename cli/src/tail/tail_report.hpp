#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/io/latency_samples.hpp"
#include "headroom/serving/percentile.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// Unit of the samples and its spelling: seconds with a prefix that reads best, or plain numbers.
struct TailUnit {
    bool times = true;

    /// "212 ms"; "212"
    [[nodiscard]] std::string words(double value) const;
    [[nodiscard]] std::string words(std::optional<double> value) const { return value ? words(*value) : "-"; }
    /// "205 .. 220 ms" where both read well in one unit.
    [[nodiscard]] std::string interval(double low, double high) const;
};
inline TailUnit unit_of(serving::TailAnswer const& answer) { return {answer.set.times}; }

/// The unit of time in which a value is at least one: for axes and tables of one unit.
struct TailScale {
    char const* name = ""; ///< "ms"; empty for plain numbers
    double size = 1.0;
};
TailScale scale_for(double value, TailUnit unit);

/// "95 % interval"
std::string interval_title(double coverage);
/// "12 %", with its sign: "+12 %", "-3 %".
std::string signed_percent(double ratio);
/// 1234567 as "1,234,567".
std::string grouped(unsigned long long count);
/// A probability in words: "0.03", "below 0.001".
std::string chance(double probability);

Document document_of(serving::TailAnswer const& answer, io::Catalog const& catalog);
/// With the figures that a terminal has no room for.
Document page_of(serving::TailAnswer const& answer, io::Catalog const& catalog);
/// The verdicts and warnings of an answer, written into it.
void add_words(serving::TailAnswer& answer);
/// Numbers that --require may ask about; of an answer that is not known yet: null.
std::vector<Metric> metrics_of(serving::TailAnswer const* answer, bool times);

// ---- parts of them --------------------------------------------------------------------------------------------------

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

/// A question of `headroom tail`, and the samples that it is about.
struct TailRequest {
    serving::TailQuestion question;
    std::vector<std::string> paths, baseline;
    io::LatencyQuestion reading;
    bool traces = false; ///< --format-of trace
    std::filesystem::path store;
    std::string step_name = {};
    std::vector<std::string> needs_samples = {}; ///< given options that a report of quantiles cannot answer
};

std::span<Option const> tail_options();
/// Errors: InputError{usage}, before anything is read.
TailRequest read_tail_request(Arguments const& arguments);

/// Whether one of these is a measurement in the store.
bool names_stored(std::vector<std::string> const& paths);
/// Refuses --time-unit where no file has a column of times. Errors: InputError{usage}.
void check_time_unit(TailRequest const& request, std::vector<serving::TailPart> const& parts,
                     std::vector<serving::TailPart> const& baseline);

/// Reads every path: files of samples each as a part, traces all as one, "store:ID" out of the store.
/// Errors: InputError of the first that cannot be read; InputError{usage} where they mix units.
std::vector<serving::TailPart> read_parts(std::vector<std::string> const& paths, TailRequest const& request,
                                          bool quiet);

} // namespace headroom::cli
