#include "headroom/fit/communication_answer.hpp"

#include <optional>

namespace headroom::fit {

using namespace headroom::network;

namespace {

std::optional<std::string> if_stated(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

/// Figures of some rows, those that could not be read counted among the skipped.
struct Errors {
    CommunicationSummary summary;
    int unread = 0;
};
constexpr Field error_rows[] = {
    {"rows", "Rows.", [](Errors const& e) { return e.summary.rows + e.unread; }},
    {"skipped", "Rows that are neither predicted nor priced.",
     [](Errors const& e) { return e.summary.skipped + e.unread; }},
    {"rows_fitted", "Rows predicted by a fit.", [](Errors const& e) { return e.summary.rows_fitted; }},
    {"rows_unfitted", "Rows priced from the catalog alone.", [](Errors const& e) { return e.summary.rows_unfitted; }},
    {"median_absolute_error_fitted", "Median absolute error of the fit on every second size.",
     [](Errors const& e) { return e.summary.median_absolute_error_fitted; }},
    {"median_factor_unfitted", "Median factor by which the catalog's price is off.",
     [](Errors const& e) { return e.summary.median_factor_unfitted; }},
    {"median_factor_above_1_mb", "Median factor of the catalog's price above 1 MiB.",
     [](Errors const& e) { return e.summary.median_factor_above_1_mb; }},
    {"median_factor_up_to_1_mb", "Median factor of the catalog's price up to 1 MiB.",
     [](Errors const& e) { return e.summary.median_factor_up_to_1_mb; }},
};
constexpr FieldTable error_table = field_table<Errors>("communication_errors", error_rows);
FieldTable const& field_table_of(Errors const*) { return error_table; }

constexpr Field group_rows[] = {
    {"*", "Errors of its rows.", [](CommunicationGroup const& g) { return Errors{g.summary}; }},
    {"by", "Property that the rows share.", [](CommunicationGroup const&) { return "system and collective"; }},
    {"name", "Its value.", member<&CommunicationGroup::system>},
    {"system", "System.", member<&CommunicationGroup::system>},
    {"interconnect", "Network of the system.", member<&CommunicationGroup::interconnect>},
    {"collective", "Collective operation.", member<&CommunicationGroup::collective>},
    {"ranks", "Ranks.", member<&CommunicationGroup::ranks>},
    {"nodes", "Nodes.", member<&CommunicationGroup::nodes>},
    {"sizes", "Message sizes.", member<&CommunicationGroup::sizes>},
    {"fit_skipped_reason", "Reason why it was not fitted; null where it was.",
     [](CommunicationGroup const& g) { return if_stated(g.fit_skipped_reason); }},
};
constexpr FieldTable group_table = field_table<CommunicationGroup>("communication_group", group_rows);

constexpr Field row_rows[] = {
    {"id", "Row of the table.", [](CommunicationComparison const& c) { return c.row->id; }},
    {"line", "Line of the table.", [](CommunicationComparison const& c) { return c.row->line; }},
    {"group", "Number of its group.", member<&CommunicationComparison::group>},
    {"system", "System.", [](CommunicationComparison const& c) { return c.row->system; }},
    {"interconnect", "Network of the system.", [](CommunicationComparison const& c) { return c.row->interconnect; }},
    {"collective", "Collective operation.", [](CommunicationComparison const& c) { return c.row->collective; }},
    {"ranks", "Ranks.", [](CommunicationComparison const& c) { return c.row->ranks; }},
    {"nodes", "Nodes.", [](CommunicationComparison const& c) { return c.row->nodes; }},
    {"size_bytes", "Message size.", [](CommunicationComparison const& c) { return c.row->size.size; }},
    {"measured_seconds", "Measured time.", [](CommunicationComparison const& c) { return c.row->time; }},
    {"fitted_on", "Whether the fit used its size.", member<&CommunicationComparison::fitted_on>},
    {"fitted_seconds", "Time by the fit; null where the fit used it or there is none.",
     member<&CommunicationComparison::fitted>},
    {"relative_error_fitted", "Time by the fit over measured time, less 1.",
     [](CommunicationComparison const& c) {
         return c.fitted ? std::optional{c.fitted->base() / c.row->time.base() - 1.0} : std::nullopt;
     }},
    {"unfitted_seconds", "Time from the catalog alone; null where there is none.",
     [](CommunicationComparison const& c) { return c.unfitted.seconds; }},
    {"unfitted_ratio", "Time from the catalog over measured time.",
     [](CommunicationComparison const& c) {
         return c.unfitted.seconds ? std::optional{c.unfitted.seconds->base() / c.row->time.base()} : std::nullopt;
     }},
    {"unfitted_by", "Algorithm of that time.", [](CommunicationComparison const& c) { return c.unfitted.how; }},
    {"skipped_reason", "Reason why the catalog has no time; null where it has.",
     [](CommunicationComparison const& c) { return if_stated(c.unfitted.skipped_reason); }},
    {"source", "Publication.", [](CommunicationComparison const& c) { return c.row->source; }},
};
constexpr FieldTable row_table = field_table<CommunicationComparison>("communication_row", row_rows);

} // namespace

int CommunicationAnswer::unread() const { return static_cast<int>(lines_of(not_read)); }

FieldTable const& field_table_of(CommunicationGroup const*);
FieldTable const& field_table_of(CommunicationGroup const*) { return group_table; }
FieldTable const& field_table_of(CommunicationComparison const*) { return row_table; }

namespace {

constexpr Field answer_rows[] = {
    {"communication", "Table of measured collectives.", member<&CommunicationAnswer::table_name>},
    {"summary", "Errors over all rows.",
     [](CommunicationAnswer const& a) {
         return Errors{a.validation.summary, a.unread()};
     }},
    {"groups", "Errors by system and collective.",
     [](CommunicationAnswer const& a) -> decltype(auto) { return (a.validation.groups); }},
    {"not_read", "Rows that could not be read.", member<&CommunicationAnswer::not_read>},
    {"issues", "Content of the table that was not used.", member<&CommunicationAnswer::not_read>},
    {"rows", "Every row.", [](CommunicationAnswer const& a) -> decltype(auto) { return (a.validation.rows); }},
};
constexpr FieldTable answer_table = field_table<CommunicationAnswer>("validate_communication", answer_rows);

} // namespace

FieldTable const& field_table_of(CommunicationAnswer const*) { return answer_table; }

} // namespace headroom::fit
