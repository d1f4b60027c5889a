#include "headroom/measure/campaign_comparison.hpp"
#include "headroom/measure/measured_roofline.hpp"

namespace headroom::measure {

FieldTable const& field_table_of(MeasuredLatency const*);

namespace {

/// A fact as an object of its own: names may repeat.
struct StatedFact {
    std::string name, value;
};
constexpr Field fact_rows[] = {
    {"name", "Name of the fact.", member<&StatedFact::name>},
    {"value", "Value of the fact.", member<&StatedFact::value>},
};
constexpr FieldTable fact_table = field_table<StatedFact>("fact", fact_rows);
FieldTable const& field_table_of(StatedFact const*) { return fact_table; }
std::vector<StatedFact> stated(Facts const& facts) {
    std::vector<StatedFact> all;
    for (auto const& [name, value] : facts) { all.push_back({name, value}); }
    return all;
}

/// Statistics of a figure, by a pointer to a member of `SampleSummary`.
template <auto Member> constexpr auto statistic() {
    return [](MeasuredFigure const& figure) { return figure.summary.*Member; };
}
/// Likewise of the figure that a row refers to.
template <class Row, auto Figure, auto Member> constexpr auto statistic_of() {
    return [](Row const& row) { return (row.*Figure)->summary.*Member; };
}
std::optional<std::string_view> label_of(MeasuredFigure const* figure) {
    return figure == nullptr ? std::nullopt : std::optional<std::string_view>{figure->point.label};
}

constexpr Field drift_rows[] = {
    {"change", "Change from the first to the last sample over the median; null where that is 0.",
     [](Drift const& d) { return finite(d.change); }},
    {"probability", "Probability of so much order by chance.", member<&Drift::probability>},
};
constexpr FieldTable drift_table = field_table<Drift>("figure_drift", drift_rows);

using S = SampleSummary;
constexpr Field figure_rows[] = {
    {"label", "Name of the figure.", [](MeasuredFigure const& f) -> std::string const& { return f.point.label; }},
    {"quantity", "Quantity: peak, product, bandwidth, latency, kernel or gpu.",
     [](MeasuredFigure const& f) { return f.of("quantity"); }},
    {"unit", "Unit of the samples.", [](MeasuredFigure const& f) -> std::string const& { return f.point.unit; }},
    {"threads", "Number of cores, one thread on each.", member<&MeasuredFigure::threads>},
    {"parameters", "Settings of the point.", [](MeasuredFigure const& f) { return unique_facts(f.point.parameters); }},
    {"count", "Number of repetitions that count, without the warm-up.", statistic<&S::count>()},
    {"median", "Median.", statistic<&S::median>()},
    {"low", "Lower end of the interval in which a repeat of the campaign is expected.", statistic<&S::low>()},
    {"high", "Upper end of that interval.", statistic<&S::high>()},
    {"coverage", "Probability that the interval holds it.", statistic<&S::coverage>()},
    {"least", "Smallest value.", statistic<&S::least>()},
    {"most", "Largest value.", statistic<&S::most>()},
    {"spread", "Median distance from the median, times 1.4826, over the median.", statistic<&S::spread>()},
    {"drift", "Trend of the repetitions; null with too few of them.", member<&MeasuredFigure::drift>},
};
constexpr FieldTable figure_table = field_table<MeasuredFigure>("measured_figure", figure_rows);

template <auto Member> constexpr auto peak_statistic = statistic_of<MeasuredPeak, &MeasuredPeak::roof, Member>();
constexpr Field peak_rows[] = {
    {"precision", "Precision: fp64, fp32, fp16, bf16 or int8.", member<&MeasuredPeak::precision>},
    {"threads", "Number of cores.", member<&MeasuredPeak::threads>},
    {"flops_per_second", "Median; of int8, whole operations.", peak_statistic<&S::median>},
    {"low", "Lower end of its interval.", peak_statistic<&S::low>, Unit{"FLOP/s"}},
    {"high", "Upper end of its interval.", peak_statistic<&S::high>, Unit{"FLOP/s"}},
    {"by", "Source: a chain of instructions, or a product of matrices that is faster.",
     [](MeasuredPeak const& p) { return p.roof == p.chain ? "chain" : "product"; }},
    {"instruction_set", "Instruction set of the chain; null where a product is faster.",
     [](MeasuredPeak const& p) {
         return p.roof == p.chain ? std::optional{p.roof->of("instruction_set")} : std::nullopt;
     }},
    {"chain", "Name of the figure of the fastest chain; null without one.",
     [](MeasuredPeak const& p) { return label_of(p.chain); }},
    {"best_product", "Name of the figure of the fastest product; null without one.",
     [](MeasuredPeak const& p) { return label_of(p.product); }},
    {"product_of_peak", "Rate of the fastest product over the peak; null without a product.",
     [](MeasuredPeak const& p) {
         return p.product == nullptr ? std::nullopt : std::optional{p.product->summary.median / p.roof->summary.median};
     }},
};
constexpr FieldTable peak_table = field_table<MeasuredPeak>("measured_peak", peak_rows);

template <auto Member> constexpr auto level_statistic = statistic_of<MeasuredLevel, &MeasuredLevel::figure, Member>();
constexpr Field level_rows[] = {
    {"level", "Level: L1, L2, L3 or memory.", [](MeasuredLevel const& l) { return l.figure->of("level"); }},
    {"threads", "Number of cores.", [](MeasuredLevel const& l) { return l.figure->threads; }},
    {"bytes_per_second", "Median bandwidth of the fastest kernel.", level_statistic<&S::median>},
    {"low", "Lower end of its interval.", level_statistic<&S::low>, Unit{"B/s"}},
    {"high", "Upper end of its interval.", level_statistic<&S::high>, Unit{"B/s"}},
    {"capacity_bytes", "Capacity of so many cores together; null where it is not known.",
     [](MeasuredLevel const& l) {
         double const capacity = l.figure->number("capacity");
         return capacity > 0.0 ? std::optional{capacity} : std::nullopt;
     }},
    {"figure", "Name of the figure.",
     [](MeasuredLevel const& l) -> std::string const& { return l.figure->point.label; }},
};
constexpr FieldTable level_table = field_table<MeasuredLevel>("measured_level", level_rows);

template <auto Member>
constexpr auto latency_statistic = statistic_of<MeasuredLatency, &MeasuredLatency::figure, Member>();
constexpr Field latency_rows[] = {
    {"level", "Level: L1, L2, L3 or memory.", [](MeasuredLatency const& l) { return l.figure->of("level"); }},
    {"seconds", "Median latency of one core.", latency_statistic<&S::median>},
    {"low", "Lower end of its interval.", latency_statistic<&S::low>, Unit{"s"}},
    {"high", "Upper end of its interval.", latency_statistic<&S::high>, Unit{"s"}},
    {"figure", "Name of the figure.",
     [](MeasuredLatency const& l) -> std::string const& { return l.figure->point.label; }},
};
constexpr FieldTable latency_table = field_table<MeasuredLatency>("measured_latency", latency_rows);

constexpr Field ridge_rows[] = {
    {"precision", "Precision of the peak.", member<&MeasuredRidge::precision>},
    {"level", "Level of memory.", member<&MeasuredRidge::level>},
    {"threads", "Number of cores.", member<&MeasuredRidge::threads>},
    {"flops_per_byte", "Operations a byte where bandwidth and peak meet.", member<&MeasuredRidge::flops_per_byte>},
    {"low", "Lower end that both intervals allow.", member<&MeasuredRidge::low>, Unit{"FLOP/B"}},
    {"high", "Upper end that both intervals allow.", member<&MeasuredRidge::high>, Unit{"FLOP/B"}},
};
constexpr FieldTable ridge_table = field_table<MeasuredRidge>("measured_ridge", ridge_rows);

constexpr Field kernel_rows[] = {
    {"kernel", "Name of the kernel.", [](MeasuredKernel const& k) { return k.figure->of("kernel"); }},
    {"problem", "Problem that it computed.", [](MeasuredKernel const& k) { return k.figure->of("problem"); }},
    {"threads", "Number of cores.", [](MeasuredKernel const& k) { return k.figure->threads; }},
    {"precision", "Precision that it computes in.", [](MeasuredKernel const& k) { return k.figure->of("precision"); }},
    {"flops", "Operations of one round, counted.",
     [](MeasuredKernel const& k) { return k.figure->number("operations"); }, Unit{"FLOP"}},
    {"bytes", "Bytes that one round must move, counted.",
     [](MeasuredKernel const& k) { return k.figure->number("bytes"); }},
    {"intensity_flops_per_byte", "Operations over bytes.", member<&MeasuredKernel::intensity>},
    {"level", "Level of memory that holds its data.", [](MeasuredKernel const& k) { return k.level->of("level"); }},
    {"bound", "Limit of the roof there: compute or memory.", member<&MeasuredKernel::bound>},
    {"roof_flops_per_second", "Roof at its intensity.", member<&MeasuredKernel::roof>},
    {"flops_per_second", "Median rate.", statistic_of<MeasuredKernel, &MeasuredKernel::figure, &S::median>()},
    {"of_roof", "Rate over the roof.", member<&MeasuredKernel::share>},
    {"of_roof_low", "Lower end of its interval.", member<&MeasuredKernel::low>},
    {"of_roof_high", "Upper end of its interval.", member<&MeasuredKernel::high>},
    {"why", "Reason for its distance from the roof.", from<reason_of>},
};
constexpr FieldTable kernel_table = field_table<MeasuredKernel>("measured_kernel", kernel_rows);

constexpr Field own_rows[] = {
    {"threads", "Number of cores.", member<&OwnAgainstLibrary::threads>},
    {"own", "Name of the figure of Headroom's fastest fp32 product.",
     [](OwnAgainstLibrary const& o) { return label_of(o.own).value(); }},
    {"library", "Name of the figure of the fastest fp32 product of a library.",
     [](OwnAgainstLibrary const& o) { return label_of(o.other).value(); }},
    {"ratio", "Rate of Headroom's product over that of the library.",
     [](OwnAgainstLibrary const& o) { return o.ratio(); }},
};
constexpr FieldTable own_table = field_table<OwnAgainstLibrary>("own_product", own_rows);

// ---- the answer -----------------------------------------------------------------------------------------------------

using Answer = MeasuredRooflineAnswer;
struct GpuOfAnswer {
    Answer const* answer;
};
constexpr Field gpu_rows[] = {
    {"device", "Name of the GPU; null where no figure of one was taken.",
     [](GpuOfAnswer const& g) { return if_known(g.answer->gpu); }},
    {"not_measured", "Reason why there is none, or what of it is missing; null where all was measured.",
     [](GpuOfAnswer const& g) { return if_known(g.answer->gpu_why); }},
};
constexpr FieldTable gpu_table = field_table<GpuOfAnswer>("measured_gpu", gpu_rows);
FieldTable const& field_table_of(GpuOfAnswer const*) { return gpu_table; }

std::vector<MeasuredLatency> latencies_of(Answer const& answer) {
    std::vector<MeasuredLatency> all;
    for (MeasuredFigure const* one : answer.roofline.of_quantity("latency")) { all.push_back({one}); }
    return all;
}
std::vector<OwnAgainstLibrary> own_products(Answer const& answer) {
    std::vector<OwnAgainstLibrary> all;
    for (int const threads : answer.roofline.threads) {
        if (auto const both = own_against_library(answer.roofline, threads)) { all.push_back(*both); }
    }
    return all;
}

constexpr Field answer_rows[] = {
    {"complete", "Whether the measurement came to its end; if not, the same command goes on.",
     member<&Answer::complete>},
    {"store", "File of the measurements; null with --store none.", [](Answer const& a) { return if_known(a.store); }},
    {"campaign", "Number of the campaign in the store; null with --store none.",
     [](Answer const& a) { return a.store.empty() ? std::nullopt : std::optional{a.campaign.id}; }},
    {"resumed_samples", "Number of samples that an earlier call had taken.", member<&Answer::resumed>},
    {"settings", "Options of the measurement.", [](Answer const& a) { return stated(a.campaign.settings); }},
    {"machine", "Facts of the machine.", [](Answer const& a) { return stated(a.campaign.machine); }},
    {"threads", "Numbers of cores that were measured.", [](Answer const& a) { return a.roofline.threads; }},
    {"peaks", "Fastest arithmetic of each precision.", [](Answer const& a) { return a.roofline.peaks; }},
    {"levels", "Bandwidth of each level of memory.", [](Answer const& a) { return levels_of(a.roofline); }},
    {"latencies", "Latency of each level of memory.", from<latencies_of>},
    {"ridges", "Intensities where bandwidths and peaks meet.", [](Answer const& a) { return a.roofline.ridges; }},
    {"kernels", "Kernels under the roof.", [](Answer const& a) { return a.roofline.kernels; }},
    {"own_products", "Headroom's products against those of libraries.", from<own_products>},
    {"gpu", "Graphics processor.", [](Answer const& a) { return GpuOfAnswer{&a}; }},
    {"figures", "Statistics of each point.",
     [](Answer const& a) -> std::vector<MeasuredFigure> const& { return a.roofline.figures; }},
    {"warnings", "Reasons not to believe the figures, or not all of them.", member<&Answer::warnings>},
    {"not_measured", "Points that could not be measured, each with the reason.", member<&Answer::absent>},
};
constexpr FieldTable answer_table = field_table<Answer>("measured_roofline", answer_rows);

} // namespace

FieldTable const& field_table_of(MeasuredLatency const*) { return latency_table; }
FieldTable const& field_table_of(MeasuredFigure const*) { return figure_table; }
FieldTable const& field_table_of(MeasuredPeak const*) { return peak_table; }
FieldTable const& field_table_of(MeasuredLevel const*) { return level_table; }
FieldTable const& field_table_of(MeasuredRidge const*) { return ridge_table; }
FieldTable const& field_table_of(MeasuredKernel const*) { return kernel_table; }
FieldTable const& field_table_of(OwnAgainstLibrary const*) { return own_table; }
FieldTable const& field_table_of(MeasuredRooflineAnswer const*) { return answer_table; }

} // namespace headroom::measure

namespace headroom {

FieldTable const& field_table_of(Drift const*);
FieldTable const& field_table_of(Drift const*) { return measure::drift_table; }

} // namespace headroom
