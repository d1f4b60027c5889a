#include "arguments.hpp"
#include "laws/laws_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/training/step_laws_answers.hpp"

namespace headroom::cli {
namespace {

PipelineLawQuestion read_question(Arguments const& arguments) {
    PipelineLawQuestion question;
    question.stages = parse_counts(arguments.required("--stages", "for example --stages 8"), "--stages");
    question.micro_batches =
        parse_counts(arguments.required("--micro-batches", "how many pass through in a step: --micro-batches 32"),
                     "--micro-batches");
    question.virtual_stages = arguments.count("--virtual-stages").value_or(1);
    check_cells(question.stages.size(), question.micro_batches.size(), "--micro-batches");
    for (int const p : question.stages) {
        for (int const m : question.micro_batches) {
            if (question.virtual_stages == 1 || m % p == 0) { continue; }
            refuse("--micro-batches", std::to_string(m) + " is no multiple of " + std::to_string(p) + " stages",
                   "the interleaved schedule needs one", "leave out --virtual-stages, or round the count");
        }
    }
    return question;
}

std::string verdict(PipelineLawRow const& row) {
    auto const count = [](int number, char const* what) { return counted(static_cast<std::size_t>(number), what); };
    std::string const words = count(row.stages, "stage") + " with " + count(row.micro_batches, "micro-batch");
    if (row.stages == 1) { return words + " never waits."; }
    return words + " wait for " + percent_of(row.bubble) + " % of the step: they do the work of " + plain(row.speedup) +
           " that never wait.";
}

} // namespace

int run_pipeline(Arguments const& arguments, LawsCall const& call) {
    PipelineLawAnswer const answer = bubbles_of(read_question(arguments));
    Table table{.title = "Stages that wait",
                .columns = {"stages", "micro-batches", "bubble % of step", "% of ideal", "speedup", "eff. %"}};
    for (PipelineLawRow const& row : answer.rows) {
        table.rows.push_back({std::to_string(row.stages), std::to_string(row.micro_batches), percent_of(row.bubble),
                              percent_of(row.bubble_of_ideal), times(row.speedup),
                              percent_of(row.speedup / row.stages)});
    }
    std::vector<Block> const blocks{
        Paragraph{verdict(answer.rows.back()), "", true}, std::move(table),
        Paragraph{"equal stages, sending between them is free; GPipe and 1F1B, and the interleaved schedule with "
                  "--virtual-stages chunks a stage. Speedup is over one stage that does all the work",
                  "assumes"}};
    return write_answer(call, answer, rows_of, "Pipeline bubble", std::move(blocks));
}

} // namespace headroom::cli
