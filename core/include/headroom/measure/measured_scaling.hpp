#pragma once

#include "headroom/fields.hpp"
#include "headroom/measure/measurement.hpp"
#include "headroom/measure/run_order.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::measure {

/// Unit of a bare number that a command prints as its result. With a unit behind it ("180ms") a time says so itself.
enum class ResultUnit { seconds, milliseconds, microseconds, nanoseconds, throughput };
std::string_view name_of(ResultUnit unit);

/// Result that a command printed, or the reason why there is none.
struct CommandResult {
    std::optional<double> value = {}; ///< finite and above zero, in what was asked for
    std::string problem = {};         ///< "'nan' is no number above zero"; empty where there is a value
};

/// Question of `headroom measure scaling`: a command, the worker counts it runs at, and its result.
struct ScalingQuestion {
    std::vector<std::string> words; ///< with {workers}, {size} and {per_worker} in them
    bool shell = false;             ///< then `words` is one text that /bin/sh reads
    std::string prepare = {};       ///< a line for /bin/sh before each run; empty: none
    std::vector<int> workers;
    bool weak = false;                        ///< the problem grows with the workers
    std::optional<std::int64_t> problem = {}; ///< of all workers together (strong) or of each (weak)
    std::uint32_t repeats = 5, warm_up = 0;
    std::uint64_t seed = 1;
    std::optional<double> timeout_seconds = {};
    std::string pattern = {}; ///< of the result; empty: the wall clock
    ResultUnit unit = ResultUnit::seconds;
    bool example = false;
    std::vector<std::pair<std::string, std::string>> variables = {}; ///< of the environment, for the command alone

    [[nodiscard]] bool throughput() const { return !pattern.empty() && unit == ResultUnit::throughput; }
    [[nodiscard]] std::string_view sample_unit() const { return throughput() ? "items/second" : "seconds"; }
};
FieldTable const& field_table_of(ScalingQuestion const*);

/// A point a worker count, in rising order.
std::vector<MeasuredPoint> points_of(ScalingQuestion const& question);
/// Settings that tell this campaign from others: everything but where results go, and the folder that it runs in.
Facts settings_of(ScalingQuestion const& question, std::string const& folder);
std::vector<PlannedRun> order_of(ScalingQuestion const& question);
/// A text with its placeholders filled for a worker count.
std::string filled(ScalingQuestion const& question, std::string text, int workers);
/// Words of the command at a worker count, and of what prepares it.
std::vector<std::string> command_at(ScalingQuestion const& question, int workers);
std::vector<std::string> prepare_at(ScalingQuestion const& question, int workers);
/// Words as a person would type them.
std::string command_words(std::vector<std::string> const& words);

/// Events that were noticed while runs were made.
struct RunsNoticed {
    bool interrupted = false;
    std::size_t made = 0;                   ///< by this call
    std::size_t left_behind = 0;            ///< runs that left processes behind, which were ended
    std::size_t cut = 0;                    ///< runs whose output was longer than what is kept of it
    std::optional<double> load_before = {}; ///< before the first
};

/// Answer of --dry-run: the runs that would be made, and their time by what is known already.
struct ScalingPlan {
    ScalingQuestion question;
    std::vector<PlannedRun> left = {};
    std::size_t there = 0; ///< samples of an unfinished campaign that would go on
    std::optional<double> estimate_seconds = {}, at_most_seconds = {};
    std::string estimated_from = {};
};
FieldTable const& field_table_of(ScalingPlan const*);
/// `known` is a campaign of the same command, which goes on where it is unfinished; a command may take `grace_seconds` more
/// than the timeout.
ScalingPlan plan_of(ScalingQuestion const& question, std::optional<Campaign> const& known, bool goes_on,
                    double grace_seconds);

/// A planned run with its command.
struct PlannedCommand {
    int workers = 1;
    PlannedRun run;
    std::string command;
};
FieldTable const& field_table_of(PlannedCommand const*);
std::vector<PlannedCommand> planned_commands(ScalingPlan const& plan);

} // namespace headroom::measure
