#include "setting_parts.hpp"

#include "document/text.hpp"
#include "setting.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

std::string_view provenance_of(Assumption const& assumption) {
    if (assumption.reason.starts_with(from_record)) { return name_of(Provenance::given); }
    if (assumption.reason.starts_with(name_of(Provenance::measured))) { return name_of(Provenance::measured); }
    bool const priced = assumption.field.starts_with("price") && assumption.value != "unknown";
    return name_of(priced || assumption.field == "mtbf" ? Provenance::cited : Provenance::guessed);
}

} // namespace

Json strategy_json(Strategy const& s, Workload const& workload) {
    int const share = std::max(1, s.dp * s.micro_batch);
    return Json::object()
        .set("dp", s.dp)
        .set("tp", s.tp)
        .set("pp", s.pp)
        .set("virtual_pp", s.virtual_pp)
        .set("cp", s.cp)
        .set("exchange", name_of(s.exchange))
        .set("ep", s.ep)
        .set("etp", s.etp)
        .set("capacity", s.capacity)
        .set("zero", s.zero)
        .set("shard", s.shard)
        .set("micro_batch", s.micro_batch)
        .set("micro_batches", workload.global_batch / share)
        .set("sequence_parallel", s.sequence_parallel)
        .set("recompute", name_of(s.recompute))
        .set("recompute_layers", s.recompute_layers)
        .set("offload", name_of(s.offload))
        .set("train", io::spelled_training(s))
        .set("local_steps", s.local_steps)
        .set("servers", s.servers)
        .set("compression", io::spelled(s.compression))
        .set("precision", name_of(s.precision))
        .set("overlap", s.overlap == Overlap::on)
        .set("schedule", name_of(s.schedule()))
        .set("name", short_name(s));
}

Json workload_json(Workload const& workload, std::optional<double> tokens) {
    return Json::object()
        .set("sequence_length", workload.sequence_length)
        .set("global_batch", workload.global_batch)
        .set("documents", workload.documents)
        .set("fill", workload.fill)
        .set("expert_skew", workload.expert_skew)
        .set("tokens", tokens);
}

Json assumptions_json(std::vector<Assumption> const& assumptions) {
    Json list = Json::array();
    for (Assumption const& one : assumptions) {
        list.push(Json::object()
                      .set("field", one.field)
                      .set("value", one.value)
                      .set("reason", one.reason)
                      .set("provenance", provenance_of(one)));
    }
    return list;
}

Json constants_json(CalibrationSet const& calibration) {
    Json list = Json::array();
    for (ConstantInfo const& info : constants()) {
        CalibratedConstant const& constant = calibration.constant[static_cast<std::size_t>(info.id)];
        list.push(Json::object()
                      .set("key", info.key)
                      .set("meaning", info.meaning)
                      .set("unit", info.unit)
                      .set("value", constant.value)
                      .set("low", constant.low)
                      .set("high", constant.high)
                      .set("provenance", name_of(constant.provenance))
                      .set("source", constant.source));
    }
    return list;
}

Json model_json(Model const& model) {
    ParameterCount const parameters = count_parameters(model);
    return Json::object()
        .set("name", model.name)
        .set("parameters", parameters.total)
        .set("active_parameters", parameters.active)
        .set("layers", model.layers)
        .set("hidden", model.hidden);
}

Json cluster_json(Cluster const& cluster) {
    return Json::object()
        .set("name", cluster.name)
        .set("accelerator", cluster.accelerator.name)
        .set("accelerators_per_node", cluster.accelerators_per_node)
        .set("price_dollars_per_hour", cluster.price ? Json{cluster.price->in(units::dollar / units::hour)} : Json{})
        .set("price_origin", cluster.price_origin);
}

Table assumptions_table(std::vector<Assumption> const& assumptions) {
    Table table{.title = "Assumed",
                .columns = {{"what", Align::left}, {"value", Align::left, true}, {"why", Align::left, true}},
                .rows = {}};
    for (Assumption const& one : assumptions) { table.rows.push_back({one.field, one.value, one.reason}); }
    return table;
}

std::string provenance_summary(CalibrationSet const& calibration) {
    std::map<Provenance, int> counts;
    std::vector<std::string> guesses;
    for (ConstantInfo const& info : constants()) {
        Provenance const provenance = calibration.constant[static_cast<std::size_t>(info.id)].provenance;
        ++counts[provenance];
        if (provenance == Provenance::guessed) { guesses.emplace_back(info.key); }
    }
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (auto const& [provenance, count] : counts) {
        parts.push_back(std::to_string(count) + " " + std::string{name_of(provenance)});
    }
    std::string text = join(parts, ", ");
    if (guesses.empty()) { return text; }
    std::size_t const shown = std::min<std::size_t>(guesses.size(), 4);
    text += "; guessed: " + join({guesses.begin(), guesses.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
    return text + (shown < guesses.size()
                       ? " and " + std::to_string(guesses.size() - shown) + " more (all with values in --format json)"
                       : "");
}

} // namespace headroom::cli
