#include "questions/default_batch.hpp"
#include "questions/machine_guesses.hpp"
#include "questions/setting_checks.hpp"

#include "headroom/error.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/training_question.hpp"
#include "headroom/io/words.hpp"
#include "headroom/training/host_launches.hpp"
#include "headroom/training/measured_links.hpp"
#include "headroom/training/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

constexpr int longest_default_sequence = 8192, usual_sequence = 2048;
constexpr int usual_image_ranks = 64; ///< that a default batch of samples grows with: beyond, a curve keeps it
constexpr int longest_document = 1'000'000'000;
constexpr int largest_nodes = 10'000'000;

/// A gap filled here: a default that nobody measured.
void assume_default(TrainingSetting& setting, std::string field, std::string value, std::string reason,
                    Provenance provenance = Provenance::guessed) {
    setting.assumptions.push_back({std::move(field), std::move(value), std::move(reason), false, provenance});
}

void set_price(TrainingRequest const& request, TrainingSetting& setting) {
    Cluster& cluster = setting.cluster;
    if (request.price) {
        cluster.price = *request.price;
        cluster.price_origin = "given with --price";
        cluster.price_kind = "given";
    } else if (cluster.price) {
        assume_default(setting, "price", format(*cluster.price), cluster.price_origin, Provenance::cited);
    } else {
        assume_default(setting, "price", "unknown", "no price is known for " + cluster.accelerator.name);
    }
}

/// The first layers of a model; of an encoder and a decoder, of each in proportion.
void cut_model(std::optional<int> const& layers, Model& model) {
    if (!layers || *layers == model.layers) { return; }
    if (!model.operators.empty()) { refuse("--layers", model.name + " is a list of operators", "it has no layers"); }
    if (*layers > model.layers) {
        refuse("--layers", std::to_string(*layers) + " is more than the model has",
               model.name + " has " + std::to_string(model.layers), "give at most that many");
    }
    if (model.encoder_layers > 0) {
        if (*layers < 2) { refuse("--layers", "1 is too few", "encoder and decoder have a layer each"); }
        model.encoder_layers = std::clamp(*layers * model.encoder_layers / model.layers, 1, *layers - 1);
    }
    model.layers = *layers;
    model.name += " cut to " + std::to_string(*layers) + (*layers == 1 ? " layer" : " layers");
}

/// Degrees that the framework cannot do.
void check_degrees(PartialStrategy const& given, Framework const& framework) {
    auto const lacks = [&](char const* option, bool offers, std::optional<int> const& degree, char const* what) {
        if (offers || degree.value_or(1) <= 1) { return; }
        throw InputError{Fault::impossible,
                         {.where = option,
                          .problem = framework.title + " cannot split " + what,
                          .why = "framework " + framework.name,
                          .hint = "leave it out, or name another --framework"}};
    };
    lacks("--tp", framework.tensor_parallel, given.tp, "matrix products over ranks");
    lacks("--pp", framework.pipeline, given.pp, "layers over ranks");
    lacks("--ep", framework.expert_parallel, given.ep, "experts over ranks");
    if (given.zero.value_or(0) > framework.most_zero) {
        throw InputError{Fault::impossible,
                         {.where = "--zero",
                          .problem = fmt::format("{} has no ZeRO stage {}", framework.title, *given.zero),
                          .why = "framework " + framework.name,
                          .hint = framework.most_zero > 0
                                      ? fmt::format("give at most {}, or name another --framework", framework.most_zero)
                                      : "leave it out, or name another --framework"}};
    }
    if (given.pp.value_or(1) > 1 && given.zero.value_or(0) > framework.pipeline_zero) {
        throw InputError{
            Fault::impossible,
            {.where = "--zero",
             .problem = fmt::format("{} has no ZeRO stage {} with a pipeline", framework.title, *given.zero),
             .why = fmt::format("--pp is {}, and its pipeline keeps whole gradients", *given.pp),
             .hint = fmt::format("give at most --zero {}, or leave --pp out", framework.pipeline_zero)}};
    }
}

