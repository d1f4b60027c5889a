#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

constexpr int largest_rank = 65'536;
constexpr double most_bits = 32.0, least_share = 1e-9, largest_capacity = 1024.0;

// ---- readers of values --------------------------------------------------------------------------------------------

using Text = std::string_view;

/// "kind:parameter"; the parameter is empty without a colon.
std::pair<std::string, Text> parts(Text text, Text where) {
    auto const colon = text.find(':');
    if (colon == Text::npos) { return {std::string{text}, {}}; }
    if (colon + 1 == text.size()) {
        refuse(where, fmt::format("{} has nothing behind the colon", headroom::quoted(text)), {},
               "leave the colon out, or give a number");
    }
    return {std::string{text.substr(0, colon)}, text.substr(colon + 1)};
}

bool on_or_off(Text text, Text where) { return parse_choice(text, {"on", "off"}, where) == "on"; }

/// Names of the kernels, of Hugging Face's implementations of attention, and of what calls them.
AttentionKernel attention_kernel(Text text, Text where) {
    using enum AttentionKernel;
    static std::vector<std::pair<std::string, AttentionKernel>> const names{
        {"unfused", unfused}, {"flash1", flash1}, {"flash2", flash2}, {"flash3", flash3},
        {"eager", unfused},   {"sdpa", sdpa},     {"cudnn", cudnn},   {"flash_attention_2", flash2},
        {"fa2", flash2},      {"fa3", flash3},    {"fused", fused},   {"flash_attention_3", flash3}};
    std::vector<std::string> words;
    for (auto const& [name, kernel] : names) { words.push_back(name); }
    std::string const chosen = parse_choice(text, words, where);
    return std::ranges::find(names, chosen, &std::pair<std::string, AttentionKernel>::first)->second;
}

TrafficKind traffic_kind(Text text, Text where) {
    std::vector<std::string> names;
    for (TrafficKind const kind : traffic_kinds) { names.emplace_back(name_of(kind)); }
    std::string const chosen = parse_choice(text, names, where);
    return traffic_kinds[static_cast<std::size_t>(std::ranges::find(names, chosen) - names.begin())];
}

/// Overlap of one kind of traffic. "on" is hidden, whatever the framework does.
Overlap overlap_of_kind(Text text, Text where) {
    std::string const chosen = parse_choice(text, {"on", "off", "hidden", "exposed", "framework"}, where);
    if (chosen == "framework") { return Overlap::on; }
    return chosen == "on" || chosen == "hidden" ? Overlap::hidden : Overlap::off;
}

/// "off", "tensor=off,gradients=on", or "off,tensor=on": all kinds, then those that differ. Inside a list of fields, whose
/// items are parted by commas, "tensor:off+gradients:on".
Overlaps overlap(Text text, Text where) {
    std::string items{text};
    std::ranges::replace(items, '+', ',');
    std::ranges::replace(items, ':', '=');
    if (items.find_first_of("=,") == std::string::npos) { return on_or_off(text, where) ? Overlap::on : Overlap::off; }
    auto const first = items.substr(0, items.find(','));
    Overlaps result;
    if (first.find('=') == std::string::npos) {
        result = on_or_off(first, where) ? Overlap::on : Overlap::off;
        items.erase(0, first.size() + 1);
    }
    std::vector<TrafficKind> seen;
    for (auto const& [name, value] : parse_pairs(items, where, "tensor=off,gradients=on")) {
        TrafficKind const kind = traffic_kind(name, where);
        if (std::ranges::find(seen, kind) != seen.end()) {
            refuse(where, headroom::quoted(name) + " twice", "one of the two would be ignored", "keep one");
        }
        seen.push_back(kind);
        result[kind] = overlap_of_kind(value, where);
    }
    return result;
}

/// For fields that 0 switches off, or that mean all by it.
int whole_or_zero(Text text, Text where) { return text == "0" ? 0 : parse_whole(text, where); }

