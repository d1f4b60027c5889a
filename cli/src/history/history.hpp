#pragma once

#include "rooms.hpp"

#include "headroom/document/document.hpp"
#include "headroom/io/history.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::cli {

/// `kind`: that was asked for; empty: all. `store_is_there`: false where nothing was measured yet.
Document list_document(io::HistoryAnswer const& answer, std::string const& kind, bool store_is_there);
/// `chart`: with a figure of all samples in the order in which they were taken.
Document show_document(io::StoredCampaign const& shown, bool chart);
Document compare_document(measure::CampaignComparison const& comparison);
Document export_document(io::StoredCampaign const& exported);
Document remove_document(io::CampaignHead const& removed);

/// A value in a unit of the store ("seconds"), as people read it: "1.23 ms". Of an unknown unit: the number and its unit.
std::string in_words(double value, std::string_view unit);
/// "2026-03-01 12:00:05", UTC; "-" for none.
std::string time_in_words(std::int64_t ns);
/// A probability: "0.032", "< 0.001".
std::string probability_in_words(double probability);
/// A change with its sign: "+3.2 %".
std::string change_in_words(double change);
Table facts_table(std::string title, measure::Facts const& facts);
/// "Measurements 12: comm 'before the change'"
std::string title_of(io::CampaignHead const& head);

} // namespace headroom::cli
