#include "trace/trace_question.hpp"
#include "trace/trace_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::cli {
namespace {

constexpr std::size_t lanes_of_text = 16, tasks_of_page = 200'000;

void append(std::vector<Block>& blocks, std::vector<Block> more) {
    std::ranges::move(more, std::back_inserter(blocks));
}

std::string title_of(TraceReport const& report) {
    std::string const first = report.question.paths.empty() ? "" : printable(report.question.paths.front());
    return "Trace: " + first +
           (report.question.paths.size() > 1 ? " and " + std::to_string(report.question.paths.size() - 1) + " more"
                                             : "");
}

/// "8 ranks of 8, 1 step each, 21.3 MB of kineto, 123k events"
std::string scope_words(TraceReport const& report) {
    TraceAnswer const& answer = report.answer;
    std::vector<std::string> formats, parts;
    for (RankDigest const& rank : answer.ranks) {
        if (std::ranges::find(formats, rank.format) == formats.end()) { formats.push_back(rank.format); }
    }
    std::ranges::sort(formats);
    bool const some = answer.workers && *answer.workers > static_cast<std::int64_t>(answer.ranks.size());
    parts.push_back(counted(answer.ranks.size(), "rank") + (some             ? " of " + std::to_string(*answer.workers)
                                                            : answer.workers ? ""
                                                                             : " of an unknown number"));
    parts.push_back(format(Bytes{static_cast<double>(answer.bytes_read)}) + " of " + join(formats, ", ") +
                    (answer.text_bytes > answer.bytes_read
                         ? " (" + format(Bytes{static_cast<double>(answer.text_bytes)}) + " unpacked)"
                         : std::string{}));
    parts.push_back(format_count(static_cast<double>(answer.events)) + " events");
    std::string const& device = answer.ranks.front().device.name;
    bool const alike =
        std::ranges::all_of(answer.ranks, [&](RankDigest const& rank) { return rank.device.name == device; });
    if (!device.empty() && alike) { parts.push_back(printable(device)); }
    if (!report.complete) { parts.push_back("interrupted: not all files were read"); }
    return join(parts, "; ");
}

/// The verdict as it was read, each sentence with its table where it has one.
std::vector<Sentence> linked_verdict(TraceReport const& report) {
    std::vector<Sentence> linked;
    std::vector<Sentence> known = verdict_sentences(report);
    for (std::string const& text : change_sentences(report)) {
        known.push_back({text, baseline_title(*report.baseline)});
    }
    for (std::string const& text : report.verdict) {
        auto const at = std::ranges::find(known, text, &Sentence::text);
        linked.push_back(at == known.end() ? Sentence{text} : *at);
    }
    return linked;
}

Document made_of(TraceReport const& report, std::string footer, std::vector<Block> drawing) {
    TraceAnswer const& answer = report.answer;
    Document document{title_of(report), {}, std::move(footer)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{.text = join(report.verdict, " "), .strong = true, .linked = linked_verdict(report)});
    blocks.emplace_back(Paragraph{scope_words(report), "read", false, report.complete ? Part::usual : Part::answer});
    append(blocks, comparison_blocks(report));
    append(blocks, rank_blocks(answer));
    append(blocks, scaling_blocks(answer));
    append(blocks, larger_blocks(report));
    append(blocks, collective_blocks(answer));
    append(blocks, std::move(drawing));
    append(blocks, path_blocks(answer));
    append(blocks, kernel_blocks(report));
    append(blocks, issue_blocks(report));
    return document;
}

template <class Drawing> std::vector<Block> as_blocks(std::optional<Drawing> drawing) {
    std::vector<Block> blocks;
    if (drawing) { blocks.emplace_back(*std::move(drawing)); }
    return blocks;
}

} // namespace

Document document_of(TraceReport const& report, std::string footer) {
    return made_of(report, std::move(footer), as_blocks(step_drawing(report.answer, lanes_of_text)));
}
Document page_of(TraceReport const& report, std::string footer) {
    return made_of(report, std::move(footer), as_blocks(step_timeline(report.answer, tasks_of_page)));
}

} // namespace headroom::cli
