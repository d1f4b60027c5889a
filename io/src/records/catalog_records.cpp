#include "records/records.hpp"

#include "headroom/io/catalog.hpp"

#include <fmt/format.h>

#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr Range years{1990, 2100};
constexpr Range per_node{1, 4096};
constexpr Range per_domain{1, 1'048'576};
constexpr Range bytes_a_parameter{0, 64};
constexpr Range bytes_a_logit{0, 1000};
constexpr Range elements{0, 1e12};
constexpr Range copies{0, 16};

constexpr std::array attention_kernels{Choice<AttentionKernel>{"unfused", AttentionKernel::unfused},
                                       Choice<AttentionKernel>{"flash1", AttentionKernel::flash1},
                                       Choice<AttentionKernel>{"flash2", AttentionKernel::flash2},
                                       Choice<AttentionKernel>{"flash3", AttentionKernel::flash3},
                                       Choice<AttentionKernel>{"fused", AttentionKernel::fused}};
constexpr std::array fp8_recipes{Choice<Fp8Recipe>{"tensorwise", Fp8Recipe::tensorwise},
                                 Choice<Fp8Recipe>{"rowwise", Fp8Recipe::rowwise},
                                 Choice<Fp8Recipe>{"block", Fp8Recipe::block}};
constexpr std::array host_paces{
    Choice<HostPace>{"eager-2022", HostPace::eager_2022}, Choice<HostPace>{"eager", HostPace::eager},
    Choice<HostPace>{"modern", HostPace::modern}, Choice<HostPace>{"native", HostPace::native}};
constexpr std::array gradient_overlaps{Choice<GradientOverlap>{"exposed", GradientOverlap::exposed},
                                       Choice<GradientOverlap>{"hidden", GradientOverlap::hidden}};
constexpr std::array precisions{
    Choice<Precision>{"fp32", Precision::fp32},  Choice<Precision>{"tf32", Precision::tf32},
    Choice<Precision>{"fp16", Precision::fp16},  Choice<Precision>{"bf16", Precision::bf16},
    Choice<Precision>{"fp8", Precision::fp8},    Choice<Precision>{"mxfp8", Precision::mxfp8},
    Choice<Precision>{"nvfp4", Precision::nvfp4}};

constexpr std::array wires{Choice<Wire>{"nvlink", Wire::nvlink},
                           Choice<Wire>{"nvswitch", Wire::nvswitch},
                           Choice<Wire>{"nvls-switch", Wire::nvls_switch},
                           Choice<Wire>{"mesh", Wire::mesh},
                           Choice<Wire>{"pcie", Wire::pcie},
                           Choice<Wire>{"network", Wire::network}};

template <class T, std::size_t N> std::span<Choice<T> const> all(std::array<Choice<T>, N> const& choices) {
    return choices;
}

Generation read_generation(Section& record) {
    std::string word;
    record.read("generation", word, Presence::required);
    if (auto const generation = generation_from(word)) { return *generation; }
    std::vector<std::string> known;
    for (int i = 0; i < generation_count; ++i) { known.emplace_back(name_of(static_cast<Generation>(i))); }
    record.fail("generation", fmt::format("unknown word {}", headroom::quoted(word)),
                "constants are kept per generation", did_you_mean(word, known));
}

/// Reads what a framework keeps in memory.
void read_memory(Section memory, Framework& framework) {
    memory.read("gradient_bytes", framework.gradient_bytes, bytes_a_parameter);
    if (double bytes = 0.0; memory.read("bf16_gradient_bytes", bytes, bytes_a_parameter)) {
        framework.bf16_gradient_bytes = bytes;
    }
    memory.read("reduced_bytes", framework.reduced_bytes, bytes_a_parameter);
    memory.read("parameter_bytes", framework.parameter_bytes, bytes_a_parameter);
    memory.read("optimizer_bytes", framework.optimizer_bytes, bytes_a_parameter);
    memory.read("dropout", framework.dropout);
    memory.read("tiled_loss", framework.tiled_loss);
    memory.read("in_place_gradients", framework.in_place_gradients);
    memory.read("cuts_segments", framework.cuts_segments);
    memory.read("logit_copy_bytes", framework.logit_copy_bytes, bytes_a_logit);
    memory.read("compiled_copy_bytes", framework.compiled_copy_bytes, bytes_a_logit);
    memory.read("wide_residual", framework.wide_residual);
    memory.read("wide_frozen", framework.wide_frozen);
    memory.read("widens_rest", framework.widens_rest);
    memory.read("gathers_wide", framework.gathers_wide);
    memory.read("keeps_cache", framework.keeps_cache);
    memory.read("foreach_update", framework.foreach_update);
    memory.read("update_copies", framework.update_copies, copies);
    memory.read("wide_update", framework.wide_update);
    memory.read("update_elements", framework.update_elements, elements);
    memory.read("activation_copies", framework.activation_copies, copies);
    memory.read("frees_gradients", framework.frees_gradients);
    memory.read("keeps_buckets", framework.keeps_buckets);
    memory.read("narrow_caches", framework.narrow_caches);
    memory.read("holds_outputs", framework.holds_outputs);
    memory.read("score_mask", framework.score_mask);
    memory.read("gathers_ends", framework.gathers_ends);
    memory.read("shards_gradients", framework.shards_gradients);
    memory.read("accumulates_whole", framework.accumulates_whole);
    memory.read("allocator_loss", framework.allocator_loss, {0, 4});
    memory.read("mixed_loss", framework.mixed_loss, {0, 8});
    memory.read("bucket_elements", framework.bucket_elements, elements);
    memory.read("bucket_copies", framework.bucket_copies, {0, 16});
    memory.read("live_elements", framework.live_elements, elements);
}

