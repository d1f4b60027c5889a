#include "headroom/io/runs.hpp"

#include "networks/network_text.hpp"
#include "records/record_words.hpp"
#include "tables/cell_text.hpp"
#include "tables/phrases.hpp"
#include "tables/rows.hpp"
#include "tables/run_cells.hpp"
#include "tables/run_columns.hpp"
#include "tables/run_facts.hpp"
#include "tables/run_memory.hpp"
#include "tables/run_models.hpp"
#include "tables/sharding_cell.hpp"
#include "tables/suspect_runs.hpp"

#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace headroom::io {

using namespace headroom::training;

namespace {

std::string kind_of(std::string_view arch) {
    if (arch == "dense_transformer") { return "dense"; }
    if (arch.find("moe") != std::string_view::npos) { return "moe"; }
    if (arch == "cnn" || arch == "bert") { return std::string{arch}; }
    return "other";
}

/// Kind of a row that states none.
std::string kind_of_model(RunCells const& row, Model const* known) {
    if (!row.text("moe_experts").empty() || (known != nullptr && known->moe.experts > 0)) { return "moe"; }
    if (known != nullptr && !known->operators.empty()) { return "cnn"; }
    return find_caseless(row.text("model_name"), "bert") != std::string_view::npos ? "bert" : "dense";
}

/// Whether the row states the model's dimensions itself; those that a known name fills in do not count.
bool states_dimensions(RunCells const& row) {
    return std::ranges::none_of(std::array{"layers", "hidden", "heads"},
                                [&row](char const* column) { return row.text(column).empty(); });
}

/// Links that a row states to be PCIe or Ethernet; where it says nothing of those in a node, the usual ones.
bool has_slow_links(RunCells const& row, Cluster const& cluster) {
    auto const inside = row.text("intra_node_link"), between = row.text("inter_node_link");
    bool const pcie = inside.empty() ? cluster.scale_up_name.starts_with("pcie") && cluster.domain > 1
                                     : inside.find("PCIe") != std::string_view::npos;
    return pcie || between.find("Ethernet") != std::string_view::npos;
}

/// Halves the usual network between nodes where a framework that its users put together states none: those that state
/// theirs have half of a vendor's reference node in the median (validation/README.md).
void assume_network(RunCells const& row, int workers, Question& question, PublishedRun& run) {
    constexpr double usual_share = 0.5;
    bool const several = workers > question.cluster.accelerators_per_node;
    if (!several || !question.framework.ordinary || !row.text("inter_node_link").empty()) { return; }
    question.cluster.scale_out.bandwidth *= usual_share;
    run.assumed.push_back("network = half of the usual node's");
}

/// Resolves rows against one catalog; remembers records that many rows share.
class Resolver {
public:
    explicit Resolver(Catalog const& catalog)
        : catalog_{catalog}, models_{catalog}, frameworks_{recognisers(catalog)} {}

