#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/document/document.hpp"
#include "headroom/fit/measured_messages.hpp"
#include "headroom/fit/measured_scaling.hpp"
#include "headroom/io/store.hpp"
#include "headroom/measure/measured_roofline.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/probe/comm.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// --store, --name and --fresh: of every `headroom measure`.
std::span<Option const> store_options();
/// --store FILE, else where measurements are kept; empty for `none`.
std::filesystem::path store_path(Arguments const& arguments);

/// Names that an option gives, separated by commas, each once, in the order of `known`; none without it.
std::vector<std::string> read_names(Arguments const& arguments, std::string const& option,
                                    std::vector<std::string> const& known);
/// A time of at most a day, and of `least` at least or above zero.
std::optional<double> read_seconds(Arguments const& arguments, std::string const& option, double least = 0.0);
/// --save FILE; empty without. Errors: InputError{usage} where it names no file, or one of the result's.
std::string read_save(Arguments const& arguments, Output const& output);

Document document_of(measure::MeasuredRooflineAnswer const& answer, bool page);

/// The unfinished campaign of this kind and these settings that a `Recorder` might go on with; empty for none.
std::optional<measure::Campaign> unfinished_campaign(Arguments const& arguments, std::string const& kind,
                                                     measure::Facts const& settings);

/// A campaign that is being measured: every sample is in the store when the next one begins. `--store none` keeps it in
/// memory alone.
class Recorder {
public:
    /// Goes on with the unfinished campaign of the same settings, name, points and machine where there is one and
    /// `--fresh` is not given. `head` says kind, settings, machine and the points that are known.
    Recorder(Arguments const& arguments, measure::Campaign head);
    [[nodiscard]] measure::Campaign const& campaign() const { return campaign_; }
    /// Number of samples that were there when the campaign was resumed.
    [[nodiscard]] std::size_t resumed() const { return resumed_; }
    /// Kept for good when it returns; one of this point and repetition that is there already stays as it is.
    void add(measure::Sample sample);
    void add_points(std::vector<measure::MeasuredPoint> const& points);
    void finish(measure::CampaignState state);

private:
    bool resume(measure::Campaign const& head);

    std::optional<io::Store> store_;
    measure::Campaign campaign_;
    std::size_t resumed_ = 0;
};

std::span<Option const> comm_measure_options();
/// Errors: InputError{usage}.
probe::CommQuestion read_comm_measure_question(Arguments const& arguments);

Document document_of(fit::MeasuredMessages const& answer, io::Catalog const& catalog);
/// The table that `headroom comm --fit` reads.
std::string comm_table_of(fit::MeasuredMessages const& answer);

std::span<Option const> scaling_options();
/// Errors: InputError{usage}, before anything runs: no command, no {workers} in it, a program that is not there.
measure::ScalingQuestion read_scaling_question(Arguments const& arguments);
/// Starts the example workload once, on two workers. Errors: InputError{usage} where mpirun does not, and where
/// headroom-step knows nothing of MPI: then each process would do all the work, and every count would look alike.
void check_example(std::vector<std::string> const& command);

Document document_of(fit::MeasuredScaling const& answer, io::Catalog const& catalog);
Document document_of(measure::ScalingPlan const& plan, io::Catalog const& catalog);

} // namespace headroom::cli