/// Reads what software before some version keeps: one table a version, the newest first.
void read_older(Section older, Framework& framework) {
    for (std::string const& before : older.keys()) {
        Section facts = older.section(before);
        OlderFacts one{.before = before, .update_copies = {}, .activation_copies = {}};
        if (double count = 0.0; facts.read("update_copies", count, copies)) { one.update_copies = count; }
        if (double count = 0.0; facts.read("activation_copies", count, copies)) { one.activation_copies = count; }
        if (!release_of(before, software_of(before))) {
            older.fail(before, "not a version", "software and a number", "for instance \"torch 2.1\"");
        }
        framework.older.push_back(std::move(one));
    }
}

} // namespace

void skip_provenance(Section& section) {
    section.skip({"aliases", "source", "source_detail", "date", "notes", "confidence"});
}

AcceleratorRecord read_accelerator(Section record) {
    using enum Presence;
    AcceleratorRecord result;
    Accelerator& chip = result.accelerator;
    record.read("name", chip.name, required);
    record.read("vendor", chip.vendor);
    record.read("year", chip.year, years);
    record.read("confidence", chip.confidence);
    chip.generation = read_generation(record);
    skip_provenance(record);

    Section memory = record.section("memory");
    memory.read("capacity", chip.memory, required);
    memory.read("bandwidth", chip.memory_bandwidth, required);
    memory.skip({"capacity_basis"});

    Section peak = record.section("peak");
    peak.read("fp32", chip.peak.fp32);
    peak.read("tf32", chip.peak.tf32);
    peak.read("fp16", chip.peak.fp16);
    peak.read("bf16", chip.peak.bf16);
    peak.read("fp8", chip.peak.fp8);
    peak.read("fp4", chip.peak.fp4);
    if (!(chip.peak.fp32.base() > 0 || chip.peak.fp16.base() > 0 || chip.peak.bf16.base() > 0)) {
        peak.fail("bf16", "missing", "no peak rate of fp32, fp16 or bf16 is given");
    }
    if (chip.peak.bf16.base() > 0.0 && chip.peak.bf16 < chip.peak.fp32) {
        peak.fail("bf16", format(chip.peak.bf16) + " is below the peak of fp32, " + format(chip.peak.fp32),
                  "accelerators are no slower in the narrower format", "are both units right?");
    }

    record.section("measured").read("gemm_bf16", chip.measured_gemm);
    record.section("power").read("tdp", chip.tdp);
    record.section("compute").read("units", chip.units, {0, 100'000});

    Section scale_up = record.section("scale_up");
    scale_up.read("link", result.scale_up_link);
    scale_up.read("bandwidth", chip.scale_up_bandwidth);
    scale_up.read("domain", chip.scale_up_domain, per_domain);
    scale_up.read("peer_to_peer", chip.peer_to_peer);
    scale_up.skip({"point_to_point"});
    return result;
}

AcceleratorRecord read_accelerator_record(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    auto result = read_accelerator(record.root());
    record.refuse_the_rest();
    return result;
}

Accelerator read_accelerator(std::string_view toml, std::string_view where) {
    return read_accelerator_record(toml, where).accelerator;
}

Framework read_framework(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    Framework framework;
    root.read("name", framework.name, Presence::required);
    framework.title = framework.name;
    root.read("title", framework.title);
    root.read("year", framework.year, years);
    root.read("ordinary", framework.ordinary);
    skip_provenance(root);
    root.read("vendors", framework.vendors);
    root.skip({"recognise"});

    Section kernels = root.section("kernels");
    kernels.read("attention", framework.attention, all(attention_kernels));
    kernels.read("fp8_recipe", framework.fp8_recipe, all(fp8_recipes));
    kernels.read("host", framework.host, all(host_paces));
    kernels.read("fused_elementwise", framework.fused_elementwise);
    kernels.read("loss_bytes", framework.loss_bytes, bytes_a_logit);
    if (bool compiled = false; kernels.read("compiled", compiled)) { framework.compiled = compiled; }
    kernels.read("gathered_modules", framework.gathered_modules, {1, 64});
    kernels.read("update_launches", framework.update_launches, {0, 100});
    kernels.read("paced", framework.paced);
    kernels.read("image_kernels", framework.image_kernels);

    Section parallel = root.section("parallel");
    parallel.read("gradient_overlap", framework.gradient_overlap, all(gradient_overlaps));
    parallel.read("tensor_overlap", framework.tensor_overlap);
    parallel.read("sequence_parallel", framework.sequence_parallel);
    parallel.read("interleaves", framework.interleaves);
    parallel.read("never_interleaves", framework.never_interleaves);
    parallel.read("fills_stages", framework.fills_stages);
    parallel.read("expert_overlap", framework.expert_overlap);
    parallel.read("sends_tokens_once", framework.sends_tokens_once);
    parallel.read("pads_vocabulary", framework.pads_vocabulary);
    parallel.read("zero", framework.zero, {0, 3});
    parallel.read("tensor_parallel", framework.tensor_parallel);
    parallel.read("pipeline", framework.pipeline);
    parallel.read("context_parallel", framework.context_parallel);
    parallel.read("expert_parallel", framework.expert_parallel);
    parallel.read("most_zero", framework.most_zero, {0, 3});
    parallel.read("pipeline_zero", framework.pipeline_zero, {0, 3});
    parallel.read("gathers_per_micro_batch", framework.gathers_per_micro_batch);
    parallel.read("extra_reduction", framework.extra_reduction, {0, 16});

    read_memory(root.section("memory"), framework);
    read_older(root.section("older"), framework);

    Section defaults = root.section("defaults");
    if (std::string kind; defaults.read("recompute", kind) && kind != "least") {
        PartialStrategy stated;
        known_strategy_field("recompute", where).assign(stated, kind, where);
        framework.recompute = stated.recompute;
        framework.recomputed = stated.recomputed.value_or(0);
    }
    std::vector<std::string> offers;
    defaults.read("recompute_offers", offers);
    for (std::string const& kind : offers) {
        PartialStrategy stated;
        known_strategy_field("recompute", where).assign(stated, kind, where);
        framework.recomputations.emplace_back(stated.recompute.value_or(Recompute::full),
                                              stated.recomputed.value_or(0));
    }
    defaults.read("precision", framework.precision, all(precisions));
    defaults.read("sequence_bin", framework.sequence_bin, {0, 1'000'000});
    record.refuse_the_rest();
    return framework;
}

Optimizer read_optimizer(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    Optimizer optimizer;
    root.read("name", optimizer.name, Presence::required);
    optimizer.title = optimizer.name;
    root.read("title", optimizer.title);
    skip_provenance(root);
    Section state = root.section("state");
    state.read("mixed", optimizer.mixed, bytes_a_parameter, Presence::required);
    state.read("pure", optimizer.pure, bytes_a_parameter, Presence::required);
    for (auto const& [key, member] :
         {std::pair{"ends_mixed", &Optimizer::ends_mixed}, {"ends_pure", &Optimizer::ends_pure}}) {
        double bytes = -1.0;
        state.read(key, bytes, bytes_a_parameter);
        if (bytes >= 0.0) { optimizer.*member = bytes; }
    }
    root.read("paged", optimizer.paged);
    root.read("iterations", optimizer.iterations, {.low = 0, .high = 100});
    record.refuse_the_rest();
    return optimizer;
}

LinkRecord read_link(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    LinkRecord result;
    root.read("name", result.name, Presence::required);
    root.read("bandwidth", result.link.bandwidth, Presence::required);
    root.read("latency", result.link.latency, Presence::required);
    skip_provenance(root);
    root.read("wire", result.service.wire, all(wires));
    root.read("nccl_model_bandwidth", result.service.assumed);
    root.read("collective_latency", result.service.collective_latency);
    root.skip({"kind", "latency_source", "collective_latency_source"});
    record.refuse_the_rest();
    return result;
}

NodeRecord read_node(std::string_view toml, std::string_view where) {
    using enum Presence;
    Record record{toml, where};
    Section root = record.root();
    NodeRecord node;
    root.read("name", node.name, required);
    root.read("accelerator", node.accelerator, required);
    root.read("accelerators", node.accelerators, per_node, required);
    root.read("scale_up_domain", node.scale_up_domain, per_domain, required);
    root.read("nics", node.nics, per_node, required);
    root.read("nic_rate", node.nic_rate, required);
    root.read("scale_up", node.scale_up, required);
    root.read("scale_out", node.scale_out, required);
    root.read("host_link", node.host_link);
    root.read("host_memory_bandwidth", node.host_memory_bandwidth);
    root.read("host_memory", node.host_memory);
    root.read("default_for", node.preferred);
    skip_provenance(root);
    root.skip({"host"});
    record.refuse_the_rest();
    return node;
}

PriceRecord read_prices(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    PriceRecord prices;
    root.read("accelerator", prices.accelerator, Presence::required);
    for (Section entry : root.sections("price")) {
        Offer offer;
        entry.read("price", offer.price, Presence::required);
        entry.read("kind", offer.kind, Presence::required);
        entry.read("date", offer.date, Presence::required);
        DollarsPerSecond other;
        for (auto const key : {"reserved_1y", "reserved_3y", "preemptible"}) { entry.read(key, other); }
        skip_provenance(entry);
        entry.skip({"provider", "region"});
        prices.offers.push_back(std::move(offer));
    }
    skip_provenance(root);
    record.refuse_the_rest();
    return prices;
}

} // namespace headroom::io
