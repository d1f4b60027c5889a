#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/laws.hpp"

namespace headroom::cli {
namespace {

struct PipelineRow {
    int stages = 1, micro_batches = 1;
    double bubble = 0.0, of_ideal = 0.0, speedup = 1.0;
};

struct PipelineQuestion {
    std::vector<int> stages, micro_batches;
    int virtual_stages = 1;
};

PipelineQuestion read_question(Arguments const& arguments) {
    PipelineQuestion question;
    question.stages = parse_counts(arguments.required("--stages", "for example --stages 8"), "--stages");
    question.micro_batches =
        parse_counts(arguments.required("--micro-batches", "how many pass through in a step: --micro-batches 32"),
                     "--micro-batches");
    question.virtual_stages = arguments.count("--virtual-stages").value_or(1);
    check_cells(question.stages.size(), question.micro_batches.size(), "--micro-batches");
    for (int const p : question.stages) {
        for (int const m : question.micro_batches) {
            if (question.virtual_stages == 1 || m % p == 0) { continue; }
            refuse("--micro-batches", std::to_string(m) + " are no multiple of " + std::to_string(p) + " stages",
                   "the interleaved schedule needs one", "leave out --virtual-stages, or round the count");
        }
    }
    return question;
}

std::vector<PipelineRow> rows_of(PipelineQuestion const& question) {
    std::vector<PipelineRow> rows;
    Ranks const v{question.virtual_stages};
    for (int const p : question.stages) {
        for (int const m : question.micro_batches) {
            Ranks const stages{p}, batches{m};
            double const bubble = pipeline_bubble_fraction(stages, batches, v);
            double const ideal = (p - 1.0) / (static_cast<double>(v.count()) * m);
            rows.push_back({p, m, bubble, ideal, pipeline_speedup(stages, batches, v)});
        }
    }
    return rows;
}

std::string verdict(PipelineRow const& row) {
    return std::to_string(row.stages) + " stages with " + std::to_string(row.micro_batches) +
           " micro-batches wait for " + percent_of(row.bubble) + " % of the step: they do the work of " +
           plain(row.speedup) + " that never wait.";
}

} // namespace

LawsAnswer pipeline_answer(Arguments const& arguments) {
    PipelineQuestion const question = read_question(arguments);
    LawsAnswer answer{.title = "Pipeline bubble",
                      .members = {},
                      .blocks = {},
                      .sheet = {{"stages", "micro_batches", "virtual_stages", "bubble_fraction", "bubble_of_ideal",
                                 "speedup", "efficiency"},
                                {}}};
    Table table{
        .title = "Stages that wait",
        .columns = {{"stages"}, {"micro-batches"}, {"bubble % of step"}, {"% of ideal"}, {"speedup"}, {"eff. %"}},
        .rows = {}};
    Json rows = Json::array();
    std::vector<PipelineRow> const found = rows_of(question);
    for (PipelineRow const& row : found) {
        double const efficiency = row.speedup / row.stages;
        rows.push(Json::object()
                      .set("stages", row.stages)
                      .set("micro_batches", row.micro_batches)
                      .set("virtual_stages", question.virtual_stages)
                      .set("bubble_fraction", row.bubble)
                      .set("bubble_of_ideal", row.of_ideal)
                      .set("speedup", row.speedup)
                      .set("efficiency", efficiency));
        table.rows.push_back({std::to_string(row.stages), std::to_string(row.micro_batches), percent_of(row.bubble),
                              percent_of(row.of_ideal), times(row.speedup), percent_of(efficiency)});
        answer.sheet.rows.push_back({std::to_string(row.stages), std::to_string(row.micro_batches),
                                     std::to_string(question.virtual_stages), exact(row.bubble), exact(row.of_ideal),
                                     exact(row.speedup), exact(efficiency)});
    }
    answer.members.emplace_back("virtual_stages", question.virtual_stages);
    answer.members.emplace_back("rows", rows);
    answer.blocks.emplace_back(Paragraph{verdict(found.back()), "", true});
    answer.blocks.emplace_back(table);
    answer.blocks.emplace_back(
        Paragraph{"equal stages, sending between them is free; GPipe and 1F1B, and the interleaved schedule with "
                  "--virtual-stages chunks a stage. Speedup is over one stage that does all the work",
                  "assumes"});
    return answer;
}

} // namespace headroom::cli
