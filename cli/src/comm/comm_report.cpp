#include "comm/comm_report.hpp"

#include "comm/comm_chart.hpp"
#include "comm/comm_words.hpp"

#include "headroom/document/text.hpp"

namespace headroom::cli {

using namespace headroom::network;

namespace {

using Blocks = std::vector<Block>;

void add_note(Blocks& blocks, std::string text, std::string label, Part part = Part::usual) {
    if (!text.empty()) { blocks.emplace_back(Paragraph{std::move(text), std::move(label), false, part}); }
}

void add_nccl(Blocks& blocks, CommReport const& report) {
    if (report.answer.nccl.empty()) { return; }
    if (report.answer.nccl.size() == 1) { return add_note(blocks, nccl_words(report), "NCCL"); }
    blocks.emplace_back(nccl_table(report));
}

void add_levers(Blocks& blocks, CommReport const& report) {
    if (report.answer.levers.empty()) { return; }
    blocks.emplace_back(as(Part::answer, lever_table(report)));
    add_note(blocks, lever_words(report), "levers");
    if (report.answer.compressed.empty()) { return; }
    blocks.emplace_back(compression_table(report));
    add_note(blocks, compression_words(report), "compression");
}

void add_measured(Blocks& blocks, CommReport const& report) {
    if (report.answer.measured.empty()) { return; }
    blocks.emplace_back(as(Part::answer, measured_table(report)));
    add_note(blocks, measured_words(report), "measured");
}

} // namespace

Document document_of(CommReport const& report) {
    Document document{"Communication: " + report.answer.question.movement, {}, report.footer};
    Blocks& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    add_note(blocks, network_words(report.answer.question.network), "network");
    if (report.answer.nccl.size() == 1) { add_nccl(blocks, report); }
    for (Chart& chart : comm_charts(report.answer)) { blocks.emplace_back(std::move(chart)); }
    blocks.emplace_back(as(Part::answer, rows_table(report)));
    add_note(blocks, more_words(report), "rows", Part::detail);
    if (report.answer.nccl.size() > 1) { add_nccl(blocks, report); }
    if (report.answer.question.simulate) { blocks.emplace_back(as(Part::answer, simulated_table(report))); }
    if (report.answer.question.actors) { blocks.emplace_back(as(Part::answer, parts_table(report))); }
    if (!report.answer.crossovers.empty()) { blocks.emplace_back(crossover_table(report)); }
    if (!report.answer.contention.empty()) { blocks.emplace_back(as(Part::answer, contention_table(report))); }
    add_measured(blocks, report);
    add_levers(blocks, report);
    add_note(blocks, size_convention(report.answer.question), "size");
    if (!report.request.schedule_file.empty()) {
        add_note(blocks, printable(report.request.schedule_file), "messages in");
    }
    add_note(blocks, join(assumptions_of(report.answer), "; "), "assumes");
    add_note(blocks, left_out_words(report), "left out", Part::warning);
    return document;
}

} // namespace headroom::cli
