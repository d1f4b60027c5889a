#include "support/digests.hpp"

#include <random>
#include <utility>

namespace headroom::test {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::trace;

namespace {

class Draw {
public:
    explicit Draw(std::uint64_t seed) : generator_{seed} {}
    std::uint64_t below(std::uint64_t limit) { return generator_() % limit; }
    Ticks ticks() { return static_cast<Ticks>(below(1'000'000'000)); }
    bool coin() { return below(2) == 1; }
    std::string text() {
        std::string word;
        for (std::uint64_t left = below(12); left > 0; --left) { word += static_cast<char>(below(256)); }
        return word;
    }
    std::vector<std::string> texts(std::size_t count) {
        std::vector<std::string> words(count);
        for (std::string& word : words) { word = text(); }
        return words;
    }

private:
    std::mt19937_64 generator_;
};

DeviceTimes times(Draw& draw) {
    DeviceTimes times;
    for (Ticks* const time : {&times.begin, &times.end, &times.window, &times.busy, &times.idle, &times.compute,
                              &times.communication, &times.memory, &times.overlap, &times.exposed, &times.memory_only,
                              &times.overlap_any, &times.total[0], &times.total[2]}) {
        *time = draw.ticks();
    }
    times.count = {draw.ticks(), 0, draw.ticks()};
    return times;
}

RankBreakdown breakdown(Draw& draw) {
    RankBreakdown breakdown{.on_host = draw.coin(),
                            .only_sums = draw.coin(),
                            .whole = times(draw),
                            .idle = {draw.ticks(), draw.ticks(), draw.ticks()},
                            .steps_detected = draw.coin(),
                            .steps = {},
                            .names = {},
                            .without_launch = draw.ticks()};
    for (std::uint64_t left = draw.below(4); left > 0; --left) {
        TraceStep const step{
            draw.ticks(), draw.ticks(), draw.ticks(), {phase_kinds[draw.below(4)], draw.ticks(), draw.ticks()}};
        breakdown.steps.push_back({step, draw.coin(), times(draw), {draw.ticks(), 0, draw.ticks()}});
        breakdown.names.push_back(
            {draw.text(), span_kinds[draw.below(3)], draw.ticks(), draw.ticks(), draw.ticks(), draw.ticks()});
    }
    return breakdown;
}

CollectiveRuns runs(Draw& draw) {
    CollectiveRuns runs;
    for (std::uint64_t left = 1 + draw.below(3); left > 0; --left) {
        CollectiveLabel label{draw.text(), draw.text(), {}, draw.text(), {0, 1, 5}, 3};
        if (draw.coin()) { label.collective = collectives[draw.below(collectives.size())]; }
        runs.labels.push_back(label);
    }
    for (std::uint64_t left = draw.below(5); left > 0; --left) {
        CollectiveRun run;
        run.label = static_cast<std::uint32_t>(draw.below(runs.labels.size()));
        run.begin = draw.ticks();
        run.end = run.begin + draw.ticks();
        run.bytes = draw.ticks();
        run.sequence = draw.coin() ? -1 : draw.ticks();
        runs.runs.push_back(run);
    }
    return runs;
}

StepGraph graph(Draw& draw, std::size_t of_runs) {
    StepGraph graph;
    graph.step = {draw.ticks(), draw.ticks(), draw.ticks()};
    graph.epoch_ns = draw.ticks();
    graph.names = draw.texts(3);
    graph.lanes = draw.texts(2);
    graph.notes = draw.texts(draw.below(3));
    std::size_t const tasks = 1 + draw.below(6);
    for (std::size_t task = 0; task < tasks; ++task) {
        graph.cost.push_back(draw.ticks());
        graph.begin.push_back(draw.ticks());
        graph.kind.push_back(span_kinds[draw.below(span_kinds.size())]);
        graph.name.push_back(static_cast<std::uint32_t>(draw.below(3)));
        graph.lane.push_back(static_cast<std::uint32_t>(draw.below(2)));
        graph.interval.push_back(static_cast<std::uint32_t>(draw.below(1000)));
        graph.collective.push_back(static_cast<std::int32_t>(draw.below(of_runs + 1)) - 1);
        if (task == 0) { continue; }
        graph.edges.push_back({static_cast<TaskId>(draw.below(task)), static_cast<TaskId>(task)});
        graph.edge_kind.push_back(static_cast<TraceEdge>(draw.below(6)));
        graph.edge_delay.push_back(draw.ticks());
    }
    return graph;
}

} // namespace

RankDigest random_digest(std::uint64_t seed, std::string source) {
    Draw draw{seed};
    RankDigest digest;
    digest.source = std::move(source);
    digest.format = draw.text();
    digest.host_name = draw.text();
    if (draw.coin()) {
        digest.stated_rank = static_cast<std::int64_t>(draw.below(6));
        digest.rank_from = "metadata";
    }
    digest.rank = digest.stated_rank.value_or(0);
    if (draw.coin()) { digest.world_size = draw.ticks(); }
    digest.device = {draw.text(), draw.ticks(), 108};
    digest.epoch_ns = draw.ticks();
    digest.clock_is_absolute = draw.coin();
    digest.bytes_read = draw.below(1'000'000);
    digest.text_bytes = draw.below(1'000'000);
    digest.events = draw.below(1'000'000);
    digest.spans = draw.below(1'000'000);
    digest.breakdown = breakdown(draw);
    digest.pace = {1.0 + static_cast<double>(draw.below(9)), draw.text()};
    digest.runs = runs(draw);
    for (std::uint64_t left = draw.below(3); left > 0; --left) {
        digest.kernels.push_back(
            {draw.text(), draw.text(), draw.ticks(), draw.ticks(), 1.5 * static_cast<double>(draw.below(9)), 1e9});
    }
    if (draw.coin()) { digest.graph = graph(draw, digest.runs.size()); }
    for (std::uint64_t left = draw.below(3); left > 0; --left) {
        digest.issues.push_back({draw.text(), draw.below(100), draw.text()});
    }
    return digest;
}

} // namespace headroom::test
