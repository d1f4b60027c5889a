#include "tables/failed_rows.hpp"

#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"

#include <array>
#include <utility>

namespace headroom::io {
namespace {

using Kind = OutcomeColumn::Kind;

constexpr std::array outcome_rows{
    std::pair{Kind::state, ColumnRow{.names = "status state result outcome jobstate jobstatus runstatus finalstatus "
                                              "statuscode httpstatus responsecode responsestatus httpcode "
                                              "httpresponsecode httpstatuscode code"}},
    std::pair{Kind::failed, ColumnRow{.names = "failed isfailed hasfailed iserror haserror errored"}},
    std::pair{Kind::grpc, ColumnRow{.names = "grpcstatus grpccode grpcstatuscode"}},
    std::pair{Kind::success, ColumnRow{.names = "success successful succeeded ok passed completed"}},
    std::pair{Kind::error, ColumnRow{.names = "error errormessage errormsg failure failurereason exception"}},
    std::pair{Kind::code, ColumnRow{.names = "exitcode returncode exitstatus rc"}},
};

/// The first word of a state: "CANCELLED" of "CANCELLED by 1000", "out_of_memory".
bool is_failed_state(std::string_view cell) {
    constexpr std::string_view failures = "failed fail failure error errored oom oom_killed oomkilled out_of_memory "
                                          "timeout timed_out timedout cancelled canceled crashed crash killed aborted "
                                          "node_fail boot_fail deadline preempted diverged";
    if (same_caseless(cell, "out of memory") || same_caseless(cell, "timed out")) { return true; }
    if (auto const status = decimal_number(cell)) { return *status >= 400.0 && *status < 600.0; }
    std::string_view rest = cell;
    std::string_view word = next_word(rest);
    while (!word.empty() && std::string_view{":,;+."}.find(word.back()) != std::string_view::npos) {
        word.remove_suffix(1);
    }
    return is_word_of(failures, word);
}

} // namespace

bool OutcomeColumn::failed(std::string_view cell) const {
    cell = trimmed_line(cell);
    if (says_nothing(cell)) { return false; }
    auto const number = decimal_number(cell);
    switch (kind) {
    case Kind::state: return is_failed_state(cell);
    case Kind::success: return number ? *number == 0.0 : is_word_of("false no n failed fail", cell);
    case Kind::failed: return number ? *number != 0.0 : !is_word_of("false no n ok success", cell);
    case Kind::grpc: return number ? *number != 0.0 : !is_word_of("ok", cell);
    case Kind::error: return number ? false : !is_word_of("false no ok success nan 0", cell);
    case Kind::code:
        if (number) { return *number != 0.0; }
        return cell.find_first_of("123456789") != std::string_view::npos;
    }
    return false;
}

std::vector<OutcomeColumn> outcome_columns(std::vector<std::string> const& header) {
    std::vector<OutcomeColumn> found;
    for (std::size_t i = 0; i < header.size(); ++i) {
        for (auto const& [kind, row] : outcome_rows) {
            bool const named = match_head(header[i], row).rank < ColumnMatch::unit_alone;
            if (named) { found.push_back({static_cast<int>(i), kind}); }
        }
    }
    return found;
}

} // namespace headroom::io