/// Stages of the pipeline as the user states them; their number is that of `--pp`.
void split_model(std::string const& text, TrainingSetting& setting) {
    if (text.empty()) { return; }
    std::string const at = "--layers-per-stage";
    Model& model = setting.model;
    if (!model.operators.empty()) { refuse(at, model.name + " is a list of operators", "it has no layers"); }
    std::vector<int> stages;
    int sum = 0;
    for (std::size_t begin = 0; begin <= text.size();) {
        auto const end = std::min(text.find(',', begin), text.size());
        stages.push_back(parse_whole(text.substr(begin, end - begin), at));
        sum += stages.back();
        begin = end + 1;
    }
    int const layers = depth_of(model), pp = static_cast<int>(stages.size());
    if (sum != layers) {
        refuse(at, "the stages have " + std::to_string(sum) + " layers in sum",
               model.name + " has " + std::to_string(layers));
    }
    if (setting.given.pp.value_or(pp) != pp) {
        refuse(at, std::to_string(pp) + " stages are stated", "--pp is " + std::to_string(*setting.given.pp));
    }
    setting.given.pp = pp;
    model.layers_per_stage = std::move(stages);
}

/// The longest that the model allows, up to what is usual; the length of its usual data where it states no longest.
void assume_length(TrainingSetting& setting) {
    Model const& model = setting.model;
    int& length = setting.workload.sequence_length;
    int const positions = model.max_positions;
    std::string reason = "the model states no length";
    length = usual_sequence;
    if (!model.operators.empty()) {
        length = std::max(1, model.nominal_length);
        reason = "one sample, as the model's record has it";
    } else if (positions > 0) {
        length = std::min(positions, longest_default_sequence);
        reason = positions > longest_default_sequence
                     ? "the model allows " + std::to_string(positions) + "; 8192 is usual in pre-training"
                     : "the longest the model allows";
    } else if (model.nominal_length > 0) {
        length = model.nominal_length;
        reason = "of the model's usual data";
    }
    assume_default(setting, "sequence_length", std::to_string(length), reason);
}

void set_length(std::optional<int> const& length, TrainingSetting& setting) {
    Model const& model = setting.model;
    if (!length) { return assume_length(setting); }
    if (!model.operators.empty() && *length != std::max(1, model.nominal_length)) {
        refuse("--sequence-length", std::to_string(*length) + " is not the size of a sample",
               model.name + " is a list of operators for samples of " +
                   std::to_string(std::max(1, model.nominal_length)),
               "leave it out");
    }
    setting.workload.sequence_length = *length;
    if (model.max_positions > 0 && *length > model.max_positions) {
        setting.notes.push_back(fmt::format("--sequence-length: {} tokens are more than the {} positions of {}",
                                            *length, model.max_positions, model.name));
    }
}

/// Samples of a default batch: as many an accelerator as the model's record has, in 32 bits half of them.
int default_samples(TrainingSetting const& setting) {
    auto const& given = setting.given;
    bool const wide = given.precision == Precision::fp32 || given.precision == Precision::tf32;
    int const each = given.micro_batch ? *given.micro_batch * given.grad_accum.value_or(1)
                                       : std::max(1, setting.model.nominal_batch / (wide ? 2 : 1));
    auto const& counts = setting.workers;
    int const ranks = counts.size() == 1 ? counts.front()
                      : counts.empty()   ? given.dp.value_or(usual_image_ranks)
                                         : std::min(counts.back(), usual_image_ranks);
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{each} * ranks, largest_batch));
}

