#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A column that says of each row whether its run failed: "status", "success", "error", "exit_code".
struct OutcomeColumn {
    enum class Kind {
        state,   ///< "ok", "COMPLETED", "OOM", "FAILED", or an HTTP status
        failed,  ///< "true", "false", 1, 0
        grpc,    ///< "OK", "UNAVAILABLE", 0, 14
        success, ///< "true", "false", 1, 0
        error,   ///< a text, or nothing
        code,    ///< 0, "0:0", 1
    };
    int column = -1;
    Kind kind = Kind::state;
    /// Whether a cell states a failure; a word that is not known states none.
    [[nodiscard]] bool failed(std::string_view cell) const;
};

std::vector<OutcomeColumn> outcome_columns(std::vector<std::string> const& header);

} // namespace headroom::io