int shard_group(Text text, Text where) {
    if (text.find_first_not_of("0123456789") == Text::npos) { return whole_or_zero(text, where); }
    std::string const name = parse_choice(text, {"node", "replica", "all"}, where);
    return name == "all" ? 0 : name == "node" ? shard_in_node : shard_in_replica;
}

int zero_stage(Text text, Text where) {
    if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') { return text[0] - '0'; }
    refuse(where, fmt::format("no ZeRO stage {}", headroom::quoted(text)), {}, "choose from 0, 1, 2, 3");
}

Precision precision(Text text, Text where) {
    if (auto const known = precision_from(text)) { return *known; }
    std::vector<std::string> names;
    for (Precision const p : {Precision::bf16, Precision::fp16, Precision::fp8, Precision::mxfp8, Precision::nvfp4,
                              Precision::fp32, Precision::tf32}) {
        names.emplace_back(name_of(p));
    }
    std::string const near = did_you_mean(text, names);
    refuse(where, fmt::format("unknown precision {}", headroom::quoted(text)), {},
           near.empty() ? fmt::format("choose from {}", fmt::join(names, ", ")) : near);
}

/// One of the values that have a name, by that name.
template <class T, std::size_t N> T named(Text text, Text where, std::array<T, N> const& values) {
    std::vector<std::string> names;
    for (T const value : values) { names.emplace_back(name_of(value)); }
    std::string const chosen = parse_choice(text, names, where);
    for (T const value : values) {
        if (name_of(value) == chosen) { return value; }
    }
    return values.front();
}

/// Recomputation: a kind, or the parts of a block by Megatron's names, in two fields.
struct Recomputation {
    static void assign(PartialStrategy& strategy, Text text, Text where) {
        constexpr std::array kinds{Recompute::none, Recompute::selective, Recompute::alternate, Recompute::full};
        std::vector<std::string> names;
        for (Recompute const kind : kinds) { names.emplace_back(name_of(kind)); }
        for (auto const& row : recompute_modules) { names.emplace_back(row.first); }
        std::string items{text};
        std::ranges::replace(items, '+', ',');
        bool const several = items.find(',') != std::string::npos;
        if (auto const colon = items.find(':');
            colon != std::string::npos && normalised(items.substr(0, colon)) == "full") {
            strategy.recompute = Recompute::full; // "full:20": of so many blocks
            strategy.recomputed = 0;
            strategy.recompute_layers = parse_whole(items.substr(colon + 1), where);
            return;
        }
        unsigned sum = 0;
        for (std::size_t at = 0; at <= items.size();) {
            auto const end = std::min(items.find(',', at), items.size());
            std::string const chosen = parse_choice(items.substr(at, end - at), names, where);
            auto const* const part = std::ranges::find(recompute_modules, chosen, &std::pair<Text, unsigned>::first);
            if (part == recompute_modules.end() && several) {
                refuse(where, fmt::format("{} together with parts of a block", headroom::quoted(chosen)), {},
                       "name it alone, or parts only");
            }
            if (part == recompute_modules.end()) {
                strategy.recompute = kinds[static_cast<std::size_t>(std::ranges::find(names, chosen) - names.begin())];
                strategy.recomputed = 0;
                return;
            }
            sum |= part->second;
            at = end + 1;
        }
        strategy.recompute = Recompute::modules;
        strategy.recomputed = sum;
    }
    static bool fill(PartialStrategy& to, PartialStrategy const& from) {
        if (to.recompute || !from.recompute) { return false; }
        to.recompute = from.recompute;
        to.recomputed = from.recomputed;
        return true;
    }
    static void apply(PartialStrategy const& change, Strategy& strategy) {
        if (!change.recompute) { return; }
        strategy.recompute = *change.recompute;
        strategy.recomputed = change.recomputed.value_or(0);
    }
};

ContextExchange exchange(Text text, Text where) {
    if (normalised(text) == "ulysses") { return ContextExchange::all_to_all; }
    constexpr std::array values{ContextExchange::gather, ContextExchange::ring, ContextExchange::all_to_all};
    return named(text, where, values);
}

