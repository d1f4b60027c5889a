#include "inference/inference_report.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

std::string milliseconds(std::optional<double> seconds) { return seconds ? significant(*seconds * 1e3) : "-"; }
std::string milliseconds(Seconds time) { return significant(time.in(units::ms)); }
std::string dollars(std::optional<double> value) { return value ? significant(*value) : "-"; }

std::vector<Column> const time_columns{{"TTFT ms"}, {"p99"}, {"TPOT ms"}, {"p99"}};

void add_times(std::vector<std::string>& row, ServingResult const& result) {
    for (LatencyHistogram const* one : {&result.first_token, &result.per_token}) {
        for (double const q : {0.5, 0.99}) { row.push_back(milliseconds(quantile_of(*one, q))); }
    }
}

Table choices_table(std::string title, std::vector<ServingChoice> const& choices, std::optional<std::size_t> marked) {
    Table table{.title = std::move(title), .columns = {"tp", "replicas", "chips"}, .marked = marked};
    table.columns.insert(table.columns.end(), time_columns.begin(), time_columns.end());
    table.columns.insert(table.columns.end(), {"met %", spare("busy %"), "$/M tok", left("")});
    for (ServingChoice const& one : choices) {
        std::vector<std::string> row{std::to_string(one.plan.tp), std::to_string(one.replicas),
                                     std::to_string(one.accelerators)};
        if (!one.serves()) {
            row.insert(row.end(), {"-", "-", "-", "-", "-", "-", "-", "no fit"});
        } else {
            add_times(row, one.result);
            row.insert(row.end(), {percent(one.result.met), percent(one.result.busy),
                                   dollars(one.dollars_per_million_output_tokens),
                                   one.meets            ? "keeps"
                                   : !one.result.stable ? "grows"
                                                        : "misses"});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table plans_table(InferenceAnswer const& report) {
    Table table{
        .title = "Degrees of tensor parallelism, each at its best batch",
        .columns =
            {{"tp"}, {"cache GiB"}, {"largest"}, {"batch"}, {"ms a token"}, {"requests/s"}, {"a chip"}, {"$/M tok"}},
        .marked = report.chosen_plan};
    for (PlanRow const& one : report.plans) {
        bool const some = one.steady && one.steady->requests_per_second > 0.0;
        double const rate = some ? one.steady->requests_per_second : 0.0;
        table.rows.push_back(
            {std::to_string(one.plan.tp), one.memory.fits ? significant(one.memory.cache.in(units::GiB)) : "-",
             one.largest_batch > 0 ? std::to_string(one.largest_batch) : "-", some ? whole(one.steady->batch) : "-",
             some ? milliseconds(one.steady->iteration / one.plan.speculation.tokens()) : "-",
             some ? significant(rate) : "-", some ? significant(rate / one.plan.accelerators()) : "-",
             dollars(one.dollars_per_million_output_tokens)});
    }
    return table;
}

Items reasons(InferenceAnswer const& report) {
    Items items{"Why not", {}};
    for (PlanRow const& one : report.plans) {
        if (!one.why_not.empty()) { items.items.push_back(plan_words(one.plan) + ": " + one.why_not); }
    }
    return items;
}

Table load_table(InferenceAnswer const& report) {
    Table table{.title = "Load on these replicas", .columns = {"req/s", "load %"}};
    table.columns.insert(table.columns.end(), time_columns.begin(), time_columns.end());
    table.columns.insert(table.columns.end(), {"met/s", "batch", "cache %", left("")});
    for (std::size_t i = 0; i < report.load.size(); ++i) {
        LoadRow const& one = report.load[i];
        if (one.requests_per_second == report.question.arrivals()) { table.marked = i; }
        std::vector<std::string> row{significant(one.requests_per_second),
                                     one.of_capacity ? percent(*one.of_capacity) : "-"};
        add_times(row, one.result);
        row.insert(row.end(), {significant(one.result.goodput_per_second), significant(one.result.mean_batch),
                               percent(one.result.cache_use),
                               one.meets           ? "keeps"
                               : one.result.stable ? "misses"
                                                   : "grows"});
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table decode_table(InferenceAnswer const& report) {
    return field_rows("One iteration of decoding, " + plan_words(report.row()->plan), report.decode,
                      {{"batch"},
                       {"seconds", "time"},
                       {"tokens_per_second", "tokens", Shown::scaled},
                       {"products_seconds", "GEMM"},
                       {"attention_seconds"},
                       {"memory_seconds", "other"},
                       {"communication_seconds", "comm"},
                       {"cache_share", "cache", Shown::percent},
                       {"bound", "bound by"}});
}

Table prefill_table(InferenceAnswer const& report) {
    return field_rows("A prompt alone", report.prefill,
                      {{"tokens"},
                       {"iterations"},
                       {"seconds", "time"},
                       {"tokens_per_second", "rate", Shown::scaled},
                       {"bound", "bound by"}});
}

Table margins_table(InferenceAnswer const& report) {
    Table table{.title = "Were everything slower than priced", .columns = {"slower %", "replicas", "accelerators"}};
    int const each = report.choice()->plan.accelerators(), prefill = report.choice()->prefill_replicas;
    for (MarginRow const& one : report.margins) {
        table.rows.push_back({short_number(100.0 * (one.slower - 1.0)),
                              one.replicas ? std::to_string(*one.replicas) : "none do",
                              one.replicas ? std::to_string((*one.replicas + prefill) * each) : "-"});
    }
    return table;
}

Paragraph memory_paragraph(InferenceAnswer const& report) {
    PlanRow const& row = *report.row();
    ServingMemory const& memory = row.memory;
    std::string const one = report.question.simulates() || report.question.trace ? "a mean request" : "a request";
    return {"weights " + format_binary(memory.weights) + ", activations " + format_binary(memory.activations) +
                ", context and libraries " + format_binary(memory.runtime) + ", cache " + format_binary(memory.cache) +
                " of " + format_binary(memory.capacity) + " an accelerator (" + plan_words(row.plan) +
                "). The cache holds " + scaled(memory.cache_tokens * row.plan.pp) + " tokens; " +
                std::to_string(row.largest_batch * row.plan.pp) + " times " + one + " of " +
                scaled(report.question.tokens_at_end()) + " tokens fit",
            "memory"};
}

std::string asked_words(InferenceQuestion const& question) {
    if (question.is_open()) { return short_number(question.arrivals()) + " requests/s"; }
    std::string const words = traffic_words(question);
    return words.substr(words.find(' ') + 1);
}

void add_arrivals(Document& document, InferenceAnswer const& report) {
    document.blocks.emplace_back(choices_table("Ways to serve " + asked_words(report.question) + " (medians and p99)",
                                               report.choices, report.chosen));
    if (report.same.size() > 1) {
        document.blocks.emplace_back(
            choices_table("Up or out: as many accelerators, split otherwise", report.same, {}));
        if (!report.scale_verdict.empty()) {
            document.blocks.emplace_back(Paragraph{report.scale_verdict, "up or out"});
        }
    }
    if (report.against) {
        std::string const name = printable(report.against->cluster.name);
        if (!report.against->choices.empty()) {
            document.blocks.emplace_back(
                choices_table("The same money on " + name, report.against->choices, report.against->best));
        }
        document.blocks.emplace_back(Paragraph{report.against->verdict, "against", false, Part::answer});
    }
    if (!report.load.empty()) { document.blocks.emplace_back(load_table(report)); }
}

} // namespace

Document document_of(InferenceAnswer const& report, Setting const& setting, std::optional<CallStats> const& stats,
                     bool page) {
    InferenceQuestion const& question = report.question;
    Document document{"Serving " + printable(setting.model.name) + " on " + printable(setting.cluster.name),
                      {},
                      footer(setting.catalog, setting.calibration.name)};
    document.blocks.emplace_back(Paragraph{report.verdict, "", true});
    document.blocks.emplace_back(Paragraph{report.uncertainty, "how sure"});
    if (question.simulates() && !report.choices.empty()) { add_arrivals(document, report); }
    for (Chart& chart : charts_of(report, page)) { document.blocks.emplace_back(std::move(chart)); }
    bool const fits = std::ranges::any_of(report.plans, [](PlanRow const& one) { return one.memory.fits; });
    if (fits && (!question.simulates() || !report.chosen_plan)) { document.blocks.emplace_back(plans_table(report)); }
    if (Items items = reasons(report); !items.items.empty()) { document.blocks.emplace_back(std::move(items)); }
    if (report.chosen_plan) {
        document.blocks.emplace_back(memory_paragraph(report));
        document.blocks.emplace_back(decode_table(report));
        document.blocks.emplace_back(prefill_table(report));
    }
    if (!report.margins.empty()) { document.blocks.emplace_back(margins_table(report)); }
    if (auto notes = trace_notes(report); !notes.empty()) {
        Part const part = notes.size() > 1 ? Part::warning : Part::detail; // the first counts the rows
        document.blocks.emplace_back(Items{"What was read", std::move(notes), part});
    }
    document.blocks.emplace_back(assumptions_table(question.assumptions));
    Items guesses{"Guessed: no measurement stands behind these", {}};
    for (ServingGuess const& one : serving_guesses()) {
        std::string const unit = one.unit.empty() ? "" : " " + std::string{one.unit};
        guesses.items.push_back(std::string{one.name} + " " + significant(one.value) + unit + ": " +
                                std::string{one.why});
    }
    document.blocks.emplace_back(std::move(guesses));
    document.blocks.emplace_back(Paragraph{provenance_summary(setting.calibration), "constants", false, Part::detail});
    if (stats) { document.blocks.emplace_back(Paragraph{significant(stats->wall_seconds) + " s", "took"}); }
    return document;
}

} // namespace headroom::cli