    void resolve(RunCells const& row, PublishedRun& run) {
        add_memory(row, run);
        Question question;
        question.model = models_.model(row, run);
        if (question.model.operators.empty() && !states_dimensions(row)) {
            question.assumptions.push_back({"dimensions", "those of " + question.model.name, "the row has none", true});
        }
        question.workload.sequence_length = sequence_length(row, question.model, run);
        int const workers = required(row, "accelerators_total", "accelerator count");
        question.cluster = cluster(row, run);
        run.slow_links = has_slow_links(row, question.cluster);
        PartialStrategy partial = stated_strategy(row, question.cluster, workers);
        KernelChoice const kernels = stated_kernels(row);
        if (kernels.compiled == true) { partial.compiled = true; } // lines of PyTorch; "eager" is said of others, too
        question.framework = framework(row, question, run, partial);
        if (run.framework_assumed) {
            question.assumptions.push_back({"framework", question.framework.name, "none is named", false});
            question.framework = with_kernels(question.framework, {.compiled = kernels.compiled});
        } else {
            question.framework = with_kernels(question.framework, kernels);
        }
        bool const own_selective = question.framework.recompute == Recompute::alternate; // by operation, torchtitan's
        if (own_selective && partial.recompute == Recompute::selective) { partial.recompute = Recompute::alternate; }
        assume_network(row, workers, question, run);
        question.workload.fill = share_of_tokens(row, question, run);
        add_noted_batch(row, question.model, partial);
        StateChoice choice{.optimizer = {}, .pure = partial.pure, .frozen = partial.frozen};
        if (partial.optimizer) {
            auto const name = record_in_words(catalog_, RecordKind::optimizer, *partial.optimizer);
            choice.optimizer = catalog_.optimizer(name.value_or(*partial.optimizer));
        }
        question.framework = with_state(question.framework, choice, question.model);
        question.workload.global_batch = global_batch(row, partial, workers, question, run);
        if (question.model.positions == Positions::learned) {
            question.model.max_positions = std::max(question.model.max_positions, question.workload.sequence_length);
        }
        if (partial.sequence_parallel == true && !partial.tp && workers % question.cluster.accelerators_per_node == 0) {
            partial.tp = question.cluster.accelerators_per_node; // it needs tensor-parallel ranks: those of a node
            question.assumptions.push_back({"tp", std::to_string(*partial.tp), "the ranks of a node", true});
        }
        auto filled = assume(partial, question.model, question.cluster, question.framework, question.workload, workers);
        question.strategy = filled.strategy;
        for (auto& assumption : filled.assumptions) { question.assumptions.push_back(std::move(assumption)); }
        refuse_the_illegal(question);
        if (peak_rate(question.cluster.accelerator, question.strategy.precision).base() <= 0.0) {
            throw Skip{"the accelerator has no " + std::string{name_of(question.strategy.precision)} + " arithmetic"};
        }
        try {
            add_measured(row, question, workers, run);
        } catch (Skip const& skip) {
            if (!run.measured_memory && !run.ran_out) { throw; }
            run.skipped_reason = skip.reason; // of its time; its memory is compared
        }
        run.utilization = stated_utilization(row);
        for (auto const& assumption : question.assumptions) {
            run.assumed.push_back(assumption.field + " = " + assumption.value);
            run.structural_assumption = run.structural_assumption || assumption.structural;
        }
        run.strategy_kind = strategy_kind(question.strategy);
        (run.skipped_reason.empty() ? run.question : run.memory_question) = std::move(question);
    }

    /// The question that a row of a transformer makes if nobody names its framework; empty where that guess cannot run.
    std::optional<Question> unnamed(RunCells const& row, PublishedRun run) {
        if (!run.question || !run.question->model.operators.empty()) { return std::nullopt; }
        run.question.reset();
        run.skipped_reason.clear();
        unnamed_ = true;
        try {
            resolve(row, run);
        } catch (Skip const&) { run.question.reset(); } catch (InputError const&) {
            run.question.reset();
        }
        unnamed_ = false;
        return run.question;
    }

    /// Remembers a length that a row's notes print: it holds for the other tables of the source and model.
    void remember_length(RunCells const& row) {
        auto const noted = noted_length(row.text("notes"));
        if (noted && row.text("seq_len").empty()) { noted_lengths_.emplace(source_and_model(row), *noted); }
    }

    [[nodiscard]] RunModels& models() { return models_; }

private:
    /// A row whose degrees contradict each other or its model. Uneven virtual stages, which real layouts have, do not.
    static void refuse_the_illegal(Question const& question) {
        auto const refusal = illegal_because(question.strategy, question.model, question.workload);
        if (refusal.empty()) { return; }
        Strategy plain = question.strategy;
        plain.virtual_pp = 1;
        bool const uneven = question.strategy.virtual_pp > 1 && question.strategy.pp > 1;
        if (!uneven || !illegal_because(plain, question.model, question.workload).empty()) { throw Skip{refusal}; }
    }

    static int required(RunCells const& row, char const* column, char const* what) {
        auto const value = row.integer(column);
        if (!value) { throw Skip{std::string{"no "} + what + " stated"}; }
        return *value;
    }

    Cluster cluster(RunCells const& row, PublishedRun& run) {
        std::string const name{row.text("accelerator")};
        if (name.empty()) { throw Skip{"no accelerator stated"}; }
        auto found = clusters_.find(name);
        if (found == clusters_.end()) {
            auto const accelerator = record_in_words(catalog_, RecordKind::accelerator, name);
            auto node = accelerator ? catalog_.default_node(*accelerator)
                                    : record_in_words(catalog_, RecordKind::node, name).value_or("");
            if (node.empty()) { node = node_named_in(catalog_, name).value_or(""); }
            if (node.empty()) { throw Skip{"the catalog has no accelerator '" + name + "'"}; }
            found = clusters_.emplace(name, catalog_.cluster(node)).first;
        }
        Cluster cluster = found->second;
        int const per_node = row.integer("accelerators_per_node").value_or(cluster.accelerators_per_node);
        if (per_node != cluster.accelerators_per_node && per_node > 0) {
            double const ratio = static_cast<double>(cluster.accelerators_per_node) / per_node;
            cluster.scale_out.bandwidth *= std::min(1.0, ratio);   // a smaller node has its own NICs
            cluster.host_memory_bandwidth *= std::max(1.0, ratio); // and its host to itself
            cluster.domain = cluster.domain == cluster.accelerators_per_node ? per_node : cluster.domain;
            cluster.accelerators_per_node = per_node;
        }
        take_network(row.text("inter_node_link"), cluster, run);
        if (auto const limit = row.number("power_limit_w")) { cluster.accelerator.power_limit = *limit * units::watt; }
        return cluster;
    }

