#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr double largest_growth = 16.0;
constexpr std::size_t most_named = 6; ///< curves that a sentence and a figure hold

SerialQuestion read_question(Arguments const& arguments) {
    SerialQuestion question;
    question.fractions =
        read_numbers(arguments.required("--serial", "the share that does not divide: --serial 0.5,0.1,2%"), 0.0, 1.0,
                     "serial share", "--serial");
    question.workers = read_law_workers(arguments, doubling_workers());
    question.share = read_share(arguments);
    if (auto const text = arguments.text("--memory-growth")) {
        question.memory_growth = io::parse_between(*text, 0.0, largest_growth, "exponent of K", "--memory-growth");
    }
    check_cells(question.fractions.size(), question.workers.size(), "--workers");
    question.efficiency = read_efficiency(arguments);
    question.scale_up = read_scale_up(arguments);
    return question;
}

std::string verdict(SerialAnswer const& answer) {
    std::vector<std::string> parts;
    for (AmdahlCeiling const& one : answer.ceilings) {
        if (parts.size() == most_named) {
            parts.emplace_back("the others as listed");
            break;
        }
        std::string const serial = percent_of(one.serial_fraction) + " % serial";
        if (!one.ceiling) {
            parts.push_back(serial + " has no ceiling");
            continue;
        }
        parts.push_back(serial + " stops at " + times(one.ceiling) + " (" + percent_of(answer.question.share) +
                        " % of it with " +
                        (one.for_share ? workers_words(*one.for_share) : "more than can be counted") + ")");
    }
    return "On a fixed problem " + join(parts, ", ") + ".";
}

Table rows_table(SerialAnswer const& answer) {
    bool const grows = answer.question.memory_growth.has_value();
    Table table{
        .title = "Fixed problem (Amdahl) and one that grows with the workers (Gustafson)",
        .columns = {"serial %", "workers", "Amdahl", "eff. %", "of ceiling %", "doubling", "Gustafson", "eff. %"}};
    if (grows) { table.columns.push_back("Sun-Ni"); }
    for (SerialRow const& row : answer.rows) {
        table.rows.push_back({percent_of(row.serial_fraction), std::to_string(row.workers), times(row.amdahl),
                              percent_of(row.amdahl / row.workers), percent_of(row.share_of_ceiling), times(row.gain),
                              times(row.gustafson), percent_of(row.gustafson / row.workers)});
        if (grows) { table.rows.back().push_back(times(row.sun_ni)); }
    }
    return table;
}

Table ceilings_table(SerialAnswer const& answer) {
    Table table{.title = "Ceilings of the fixed problem",
                .columns = {"serial %", "ceiling", "workers for " + percent_of(answer.question.share) + " % of it",
                            "knee in the list"}};
    for (AmdahlCeiling const& one : answer.ceilings) {
        table.rows.push_back({percent_of(one.serial_fraction), times(one.ceiling), count_words(one.for_share),
                              one.knee ? std::to_string(*one.knee) : "-"});
    }
    return table;
}

Chart curves_chart(SerialAnswer const& answer) {
    std::vector<NamedCurve> drawn;
    for (std::size_t i = 0; i < std::min(answer.curves.size(), most_named / 2); ++i) {
        std::string const serial = percent_of(answer.ceilings[i].serial_fraction) + " % serial";
        drawn.push_back({serial, answer.curves[i]});
        SpeedupCurve grown{.workers = answer.question.workers};
        for (SerialRow const& row : answer.rows) {
            if (row.serial_fraction == answer.ceilings[i].serial_fraction) { grown.speedup.push_back(row.gustafson); }
        }
        grown.speedup.resize(grown.workers.size()); // of a fraction that was given twice
        drawn.push_back({serial + ", growing problem", std::move(grown)});
    }
    return speedup_chart(
        "Each curve of a fixed problem (Amdahl) leaves the ideal line and bends towards its ceiling: the "
        "smaller the serial share, the later. A problem that grows with the workers (Gustafson) stays "
        "near the ideal line.",
        drawn, 1.0, std::nullopt);
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

int run_serial(Arguments const& arguments, LawsCall const& call) {
    SerialAnswer const answer = speedups_of(read_question(arguments));
    bool const single = answer.ceilings.size() == 1;
    std::vector<Block> blocks{Paragraph{verdict(answer), "", true}, ceilings_table(answer),
                              as(single ? Part::answer : Part::usual, rows_table(answer))};
    if (answer.question.workers.size() > 1) { blocks.emplace_back(curves_chart(answer)); }
    add_scale_up(blocks, answer.scale_up);
    if (auto const& efficiency = answer.question.efficiency) {
        for (AmdahlCeiling const& one : answer.ceilings) {
            blocks.emplace_back(
                Paragraph{percent_of(one.serial_fraction) + " % serial: " + held_words(*efficiency, one.most_efficient),
                          "efficiency"});
        }
    }
    blocks.emplace_back(Paragraph{assumptions(answer.question), "assumes"});
    return write_answer(call, answer, rows_of, "Speedup from a serial share", std::move(blocks));
}

} // namespace headroom::cli
