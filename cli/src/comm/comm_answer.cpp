#include "comm/comm_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

/// One way to move the data of a question over a group.
struct Candidate {
    std::string collective, algorithm, source;
    std::function<CollectiveTime(TotalBytes)> time;
    std::function<Seconds(TotalBytes)> lower_bound;
    std::optional<double> bus_factor;
    bool adds = false;
    std::function<ActorLearnerTime(TotalBytes)> parts = {};
};

/// The algorithms of a collective; on one level the hierarchical ones are the flat ones.
void add_algorithms(std::vector<Candidate>& candidates, Collective collective, Group group, Fabric fabric) {
    bool const one_level = group.domains() == 1 || group.per_domain == 1;
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective != collective || (one_level && algorithm.name.starts_with("hierarchical"))) {
            continue;
        }
        candidates.push_back(
            {.collective = std::string{name_of(collective)},
             .algorithm = std::string{algorithm.name},
             .source = std::string{algorithm.source},
             .time = [=](TotalBytes n) { return algorithm.time(n, group, fabric); },
             .lower_bound = [=](TotalBytes n) { return bandwidth_lower_bound(collective, n, group, fabric); },
             .bus_factor = bus_bandwidth_factor(collective, Ranks{group.size}),
             .adds = reduces(collective)});
    }
}

/// Servers of their own stand outside every domain; those on the ranks are as far as the ranks are.
void add_servers(std::vector<Candidate>& candidates, CommServers const& given, Group group,
                 CommNetwork const& network) {
    Ranks const workers{group.size};
    bool const near = given.on_ranks && group.domains() == 1;
    Link const link = near ? network.fabric.scale_up : network.fabric.scale_out;
    ParameterServers const servers{.ports = given.on_ranks ? workers : Ranks{given.count},
                                   .port = link,
                                   .worker = link,
                                   .colocated = given.on_ranks};
    candidates.push_back(
        {.collective = "parameter_server",
         .algorithm = given.on_ranks ? "sharded server" : "parameter server",
         .source = "Li2014",
         .time = [=](TotalBytes n) { return parameter_server(n, workers, servers); },
         .lower_bound = [=](TotalBytes n) { return parameter_server_lower_bound(n, workers, servers); },
         .bus_factor = bus_bandwidth_factor(Collective::all_reduce, workers),
         .adds = true});
}

void add_actors(std::vector<Candidate>& candidates, CommActors const& given, Group group, Fabric fabric) {
    for (WeightBroadcast const broadcast : weight_broadcasts) {
        auto const update = [=](TotalBytes n) {
            return ActorLearner{
                .weights = n, .experience = given.experience, .ports = Ranks{given.ports}, .broadcast = broadcast};
        };
        candidates.push_back(
            {.collective = "actor_learner",
             .algorithm = std::string{name_of(broadcast)},
             .source = broadcast == WeightBroadcast::direct ? "Espeholt2018" : "Thakur2005",
             .time = [=](TotalBytes n) { return actor_learner(update(n), group, fabric).synchronous(); },
             .lower_bound = [=](TotalBytes n) { return actor_learner_lower_bound(update(n), group, fabric); },
             .bus_factor = std::nullopt,
             .parts = [=](TotalBytes n) { return actor_learner(update(n), group, fabric); }});
    }
}

std::vector<Candidate> candidates_of(CommQuestion const& question, int ranks) {
    std::vector<Candidate> candidates;
    CommNetwork const& network = question.network;
    if (question.actors) { // the learner is one more
        add_actors(candidates, *question.actors, network.group(ranks + 1), network.fabric);
        return candidates;
    }
    Group const group = network.group(ranks);
    if (question.servers) { add_servers(candidates, *question.servers, group, network); }
    add_algorithms(candidates, question.collective.value_or(Collective::all_reduce), group, network.fabric);
    return candidates;
}