Offload offload(Text text, Text where) { return named(text, where, offloads); }

PipelineSchedule schedule(Text text, Text where) {
    std::vector<std::string> names;
    for (ScheduleRow const& row : pipeline_schedules()) { names.emplace_back(row.name); }
    return *schedule_from(parse_choice(text, names, where));
}

FrozenFormat frozen(Text text, Text where) { return named(text, where, frozen_formats); }

std::string text_of(Text text, Text) { return std::string{text}; }

double capacity(Text text, Text where) { return parse_between(text, 0.0, largest_capacity, "capacity factor", where); }

/// Projections with LoRA adapters: "attention", "linear" or "all", or a list such as "q,v" or "q+v".
unsigned modules(Text text, Text where) {
    std::vector<std::string> names{"attention", "linear"};
    for (auto const& row : adapter_modules) { names.emplace_back(row.first); }
    unsigned sum = 0;
    std::string items{text};
    std::ranges::replace(items, '+', ',');
    for (std::size_t at = 0; at <= items.size();) {
        auto const end = std::min(items.find(',', at), items.size());
        std::string one = items.substr(at, end - at);
        if (one.ends_with("_proj")) { one.resize(one.size() - 5); }
        bool const every = normalised(one) == "all" || normalised(one) == "alllinear";
        std::string const chosen = every ? "linear" : parse_choice(one, names, where);
        auto const* const row = std::ranges::find(adapter_modules, chosen, &std::pair<Text, unsigned>::first);
        sum |= row != adapter_modules.end() ? row->second
               : chosen == "linear"         ? adapter_module::linear
                                            : adapter_module::attention;
        at = end + 1;
    }
    return sum;
}

/// Scales of 8-bit products, by the names of PyTorch and of Transformer Engine.
struct Scales {
    static void assign(PartialStrategy& strategy, Text text, Text where) {
        using enum Fp8Recipe;
        static std::vector<std::pair<std::string, Fp8Recipe>> const names{
            {"tensorwise", tensorwise}, {"rowwise", rowwise},    {"block", block},
            {"delayed", tensorwise},    {"current", tensorwise}, {"blockwise", block}};
        std::vector<std::string> words;
        for (auto const& [name, recipe] : names) { words.push_back(name); }
        words.insert(words.end(), {"mx", "mxfp8"});
        std::string const chosen = parse_choice(text, words, where);
        if (chosen.starts_with("mx")) {
            strategy.precision = Precision::mxfp8;
        } else {
            strategy.fp8_recipe = std::ranges::find(names, chosen, &std::pair<std::string, Fp8Recipe>::first)->second;
        }
    }
    static bool fill(PartialStrategy& to, PartialStrategy const& from) {
        if (to.fp8_recipe || !from.fp8_recipe) { return false; }
        to.fp8_recipe = from.fp8_recipe;
        return true;
    }
    static void apply(PartialStrategy const&, Strategy&) {} // of the framework
};

/// Weights that are trained, in their fields.
struct Training {
    static void assign(PartialStrategy& strategy, Text text, Text where) {
        auto const [kind, parameter] = parts(text, where);
        std::string const name = parse_choice(kind, {"all", "lora", "dora", "last"}, where);
        bool const scaled = name == "dora", adapts = scaled || name == "lora";
        if (name == "all" && !parameter.empty()) {
            refuse(where, fmt::format("{} takes no number", headroom::quoted(name)), {}, "write all");
        }
        strategy.trained = name == "all" ? Trained::all : adapts ? Trained::lora : Trained::last_layers;
        if (scaled) { strategy.adapter_modules = adapter_module::attention | adapter_module::magnitudes; }
        if (adapts && !parameter.empty()) {
            auto const colon = parameter.find(':');
            strategy.adapter_rank =
                static_cast<int>(parse_between(parameter.substr(0, colon), 1, largest_rank, "rank of adapters", where));
            if (colon != Text::npos) {
                strategy.adapter_modules =
                    modules(parameter.substr(colon + 1), where) | (scaled ? adapter_module::magnitudes : 0U);
            }
        }
        if (name == "last") {
            if (parameter.empty()) { refuse(where, "'last' needs a number of layers", {}, "write it like last:2"); }
            strategy.trained_layers = parse_whole(parameter, where);
        }
    }
    static bool fill(PartialStrategy& to, PartialStrategy const& from) {
        if (to.trained || !from.trained) { return false; }
        to.trained = from.trained;
        to.adapter_rank = from.adapter_rank;
        to.adapter_modules = from.adapter_modules;
        to.trained_layers = from.trained_layers;
        return true;
    }
    static void apply(PartialStrategy const& change, Strategy& strategy) {
        if (!change.trained) { return; }
        strategy.trained = *change.trained;
        strategy.adapter_rank = change.adapter_rank.value_or(strategy.adapter_rank);
        strategy.adapter_modules = change.adapter_modules.value_or(strategy.adapter_modules);
        strategy.trained_layers = change.trained_layers.value_or(0);
    }
};

