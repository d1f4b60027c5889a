#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/io/training_question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// The group of `--help` that holds the options of a strategy.
inline constexpr char const* strategy_group = "Strategy (headroom chooses and lists the fields you do not give)";

/// Training question that options state, with the catalog that names were looked up in.
struct Setting : io::TrainingSetting {
    io::Catalog catalog;
};

std::span<Option const> setting_options();
/// The fields of a strategy as options, one each (`io::strategy_fields`); --precision is among those of the setting.
std::span<Option const> strategy_options();

/// Unit of a model's work: "tokens", or "samples" where a sample is no sequence of them.
std::string_view unit_of_work(training::Model const& model);
/// "1024 sequences of 8192 tokens", "2048 samples".
std::string batch_words(training::Workload const& workload, training::Model const& model);

/// The built-in catalog under the records of --catalog, ./headroom/catalog and the user's configuration folder.
io::Catalog open_catalog(Arguments const& arguments);
/// --calibration FILE, else the catalog's.
training::CalibrationSet read_calibration(Arguments const& arguments, io::Catalog const& catalog);
/// Errors: InputError{usage} where `option` asks about another machine than the one whose links were measured.
void refuse_other_machine(training::CalibrationSet const& calibration, std::string_view option);
/// Errors: InputError{usage} that names every argument that a question needs and does not have. `one_size`: of one
/// configuration, whose number of accelerators is needed, too.
/// `more`: further arguments that are needed, named with the others, "--dataset-tokens (50M)".
void require_question(Arguments const& arguments, bool machine_is_known, bool one_size,
                      std::vector<std::string> const& more = {});
/// `machine`: one that was read already; else --cluster names it.
Setting read_setting(Arguments const& arguments, std::optional<Cluster> const& machine = {});

/// One configuration; what is left out is assumed and listed.
training::Question make_question(Arguments const& arguments, Setting& setting);

using io::add_assumptions;

} // namespace headroom::cli
