#include "document/text.hpp"
#include "laws/laws_report.hpp"
#include "laws/laws_scale_up.hpp"

#include "headroom/io/words.hpp"
#include "headroom/laws.hpp"
#include "headroom/scale_up.hpp"
#include "headroom/scaling_laws.hpp"

namespace headroom::cli {
namespace {

constexpr double largest_growth = 16.0;
constexpr std::size_t most_named = 6; ///< curves that a sentence and a figure hold

struct SerialQuestion {
    std::vector<double> fractions;
    std::vector<int> workers;
    double share = 0.9;
    std::optional<double> memory_growth;
};

SerialQuestion read_question(Arguments const& arguments) {
    SerialQuestion question;
    question.fractions =
        read_numbers(arguments.required("--serial", "the share that does not divide: --serial 0.5,0.1,2%"), 0.0, 1.0,
                     "serial share", "--serial");
    question.workers = read_law_workers(arguments);
    question.share = read_share(arguments);
    if (auto const text = arguments.text("--memory-growth")) {
        question.memory_growth = io::parse_between(*text, 0.0, largest_growth, "exponent of K", "--memory-growth");
    }
    check_cells(question.fractions.size(), question.workers.size(), "--workers");
    return question;
}

struct SerialRow {
    double serial = 0.0;
    int workers = 1;
    double amdahl = 1.0, gustafson = 1.0;
    std::optional<double> sun_ni, of_ceiling, gain;
};

/// One serial fraction at all counts.
struct SerialCurve {
    double serial = 0.0;
    LawCurve curve;
    std::optional<std::int64_t> for_share, for_90;
    std::vector<SerialRow> rows;
};

SerialCurve curve_of(SerialQuestion const& question, double serial) {
    SerialCurve result{.serial = serial,
                       .curve = {.name = percent_of(serial) + " % serial",
                                 .workers = question.workers,
                                 .speedup = {},
                                 .ceiling = amdahl_ceiling(serial)},
                       .for_share = workers_for_share_of_ceiling(serial, question.share),
                       .for_90 = workers_for_share_of_ceiling(serial, 0.9),
                       .rows = {}};
    for (int const count : question.workers) {
        Ranks const workers{count};
        SerialRow row{.serial = serial,
                      .workers = count,
                      .amdahl = amdahl_speedup(serial, workers),
                      .gustafson = gustafson_speedup(serial, workers),
                      .sun_ni = {},
                      .of_ceiling = {},
                      .gain = {}};
        if (question.memory_growth) { row.sun_ni = sun_ni_speedup(serial, workers, *question.memory_growth); }
        if (result.curve.ceiling) { row.of_ceiling = row.amdahl / *result.curve.ceiling; }
        result.curve.speedup.push_back(row.amdahl);
        result.rows.push_back(row);
    }
    auto const gains = gains_of(result.curve);
    for (std::size_t i = 0; i < gains.size(); ++i) { result.rows[i].gain = gains[i]; }
    return result;
}

// ---- for machines -------------------------------------------------------------------------------------------------

Json row_json(SerialRow const& row) {
    return Json::object()
        .set("serial_fraction", row.serial)
        .set("workers", row.workers)
        .set("amdahl_speedup", row.amdahl)
        .set("gustafson_speedup", row.gustafson)
        .set("sun_ni_speedup", row.sun_ni)
        .set("amdahl_efficiency", row.amdahl / row.workers)
        .set("gustafson_efficiency", row.gustafson / row.workers)
        .set("share_of_ceiling", row.of_ceiling)
        .set("marginal_speedup_per_doubling", row.gain);
}

Json ceiling_json(SerialCurve const& one) {
    return Json::object()
        .set("serial_fraction", one.serial)
        .set("amdahl_ceiling", one.curve.ceiling)
        .set("workers_for_90_percent", one.for_90)
        .set("workers_for_share", one.for_share)
        .set("knee_workers", knee_of(one.curve));
}

void fill_machines(LawsAnswer& answer, SerialQuestion const& question, std::vector<SerialCurve> const& curves) {
    Json rows = Json::array(), ceilings = Json::array();
    answer.sheet.header = {"serial_fraction",      "workers",          "amdahl_speedup",
                           "gustafson_speedup",    "sun_ni_speedup",   "amdahl_efficiency",
                           "gustafson_efficiency", "share_of_ceiling", "marginal_speedup_per_doubling"};
    for (SerialCurve const& one : curves) {
        ceilings.push(ceiling_json(one));
        for (SerialRow const& row : one.rows) {
            rows.push(row_json(row));
            answer.sheet.rows.push_back({exact(row.serial), std::to_string(row.workers), exact(row.amdahl),
                                         exact(row.gustafson), cell(row.sun_ni), exact(row.amdahl / row.workers),
                                         exact(row.gustafson / row.workers), cell(row.of_ceiling), cell(row.gain)});
        }
    }
    answer.members.emplace_back("share", question.share);
    answer.members.emplace_back("memory_growth", question.memory_growth);
    answer.members.emplace_back("rows", rows);
    answer.members.emplace_back("ceilings", ceilings);
}

// ---- for people ---------------------------------------------------------------------------------------------------

std::string verdict(SerialQuestion const& question, std::vector<SerialCurve> const& curves) {
    std::vector<std::string> parts;
    for (SerialCurve const& one : curves) {
        if (parts.size() == most_named) {
            parts.emplace_back("the others as listed");
            break;
        }
        std::string const serial = percent_of(one.serial) + " % serial";
        if (!one.curve.ceiling) {
            parts.push_back(serial + " has no ceiling");
            continue;
        }
        parts.push_back(serial + " stops at " + times(one.curve.ceiling) + " (" + percent_of(question.share) +
                        " % of it with " +
                        (one.for_share ? workers_words(*one.for_share) : "more than can be counted") + ")");
    }
    return "On a fixed problem " + join(parts, ", ") + ".";
}

Table rows_table(SerialQuestion const& question, std::vector<SerialCurve> const& curves) {
    Table table{.title = "Fixed problem (Amdahl) and one that grows with the workers (Gustafson)",
                .columns = {{"serial %"},
                            {"workers"},
                            {"Amdahl"},
                            {"eff. %"},
                            {"of ceiling %"},
                            {"doubling"},
                            {"Gustafson"},
                            {"eff. %"}},
                .rows = {}};
    if (question.memory_growth) { table.columns.push_back({"Sun-Ni"}); }
    for (SerialCurve const& one : curves) {
        for (SerialRow const& row : one.rows) {
            table.rows.push_back({percent_of(row.serial), std::to_string(row.workers), times(row.amdahl),
                                  percent_of(row.amdahl / row.workers), percent_of(row.of_ceiling), times(row.gain),
                                  times(row.gustafson), percent_of(row.gustafson / row.workers)});
            if (question.memory_growth) { table.rows.back().push_back(times(row.sun_ni)); }
        }
    }
    return table;
}

Table ceilings_table(SerialQuestion const& question, std::vector<SerialCurve> const& curves) {
    Table table{.title = "Ceilings of the fixed problem",
                .columns = {{"serial %"},
                            {"ceiling"},
                            {"workers for " + percent_of(question.share) + " % of it"},
                            {"knee in the list"}},
                .rows = {}};
    for (SerialCurve const& one : curves) {
        auto const knee = knee_of(one.curve);
        table.rows.push_back({percent_of(one.serial), times(one.curve.ceiling), count_words(one.for_share),
                              knee ? std::to_string(*knee) : "-"});
    }
    return table;
}

void fill_people(LawsAnswer& answer, SerialQuestion const& question, std::vector<SerialCurve> const& curves) {
    auto& blocks = answer.blocks;
    blocks.emplace_back(Paragraph{verdict(question, curves), "", true});
    blocks.emplace_back(ceilings_table(question, curves));
    blocks.emplace_back(rows_table(question, curves));
    if (question.workers.size() > 1) {
        std::vector<LawCurve> drawn;
        for (SerialCurve const& one : curves) {
            if (drawn.size() < most_named) { drawn.push_back(one.curve); }
        }
        blocks.emplace_back(speedup_chart("Each curve leaves the ideal line and bends towards its ceiling: the smaller "
                                          "the serial share, the later.",
                                          drawn, 1.0, std::nullopt));
    }
}

std::string assumptions(SerialQuestion const& question) {
    std::string text =
        "the serial share is of the time on one worker (Amdahl), or on all workers (Gustafson); the rest "
        "divides perfectly. A share measured on more workers is neither: give --communication-share "
        "with --at-workers";
    if (question.memory_growth) {
        text += ". Sun-Ni: K times the memory hold K^" + plain(*question.memory_growth) + " times the divisible work";
    }
    return text;
}

} // namespace

LawsAnswer serial_answer(Arguments const& arguments) {
    SerialQuestion const question = read_question(arguments);
    auto const scale_up = read_scale_up(arguments);
    LawsAnswer answer{.title = "Speedup from a serial share", .members = {}, .blocks = {}, .sheet = {}};
    std::vector<SerialCurve> curves;
    std::vector<ScaleOut> out;
    for (double const serial : question.fractions) {
        curves.push_back(curve_of(question, serial));
        out.push_back(
            {curves.back().curve, serial, scale_up ? workers_to_match(serial, scale_up->factor) : std::nullopt});
    }
    fill_machines(answer, question, curves);
    fill_people(answer, question, curves);
    add_scale_up(answer, scale_up, out);
    answer.blocks.emplace_back(Paragraph{assumptions(question), "assumes"});
    return answer;
}

} // namespace headroom::cli