// ---- rows ---------------------------------------------------------------------------------------------------------

/// A row of a field that is one member of both structures.
template <auto Partial, auto Whole, auto Read>
constexpr StrategyField row(char const* option, char const* placeholder, char const* help,
                            char const* alias = nullptr) {
    return {option,
            placeholder,
            help,
            [](PartialStrategy& strategy, Text text, Text where) { strategy.*Partial = Read(text, where); },
            [](PartialStrategy& to, PartialStrategy const& from) {
                bool const takes = !(to.*Partial) && from.*Partial;
                if (takes) { to.*Partial = from.*Partial; }
                return takes;
            },
            [](PartialStrategy const& change, Strategy& strategy) {
                if constexpr (!std::is_null_pointer_v<decltype(Whole)>) {
                    if (change.*Partial) { strategy.*Whole = *(change.*Partial); }
                }
            },
            alias};
}

using P = PartialStrategy;
using S = Strategy;

constexpr std::array fields{
    row<&P::dp, &S::dp, parse_whole>("--dp", "N", "data-parallel replicas"),
    row<&P::tp, &S::tp, parse_whole>("--tp", "N", "tensor-parallel degree"),
    row<&P::pp, &S::pp, parse_whole>("--pp", "N", "pipeline stages"),
    row<&P::virtual_pp, &S::virtual_pp, parse_whole>("--virtual-pp", "N", "model chunks a stage"),
    row<&P::pipeline, &S::pipeline, schedule>("--schedule", "NAME",
                                              "pipeline schedule: 1f1b, interleaved, gpipe, zb-h1, zb-2p, zbv, v-half, "
                                              "v-min, dualpipe, dualpipe-v or pipedream; predict: all compares "
                                              "them"),
    row<&P::cp, &S::cp, parse_whole>("--cp", "N", "context-parallel degree: ranks that share a sequence"),
    row<&P::exchange, &S::exchange, exchange>(
        "--exchange", "KIND", "exchange of keys and values under --cp: gather, ring or all-to-all (ulysses)"),
    row<&P::ep, &S::ep, parse_whole>("--ep", "N", "expert-parallel degree: ranks that share the experts of a layer"),
    row<&P::etp, &S::etp, parse_whole>("--etp", "N", "ranks that share one expert: 1 or tp"),
    row<&P::capacity, &S::capacity, capacity>(
        "--capacity", "FACTOR",
        "room of an expert over its mean load, padded where not full; more tokens are dropped; 0: no limit"),
    row<&P::zero, &S::zero, zero_stage>("--zero", "0..3", "ZeRO stage; 3 is FSDP"),
    row<&P::shard, &S::shard, shard_group>("--shard", "N|node|replica|all",
                                           "or --shard-group: data-parallel ranks that share one copy of what ZeRO 1, "
                                           "2 or 3 shards; node: those of a node, "
                                           "replica: the context-parallel ranks of one replica, all or 0: all",
                                           "--shard-group"),
    row<&P::micro_batch, &S::micro_batch, parse_whole>("--micro-batch", "N", "sequences a micro-batch"),
    row<&P::grad_accum, nullptr, parse_whole>("--grad-accum", "N", "micro-batches a replica and step"),
    row<&P::sequence_parallel, &S::sequence_parallel, on_or_off>(
        "--sequence-parallel", "on|off",
        "also split norms and dropout, which tensor parallelism repeats on every rank"),
    StrategyField{"--recompute", "KIND",
                  "none, selective (attention scores), alternate (every second product, torchtitan's selective), "
                  "full[:BLOCKS], or "
                  "parts: core_attn, layernorm, mla_up_proj, moe_act, mlp, moe, shared_experts (layernorm+moe_act)",
                  Recomputation::assign, Recomputation::fill, Recomputation::apply},
    row<&P::recompute_layers, &S::recompute_layers, whole_or_zero>("--recompute-layers", "N",
                                                                   "blocks that are recomputed; 0 is all of them"),
    row<&P::offload, &S::offload, offload>(
        "--offload", "KIND",
        "kept in host memory: none, optimizer, activations, both, parameters (with the optimizer) or "
        "all"),
    StrategyField{"--train", "WHAT",
                  "trained weights: all, lora[:RANK[:MODULES]] (16, attention; linear, q+v, linear+tables), dora (the "
                  "same) or last:LAYERS",
                  Training::assign, Training::fill, Training::apply},
    row<&P::frozen, nullptr, frozen>("--base", "FORMAT",
                                     "format of frozen weights below LoRA adapters: bf16, int8, int4 or nf4 (QLoRA)"),
    row<&P::optimizer, nullptr, text_of>(
        "--optimizer", "NAME",
        "optimizer: adamw, adamw-8bit, adafactor, sgd, lion, muon ... (headroom catalog "
        "list optimizers); default: AdamW as the framework keeps it"),
    row<&P::compiled, nullptr, on_or_off>("--compile", "on|off",
                                          "whether torch.compile makes the kernels (PyTorch and what is built on it)"),
    row<&P::attention, nullptr, attention_kernel>(
        "--attention-kernel", "KIND",
        "unfused (eager, scores in memory), flash1, flash2, flash3 (Hopper), sdpa, cudnn or fused (the "
        "accelerator's fastest); default: the framework's"),
    row<&P::pure, nullptr, on_or_off>("--pure-bf16", "on|off",
                                      "weights, gradients and optimizer states all in 16 bits, no 32-bit master copy"),
    row<&P::local_steps, &S::local_steps, parse_whole>("--local-steps", "N",
                                                       "optimizer steps between two synchronisations (DiLoCo)"),
    row<&P::servers, &S::servers, whole_or_zero>(
        "--servers", "N", "parameter servers that sum the gradients; 0: collectives among the ranks"),
    row<&P::compression, &S::compression, parse_compression>(
        "--compression", "KIND",
        "gradient compression: none, low-rank[:RANK], quantised[:BITS], top-k[:SHARE] or one-bit[:WARMUP]"),
    row<&P::overlap, &S::overlap, overlap>(
        "--overlap", "on|off|KIND=on,...",
        "communication with kernels: all, or by kind: tensor, context, expert, gradients, parameters, pipeline, "
        "offload (tensor=off,gradients=on); the rest by framework"),
    row<&P::precision, &S::precision, precision>("--precision", "NAME", "bf16, fp16, fp8, fp32, tf32, mxfp8 or nvfp4"),
    StrategyField{
        "--fp8-recipe", "KIND", // behind the format, which scales of 32 numbers change
        "scales of --precision fp8: tensorwise (delayed, current), rowwise, block, or mx, which is --precision mxfp8",
        Scales::assign, Scales::fill, Scales::apply},
};

