#include "training/prediction_views.hpp"

#include <utility>

namespace headroom::training {
namespace {

using TimeByKind = std::array<Seconds, work_kind_count>;

/// "tensor_seconds": the time of each kind of work, or of each that communicates.
std::vector<std::pair<std::string, Seconds>> named(TimeByKind const& times, bool communication_only) {
    std::vector<std::pair<std::string, Seconds>> rows;
    for (std::size_t i = 0; i < times.size(); ++i) {
        auto const kind = static_cast<WorkKind>(i);
        if (communication_only && !communicates(kind)) { continue; }
        rows.emplace_back(std::string{name_of(kind)} + "_seconds", times[i]);
    }
    return rows;
}

TimeByKind mean_exposed(SimulatedStep const& step) {
    TimeByKind mean{};
    for (SimulatedStage const& stage : step.stages) {
        for (std::size_t kind = 0; kind < mean.size(); ++kind) {
            mean[kind] += stage.exposed[kind] / static_cast<double>(step.stages.size());
        }
    }
    return mean;
}

constexpr Field stage_rows[] = {
    {"computing_seconds", "Time in which kernels run.", member<&SimulatedStage::computing>},
    {"idle_seconds", "Time in which nothing runs.", member<&SimulatedStage::idle>},
    {"exposed_by_kind", "Exposed communication by kind.",
     [](SimulatedStage const& s) { return named(s.exposed, true); }, Unit{"s"}},
};
constexpr FieldTable stage_table = field_table<SimulatedStage>("simulated_stage", stage_rows);

struct SimulatedPath {
    SimulatedStep const* step;
};
constexpr Field path_rows[] = {
    {"by_kind", "Time on the critical path by kind of work.",
     [](SimulatedPath const& p) { return named(p.step->critical, false); }, Unit{"s"}},
    {"stretch_seconds", "Part of it that sharing and slowdown added.",
     [](SimulatedPath const& p) { return p.step->critical_stretch; }},
    {"tasks", "Tasks on the path.", [](SimulatedPath const& p) { return p.step->run.critical_path.size(); }},
};
constexpr FieldTable path_table = field_table<SimulatedPath>("simulated_path", path_rows);
FieldTable const& field_table_of(SimulatedPath const*) { return path_table; }

/// Fields of a step that was simulated.
struct RanSimulation {
    SimulatedStep const* step;
};
constexpr Field ran_rows[] = {
    {"makespan_seconds", "Length of the task graph alone.", [](RanSimulation const& r) { return r.step->makespan; }},
    {"breakdown", "Parts of the simulated step.", [](RanSimulation const& r) { return r.step->time; }},
    {"exposed_communication", "Parts of its exposed communication.",
     [](RanSimulation const& r) { return ExposedCommunication{r.step->time}; }},
    {"critical_path", "Chain of tasks that decides the length.",
     [](RanSimulation const& r) { return SimulatedPath{r.step}; }},
    {"exposed_by_kind", "Exposed communication by kind, mean over the stages.",
     [](RanSimulation const& r) { return named(mean_exposed(*r.step), true); }, Unit{"s"}},
    {"stages", "Pipeline stages.",
     [](RanSimulation const& r) -> std::vector<SimulatedStage> const& { return r.step->stages; }},
    {"tasks", "Tasks of the graph.", [](RanSimulation const& r) { return r.step->program.size(); }},
    {"edges", "Dependencies between tasks.", [](RanSimulation const& r) { return r.step->program.edges.size(); }},
};
constexpr FieldTable ran_table = field_table<RanSimulation>("ran_simulation", ran_rows);
FieldTable const& field_table_of(RanSimulation const*) { return ran_table; }

constexpr Field simulation_rows[] = {
    {"refused", "Reason why it was not simulated; null where it was.",
     [](Simulation const& s) { return if_stated(s.step.refused); }},
    {"step_seconds", "Simulated step time.",
     [](Simulation const& s) { return s.ran() ? std::optional{s.step.step()} : std::nullopt; }},
    {"priced_seconds", "Priced step time.", [](Simulation const& s) { return s.priced.total(); }},
    {"difference", "Simulated over priced step, less 1.",
     [](Simulation const& s) { return s.ran() ? std::optional{s.difference()} : std::nullopt; }},
    {"collectives", "How collectives were priced: as one operation, or by messages.",
     [](Simulation const& s) {
         return s.collectives == CollectiveDetail::messages ? std::string_view{"messages"} : "operation";
     }},
    {"stood_in", "Reasons why collectives have one time instead of that of their messages.",
     [](Simulation const& s) -> std::vector<std::string> const& { return s.step.stood_in; }},
    {"*", "Fields of a step that was simulated.",
     [](Simulation const& s) { return s.ran() ? std::optional{RanSimulation{&s.step}} : std::nullopt; }},
};
constexpr FieldTable simulation_table = field_table<Simulation>("simulation", simulation_rows);

} // namespace

FieldTable const& field_table_of(SimulatedStage const*) { return stage_table; }
FieldTable const& field_table_of(Simulation const*) { return simulation_table; }

} // namespace headroom::training