/// Sequences of a batch that is stated in tokens: exact where it divides, 2^20 for a million where that divides and it is
/// written in millions ("4M" of 8192 tokens is 512 sequences, 4,000,000 are 488), else the nearest number.
int sequences_of(double tokens, bool rounded, TrainingSetting& setting) {
    double const length = setting.workload.sequence_length;
    double const binary = tokens * (1024.0 * 1024.0) / 1e6;
    bool const exact = std::fmod(tokens, length) == 0.0;
    bool const in_binary = rounded && !exact && std::fmod(tokens, 1e6) == 0.0 && std::fmod(binary, length) == 0.0;
    double const sequences = std::max(1.0, std::round((in_binary ? binary : tokens) / length));
    if (sequences > largest_batch) {
        refuse("--global-batch", format_count(tokens) + " tokens are too many", "a step has up to 10^9 sequences");
    }
    setting.notes.push_back(fmt::format("--global-batch: {} tokens are read as {:.0f} {} of {:.0f} tokens",
                                        format_count(tokens), sequences, sequences == 1.0 ? "sequence" : "sequences",
                                        length));
    return static_cast<int>(sequences);
}

void set_batch(TrainingRequest const& request, TrainingSetting& setting) {
    auto batch = request.global_batch;
    if (request.batch_tokens && !setting.model.operators.empty()) {
        batch = static_cast<int>(std::min(*request.batch_tokens, 1.0 * largest_batch)); // samples have no tokens
    } else if (request.batch_tokens) {
        batch = sequences_of(*request.batch_tokens, request.batch_rounded, setting);
    }
    if (batch) {
        setting.workload.global_batch = *batch;
        return;
    }
    setting.batch_assumed = true;
    bool const samples = !setting.model.operators.empty() && setting.model.nominal_batch > 0;
    if (samples) {
        setting.workload.global_batch = default_samples(setting);
        return assume_default(setting, "global_batch", std::to_string(setting.workload.global_batch),
                              "default; samples a step, as many an accelerator as is usual for the model");
    }
    DefaultBatch batch_taken = default_batch(setting);
    setting.workload.global_batch = batch_taken.sequences;
    setting.batch_note = std::move(batch_taken.note);
    assume_default(setting, "global_batch", std::to_string(setting.workload.global_batch),
                   "default; sequences a step" + (setting.batch_note.empty() ? "" : ", " + setting.batch_note));
}

/// Sets the share of the sequence that data fill, and the spread of tokens over experts.
void set_data(TrainingRequest const& request, TrainingSetting& setting) {
    Workload& work = setting.workload;
    if (request.documents) {
        if (*request.documents > std::min(work.sequence_length, longest_document)) {
            refuse("--documents", std::to_string(*request.documents) + " tokens are longer than the sequence",
                   "it has " + std::to_string(work.sequence_length), "documents are packed into a sequence");
        }
        work.documents = *request.documents;
    }
    work.fill = request.fill.value_or(work.fill);
    if (!request.expert_skew) { return; }
    work.expert_skew = *request.expert_skew;
    int const experts = setting.model.moe.experts;
    if (work.expert_skew > std::max(1, experts)) {
        refuse("--expert-skew", fmt::format("'{:g}' is not possible", work.expert_skew),
               experts > 0 ? "all tokens on one of " + std::to_string(experts) + " experts make that many"
                           : setting.model.name + " has no experts",
               experts > 0 ? "" : "leave it out");
    }
}

/// Fields of the strategy record, where the user left them out.
void fill_from_record(TrainingRequest const& request, Catalog const& catalog, TrainingSetting& setting) {
    if (request.strategy_record.empty()) { return; }
    setting.strategy_record = catalog.text(RecordKind::strategy, request.strategy_record).name;
    auto const record = catalog.strategy(request.strategy_record);
    for (auto const& [field, value] : record.given) {
        if (known_strategy_field(field, "--strategy").fill(setting.given, record.fields)) {
            assume_default(setting, field, value, "given by the strategy " + setting.strategy_record,
                           Provenance::given);
        }
    }
}

