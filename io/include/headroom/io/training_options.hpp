#pragma once

#include "headroom/io/arguments.hpp"
#include "headroom/io/training_question.hpp"
#include "headroom/training/training_answers.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::io {

// A training question as named texts: the options that state it, and what they mean.

/// The group of `--help` that holds the options of a strategy.
inline constexpr char const* strategy_group = "Strategy (headroom chooses and lists the fields you do not give)";

/// Training question that options state, with the catalog that names were looked up in.
struct Setting : TrainingSetting {
    Catalog catalog;
};

std::span<Option const> setting_options();
/// The fields of a strategy as options, one each (`strategy_fields`); --precision is among those of the setting.
std::span<Option const> strategy_options();

/// The built-in catalog under the records of --catalog, ./headroom/catalog and the user's configuration folder.
Catalog open_catalog(Arguments const& arguments);
/// --calibration FILE, else the catalog's.
training::CalibrationSet read_calibration(Arguments const& arguments, Catalog const& catalog);
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

// ---- what the speedup laws leave out ----------------------------------------------------------------------------

std::span<Option const> left_out_options();
/// --batch-per-worker: of `plan` alone.
std::span<Option const> weak_scaling_options();

/// The terms that were asked for.
struct LeftOutRequest {
    training::Disturbance disturbance;
    std::optional<training::Failures> failures;
    std::optional<double> critical_batch; ///< sequences
    std::optional<int> batch_per_worker;  ///< sequences

    template <class Asked> void apply(Asked& question) const {
        question.disturbance = disturbance;
        question.failures = failures;
        question.critical_batch = critical_batch;
        if constexpr (requires { question.batch_per_worker; }) { question.batch_per_worker = batch_per_worker; }
    }
};

/// Reads them; defaults taken are listed among the assumptions of `setting`.
/// Errors: InputError{usage} on a missing unit, a number out of range, and options that contradict each other.
LeftOutRequest read_left_out(Arguments const& arguments, TrainingSetting& setting);

} // namespace headroom::io