    /// The share of an accelerator of the network that a cell states, with the rules by which an ambiguous one was read.
    static void take_network(std::string_view cell, Cluster& cluster, PublishedRun& run) {
        auto const generation = cluster.accelerator.generation;
        bool const on_chip = generation == Generation::gaudi2 || generation == Generation::gaudi3;
        if (cell.empty() || on_chip) { return; }
        NetworkText const text = read_network_text(cell);
        NodeNetwork const node = network_of_node(text, cluster.accelerators_per_node, usual_nics(cluster));
        if (node.node > 0.0) {
            cluster.scale_out.bandwidth =
                node.node / std::max(1, cluster.accelerators_per_node) * units::Gbit / units::s;
        }
        if (!node.rules.empty()) { run.assumed.push_back("network = " + words_of(node)); }
        if (!text.left_over.empty()) { run.assumed.push_back("of the network not read: " + words_of(text.left_over)); }
    }

    Framework framework(RunCells const& row, Question const& question, PublishedRun& run,
                        PartialStrategy const& given) {
        std::string name = framework_of(catalog_, frameworks_, row, question.cluster.accelerator.vendor);
        if (unnamed_ || name.empty()) {
            name = likely_framework(question.model, question.cluster, given, row.year());
            run.assumed.push_back("framework = " + name);
            run.framework_assumed = true;
        }
        auto found = framework_records_.find(name);
        if (found == framework_records_.end()) {
            found = framework_records_.emplace(name, catalog_.framework(name)).first;
        }
        bool const dated = !row.text("framework_version").empty();
        return as_of(found->second, dated ? row.text("framework_version") : in_lower_case(row.text("framework")));
    }

    [[nodiscard]] std::pair<std::string, std::string> source_and_model(RunCells const& row) const {
        return {std::string{row.text("source_family")}, models_.catalog_name(row)};
    }

    [[nodiscard]] std::optional<int> length_noted_for(RunCells const& row) const {
        if (auto const own = noted_length(row.text("notes"))) { return own; }
        auto const found = noted_lengths_.find(source_and_model(row));
        return found == noted_lengths_.end() ? std::nullopt : std::optional{found->second};
    }

    int sequence_length(RunCells const& row, Model const& model, PublishedRun& run) const {
        bool const fixed = !model.operators.empty() || model.nominal_length > 0;
        if (!model.operators.empty()) { return std::max(1, model.nominal_length); }
        if (auto const stated = row.integer("seq_len")) { return *stated; }
        auto const noted = length_noted_for(row);
        if (!noted && !fixed) { throw Skip{"no sequence length stated"}; }
        constexpr int answering_questions = 384; // encoders are fine-tuned on SQuAD with this length [Devlin2019]
        bool const answers = run.kind == "bert" && fine_tunes(row.text("source_path_or_table"));
        int const length = noted ? *noted : answers ? answering_questions : model.nominal_length;
        run.assumed.push_back("sequence length = " + std::to_string(length));
        return length;
    }