CommRow row_of(Candidate const& candidate, int ranks, TotalBytes size) {
    CommRow row{.collective = candidate.collective,
                .algorithm = candidate.algorithm,
                .source = candidate.source,
                .ranks = ranks,
                .size = size,
                .time = candidate.time(size),
                .reduction = candidate.adds ? std::nullopt : std::optional{Seconds{}},
                .bus_bandwidth = {},
                .lower_bound = candidate.lower_bound(size),
                .parts = {}};
    Seconds const total = row.time.total();
    if (candidate.bus_factor && total > Seconds{}) { row.bus_bandwidth = *candidate.bus_factor * size.size / total; }
    if (candidate.parts) { row.parts = candidate.parts(size); }
    return row;
}

/// A cluster may lack a level that a group of these ranks needs, and a link may be slower than any number.
void check_finite(CommRow const& row, CommNetwork const& network) {
    if (std::isfinite(row.time.total().base())) { return; }
    bool const lacks = network.domain > 0 && row.ranks > network.domain;
    throw InputError{Fault::usage,
                     {.where = network.domain > 0 ? network.name : "--link",
                      .problem = "no finite time for " + std::to_string(row.ranks) + " ranks",
                      .why = lacks ? "no link leaves a domain of " + std::to_string(network.domain) : "",
                      .hint = lacks ? "ask for fewer ranks" : "give a faster link"}};
}

void answer_ranks(CommReport& report, int ranks) {
    CommQuestion const& question = report.question;
    std::vector<Candidate> const candidates = candidates_of(question, ranks);
    std::vector<TimeOfSize> times;
    times.reserve(candidates.size());
    for (Candidate const& one : candidates) {
        times.emplace_back([&one](TotalBytes n) { return one.time(n).total(); });
    }
    for (TotalBytes const size : sizes_of(question)) {
        std::size_t const best = fastest_of(times, size);
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            report.rows.push_back(row_of(candidates[i], ranks, size));
            report.rows.back().fastest = i == best;
            check_finite(report.rows.back(), question.network);
        }
    }
    TotalBytes const from{std::min(question.size.size, 1.0 * units::KiB)};
    TotalBytes const to{std::max(question.size.size, 1.0 * units::TiB)};
    for (Crossover const& one : crossovers(times, from, to)) {
        report.crossovers.push_back(
            {ranks, one.size, candidates[one.below].algorithm, candidates[one.above].algorithm, one.time});
    }
}

CommCompressed compressed_of(CommQuestion const& question, int ranks) {
    CommCompression const& given = *question.compression;
    double const elements = question.size.size / given.element, width = given.element.in(units::byte);
    CommCompressed result{.ranks = ranks, .gradients = {}, .sent = {}, .time = {}, .uncompressed = {}};
    if (given.matrix) {
        GradientMatrix matrix = *given.matrix;
        matrix.count = elements / (matrix.rows * matrix.columns);
        result.gradients = compressed_gradients(given.how, std::span{&matrix, 1}, width, Ranks{ranks});
    } else {
        result.gradients = compressed_gradients(given.how, elements, width, Ranks{ranks});
    }
    Group const group = question.network.group(ranks);
    Fabric const fabric = question.network.fabric;
    for (SentCollective const& sent : result.gradients.sent) {
        result.sent.push_back({sent, fastest(sent.collective, sent.bytes, group, fabric)});
    }
    result.time = compressed_time(result.gradients, group, fabric);
    result.uncompressed = fastest(Collective::all_reduce, question.size, group, fabric).time;
    return result;
}

} // namespace

std::vector<TotalBytes> sizes_of(CommQuestion const& question) {
    std::vector<TotalBytes> sizes;
    if (question.sweep) {
        for (Bytes size = units::KiB; size < question.size.size; size *= 2.0) { sizes.push_back({size}); }
    }
    sizes.push_back(question.size);
    return sizes;
}

CommReport answer_of(CommQuestion question, io::Catalog const& catalog, std::string calibration) {
    CommReport report{catalog, std::move(calibration), std::move(question), {}, {}, {}, {}};
    for (int const ranks : report.question.ranks) {
        answer_ranks(report, ranks);
        if (report.question.compression) { report.compressed.push_back(compressed_of(report.question, ranks)); }
    }
    return report;
}

} // namespace headroom::cli
