#include "document/text.hpp"
#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

std::string serial_words(TraceAnswer const& answer) {
    std::string const at = " at " + counted(static_cast<std::size_t>(answer.workers), "worker");
    std::vector<std::string> parts;
    if (answer.serial) {
        parts.push_back("serial fraction " + significant(answer.serial->value, 4) + " at " +
                        counted(static_cast<std::size_t>(answer.serial->at_workers), "worker") +
                        (knows_when(answer) ? " (exposed communication over that and computation)"
                                            : " at most (all communication over that and computation)"));
    } else {
        parts.push_back("the serial fraction" + at + " is not known");
    }
    if (answer.gamma) { parts.push_back("gamma " + significant(*answer.gamma) + " (communication over computation)"); }
    if (answer.overlap_fraction) {
        parts.push_back(percent(*answer.overlap_fraction) + " % of communication is hidden");
    }
    if (answer.ceiling) {
        parts.push_back("ceiling " + significant(*answer.ceiling) + "x over now" +
                        (answer.ceiling_over_one_worker
                             ? ", " + significant(*answer.ceiling_over_one_worker) + "x over one worker"
                             : std::string{}));
    }
    return join(parts, "; ");
}

Table expected_table(TraceAnswer const& answer) {
    Table table{.title = "If computation alone were shared out further",
                .columns = {{"workers"}, {"speedup over now"}, {"efficiency %"}},
                .rows = {}};
    for (ExpectedSpeedup const& one : answer.expected) {
        table.rows.push_back({std::to_string(one.workers), significant(one.speedup_over_now), percent(one.efficiency)});
    }
    return table;
}

} // namespace

std::vector<Block> scaling_blocks(TraceAnswer const& answer) {
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{serial_words(answer), "scaling"});
    if (answer.expected.empty()) { return blocks; }
    blocks.emplace_back(expected_table(answer));
    blocks.emplace_back(
        Paragraph{"From this split alone: collectives of more ranks take longer, and kernels of a smaller "
                  "share are less efficient; `headroom predict` knows both."});
    return blocks;
}

} // namespace headroom::cli
