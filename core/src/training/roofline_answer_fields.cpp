#include "headroom/training/step_roofline_answer.hpp"
#include "headroom/training/training_answers.hpp"

#include <string_view>

namespace headroom::training {

using namespace headroom::laws;

namespace {

using KernelPart = RooflinePart<RooflineRow>;
using CeilingPart = RooflinePart<Ceiling>;

template <class Q> std::optional<Q> if_positive(Q quantity) {
    return quantity.base() > 0.0 ? std::optional{quantity} : std::nullopt;
}

template <class T> std::optional<T> if_step(KernelPart const& part, T StepKernel::*value) {
    return part.of->in_step ? std::optional{part.of->of.*value} : std::nullopt;
}

std::optional<std::string_view> name_if_any(std::optional<NumberFormat> const& format) {
    return format ? std::optional{name_of(*format)} : std::nullopt;
}

std::string_view phase_name(Phase phase) {
    switch (phase) {
    case Phase::forward: return "forward";
    case Phase::recompute: return "recompute";
    case Phase::backward: return "backward";
    }
    return "";
}

/// Traffic of a kernel with one memory level.
struct LevelTraffic {
    MemoryLevel level;
    Bytes moved;
    Flops work;
};
/// Ridge of a number format and a memory level.
struct Ridge {
    NumberFormat format;
    std::string level;
    FlopsPerByte ridge;
};
struct Divergence {
    int ways;
};
struct LeverPart {
    RooflineAnswer const* answer;
    RooflineLever const* of;
};
struct KernelThere {
    RooflineRow const* row;
};
struct MachineThere {
    RooflineAnswer const* answer;
    [[nodiscard]] Processor const& here() const { return answer->processor(); }
    [[nodiscard]] Processor const& there() const { return answer->question.against->processor; }
};
struct StepOfRoofline {
    RooflineAnswer const* answer;
    [[nodiscard]] Question const& question() const { return answer->question.model->question; }
    [[nodiscard]] StepTime const& step_time() const { return answer->step->prediction.time; }
};

// ---- machines -------------------------------------------------------------------------------------------------------

constexpr Field level_rows[] = {
    {"name", "Name of the memory level.", member<&MemoryLevel::name>},
    {"bandwidth_bytes_per_second", "Bandwidth, of all units together.", member<&MemoryLevel::bandwidth>},
    {"capacity_bytes", "Capacity; null where it is not known.",
     [](MemoryLevel const& level) { return if_positive(level.capacity); }},
};
constexpr FieldTable level_table = field_table<MemoryLevel>("memory_level", level_rows);

constexpr Field machine_rows[] = {
    {"name", "Name of the processor.", [](NamedMachine const& m) { return m.processor.name; }},
    {"origin", "Origin of its description: a record of the catalog, or a file.", member<&NamedMachine::origin>},
    {"generation", "Generation of the chip; null where its kernels are not calibrated.",
     [](NamedMachine const& m) {
         auto const& chip = m.processor.accelerator;
         return chip ? std::optional{name_of(chip->generation)} : std::nullopt;
     }},
    {"levels", "Memory levels, main memory first.", [](NamedMachine const& m) { return m.processor.levels; }},
    {"simd_width_bytes", "Width of a vector register; null for accelerators.",
     [](NamedMachine const& m) { return if_positive(m.processor.simd_width); }},
    {"lanes", "Threads that share an instruction; null where none do.",
     [](NamedMachine const& m) { return m.processor.lanes > 0 ? std::optional{m.processor.lanes} : std::nullopt; }},
};
constexpr FieldTable machine_table = field_table<NamedMachine>("machine", machine_rows);

constexpr Field ridge_rows[] = {
    {"precision", "Number format.", [](Ridge const& r) { return r.format; }},
    {"level", "Memory level.", [](Ridge const& r) { return r.level; }},
    {"flops_per_byte", "Intensity above which a kernel is compute-bound.", [](Ridge const& r) { return r.ridge; }},
};
constexpr FieldTable ridge_table = field_table<Ridge>("ridge", ridge_rows);
FieldTable const& field_table_of(Ridge const*) { return ridge_table; }

constexpr Field ceiling_rows[] = {
    {"name", "Name of the ceiling.", [](CeilingPart const& c) { return c.of->name; }},
    {"kind", "Origin of the rate: datasheet, lower, calibrated or measured.",
     [](CeilingPart const& c) { return c.of->kind; }},
    {"limits", "Limited resource: memory or compute.",
     [](CeilingPart const& c) { return std::string_view{c.of->level ? "memory" : "compute"}; }},
    {"precision", "Number format; null for memory.", [](CeilingPart const& c) { return name_if_any(c.of->format); }},
    {"level", "Memory level; null for arithmetic.",
     [](CeilingPart const& c) {
         return c.of->level ? std::optional{c.answer->processor().levels.at(*c.of->level).name} : std::nullopt;
     }},
    {"flops_per_second", "Rate of arithmetic; null for memory.",
     [](CeilingPart const& c) { return c.of->level ? std::nullopt : std::optional{c.of->rate}; }},
    {"bytes_per_second", "Bandwidth; null for arithmetic.",
     [](CeilingPart const& c) { return c.of->level ? std::optional{c.of->bandwidth} : std::nullopt; }},
    {"of_roof", "Ceiling over the roof that it lowers.", [](CeilingPart const& c) { return c.of->of_roof; }},
    {"note", "Remark; empty where there is none.", [](CeilingPart const& c) { return c.of->note; }},
};
constexpr FieldTable ceiling_table = field_table<CeilingPart>("roofline_ceiling", ceiling_rows);

// ---- kernels --------------------------------------------------------------------------------------------------------

constexpr Field gain_rows[] = {
    {"by", "Change: memory, peak, precision, batch or fusion.", member<&Gain::by>},
    {"speedup", "Speedup of the kernel by the change.", member<&Gain::speedup>},
    {"at_most", "Speedup with as much of the change as it takes; null where it is not known.",
     [](Gain const& g) { return finite(g.at_most); }},
    {"precision", "Narrower number format; null for other changes.",
     [](Gain const& g) { return name_if_any(g.format); }},
    {"rows_at_ridge", "Rows of a product at the ridge; null where it never meets the ridge.", member<&Gain::rows>},
    {"saved_bytes", "Bytes that fusion saves; null for other changes.",
     [](Gain const& g) { return g.by == GainBy::fusion ? std::optional{g.saved} : std::nullopt; }},
};
constexpr FieldTable gain_table = field_table<Gain>("kernel_gain", gain_rows);

constexpr Field traffic_rows[] = {
    {"level", "Memory level.", [](LevelTraffic const& t) { return t.level.name; }},
    {"bytes", "Bytes moved to and from it.", [](LevelTraffic const& t) { return t.moved; }},
    {"intensity_flops_per_byte", "Operations over these bytes; null without traffic.",
     [](LevelTraffic const& t) { return t.moved.base() > 0.0 ? std::optional{t.work / t.moved} : std::nullopt; }},
    {"seconds", "Time of this traffic.", [](LevelTraffic const& t) { return t.moved / t.level.bandwidth; }},
};
constexpr FieldTable traffic_table = field_table<LevelTraffic>("level_traffic", traffic_rows);
FieldTable const& field_table_of(LevelTraffic const*) { return traffic_table; }

std::vector<LevelTraffic> traffic_of(KernelPart const& part) {
    Kernel const& kernel = part.of->of.kernel;
    auto const& levels = part.answer->processor().levels;
    std::vector<LevelTraffic> all{{levels.front(), kernel.moved, kernel.work}};
    for (auto const& [level, moved] : kernel.nearer) { all.push_back({levels.at(level), moved, kernel.work}); }
    return all;
}

constexpr Field kernel_rows[] = {
    {"name", "Name of the kernel.", [](KernelPart const& k) { return k.of->of.name; }},
    {"precision", "Number format of its arithmetic.", [](KernelPart const& k) { return k.of->of.kernel.format; }},
    {"count", "Runs of the kernel.", [](KernelPart const& k) { return k.of->of.count; }},
    {"flops", "Operations of one run.", [](KernelPart const& k) { return k.of->of.kernel.work; }},
    {"flops_counted", "Whether these operations were counted; else one operation an element is assumed.",
     [](KernelPart const& k) { return !k.of->of.kernel.nominal; }},
    {"bytes", "Bytes of one run to and from main memory.", [](KernelPart const& k) { return k.of->of.kernel.moved; }},
    {"intensity_flops_per_byte", "Operations over bytes; null without traffic.",
     [](KernelPart const& k) { return finite(k.of->at.intensity.base()); }},
    {"ridge_flops_per_byte", "Ridge of the format and the memory level that takes longest.",
     [](KernelPart const& k) { return finite(k.of->at.ridge.base()); }},
    {"bound", "Bound of the kernel: compute or memory.", [](KernelPart const& k) { return k.of->at.bound; }},
    {"bound_by", "Ceiling that binds it.", [](KernelPart const& k) { return k.of->bound_by; }},
    {"attainable_flops_per_second", "Rate that the roof allows.", [](KernelPart const& k) { return k.of->at.rate; }},
    {"of_peak", "That rate over the peak of the format.", [](KernelPart const& k) { return k.of->at.of_peak; }},
    {"seconds", "Shortest time of one run that the roof allows.", [](KernelPart const& k) { return k.of->at.time; }},
    {"part", "Part of the model; null for kernels that were given.",
     [](KernelPart const& k) { return if_step(k, &StepKernel::part); }},
    {"group", "Group of kernels; null for kernels that were given.",
     [](KernelPart const& k) { return if_step(k, &StepKernel::group); }},
    {"phase", "Pass: forward, recompute or backward; null for kernels that were given.",
     [](KernelPart const& k) {
         auto const phase = if_step(k, &StepKernel::phase);
         return phase ? std::optional{phase_name(*phase)} : std::nullopt;
     }},
    {"predicted_seconds", "Predicted time of one run; null for kernels that were given.",
     [](KernelPart const& k) { return if_step(k, &StepKernel::predicted); }},
    {"share_of_time", "Share of the time of all kernels.", [](KernelPart const& k) { return k.of->share; }},
    {"levels", "Traffic with each memory level.", from<traffic_of>},
    {"gains", "Changes that apply, the largest speedup first.", [](KernelPart const& k) { return k.of->gains; }},
    {"advice", "Changes that would help, in words.", [](KernelPart const& k) { return k.of->advice; }},
};
constexpr FieldTable kernel_table = field_table<KernelPart>("roofline_kernel", kernel_rows);

constexpr Field lever_rows[] = {
    {"by", "Change: memory, peak, precision, batch or fusion.", [](LeverPart const& l) { return l.of->by; }},
    {"attainable_seconds", "Shortest time of all kernels with the change.",
     [](LeverPart const& l) { return l.of->attainable; }},
    {"speedup", "Speedup of all kernels by the roof.",
     [](LeverPart const& l) { return l.answer->totals.attainable / l.of->attainable; }},
    {"predicted_seconds", "Predicted time of all kernels if it gains alike; null without a model.",
     [](LeverPart const& l) { return l.answer->step ? std::optional{l.of->seconds} : std::nullopt; }},
};
constexpr FieldTable lever_table = field_table<LeverPart>("roofline_lever", lever_rows);
FieldTable const& field_table_of(LeverPart const*) { return lever_table; }

// ---- a step, the other machine --------------------------------------------------------------------------------------

constexpr Field group_rows[] = {
    {"group", "Name of the group.", member<&GroupTime::group>},
    {"attainable_seconds", "Shortest time of its kernels in a step.", member<&GroupTime::attainable>},
    {"predicted_seconds", "Predicted time of its kernels in a step.", member<&GroupTime::predicted>},
};
constexpr FieldTable group_table = field_table<GroupTime>("kernel_group", group_rows);

constexpr Field step_rows[] = {
    {"model", "Model.", [](StepOfRoofline const& s) { return s.question().model; }},
    {"framework", "Name of the framework.", [](StepOfRoofline const& s) { return s.question().framework.name; }},
    {"workload", "Batch and sequences.",
     [](StepOfRoofline const& s) {
         return WorkloadOfRun{s.question().workload, {}};
     }},
    {"strategy", "Parallel strategy.",
     [](StepOfRoofline const& s) {
         return StrategyInUse{s.question().strategy, s.question().workload};
     }},
    {"tokens_per_micro_batch", "Tokens of a micro-batch on one accelerator.",
     [](StepOfRoofline const& s) { return s.answer->step->tokens; }},
    {"attainable_seconds", "Shortest time of the kernels of a step.",
     [](StepOfRoofline const& s) { return s.answer->totals.attainable; }},
    {"kernels_seconds", "Predicted time of the kernels of a step.",
     [](StepOfRoofline const& s) { return s.answer->totals.predicted; }},
    {"compute_seconds", "Predicted computation of the step.",
     [](StepOfRoofline const& s) { return s.step_time().compute; }},
    {"optimizer_seconds", "Predicted time of the optimizer.",
     [](StepOfRoofline const& s) { return s.step_time().optimizer; }},
    {"step_seconds", "Predicted time of the whole step.",
     [](StepOfRoofline const& s) { return s.step_time().total(); }},
    {"groups", "Kernels of the step by group.", [](StepOfRoofline const& s) { return s.answer->groups; }},
    {"assumed", "Values that were assumed.",
     [](StepOfRoofline const& s) { return s.answer->question.model->assumptions; }},
};
constexpr FieldTable step_table = field_table<StepOfRoofline>("roofline_step", step_rows);
FieldTable const& field_table_of(StepOfRoofline const*) { return step_table; }

constexpr Field kernel_there_rows[] = {
    {"name", "Name of the kernel.", [](KernelThere const& k) { return k.row->of.name; }},
    {"bound", "Bound of the kernel on the other machine.", [](KernelThere const& k) { return k.row->other->bound; }},
    {"seconds", "Shortest time of one run on this machine.", [](KernelThere const& k) { return k.row->at.time; }},
    {"seconds2", "Shortest time of one run on the other machine.",
     [](KernelThere const& k) { return k.row->other->time.base(); }, Unit{"s"}},
    {"speedup", "Speedup by the roof.", [](KernelThere const& k) { return k.row->at.time / k.row->other->time; }},
    {"predicted_speedup", "Predicted speedup; null without a model.",
     [](KernelThere const& k) {
         auto const& other = k.row->other_predicted;
         return other ? std::optional{k.row->of.predicted / *other} : std::nullopt;
     }},
};
constexpr FieldTable kernel_there_table = field_table<KernelThere>("kernel_there", kernel_there_rows);
FieldTable const& field_table_of(KernelThere const*) { return kernel_there_table; }

constexpr Field there_rows[] = {
    {"machine", "Other machine.", [](MachineThere const& m) { return *m.answer->question.against; }},
    {"bandwidth_ratio", "Its bandwidth of main memory over that of this machine.",
     [](MachineThere const& m) { return m.there().memory().bandwidth / m.here().memory().bandwidth; }},
    {"peak_ratio", "Its peak over that of this machine; null where it lacks the format.",
     [](MachineThere const& m) {
         NumberFormat const asked = m.answer->question.format;
         FlopsPerSecond const peak = m.there().peak[asked];
         return peak.base() > 0.0 ? std::optional{peak / m.here().peak[asked]} : std::nullopt;
     }},
    {"speedup", "Speedup of all kernels by the roof; null without kernels.",
     [](MachineThere const& m) { return m.answer->speedup_there(); }},
    {"predicted_speedup", "Predicted speedup of all kernels; null without a model.",
     [](MachineThere const& m) { return m.answer->predicted_speedup_there(); }},
    {"kernels", "Each kernel on the other machine.",
     [](MachineThere const& m) {
         std::vector<KernelThere> found;
         for (RooflineRow const& row : m.answer->rows) {
             if (row.other) { found.push_back({&row}); }
         }
         return found;
     }},
    {"verdict", "Conclusion, a sentence an entry.", [](MachineThere const& m) { return m.answer->comparison; }},
};
constexpr FieldTable there_table = field_table<MachineThere>("machine_there", there_rows);
FieldTable const& field_table_of(MachineThere const*) { return there_table; }

// ---- the answer -----------------------------------------------------------------------------------------------------

constexpr Field divergence_rows[] = {
    {"ways", "Ways in which the lanes of an instruction branch.", [](Divergence const& d) { return d.ways; }},
    {"throughput", "Throughput over that without branches.",
     [](Divergence const& d) { return divergence_throughput(d.ways); }},
};
constexpr FieldTable divergence_table = field_table<Divergence>("divergence", divergence_rows);
FieldTable const& field_table_of(Divergence const*) { return divergence_table; }

std::vector<Ridge> ridges_of(RooflineAnswer const& answer) {
    std::vector<Ridge> all;
    Processor const& processor = answer.processor();
    for (NumberFormat const one : number_formats) {
        if (processor.peak[one].base() <= 0.0) { continue; }
        for (MemoryLevel const& level : processor.levels) {
            all.push_back({one, level.name, ridge_point(processor.peak[one], level.bandwidth)});
        }
    }
    return all;
}

std::vector<LeverPart> levers_of(RooflineAnswer const& answer) {
    std::vector<LeverPart> all;
    for (RooflineLever const& lever : answer.levers) { all.push_back({&answer, &lever}); }
    return all;
}

constexpr Field answer_rows[] = {
    {"machine", "Machine that was asked about.", [](RooflineAnswer const& a) { return a.question.machine; }},
    {"precision", "Number format that was asked about.", [](RooflineAnswer const& a) { return a.question.format; }},
    {"ridge_flops_per_byte", "Intensity above which a kernel of that format is compute-bound.",
     member<&RooflineAnswer::ridge>},
    {"ridges", "Ridge of each format and memory level.", from<ridges_of>},
    {"ceilings", "Roofs, and the ceilings below them.", from<ceiling_parts>},
    {"divergence", "Branches that were asked about; null without --divergence.",
     [](RooflineAnswer const& a) {
         auto const ways = a.question.conditions.divergence;
         return ways ? std::optional{Divergence{*ways}} : std::nullopt;
     }},
    {"occupancy", "Share of the resident threads that was asked about; null without --occupancy.",
     [](RooflineAnswer const& a) { return a.question.conditions.occupancy; }},
    {"kernels", "Kernels under the roof.", from<kernel_parts>},
    {"attainable_seconds", "Shortest time of all kernels; null without kernels.",
     [](RooflineAnswer const& a) { return a.rows.empty() ? std::nullopt : std::optional{a.totals.attainable}; }},
    {"levers", "Changes that apply to all kernels together.", from<levers_of>},
    {"step", "Training step of the kernels; null without --model.",
     [](RooflineAnswer const& a) { return a.step ? std::optional{StepOfRoofline{&a}} : std::nullopt; }},
    {"against", "Comparison with the other machine; null without --against.",
     [](RooflineAnswer const& a) { return a.question.against ? std::optional{MachineThere{&a}} : std::nullopt; }},
    {"verdict", "Conclusion in a sentence or two.", member<&RooflineAnswer::verdict>},
    {"notes", "Caveats.", member<&RooflineAnswer::notes>},
};
constexpr FieldTable answer_table = field_table<RooflineAnswer>("roofline", answer_rows);

} // namespace

std::vector<RooflinePart<RooflineRow>> kernel_parts(RooflineAnswer const& answer) {
    std::vector<RooflinePart<RooflineRow>> parts;
    for (RooflineRow const& row : answer.rows) { parts.push_back({&answer, &row}); }
    return parts;
}

std::vector<RooflinePart<Ceiling>> ceiling_parts(RooflineAnswer const& answer) {
    std::vector<RooflinePart<Ceiling>> parts;
    for (Ceiling const& ceiling : answer.ceilings) { parts.push_back({&answer, &ceiling}); }
    return parts;
}

FieldTable const& field_table_of(RooflineAnswer const*) { return answer_table; }
FieldTable const& field_table_of(RooflinePart<RooflineRow> const*) { return kernel_table; }
FieldTable const& field_table_of(RooflinePart<Ceiling> const*) { return ceiling_table; }
FieldTable const& field_table_of(GroupTime const*) { return group_table; }

} // namespace headroom::training

namespace headroom::laws {

FieldTable const& field_table_of(NamedMachine const*) { return headroom::training::machine_table; }
FieldTable const& field_table_of(MemoryLevel const*) { return headroom::training::level_table; }
FieldTable const& field_table_of(Gain const*) { return headroom::training::gain_table; }

} // namespace headroom::laws