/// Short names that training frameworks use.
constexpr std::array<std::pair<Text, Text>, 8> aliases{{{"vp", "virtualpp"},
                                                        {"mb", "microbatch"},
                                                        {"mbs", "microbatch"},
                                                        {"gas", "gradaccum"},
                                                        {"sp", "sequenceparallel"},
                                                        {"fsdp", "zero"},
                                                        {"shardgroup", "shard"},
                                                        {"trained", "train"}}};

/// A kind as people type it: hyphens, where C++ has underscores.
std::string hyphenated(Text name) {
    std::string text{name};
    for (char& c : text) {
        if (c == '_') { c = '-'; }
    }
    return text;
}

} // namespace

std::span<StrategyField const> strategy_fields() { return fields; }

StrategyField const* strategy_field(std::string_view name) {
    std::string wanted = normalised(name);
    for (auto const& [alias, full] : aliases) {
        if (wanted == alias) { wanted = full; }
    }
    for (StrategyField const& field : fields) {
        if (normalised(field.name()) == wanted) { return &field; }
    }
    return nullptr;
}

StrategyField const& known_strategy_field(std::string_view name, std::string_view where) {
    if (auto const* field = strategy_field(name)) { return *field; }
    std::vector<std::string> names;
    for (StrategyField const& field : fields) { names.emplace_back(field.name()); }
    std::string const near = did_you_mean(name, names);
    refuse(where, fmt::format("unknown field {}", headroom::quoted(name)), {},
           near.empty() ? fmt::format("choose from {}", fmt::join(names, ", ")) : near);
}