/// bf16 and tf32 have stand-ins in the model; nobody who asks for them by name should get those in silence.
void check_precision(PartialStrategy const& given, Accelerator const& chip) {
    if (!given.precision) { return; }
    PeakRates const& peak = chip.peak;
    std::array const formats{
        std::pair{Precision::fp32, peak.fp32}, std::pair{Precision::tf32, peak.tf32},
        std::pair{Precision::fp16, peak.fp16}, std::pair{Precision::bf16, peak.bf16},
        std::pair{Precision::fp8, peak.fp8},   std::pair{Precision::nvfp4, peak.fp4},
    };
    Precision const wanted = *given.precision == Precision::mxfp8 ? Precision::fp8 : *given.precision;
    if (wanted == Precision::fp32 || wanted == Precision::fp16) { return; }
    std::vector<std::string> known;
    for (auto const& [format, rate] : formats) {
        if (rate.base() <= 0.0) { continue; }
        if (format == wanted) { return; }
        known.emplace_back(name_of(format));
    }
    refuse("--precision", chip.name + " has no " + std::string{name_of(*given.precision)} + " arithmetic",
           "rates are known for " + fmt::format("{}", fmt::join(known, ", ")), "choose one of these");
}

/// Measured links in the place of the catalog's, each listed among the assumptions.
void use_measured_network(Catalog const& catalog, TrainingSetting& setting) {
    if (setting.calibration.network.empty()) { return; }
    for (std::string& text : fit_links_to(catalog, setting.cluster, setting.calibration)) {
        setting.notes.push_back(std::move(text));
    }
    MeasuredNetwork const& network = setting.calibration.network;
    use_measured_links(network, setting.cluster, setting.calibration);
    std::string const reason = fmt::format("{}, by {}{}{}", name_of(Provenance::measured), setting.calibration.name,
                                           network.system.empty() ? "" : ", on ", network.system);
    Fabric const fabric = calibrated_fabric(setting.cluster, setting.calibration.values());
    auto const say = [&](char const* level, bool measured, Link const& now) {
        if (measured) {
            assume_default(setting, std::string{"network."} + level, format(now.bandwidth) + ", " + format(now.latency),
                           reason, Provenance::measured);
        }
    };
    say("scale_up", network.scale_up && setting.cluster.domain > 1, fabric.scale_up);
    say("scale_out", network.scale_out.has_value(), fabric.scale_out);
}

std::vector<int> worker_counts(TrainingRequest const& request, Cluster const& cluster) {
    std::vector<int> counts;
    for (int const nodes : request.nodes) {
        if (nodes > largest_nodes) {
            refuse("--nodes", fmt::format("'{}' is too large", nodes), "accelerators are counted up to 2147483647");
        }
        counts.push_back(nodes * cluster.accelerators_per_node);
    }
    if (counts.empty() || request.workers.empty() || request.workers == counts) {
        return request.workers.empty() ? counts : request.workers;
    }
    refuse("--nodes", "given with --workers",
           counts.size() == 1
               ? fmt::format("{} nodes of {} hold {}", request.nodes.front(), cluster.name, counts.front())
               : "one follows from the other",
           "keep one of the two; --accelerators-per-node says how many are used of each");
}

/// Numbers of a machine's text, "4xdgx-h100", where no option states them; an option may repeat them, and may ask for
/// several nodes like the one that the text describes.
TrainingRequest with_machines(TrainingRequest request, Machines const& machines) {
    if (!machines.nodes && !machines.workers) { return request; }
    bool const stated = !request.workers.empty() || !request.nodes.empty();
    int const size = machines.cluster.accelerators_per_node;
    if (!stated) {
        if (machines.nodes) { request.nodes = {*machines.nodes}; }
        if (machines.workers) { request.workers = {*machines.workers}; }
        return request;
    }
    double const in_text = machines.workers ? *machines.workers : 1.0 * *machines.nodes * size;
    bool const one_node = machines.workers && *machines.workers <= size;
    double const asked = request.workers.empty() ? 1.0 * request.nodes.front() * size : request.workers.front();
    bool const agrees = request.workers.size() + request.nodes.size() == 1 && asked == in_text;
    if (one_node || agrees) { return request; }
    refuse(request.workers.empty() ? "--nodes" : "--workers", "contradicts --cluster " + request.cluster,
           fmt::format("that names {:.0f} accelerators", in_text), "leave the number out of one of the two");
}

