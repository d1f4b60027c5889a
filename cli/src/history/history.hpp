#pragma once

#include "history/history_words.hpp"
#include "measure/fact_differences.hpp"
#include "output.hpp"

#include "headroom/io/store.hpp"
#include "headroom/measurement.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

// ---- list -----------------------------------------------------------------------------------------------------------

/// A campaign as the list shows it: without points and samples, which are counted.
struct ListedCampaign {
    Campaign head;
    std::size_t samples = 0;
    bool in_hands = false; ///< measured right now
};

struct HistoryList {
    std::string store, kind; ///< kind empty: all
    bool store_is_there = true;
    std::vector<ListedCampaign> rows;
};
Document document_of(HistoryList const& list);
Json json_of(HistoryList const& list);
Sheet sheet_of(HistoryList const& list);

// ---- show -----------------------------------------------------------------------------------------------------------

struct ShownCampaign {
    Campaign campaign;
    bool in_hands = false;
};
Document document_of(ShownCampaign const& shown);
/// With a figure of all samples as they were taken.
Document page_of(ShownCampaign const& shown);
Json json_of(ShownCampaign const& shown);
Sheet sheet_of(ShownCampaign const& shown);

// ---- compare --------------------------------------------------------------------------------------------------------

/// What two sets of samples of one point say together.
struct ComparedPoint {
    std::string label, unit;
    SampleSummary first, second;
    std::optional<SampleComparison> comparison = {}; ///< nothing where a side has too few samples
    std::optional<SampleRatio> ratio = {};           ///< nothing where a sample is not positive, too
    double probability = 1.0;                        ///< adjusted for all points that were compared
    std::string verdict = {};                        ///< "faster", "slower", "more", "less", "no difference shown", ...
};

struct HistoryComparison {
    Campaign first, second;
    std::vector<ComparedPoint> points = {};
    std::vector<std::string> only_first = {}, only_second = {},
                             other_units = {}; ///< labels of points that are not compared
    std::vector<FactDifference> settings = {}, machine = {};
};
/// Errors: InputError{insufficient} where no point of the same label and unit has samples on both sides.
HistoryComparison compare(Campaign first, Campaign second);
Document document_of(HistoryComparison const& comparison);
Json json_of(HistoryComparison const& comparison);
Sheet sheet_of(HistoryComparison const& comparison);

// ---- export ---------------------------------------------------------------------------------------------------------

/// Every sample as it was taken.
struct ExportedCampaign {
    Campaign campaign;
    bool in_hands = false;
};
Document document_of(ExportedCampaign const& exported);
Json json_of(ExportedCampaign const& exported);
Sheet sheet_of(ExportedCampaign const& exported);

} // namespace headroom::cli
