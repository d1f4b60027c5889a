#include "headroom/laws/laws_answers.hpp"

#include <string_view>

namespace headroom::laws {
namespace {

constexpr DollarsPerSecond per_hour = units::dollar / units::hour;

std::optional<double> hourly(std::optional<DollarsPerSecond> const& price) {
    return price ? std::optional{price->in(per_hour)} : std::nullopt;
}

// ---- one faster machine against more machines -----------------------------------------------------------------------

constexpr Field match_rows[] = {
    {"serial_fraction", "Serial fraction of the curve; null where the curve has none.",
     member<&ScaleUpMatch::serial_fraction>},
    {"workers_to_match",
     "Smallest number of present machines that is as fast as the faster machine; null where none is.",
     member<&ScaleUpMatch::workers>},
};
constexpr FieldTable match_table = field_table<ScaleUpMatch>("scale_up_match", match_rows);

constexpr Field scale_up_row_rows[] = {
    {"serial_fraction", "Serial fraction of the curve; null where the curve has none.",
     member<&ScaleUpRow::serial_fraction>},
    {"workers", "Number of present machines.", member<&ScaleUpRow::workers>},
    {"speedup", "Speedup of that number over one present machine.", member<&ScaleUpRow::speedup>},
    {"faster", "Faster choice: up (the faster machine), out (the present ones) or tie.", member<&ScaleUpRow::faster>},
    {"cheaper", "Cheaper choice for a result: up, out or tie; null without both prices.", member<&ScaleUpRow::cheaper>},
    {"tie_price_ratio", "Price of the faster machine over that of a present one at which a result costs the same.",
     member<&ScaleUpRow::tie_price_ratio>},
    {"tie_price_dollars_per_hour",
     "Price of the faster machine at which a result costs the same; null without --price.",
     [](ScaleUpRow const& row) { return hourly(row.tie_price); }, Unit{"$/h"}},
    {"up_dollars_per_machine_hour_of_work", "Cost of an hour's work of one present machine on the faster machine.",
     [](ScaleUpRow const& row) { return hourly(row.up_price); }, Unit{"$/h"}},
    {"out_dollars_per_machine_hour_of_work", "Cost of an hour's work of one present machine on that number of them.",
     [](ScaleUpRow const& row) { return hourly(row.out_price); }, Unit{"$/h"}},
};
constexpr FieldTable scale_up_row_table = field_table<ScaleUpRow>("scale_up_row", scale_up_row_rows);

constexpr Field scale_up_rows[] = {
    {"factor", "Speed of the faster machine over that of a present one.",
     [](ScaleUp const& s) { return s.question.factor; }},
    {"faster_price_dollars_per_hour", "Price of the faster machine; null where it was not given.",
     [](ScaleUp const& s) { return hourly(s.question.faster_price); }, Unit{"$/h"}},
    {"price_dollars_per_hour", "Price of one present machine; null where it was not given.",
     [](ScaleUp const& s) { return hourly(s.question.price); }, Unit{"$/h"}},
    {"matches", "Number of present machines that is as fast as the faster one, of each curve.",
     member<&ScaleUp::matches>},
    {"rows", "Comparison at each worker count of each curve.", member<&ScaleUp::rows>},
};
constexpr FieldTable scale_up_table = field_table<ScaleUp>("scale_up", scale_up_rows);

// ---- from a serial fraction -----------------------------------------------------------------------------------------

constexpr Field serial_row_rows[] = {
    {"serial_fraction", "Serial fraction of the time on one worker.", member<&SerialRow::serial_fraction>},
    {"workers", "Number of workers.", member<&SerialRow::workers>},
    {"amdahl_speedup", "Speedup over one worker on a fixed problem.", member<&SerialRow::amdahl>},
    {"gustafson_speedup", "Speedup over one worker on a problem that grows with the workers.",
     member<&SerialRow::gustafson>},
    {"sun_ni_speedup", "Speedup of a problem that fills the memory of all workers; null without --memory-growth.",
     member<&SerialRow::sun_ni>},
    {"amdahl_efficiency", "Amdahl's speedup over the number of workers.",
     [](SerialRow const& row) { return row.amdahl / row.workers; }},
    {"gustafson_efficiency", "Gustafson's speedup over the number of workers.",
     [](SerialRow const& row) { return row.gustafson / row.workers; }},
    {"share_of_ceiling", "Amdahl's speedup over its ceiling; null where there is no ceiling.",
     member<&SerialRow::share_of_ceiling>, Unit{"share"}},
    {"marginal_speedup_per_doubling", "Speedup of a doubling since the count before; null for the first count.",
     member<&SerialRow::gain>},
};
constexpr FieldTable serial_row_table = field_table<SerialRow>("serial_row", serial_row_rows);

constexpr Field ceiling_rows[] = {
    {"serial_fraction", "Serial fraction of the time on one worker.", member<&AmdahlCeiling::serial_fraction>},
    {"amdahl_ceiling", "Speedup over one worker that no number of workers exceeds; null where nothing is serial.",
     member<&AmdahlCeiling::ceiling>},
    {"workers_for_90_percent", "Smallest number of workers with 90 % of the ceiling; null where there is none.",
     member<&AmdahlCeiling::for_90>},
    {"workers_for_share", "Smallest number of workers with the share of the ceiling that was asked for.",
     member<&AmdahlCeiling::for_share>},
    {"knee_workers", "Largest listed count whose last doubling gave at least 1.6x; null for a list of one.",
     member<&AmdahlCeiling::knee>},
    {"largest_efficient_workers",
     "Largest number of workers with the efficiency that was asked; null where none was, or it has no end.",
     member<&AmdahlCeiling::most_efficient>},
};
constexpr FieldTable ceiling_table = field_table<AmdahlCeiling>("amdahl_ceiling", ceiling_rows);

constexpr char const* question_meaning = "Form of question that was asked.";
constexpr char const* scale_up_meaning = "Comparison with one faster machine; null without --faster.";

constexpr Field serial_rows[] = {
    {"question", question_meaning, [](SerialAnswer const&) { return std::string_view{"serial"}; }},
    {"share", "Share of the ceiling whose worker count is asked.",
     [](SerialAnswer const& a) { return a.question.share; }},
    {"memory_growth", "Exponent e of the growth K^e in Sun and Ni's law; null where it was not asked for.",
     [](SerialAnswer const& a) { return a.question.memory_growth; }},
    {"rows", "Speedups of each serial fraction at each worker count.", member<&SerialAnswer::rows>},
    {"ceilings", "Ceiling of each serial fraction.", member<&SerialAnswer::ceilings>},
    {"scale_up", scale_up_meaning, member<&SerialAnswer::scale_up>},
};
constexpr FieldTable serial_table = field_table<SerialAnswer>("serial", serial_rows);

// ---- Universal Scalability Law --------------------------------------------------------------------------------------

constexpr Field usl_law_rows[] = {
    {"alpha", "Contention: fraction of the work that waits for one shared resource.",
     member<&UniversalScalability::alpha>},
    {"beta", "Coherency: cost that each pair of workers pays to agree.", member<&UniversalScalability::beta>},
    {"gamma", "Throughput of one worker.", member<&UniversalScalability::gamma>},
};
constexpr FieldTable usl_law_table = field_table<UniversalScalability>("universal_scalability", usl_law_rows);

constexpr Field usl_row_rows[] = {
    {"workers", "Number of workers.", member<&UslRow::workers>},
    {"throughput", "Throughput of all workers, in units of gamma.", member<&UslRow::throughput>},
    {"speedup", "Throughput over that of one worker.", member<&UslRow::speedup>},
    {"efficiency", "Speedup over the number of workers.", [](UslRow const& row) { return row.speedup / row.workers; },
     Unit{"share"}},
    {"super_linear", "Whether the speedup is above the ideal one.",
     [](UslRow const& row) { return row.speedup > row.workers * (1.0 + 1e-12); }},
    {"marginal_speedup_per_doubling", "Speedup of a doubling since the count before; null for the first count.",
     member<&UslRow::gain>},
};
constexpr FieldTable usl_row_table = field_table<UslRow>("usl_row", usl_row_rows);

constexpr Field usl_rows[] = {
    {"question", question_meaning, [](UslAnswer const&) { return std::string_view{"usl"}; }},
    {"usl", "Coefficients of the law.", [](UslAnswer const& a) { return a.question.law; }},
    {"peak_workers", "Real number of workers with the largest throughput; null where it grows for ever.",
     member<&UslAnswer::peak>},
    {"best_workers", "Whole number of workers with the largest throughput.", member<&UslAnswer::best>},
    {"ceiling", "Speedup that no number of workers exceeds; null where there is none.",
     [](UslAnswer const& a) { return a.curve.ceiling; }},
    {"ceiling_throughput", "Throughput at the ceiling.",
     [](UslAnswer const& a) {
         return a.curve.ceiling ? std::optional{a.question.law.gamma * *a.curve.ceiling} : std::nullopt;
     }},
    {"contention_ceiling", "Ceiling that contention alone sets, 1 / alpha; null without contention.",
     [](UslAnswer const& a) {
         double const alpha = a.question.law.alpha;
         return alpha > 0.0 ? std::optional{1.0 / alpha} : std::nullopt;
     }},
    {"breaks_at_workers", "Number of workers from which the law has no throughput; null where it holds for all.",
     member<&UslAnswer::breaks_at>},
    {"share", "Share of the ceiling whose worker count is asked.", [](UslAnswer const& a) { return a.question.share; }},
    {"workers_for_90_percent", "Smallest number of workers with 90 % of the ceiling.", member<&UslAnswer::for_90>},
    {"workers_for_share", "Smallest number of workers with the share of the ceiling that was asked for.",
     member<&UslAnswer::for_share>},
    {"knee_workers", "Largest listed count whose last doubling gave at least 1.6x; null for a list of one.",
     [](UslAnswer const& a) { return knee_of(a.curve); }},
    {"largest_efficient_workers",
     "Largest number of workers with the efficiency that was asked; null where none was, or it has no end.",
     member<&UslAnswer::most_efficient>},
    {"rows", "Throughput at each worker count.", member<&UslAnswer::rows>},
    {"scale_up", scale_up_meaning, member<&UslAnswer::scale_up>},
};
constexpr FieldTable usl_table = field_table<UslAnswer>("usl", usl_rows);

// ---- from measured speedups -------------------------------------------------------------------------------------------

constexpr Field karp_flatt_row_rows[] = {
    {"workers", "Number of workers.", member<&KarpFlattRow::workers>},
    {"speedup", "Measured speedup over `over_workers`.", member<&KarpFlattRow::speedup>},
    {"over_workers", "Number of workers that the speedup is over: one, or the smallest count where its speedup is 1.",
     member<&KarpFlattRow::over>},
    {"efficiency", "Speedup over the ideal one.", [](KarpFlattRow const& row) { return row.efficiency(); },
     Unit{"share"}},
    {"serial_fraction", "Serial fraction that the speedup implies (Karp-Flatt); null where it is over itself.",
     member<&KarpFlattRow::serial_fraction>},
    {"super_linear", "Whether the speedup is above the number of workers.",
     [](KarpFlattRow const& row) { return row.super_linear(); }},
};
constexpr FieldTable karp_flatt_row_table = field_table<KarpFlattRow>("karp_flatt_row", karp_flatt_row_rows);

constexpr Field karp_flatt_rows[] = {
    {"question", question_meaning, [](KarpFlattAnswer const&) { return std::string_view{"karp_flatt"}; }},
    {"karp_flatt", "Serial fraction of each measurement, in rising order of the workers.",
     member<&KarpFlattAnswer::rows>},
    {"trend", "Change of the fraction with the workers: flat, rising, falling, unclear or unknown.",
     member<&KarpFlattAnswer::trend>},
};
constexpr FieldTable karp_flatt_table = field_table<KarpFlattAnswer>("karp_flatt", karp_flatt_rows);

// ---- isoefficiency ------------------------------------------------------------------------------------------------

constexpr Field term_rows[] = {
    {"coefficient", "Factor of the term.", member<&OverheadTerm::coefficient>},
    {"work_exponent", "Exponent of the work W.", member<&OverheadTerm::work_exponent>},
    {"worker_exponent", "Exponent of the number of workers K.", member<&OverheadTerm::worker_exponent>},
    {"log_exponent", "Exponent of log2 K.", member<&OverheadTerm::log_exponent>},
};
constexpr FieldTable term_table = field_table<OverheadTerm>("overhead_term", term_rows);

constexpr Field iso_row_rows[] = {
    {"workers", "Number of workers.", member<&IsoefficiencyRow::workers>},
    {"work", "Work that holds the efficiency; null where no finite work does.", member<&IsoefficiencyRow::work>},
    {"total_overhead", "Overhead of all workers together at that work.", member<&IsoefficiencyRow::overhead>},
    {"work_growth_per_doubling", "Growth of the work for a doubling of the workers; null for the first count.",
     member<&IsoefficiencyRow::growth>},
    {"speedup", "Speedup over one worker at that work.", member<&IsoefficiencyRow::speedup>},
    {"parallel_time", "Time at that work, in the units of the work.", member<&IsoefficiencyRow::time>},
    {"efficiency_of_given_work", "Efficiency of the problem that keeps its size; null without --work.",
     member<&IsoefficiencyRow::given_efficiency>},
};
constexpr FieldTable iso_row_table = field_table<IsoefficiencyRow>("isoefficiency_row", iso_row_rows);

constexpr Field iso_rows[] = {
    {"question", question_meaning, [](IsoefficiencyAnswer const&) { return std::string_view{"isoefficiency"}; }},
    {"efficiency", "Efficiency to hold.", [](IsoefficiencyAnswer const& a) { return a.question.efficiency; },
     Unit{"share"}},
    {"overhead", "Formula of the overhead, as it was given.",
     [](IsoefficiencyAnswer const& a) { return a.question.text; }},
    {"terms", "Terms of the overhead.", [](IsoefficiencyAnswer const& a) { return a.question.overhead; }},
    {"work", "Work of the problem that keeps its size; null without --work.",
     [](IsoefficiencyAnswer const& a) { return a.question.work; }},
    {"largest_efficient_workers",
     "Largest number of workers at which that problem has the efficiency; null without limit.",
     member<&IsoefficiencyAnswer::largest_efficient_workers>},
    {"rows", "Work that holds the efficiency at each worker count.", member<&IsoefficiencyAnswer::rows>},
};
constexpr FieldTable iso_table = field_table<IsoefficiencyAnswer>("isoefficiency", iso_rows);

} // namespace

FieldTable const& field_table_of(ScaleUpMatch const*) { return match_table; }
FieldTable const& field_table_of(ScaleUpRow const*) { return scale_up_row_table; }
FieldTable const& field_table_of(ScaleUp const*) { return scale_up_table; }
FieldTable const& field_table_of(SerialRow const*) { return serial_row_table; }
FieldTable const& field_table_of(AmdahlCeiling const*) { return ceiling_table; }
FieldTable const& field_table_of(SerialAnswer const*) { return serial_table; }
FieldTable const& field_table_of(UniversalScalability const*) { return usl_law_table; }
FieldTable const& field_table_of(UslRow const*) { return usl_row_table; }
FieldTable const& field_table_of(UslAnswer const*) { return usl_table; }
FieldTable const& field_table_of(KarpFlattRow const*) { return karp_flatt_row_table; }
FieldTable const& field_table_of(KarpFlattAnswer const*) { return karp_flatt_table; }
FieldTable const& field_table_of(OverheadTerm const*) { return term_table; }
FieldTable const& field_table_of(IsoefficiencyRow const*) { return iso_row_table; }
FieldTable const& field_table_of(IsoefficiencyAnswer const*) { return iso_table; }

} // namespace headroom::laws
