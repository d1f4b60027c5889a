#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/assume.hpp"
#include "headroom/io/catalog.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// The group of `--help` that holds the options of a strategy.
inline constexpr char const* strategy_group = "Strategy (what is left out is chosen and listed)";

/// What `predict` and `plan` read alike: the model, the machine, the software, the workload and the constants.
struct Setting {
    io::Catalog catalog;
    Model model;
    Cluster cluster;
    Framework framework;
    CalibrationSet calibration;
    Workload workload;
    PartialStrategy given;               ///< fields of the strategy that the user stated, or the record named
    std::string strategy_record;         ///< of --strategy; empty without one
    std::vector<Assumption> assumptions; ///< defaults taken here
    std::vector<std::string> notes;      ///< keys of a model file that were used and ignored
    std::optional<double> tokens;
};

std::span<Option const> setting_options();
/// The fields of a strategy as options, one each (`io::strategy_fields`); --precision is among those of the setting.
std::span<Option const> strategy_options();

/// What a model works through: "tokens", or "samples" where a sample is no sequence of them.
std::string_view unit_of_work(Model const& model);
/// "1024 sequences of 8192 tokens", "2048 samples".
std::string batch_words(Workload const& workload, Model const& model);

/// The embedded catalog under the overlays: --catalog, ./headroom/catalog, the user's configuration folder.
io::Catalog open_catalog(Arguments const& arguments);
/// --calibration FILE, else the catalog's.
CalibrationSet read_calibration(Arguments const& arguments, io::Catalog const& catalog);
/// Errors: InputError{usage} where `option` asks about another machine than the one whose links were measured.
void refuse_other_machine(CalibrationSet const& calibration, std::string_view option);
/// `machine`: one that was read already; else --cluster names it.
Setting read_setting(Arguments const& arguments, std::optional<Cluster> const& machine = {});

/// Makes a batch that nobody gave what dp, micro-batch and accumulation steps make of it where the last two are given,
/// else divide by dp x micro-batch, and says so among the assumptions; returns whether it changed.
bool fit_assumed_batch(Arguments const& arguments, Setting& setting, Strategy const& strategy);

/// --workers, or --nodes times the size of a node; empty when neither is given.
std::vector<int> read_workers(Arguments const& arguments, Cluster const& cluster);

/// Adds what is not there yet: one assumption a field.
void add_assumptions(std::vector<Assumption>& all, std::vector<Assumption> const& more);

} // namespace headroom::cli
