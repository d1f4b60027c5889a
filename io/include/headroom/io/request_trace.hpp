#pragma once

#include "headroom/serving/request_record.hpp"
#include "headroom/serving/serving.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Columns to read from a file; empty texts leave the choice to the reader.
struct RequestTraceQuestion {
    std::string time_column = {}, prompt_column = {}, output_column = {}; ///< by their names
    std::string time_unit = {};                                           ///< of times that are bare numbers: "ms"
};

/// Requests to a language model as somebody recorded them.
struct RequestTrace : serving::RequestRecord {
    std::vector<serving::ServingRequest> requests; ///< in order of arrival, the first one at 0
    /// From the first arrival to the last.
    [[nodiscard]] Seconds span() const;
};

/// Limit of requests in one trace; a longer one is refused.
inline constexpr std::size_t most_recorded_requests = 50'000'000;
inline constexpr int most_recorded_tokens = 100'000'000; ///< of one prompt, and of one output

/// Reads recorded requests in one pass from a file, plain, gzip or zstd: a table with a header (see `read_csv`), or
/// JSON lines. A column each of arrival, prompt tokens and output tokens is found under its usual names, among them those
/// of the traces of Azure (TIMESTAMP, ContextTokens, GeneratedTokens), Mooncake (timestamp, input_length, output_length),
/// BurstGPT (Timestamp, Request tokens, Response tokens) and Vidur (arrived_at, num_prefill_tokens, num_decode_tokens).
/// Times are dates ("2023-11-16 18:15:46.68", a zone may follow), numbers with units ("12ms"), or bare numbers whose unit
/// the header ("arrival_ms", "time (s)"), a known format, or the caller says.
/// Errors: InputError{unreadable} for what is neither format, lines over 16 MiB, damaged archives; InputError{usage} where
/// a column is not there, or a unit is not stated; InputError{insufficient} where no row is left.
RequestTrace read_request_trace(std::filesystem::path const& path, RequestTraceQuestion const& question);
/// Reads recorded requests from a text in memory.
RequestTrace read_request_text(std::string_view text, std::string_view where, RequestTraceQuestion const& question);

} // namespace headroom::io