/// The machine, and how many of it.
void set_cluster(TrainingRequest const& request, Catalog const& catalog, TrainingSetting& setting) {
    Machines machines = request.machine
                            ? Machines{.cluster = *request.machine, .nodes = {}, .workers = {}, .reading = {}}
                            : load_machines(catalog, request.cluster);
    if (!machines.reading.empty()) {
        assume_default(setting, "cluster", machines.cluster.name, machines.reading, Provenance::given);
        setting.notes.push_back("--cluster: " + request.cluster + " is read as " + machines.reading);
    }
    TrainingRequest counts = with_machines(request, machines);
    setting.cluster = std::move(machines.cluster);
    if (request.accelerators_per_node) {
        use_part_of_node(setting.cluster, *request.accelerators_per_node, "--accelerators-per-node");
        if (counts.workers.empty() && counts.nodes.empty()) { counts.nodes = {1}; }
    }
    setting.workers = worker_counts(counts, setting.cluster);
    int const size = setting.cluster.accelerators_per_node;
    int const workers = setting.workers.empty() ? 0 : std::ranges::max(setting.workers);
    if (machines.reading.empty() || workers <= size || machines.workers.value_or(0) > size || machines.nodes) {
        return;
    }
    int const nodes = (workers + size - 1) / size;
    std::string const network = request.network.empty()
                                    ? fmt::format("{} ({} an accelerator)", setting.cluster.scale_out_name,
                                                  format(setting.cluster.scale_out.bandwidth))
                                    : request.network;
    assume_default(setting, "machines", fmt::format("{} of {}, joined by {}", nodes, size, network),
                   "--cluster names one machine, and more accelerators are asked for");
    setting.notes.push_back(
        fmt::format("--cluster: {} accelerators are {} machines of {}, joined by {}", workers, nodes, size, network));
}

/// Chunks a stage of a pipeline that is stated by the layers of a chunk, as Megatron has it.
void set_chunks(TrainingRequest const& request, TrainingSetting& setting) {
    if (!request.layers_per_chunk) { return; }
    constexpr char const* where = "--layers-per-chunk";
    if (!setting.given.pp) { refuse(where, "needs --pp", "chunks a stage follow from the stages", "add --pp 4"); }
    int const layers = setting.model.layers, share = *setting.given.pp * *request.layers_per_chunk;
    if (share > layers || layers % share != 0) {
        refuse(where, fmt::format("{} layers do not divide the model", *request.layers_per_chunk),
               fmt::format("{} layers over {} stages", layers, *setting.given.pp), "give --virtual-pp instead");
    }
    setting.given.virtual_pp = layers / share;
}

void set_framework(TrainingRequest const& request, Catalog const& catalog, TrainingSetting& setting) {
    std::string const name =
        request.framework.empty() ? likely_framework(setting.model, setting.cluster, setting.given) : request.framework;
    StateChoice choice{.optimizer = {}, .pure = setting.given.pure, .frozen = setting.given.frozen};
    if (setting.given.optimizer) { choice.optimizer = catalog.optimizer(*setting.given.optimizer); }
    if (choice.frozen && setting.given.trained != Trained::lora) {
        refuse("--base", "no weights are frozen below LoRA adapters", "--train lora trains LoRA adapters on them",
               "add --train lora, or leave it out");
    }
    bool const quantised = choice.frozen.value_or(FrozenFormat::sixteen_bit) != FrozenFormat::sixteen_bit;
    if (quantised && setting.given.tp.value_or(1) > 1) {
        refuse("--base",
               fmt::format("{} weights are not split over {} tensor-parallel ranks", name_of(*choice.frozen),
                           *setting.given.tp),
               "quantised layers keep whole blocks of scales", "leave --tp out, or keep the base in bf16");
    }
    if (quantised) { setting.given.tp = 1; }
    setting.framework = with_state(catalog.framework(name), choice, setting.model);
    if (setting.given.compiled && !setting.framework.compiled) {
        refuse("--compile", name + " is not software that torch.compile compiles", "its kernels are what they are",
               "leave it out, or name a framework that is lines of PyTorch");
    }
    refuse_idle_recipe(setting.given, setting.framework);
    Framework const& named = request.framework.empty() ? Framework{} : setting.framework;
    check_software(named, choice.frozen, setting.given.optimizer.value_or(""), setting.given.attention,
                   setting.cluster.accelerator);
    auto const& given = setting.given;
    setting.framework = with_kernels(setting.framework, {given.compiled, {}, given.attention, given.fp8_recipe});
    bool const own_selective = setting.framework.recompute == Recompute::alternate;
    if (own_selective && setting.given.recompute == Recompute::selective) {
        setting.given.recompute = Recompute::alternate;
        assume_default(setting, "recompute", "alternate", "what " + name + " calls selective", Provenance::cited);
    }
    if (request.framework.empty()) {
        assume_default(setting, "framework", name, "what such jobs most likely run; name yours with --framework");
    }
}