GradientCompression parse_compression(std::string_view text, std::string_view where) {
    auto const [kind, parameter] = parts(text, where);
    std::vector<std::string> names;
    for (Compression const one : compressions) { names.push_back(hyphenated(name_of(one))); }
    auto const known = compression_from(kind);
    GradientCompression how{.kind = known ? *known : *compression_from(parse_choice(kind, names, where))};
    if (parameter.empty()) { return how; }
    switch (how.kind) {
    case Compression::none: refuse(where, "none takes no parameter", {}, "write none");
    case Compression::low_rank:
        how.rank = static_cast<int>(parse_between(parameter, 1, largest_rank, "rank of two factors", where));
        break;
    case Compression::quantised: how.bits = parse_between(parameter, 1, most_bits, "number of bits", where); break;
    case Compression::top_k:
        how.share = parse_between(parameter, least_share, 1, "share of the elements", where);
        break;
    case Compression::one_bit:
        how.warm_up = parse_between(parameter, 0, 1, "share of the steps that warm up", where);
        break;
    }
    return how;
}

StrategyRecord read_strategy(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    StrategyRecord result;
    root.read("name", result.name, Presence::required);
    result.title = result.name;
    root.read("title", result.title);
    root.skip({"aliases", "source", "source_detail", "date", "notes", "confidence"});
    for (StrategyField const& field : fields) {
        std::string key{field.name()};
        for (char& c : key) { c = c == '-' ? '_' : c; }
        root.skip({key});
        if (!root.has(key)) { continue; }
        std::vector<std::string> words;
        bool is_switch = false;
        root.read_words(key, words, is_switch);
        if (words.size() != 1) { root.fail(key, "a list where one value is due"); }
        if (is_switch) { words.front() = words.front() == "true" ? "on" : "off"; }
        field.assign(result.fields, words.front(), fmt::format("{}: {}", root.place(key), key));
        result.given.emplace_back(key, words.front());
    }
    if (result.given.empty()) { root.fail("name", "no field of a strategy", "a strategy holds at least one"); }
    record.refuse_the_rest();
    return result;
}

void assign_fixed(PartialStrategy& strategy, std::string_view text, std::string_view where) {
    std::vector<StrategyField const*> seen;
    for (auto const& [name, value] : parse_pairs(text, where)) {
        StrategyField const& field = known_strategy_field(name, where);
        if (std::find(seen.begin(), seen.end(), &field) != seen.end()) {
            refuse(where, headroom::quoted(name) + " twice", "one of the two would be ignored", "keep one");
        }
        seen.push_back(&field);
        field.assign(strategy, value, std::string{where} + " " + name);
    }
}

} // namespace headroom::io
