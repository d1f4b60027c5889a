#include "comm/comm_report.hpp"
#include "comm/comm_words.hpp"

namespace headroom::cli {
namespace {

constexpr char const* sizes_counted =
    "size is the whole vector in bytes, counted once: for all_gather, reduce_scatter, scatter and gather the sum over "
    "ranks, for all_to_all what one rank holds for all ranks, for the others the vector of one rank";

Json link_json(Link link) {
    return Json::object()
        .set("bandwidth_bytes_per_second", link.bandwidth.base())
        .set("latency_seconds", link.latency.base());
}

Json network_json(CommNetwork const& network) {
    bool const one_level = network.domain == 0;
    return Json::object()
        .set("name", network.name)
        .set("domain", one_level ? Json{} : Json{network.domain})
        .set("scale_up", link_json(network.fabric.scale_up))
        .set("scale_out", one_level ? Json{} : link_json(network.fabric.scale_out))
        .set("pod", network.pod ? link_json(network.pod->link).set("ranks", network.pod->ranks) : Json{})
        .set("torus", network.torus.empty() ? Json{} : Json::array_of(network.torus));
}

Json parts_json(std::optional<ActorLearnerTime> const& parts) {
    if (!parts) { return {}; }
    return Json::object()
        .set("broadcast_seconds", parts->broadcast.total().base())
        .set("gather_seconds", parts->gather.total().base())
        .set("asynchronous_seconds", parts->asynchronous().base());
}

Json simulated_json(std::optional<SimulatedCollective> const& simulated) {
    if (!simulated) { return {}; }
    return Json::object()
        .set("seconds", simulated->total().base())
        .set("picoseconds", simulated->picoseconds)
        .set("messages", simulated->messages)
        .set("critical_messages", simulated->critical_messages);
}

Json row_json(CommRow const& row) {
    return Json::object()
        .set("collective", row.collective)
        .set("algorithm", row.algorithm)
        .set("ranks", row.ranks)
        .set("size_bytes", row.size.size.base())
        .set("seconds", row.time.total().base())
        .set("latency_seconds", row.time.latency.base())
        .set("bandwidth_seconds", row.time.bandwidth.base())
        .set("reduction_seconds", row.adding_modelled ? Json{row.time.reduction.base()} : Json{})
        .set("bus_bandwidth_bytes_per_second", row.bus_bandwidth ? Json{row.bus_bandwidth->base()} : Json{})
        .set("lower_bound_seconds", row.lower_bound.base())
        .set("priced_by", name_of(row.priced_by))
        .set("holds_for", row.holds_for)
        .set("simulated", simulated_json(row.simulated))
        .set("parts", parts_json(row.parts))
        .set("source", row.source);
}

Json fastest_json(CommRow const& row) {
    return Json::object()
        .set("ranks", row.ranks)
        .set("size_bytes", row.size.size.base())
        .set("collective", row.collective)
        .set("algorithm", row.algorithm)
        .set("priced_by", name_of(row.priced_by))
        .set("seconds", row.time.total().base());
}

Json crossover_json(CommCrossover const& one) {
    return Json::object()
        .set("ranks", one.ranks)
        .set("size_bytes", one.size.size.base())
        .set("below", one.below)
        .set("above", one.above)
        .set("seconds", one.time.base());
}

Json compressed_row_json(CommCompressed const& one) {
    Json sent = Json::array();
    for (CommSent const& part : one.sent) {
        sent.push(Json::object()
                      .set("collective", name_of(part.sent.collective))
                      .set("algorithm", part.choice.algorithm)
                      .set("size_bytes", part.sent.bytes.size.base())
                      .set("share_of_steps", part.sent.steps)
                      .set("seconds", part.choice.time.total().base()));
    }
    return Json::object()
        .set("ranks", one.ranks)
        .set("byte_ratio", one.gradients.byte_ratio)
        .set("rounds", one.gradients.rounds)
        .set("seconds", one.time.total().base())
        .set("uncompressed_seconds", one.uncompressed.total().base())
        .set("touched_bytes_per_parameter", one.gradients.touched_per_parameter)
        .set("kept_bytes_per_parameter", one.gradients.kept_per_parameter)
        .set("product_flops", one.gradients.products.base())
        .set("sent", sent);
}

Json compression_json(CommReport const& report) {
    if (!report.question.levers.compression) { return {}; }
    CommCompression const& given = *report.question.levers.compression;
    Json rows = Json::array();
    for (CommCompressed const& one : report.compressed) { rows.push(compressed_row_json(one)); }
    return Json::object()
        .set("kind", name_of(given.how.kind))
        .set("parameter", given.parameter.empty() ? Json{} : Json{given.parameter})
        .set("elements", report.question.size.size / report.question.levers.element)
        .set("bytes_per_element", report.question.levers.element.base())
        .set("rows", rows);
}

Json left_out_json(CommLeftOut const& one) {
    return Json::object().set("ranks", one.ranks).set("algorithm", one.algorithm).set("why", one.why);
}

Json nccl_json(CommNccl const& one) {
    Json candidates = Json::array();
    for (NcclCandidate const& candidate : one.choice.candidates) {
        candidates.push(Json::object()
                            .set("algorithm", name_of(candidate.algorithm))
                            .set("protocol", name_of(candidate.protocol))
                            .set("seconds", candidate.seconds(one.size).base()));
    }
    return Json::object()
        .set("ranks", one.ranks)
        .set("size_bytes", one.size.size.base())
        .set("algorithm", name_of(one.choice.algorithm))
        .set("protocol", name_of(one.choice.protocol))
        .set("seconds", one.choice.seconds.base())
        .set("candidates", candidates);
}

Json lever_json(CommLever const& one) {
    return Json::object()
        .set("ranks", one.ranks)
        .set("lever", one.name)
        .set("bytes_per_step", one.bytes.base())
        .set("collectives_per_step", one.count)
        .set("seconds", one.time.base())
        .set("exposed_seconds", one.exposed.base())
        .set("plain_seconds", one.plain.base());
}

Json contention_json(CommContended const& one) {
    Json links = Json::array();
    for (LinkUse const& use : one.time.busiest) {
        links.push(
            Json::object().set("link", use.name).set("bytes", use.carried.base()).set("utilisation", use.utilisation));
    }
    ContendedGroups const& group = one.time.groups.front();
    return Json::object()
        .set("ranks", one.ranks)
        .set("groups", one.groups)
        .set("stride", one.stride)
        .set("topology", one.topology)
        .set("algorithm", one.algorithm)
        .set("alone_seconds", group.alone.base())
        .set("together_seconds", group.together.base())
        .set("slowdown", group.slowdown())
        .set("messages", one.time.messages)
        .set("busiest", links);
}

Json measured_json(CommMeasured const& one) {
    return Json::object()
        .set("ranks", one.measured.ranks)
        .set("size_bytes", one.measured.size.size.base())
        .set("measured_seconds", one.measured.time.base())
        .set("predicted_seconds", one.predicted.time.total().base())
        .set("predicted_over_measured", one.predicted.time.total() / one.measured.time)
        .set("algorithm", one.predicted.algorithm)
        .set("nccl_seconds", one.nccl ? Json{one.nccl->base()} : Json{})
        .set("file", one.measured.file)
        .set("line", one.measured.line);
}

template <class T> Json array_json(std::vector<T> const& all, Json (*one)(T const&)) {
    Json array = Json::array();
    for (T const& each : all) { array.push(one(each)); }
    return array;
}

} // namespace

Json json_of(CommReport const& report) {
    Json best = Json::array();
    for (CommRow const& row : report.rows) {
        if (row.fastest) { best.push(fastest_json(row)); }
    }
    Json json = result_head("comm", report.catalog, report.calibration);
    json.set("size_convention", sizes_counted)
        .set("collective", report.question.movement)
        .set("network", network_json(report.question.network))
        .set("complete", report.complete)
        .set("rows", array_json(report.rows, row_json))
        .set("fastest", best)
        .set("crossovers", array_json(report.crossovers, crossover_json))
        .set("left_out", array_json(report.left_out, left_out_json))
        .set("nccl", report.nccl.empty() ? Json{} : array_json(report.nccl, nccl_json))
        .set("compression", compression_json(report))
        .set("levers", report.levers.empty() ? Json{} : array_json(report.levers, lever_json))
        .set("contention", report.contention.empty() ? Json{} : array_json(report.contention, contention_json))
        .set("measured", report.measured.empty() ? Json{} : array_json(report.measured, measured_json))
        .set("assumptions", Json::array_of(assumptions_of(report)));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Sheet sheet_of(CommReport const& report) {
    Sheet sheet{{"collective", "algorithm", "ranks", "size_bytes", "seconds", "latency_seconds", "bandwidth_seconds",
                 "reduction_seconds", "bus_bandwidth_bytes_per_second", "lower_bound_seconds", "fastest", "source",
                 "priced_by", "holds_for"},
                {}};
    for (CommRow const& row : report.rows) {
        sheet.rows.push_back(
            {row.collective, row.algorithm, std::to_string(row.ranks), exact(row.size.size.base()),
             exact(row.time.total().base()), exact(row.time.latency.base()), exact(row.time.bandwidth.base()),
             row.adding_modelled ? exact(row.time.reduction.base()) : "",
             row.bus_bandwidth ? exact(row.bus_bandwidth->base()) : "", exact(row.lower_bound.base()),
             row.fastest ? "true" : "false", row.source, std::string{name_of(row.priced_by)}, row.holds_for});
    }
    return sheet;
}

} // namespace headroom::cli