/// Tokens of a run that is stated in steps.
void count_tokens(TrainingSetting& setting) {
    if (!setting.steps) { return; }
    setting.tokens = *setting.steps * setting.workload.global_batch * setting.workload.sequence_length;
}

} // namespace

TrainingSetting training_setting(TrainingRequest const& request, Catalog const& catalog, CalibrationSet calibration) {
    TrainingSetting setting;
    setting.given = request.strategy;
    setting.notes = request.notes;
    fill_from_record(request, catalog, setting);
    setting.model = load_model(catalog, request.model, &setting.notes);
    for (Guess const& guess : setting.model.guesses) {
        setting.assumptions.push_back({guess.field, guess.value, guess.reason, guess.structural});
    }
    if (setting.model.vision_left_out) {
        assume_default(setting, "vision_tower", "not counted", "the language model alone is read");
    }
    cut_model(request.layers, setting.model);
    split_model(request.layers_per_stage, setting);
    set_cluster(request, catalog, setting);
    limit_power(request.power_limit, setting.cluster.accelerator);
    setting.cluster.host_memory = request.host_memory.value_or(setting.cluster.host_memory);
    if (!request.network.empty()) {
        JoinedNetwork const joined = join_by_network(catalog, request.network, "--network", setting.cluster);
        if (joined.ambiguous) { assume_default(setting, "network", joined.nics, "as --network was understood"); }
    }
    check_precision(setting.given, setting.cluster.accelerator);
    set_framework(request, catalog, setting);
    if (setting.model.operators.empty()) { check_degrees(setting.given, setting.framework); }
    list_machine_guesses(request, setting);
    setting.calibration = std::move(calibration);
    use_measured_network(catalog, setting);
    set_chunks(request, setting);
    set_length(request.sequence_length, setting);
    set_batch(request, setting);
    set_data(request, setting);
    setting.tokens = request.tokens;
    setting.steps = request.steps;
    count_tokens(setting);
    setting.memory_risk = request.memory_risk.value_or(setting.memory_risk);
    set_price(request, setting);
    return setting;
}

bool fit_assumed_batch(TrainingSetting& setting, Strategy const& strategy) {
    int& batch = setting.workload.global_batch;
    bool const stated = setting.given.micro_batch && setting.given.grad_accum; // then they make the batch, whole
    double const pieces =
        static_cast<double>(strategy.dp) * strategy.micro_batch * (stated ? setting.given.grad_accum.value_or(1) : 1);
    if (!setting.batch_assumed || pieces < 1 || pieces > largest_batch) { return false; }
    int const share = static_cast<int>(pieces);
    if (stated ? batch == share : batch % share == 0) { return false; }
    batch = stated ? share : multiple_of(share, usual_batch_of(setting));
    setting.batch_note.clear();
    count_tokens(setting);
    for (Assumption& one : setting.assumptions) {
        if (one.field != "global_batch") { continue; }
        one.value = std::to_string(batch);
        one.reason = stated ? "dp x micro-batch x accumulation steps"
                            : "default; sequences a step, a multiple of dp x micro-batch";
    }
    return true;
}

} // namespace headroom::io
