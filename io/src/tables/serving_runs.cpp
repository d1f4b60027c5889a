#include "headroom/io/serving_runs.hpp"

#include "records/record.hpp"
#include "records/record_words.hpp"
#include "tables/cell_text.hpp"
#include "tables/columns.hpp"
#include "tables/numbers.hpp"
#include "tables/run_cells.hpp"
#include "tables/run_models.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace headroom::io {

using namespace headroom::serving;

namespace {

struct ServingColumn {
    std::string_view name;
    bool required = false;
    std::string_view others = {}; ///< heads in small letters
};
constexpr std::array columns{
    ServingColumn{"id"},
    ServingColumn{"source_family"},
    ServingColumn{"source"},
    ServingColumn{"source_path"},
    ServingColumn{"date"},
    ServingColumn{"engine", true, "backend servingengine"},
    ServingColumn{"engine_version"},
    ServingColumn{"model", true, "modelname"},
    ServingColumn{"accelerator", true, "gpu gputype hardware device"},
    ServingColumn{"accelerators", false, "gpus ngpus numgpus"},
    ServingColumn{"tp"},
    ServingColumn{"weights_precision"},
    ServingColumn{"cache_precision"},
    ServingColumn{"schedule"},
    ServingColumn{"batch", false, "batchsize"},
    ServingColumn{"requests"},
    ServingColumn{"input_tokens", true, "isl inputlen inputlength promptlen promptlength prompttokens"},
    ServingColumn{"output_tokens", true, "osl outputlen outputlength generatedtokens"},
    ServingColumn{"ttft_ms"},
    ServingColumn{"tpot_ms"},
    ServingColumn{"output_tokens_per_s"},
    ServingColumn{"total_tokens_per_s"},
    ServingColumn{"notes"},
};

/// Columns of latencies, whose heads or cells state their unit.
struct ServingTime {
    std::string_view column;
    ColumnRow heads;
};
constexpr std::array serving_times{
    ServingTime{"ttft_ms", {.names = "ttft timetofirsttoken firsttokenlatency", .measure = CellMeasure::time}},
    ServingTime{"tpot_ms", {.names = "tpot timeperoutputtoken itl intertokenlatency", .measure = CellMeasure::time}},
};
constexpr std::array serving_words{HeadWords{"mean avg average median", 0},
                                   HeadWords{"max min std p90 p95 p99", ColumnMatch::never}};

/// Times of a column in milliseconds, under the name of the published table. Errors: InputError{usage} without a unit.
void write_milliseconds(CsvTable& table, ServingTime const& one, ColumnMatch const& match, std::string_view where) {
    auto const column = static_cast<std::size_t>(match.column);
    constexpr double milli = 1e3;
    if (match.unread) { refuse_unread(table.header[column], one.heads, head_place(table, where)); }
    for (auto& record : table.records) {
        CellValue const cell = cell_value(record.cells[column], CellMeasure::time);
        if (!cell.is_number()) { continue; }
        bool const bare = cell.kind == CellValue::Kind::bare;
        if (bare && !match.unit) {
            refuse(head_place(table, where), headroom::quoted(table.header[column]) + " states no unit", {},
                   fmt::format("name it {}", one.column));
        }
        record.cells[column] = fmt::format("{}", milli * (bare ? match.unit->base(cell.value) : cell.value));
    }
    table.header[column] = one.column;
}

/// Gives columns the names of the published table: "Input tokens", "TTFT (s)".
void name_columns(CsvTable& table, std::string_view where) {
    for (auto const& [name, required, others] : columns) {
        for (std::string& head : table.header) {
            std::string const key = normalised(head);
            bool other = false;
            for (std::string_view left = others; !left.empty();) { other = next_word(left) == key || other; }
            if (table.column(name) < 0 && (other || key == normalised(name))) { head = name; }
        }
    }
    for (ServingTime const& one : serving_times) {
        if (table.column(one.column) >= 0) { continue; }
        ColumnMatch const match = match_column(table.header, one.heads, serving_words);
        if (match.rank < ColumnMatch::unit_alone) { write_milliseconds(table, one, match, where); }
    }
}

void check_columns(CsvTable const& table, std::string_view where, std::vector<Issue>& issues) {
    std::vector<int> used;
    for (auto const& [name, required, others] : columns) {
        int const column = table.column(name);
        if (column < 0 && required) {
            throw InputError{Fault::unreadable,
                             {.where = fmt::format("{}:{}", where, table.head_line),
                              .problem = fmt::format("no column '{}'", name),
                              .hint = "the columns are those of validation/published_serving.csv"}};
        }
        if (column >= 0) { used.push_back(column); }
    }
    report_unused(issues, unused_columns(table.header, used));
}

/// Machines that many rows share are looked up once.
class ServedMachines {
public:
    explicit ServedMachines(Catalog const& catalog)
        : catalog_{catalog}, framework_{catalog.framework("megatron-core")} {}
    [[nodiscard]] training::Framework const& framework() const { return framework_; }
    Cluster const& of(std::string const& accelerator) {
        auto known = clusters_.find(accelerator);
        if (known == clusters_.end()) {
            known = clusters_.emplace(accelerator, load_cluster(catalog_, accelerator)).first;
        }
        return known->second;
    }

private:
    Catalog const& catalog_;
    training::Framework framework_; ///< the default of `headroom inference`
    std::map<std::string, Cluster> clusters_;
};

Precision format_of(RunCells const& row, std::string_view column) {
    auto const text = row.text(column);
    if (text.empty()) { return Precision::bf16; }
    auto const found = precision_from(text);
    if (!found) { throw Skip{fmt::format("{} {} is not known", column, quoted(text))}; }
    return *found;
}

RequestSchedule schedule_of(RunCells const& row) {
    auto const text = row.text("schedule");
    for (auto const one :
         {RequestSchedule::together, RequestSchedule::saturated, RequestSchedule::refilled, RequestSchedule::rounds}) {
        if (text == name_of(one)) { return one; }
    }
    if (text.empty()) { return RequestSchedule::together; }
    throw Skip{fmt::format("schedule {} is not together, saturated, refilled or rounds", quoted(text))};
}

double needed(RunCells const& row, std::string_view column) {
    auto const value = row.number(column);
    if (!value) { throw Skip{fmt::format("no {} stated", column)}; }
    return *value;
}

std::optional<Seconds> milliseconds(RunCells const& row, std::string_view column) {
    auto const value = row.number(column);
    return value ? std::optional{Seconds{*value * 1e-3}} : std::nullopt;
}

/// Tokens that come out; of a rate that counts prompts, the share of outputs.
std::optional<double> output_rate(RunCells const& row, PublishedServing const& run) {
    if (auto const rate = row.number("output_tokens_per_s")) { return rate; }
    auto const all = row.number("total_tokens_per_s");
    if (!all) { return std::nullopt; }
    return *all * run.output_tokens / (run.prompt_tokens + run.output_tokens);
}

void resolve(RunCells const& row, Catalog const& catalog, ServedMachines& machines, PublishedServing& run) {
    run.schedule = schedule_of(row);
    run.batch = row.number("batch");
    run.requests = row.number("requests");
    if (!run.batch && run.schedule != RequestSchedule::saturated) { throw Skip{"no batch stated"}; }
    run.prompt_tokens = needed(row, "input_tokens");
    run.output_tokens = needed(row, "output_tokens");
    run.first_token = milliseconds(row, "ttft_ms");
    run.per_token = milliseconds(row, "tpot_ms");
    run.tokens_per_second = output_rate(row, run);
    if (!run.first_token && !run.per_token && !run.tokens_per_second) { throw Skip{"no figure stated"}; }
    run.plan.tp = row.integer("tp").value_or(1);
    if (row.integer("accelerators").value_or(run.plan.tp) != run.plan.tp) {
        throw Skip{"accelerators that tensor ranks do not explain"};
    }
    run.plan.weights = format_of(row, "weights_precision");
    run.plan.cache = format_of(row, "cache_precision");
    run.plan.most_sequences = run.plan.prefill_chunk = 1; // what activations take is left to the share of memory
    std::string const model = name_in_catalog(run.model_name, catalog);
    if (!catalog.has_model(model)) {
        throw Skip{"model " + headroom::quoted(run.model_name) + " is not in the catalog"};
    }
    auto const accelerator = record_in_words(catalog, RecordKind::accelerator, run.accelerator);
    if (!accelerator) { throw Skip{"accelerator " + headroom::quoted(run.accelerator) + " is not in the catalog"}; }
    run.model = catalog.model(model);
    run.cluster = machines.of(*accelerator);
    run.framework = machines.framework();
    auto const engines = catalog.names(RecordKind::engine);
    if (std::ranges::find(engines, run.engine) != engines.end()) {
        Engine const engine = catalog.engine(run.engine);
        EngineLimits const& limits = engine.limits_on(run.cluster->accelerator);
        if (limits.states_chunk) { run.prompt_chunk = limits.prefill_chunk; }
    }
}

} // namespace

std::vector<PublishedServing> read_serving_runs(std::string_view csv, std::string_view where, Catalog const& catalog,
                                                std::vector<Issue>& issues) {
    CsvTable table = read_csv(csv, where);
    name_columns(table, where);
    check_columns(table, where, issues);
    ServedMachines machines{catalog};
    std::vector<PublishedServing> runs;
    runs.reserve(table.records.size());
    for (auto const& record : table.records) {
        RunCells const row{table, record, where};
        auto const text = [&](std::string_view column) { return std::string{row.text(column)}; };
        PublishedServing run{.id = text("id"),
                             .family = text("source_family"),
                             .engine = text("engine"),
                             .engine_version = text("engine_version"),
                             .model_name = text("model"),
                             .accelerator = text("accelerator"),
                             .source = text("source"),
                             .line = record.line};
        try {
            resolve(row, catalog, machines, run);
        } catch (Skip const& skip) { run.skipped_reason = skip.reason; }
        runs.push_back(std::move(run));
    }
    return runs;
}

} // namespace headroom::io