    Catalog const& catalog_;
    RunModels models_;
    std::vector<FrameworkRecogniser> frameworks_;
    bool unnamed_ = false; ///< frameworks are guessed, whatever a row says
    std::map<std::string, Cluster> clusters_;
    std::map<std::string, Framework> framework_records_;
    std::map<std::pair<std::string, std::string>, int> noted_lengths_;
};

/// Whether a row states a figure of its step: a number of time, throughput, arithmetic or utilisation.
bool states_measurement(RunCells const& row) {
    constexpr std::array columns{"measured_step_seconds",
                                 "measured_tokens_per_s_total",
                                 "measured_tokens_per_s_per_gpu",
                                 "measured_tflops_per_gpu",
                                 "measured_mfu_pct",
                                 "measured_hfu_pct",
                                 "samples_per_s"};
    return std::ranges::any_of(
        columns, [&](char const* column) { return std::ranges::any_of(row.text(column), is_decimal_digit); });
}

/// Dimensions or a known name, sequence length (images have none), global batch, accelerator and count, and a measurement:
/// without one there is nothing that a prediction misses.
bool states_enough(RunCells const& row, Model const* known) {
    if (!states_measurement(row)) { return false; }
    bool const dimensions = !row.text("layers").empty() && !row.text("hidden").empty();
    bool const length = !row.text("seq_len").empty() || (known != nullptr && !known->operators.empty());
    bool const rest = !row.text("global_batch_sequences").empty() && !row.text("accelerators_total").empty() &&
                      !row.text("accelerator").empty();
    return (dimensions || known != nullptr) && length && rest;
}

/// Key of the table that a row belongs to: all its facts but the count of accelerators.
std::string table_of(RunCells const& row) {
    std::string key{row.text("source_repo_or_paper")};
    key += '\n' + place_of(row);
    for (auto const* column : {"model_name", "accelerator", "precision", "seq_len", "micro_batch"}) {
        key += '\n' + std::string{row.text(column)};
    }
    auto const noted = noted_batch(row.text("notes"), row.text("precision"));
    key += '\n' + std::to_string(noted.micro_batch.value_or(0));
    return key;
}

/// Counts words of a row that no rule understands: what they say is assumed. Published words of sharding say what they
/// mean by ZeRO, FSDP or DDP.
void count_unknown_words(RunCells const& row, std::size_t line, Catalog const& catalog, std::vector<Issue>& issues) {
    auto const count = [&](std::string_view column, bool understood) {
        std::string_view const cell = row.text(column);
        if (cell.empty() || understood) { return; }
        count_issue(issues, Issue{.kind = "cell not understood",
                                  .count = 1,
                                  .line = line,
                                  .column = std::string{column},
                                  .text = shortened(cell)});
    };
    std::string_view const recompute = row.text("activation_recompute"), sharding = row.text("zero_stage_or_fsdp");
    count("precision", precision_from(row.text("precision")).has_value());
    count("activation_recompute", recompute_from(recompute).has_value());
    count("framework", framework_in_words(catalog, row.text("framework")).has_value());
    count("compile", stated_kernels(row).compiled.has_value());
    count("kernels", row.text("kernels") == "fused" || row.text("kernels") == "eager");
    count("attention_kernel", stated_kernels(row).attention.has_value());
    count("fp8_recipe", stated_kernels(row).fp8_recipe.has_value());
    count("sp", yes_or_no(row.text("sp")).has_value());
    bool const named = find_caseless(sharding, "fsdp") != std::string_view::npos ||
                       find_caseless(sharding, "ddp") != std::string_view::npos;
    count("zero_stage_or_fsdp", named || zero_stage(sharding).has_value() || offload_of(sharding) != Offload::none);
}

/// Counts rows that are the same as one before: their runs count as often as they stand there.
void count_copies(CsvTable const& table, std::vector<Issue>& issues) {
    std::set<std::string> seen;
    for (auto const& record : table.records) {
        if (seen.insert(fmt::format("{}", fmt::join(record.cells, "\n"))).second) { continue; }
        count_issue(issues, Issue{.kind = "row that stands twice", .count = 1, .line = record.line, .kept = true});
    }
}

} // namespace

std::vector<PublishedRun> read_runs(std::string_view csv, std::string_view where, Catalog const& catalog,
                                    std::vector<Issue>* issues) {
    std::vector<Issue> ignored;
    std::vector<Issue>& found = issues != nullptr ? *issues : ignored;
    CsvTable const table = read_run_table(csv, where, catalog, found);
    count_copies(table, found);
    Resolver resolver{catalog};
    std::vector<PublishedRun> runs;
    runs.reserve(table.records.size());
    for (auto const& record : table.records) { resolver.remember_length({table, record, where}); }
    for (auto const& record : table.records) {
        RunCells const row{table, record, where};
        count_unknown_words(row, record.line, catalog, found);
        PublishedRun run;
        run.id = row.text("id").empty() ? fmt::format("line {}", record.line) : std::string{row.text("id")};
        run.source = std::string{row.text("source_family")};
        run.accelerator = std::string{row.text("accelerator")};
        Model const* const known = resolver.models().known_model(row);
        run.kind = row.text("arch").empty() ? kind_of_model(row, known) : kind_of(row.text("arch"));
        run.strategy_kind = "not predicted";
        run.table = table_of(row);
        run.states_enough = states_enough(row, known);
        try {
            resolver.resolve(row, run);
            run.unnamed = resolver.unnamed(row, run);
        } catch (Skip const& skip) { run.skipped_reason = skip.reason; } catch (InputError const& error) {
            run.skipped_reason = error.fault() == Fault::unreadable ? error.what() : error.text().problem;
        }
        runs.push_back(std::move(run));
    }
    drop_suspects(table, where, runs);
    return runs;
}

} // namespace headroom::io
