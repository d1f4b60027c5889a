#include "headroom/io/support.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// Keys of `source = ["A", "B"]` in a record: "A, B"; empty without them.
std::string sources_of(RecordText const& record) {
    constexpr std::string_view begin = "\nsource = [";
    auto const at = record.content.find(begin);
    if (at == std::string_view::npos) { return {}; }
    std::string_view const rest = record.content.substr(at + begin.size());
    std::string list{rest.substr(0, rest.find(']'))};
    std::erase(list, '"');
    return list;
}

std::string source_in(Catalog const& catalog, RecordKind kind, std::string const& name, bool is_there) {
    return is_there ? sources_of(catalog.text(kind, name)) : std::string{};
}

KnownFact parameters_of(Catalog const& catalog, std::string const& name, Model const& model) {
    ParameterCount const count = count_parameters(model);
    std::string value = format_count(count.total) + " parameters";
    if (count.active < count.total * 0.999) { value += ", " + format_count(count.active) + " active"; }
    std::string const record = model_meant_by(catalog, name).record;
    if (record.empty()) { return {"model", std::move(value), "its file"}; }
    std::string const published = catalog.published_count(record).source;
    return {"model", std::move(value),
            published.empty() ? source_in(catalog, RecordKind::model, record, true) : published};
}

} // namespace

std::vector<KnownFact> known_facts(Catalog const& catalog, std::string const& model, Question const& question) {
    Cluster const& cluster = question.cluster;
    Accelerator const& chip = cluster.accelerator;
    std::string const of_chip =
        source_in(catalog, RecordKind::accelerator, chip.name, catalog.has_accelerator(chip.name));
    Precision const precision = question.strategy.precision;
    std::vector<KnownFact> facts{
        parameters_of(catalog, model, question.model),
        {"accelerator",
         fmt::format("{}, {} of memory at {}, dense {} {}", chip.name, format_binary(chip.memory),
                     format(chip.memory_bandwidth), name_of(precision), format(peak_rate(chip, precision))),
         of_chip}};
    if (chip.measured_gemm.base() > 0.0) {
        facts.push_back({"largest measured matrix product", format(chip.measured_gemm) + " in bf16", of_chip});
    }
    std::string const links =
        fmt::format("{} over {}, between nodes {} an accelerator", format(cluster.scale_up.bandwidth), cluster.domain,
                    format(cluster.scale_out.bandwidth));
    facts.push_back(
        {"links", links, source_in(catalog, RecordKind::node, cluster.name, catalog.has_node(cluster.name))});
    if (cluster.price) { facts.push_back({"price", format(*cluster.price), cluster.price_origin}); }
    auto const frameworks = catalog.names(RecordKind::framework);
    bool const is_framework = std::ranges::find(frameworks, question.framework.name) != frameworks.end();
    facts.push_back({"framework", question.framework.title,
                     source_in(catalog, RecordKind::framework, question.framework.name, is_framework)});
    return facts;
}

} // namespace headroom::io
