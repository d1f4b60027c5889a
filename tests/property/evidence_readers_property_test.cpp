// Tables of runs and of scaling, traces, configs and logs without their marks: of a damaged file something else is read,
// the damage is counted, or it is an error.

#include "support/damaged_files.hpp"
#include "support/training.hpp"

#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/model_config.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/scaling_table.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/training/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <numeric>
#include <sqlite3.h>
#include <string>

namespace headroom {
namespace {

using namespace test;

std::string sample(std::string const& name) { return io::read_file(HEADROOM_SOURCE_DIR "/tests/data/" + name); }

// ---- tables -----------------------------------------------------------------------------------------------------------

std::string runs(std::string const& text) {
    std::vector<Issue> issues;
    std::string found;
    for (auto const& run : io::read_runs(text, "t", training::catalog(), &issues)) {
        found += fmt::format("{} {} {} {:.9g} {} {} {} {}\n", run.id, run.source, run.accelerator, run.measured.base(),
                             run.skipped_reason, run.dropped_by, run.dropped_because, fmt::join(run.assumed, ";"));
        if (!run.question) { continue; }
        training::Strategy const& strategy = run.question->strategy;
        found += fmt::format("{} {} {} {} {} {} {}\n", training::count_parameters(run.question->model).total,
                             run.question->model.heads, run.question->workload.global_batch, strategy.dp, strategy.tp,
                             strategy.pp, strategy.micro_batch);
    }
    return found + counted(issues);
}

std::string scaling(std::string const& text) {
    io::ScalingTable const table = io::read_scaling_table(text, "t", {});
    std::string found = fmt::format("{} {} {} {}\n", table.workers_column, table.value_column, table.weight_column,
                                    static_cast<int>(table.quantity));
    for (auto const& row : table.rows) { found += fmt::format("{} {} {}\n", row.workers, row.value, row.weight); }
    return found + fmt::format("{} {}", fmt::join(table.ignored, ";"), fmt::join(table.notes, ";")) +
           counted(table.issues);
}

TEST(EvidenceReaders, OfPublishedRunsLoseNothing) {
    std::string text = "id,source_repo_or_paper,arch,model_name,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq_len,"
                       "accelerator,accelerators_total,accelerators_per_node,precision,global_batch_sequences,"
                       "micro_batch,dp,tp,pp,measured_step_seconds,notes\n";
    for (int i = 0; i < 24; ++i) {
        text += fmt::format("X{},someone/something @abc 2023-05-01,dense_transformer,a model of our own,{},5120,40,40,"
                            "20480,50304,2048,A100-80GB,64,8,bf16,{},4,8,8,1,{}.5,row {}\n",
                            i, 24 + 4 * (i % 5), 256 * (1 + i % 3), 5 + i, i);
    }
    test::Layout const layout{.columns = {4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 18, 19, 20}};
    expect_seen("runs", text, runs, layout);
}

TEST(EvidenceReaders, OfScalingTablesLoseNothing) {
    std::string times = "workers,seconds,sigma\n", rates = "gpus;images/s\n",
                shares = "| GPUs | efficiency |\n|--|--|\n",
                text = "PARAMETER p\nPOINTS 1 2 4 8 16 32 64 128\nREGION main\nMETRIC time\n",
                latex = "\\begin{tabular}{rr}\nnodes & time (s) \\\\\n";
    for (int i = 0; i < 24; ++i) {
        int const workers = 1 << (i / 3);
        times += fmt::format("{},{}.25,{}\n", workers, 400 / workers + i, 1 + i);
        rates += fmt::format("{};{},5\n", workers, 350 * workers - i);
        shares += fmt::format("| {} GPUs | {} % |\n", workers, 99 - i);
        latex += fmt::format("{} & {}.5 \\\\\n", workers, 400 / workers + i);
    }
    for (int i = 0; i < 8; ++i) { text += fmt::format("DATA {}.5 {}.25\n", 100 - i, 101 - i); }
    expect_seen("times", times, scaling);
    expect_seen("rates", rates, scaling, {.columns = {}});
    expect_seen("shares", shares, scaling, {.quiet = {"|--"}, .row = "|"});
    expect_seen("extra-p", text, scaling, {.quiet = {"REGION", "METRIC"}, .free = {"REGION"}});
    expect_seen("latex", latex, scaling, {.quiet = {"begin"}, .free = {"begin"}});
}

// ---- traces -----------------------------------------------------------------------------------------------------------

std::string figures_of(std::vector<trace::RankTrace> const& traces) {
    std::string found;
    for (trace::RankTrace const& trace : traces) {
        found += fmt::format("{} {} {} {}\n", trace.format, trace.rank.value_or(-1), trace.world_size.value_or(-1),
                             trace.epoch_ns);
        for (std::size_t i = 0; i < trace.size(); ++i) {
            auto const& line = trace.timeline;
            found += fmt::format("{} {} {}-{} {} {}\n", static_cast<int>(trace.kind[i]), line.names[line.name[i]],
                                 line.begin[i], line.end[i], line.lanes[line.lane[i]],
                                 trace.calls.empty() ? 1 : trace.calls[i]);
        }
        for (auto const& one : trace.collectives) { found += fmt::format("{}\n", one.span); }
        for (auto const& one : trace.counted) { found += fmt::format("{}\n", one.span); }
        for (auto const& one : trace.copies) { found += fmt::format("{} {}\n", one.span, one.bytes); }
        found += counted(trace.issues);
    }
    return found;
}

std::string traced(std::string const& text) { return figures_of(io::read_traces(text, "t")); }

TEST(EvidenceReaders, OfChromeTracesLoseNothing) {
    std::string text = "{\"traceEvents\": [\n";
    for (int i = 0; i < 24; ++i) {
        int const at = 1000 + 100 * i;
        text += fmt::format("{{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
                            "\"ts\":{},\"dur\":5,\"args\":{{\"correlation\":{}}}}},\n",
                            at, i + 1);
        text += fmt::format("{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm {}\",\"pid\":0,\"tid\":7,\"ts\":{},"
                            "\"dur\":{},\"args\":{{\"stream\":7,\"correlation\":{}}}}},\n",
                            i % 4, at + 20, 40 + i, i + 1);
    }
    text += "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,\"ts\":990,\"dur\":3000}\n]}\n";
    expect_seen("chrome", text, traced, {.json = true});
}

TEST(EvidenceReaders, OfTablesOfProfilersLoseNothing) {
    auto const row = [](auto const&... cells) { return (fmt::format("{:>16}  ", cells) + ...) + "\n"; };
    std::string const dashes(16, '-'), rule = row(dashes, dashes, dashes);
    std::string table = rule + row("Name", "Self CUDA", "# of Calls") + rule;
    for (int i = 0; i < 24; ++i) {
        table += row(fmt::format("gemm_kernel<{}>", i), fmt::format("{}.500ms", i + 1), i + 2);
    }
    expect_seen("key_averages", table + rule + "Self CPU time total: 1.000ms\nSelf CUDA time total: 312.000ms\n",
                traced, {.quiet = {"-----", "Name", "time total"}, .free = {"-----", "Self CPU"}, .row = "g"});
    std::string kernels = "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Device\",\"Metric Name\","
                          "\"Metric Unit\",\"Metric Value\"\n";
    for (int i = 0; i < 24; ++i) {
        kernels += fmt::format(
            "\"{}\",\"9\",\"gemm\",\"1\",\"7\",\"0\",\"gpu__time_duration.sum\",\"usecond\",\"{}\"\n", i, 10 + i);
    }
    expect_seen("ncu", kernels, traced, {.free = {"gemm"}, .row = "\""});
}

TEST(EvidenceReaders, OfExecutionTracesLoseNothing) {
    std::string text = "{\"workload_graph\": [\n";
    for (int i = 1; i <= 24; ++i) {
        text +=
            fmt::format("{{\"Id\": {}, \"Name\": \"gemm {}\", \"NodeType\": 4, \"data_deps\": [{}], \"runtime\": {}, "
                        "\"is_cpu_op\": false}}{}\n",
                        i, i % 5, i - 1, 10 + i, i < 24 ? "," : "");
    }
    expect_seen("chakra", text + "], \"ngpus\": 8}\n", traced, {.json = true});
}

/// A database that statements make, as the bytes of its file.
std::string database_of(std::string const& statements) {
    sqlite3* opened = nullptr;
    sqlite3_open(":memory:", &opened);
    std::unique_ptr<sqlite3, decltype(&sqlite3_close)> const database{opened, sqlite3_close};
    if (sqlite3_exec(opened, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw InputError{Fault::unreadable, {.where = "t", .problem = sqlite3_errmsg(opened)}};
    }
    sqlite3_int64 size = 0;
    std::unique_ptr<unsigned char, decltype(&sqlite3_free)> const bytes{sqlite3_serialize(opened, "main", &size, 0),
                                                                        sqlite3_free};
    return {reinterpret_cast<char const*>(bytes.get()), static_cast<std::size_t>(size)};
}

TEST(EvidenceReaders, OfDatabasesOfNsightLoseNothing) {
    std::string text = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);\n"
                       "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel');\n"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
                       "correlationId, globalPid, demangledName, shortName);\n"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);\n";
    for (int i = 0; i < 24; ++i) {
        int const at = 1000 * (i + 1);
        text +=
            fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('{}', '{}', 0, 1, 7, {}, 100 << 24, 1, 1);\n",
                        at, at + 500 + i, i + 1);
        text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('{}', '{}', 100 << 24, {}, 2);\n",
                            at - 100, at - 50, i + 1);
    }
    // A number in quotes is a number of SQLite; with text behind it, it is a text.
    test::Layout const layout{.free = {"CREATE", "StringIds"}};
    auto const read = [](std::string statements) {
        for (std::size_t at = statements.find('\''); at != std::string::npos; at = statements.find('\'', at + 1)) {
            std::size_t const end = statements.find('\'', at + 1);
            bool const number = statements.find_first_not_of("0123456789", at + 1) == end;
            if (number) { statements[at] = statements[end] = ' '; }
            at = end;
        }
        return traced(database_of(statements));
    };
    expect_seen("nsys", text, read, layout);
}

// ---- configs ----------------------------------------------------------------------------------------------------------

std::string configured(std::string const& text) {
    io::ModelConfig const config = io::read_model_config(text, "t");
    auto const count = training::count_parameters(config.model);
    std::string found =
        fmt::format("{} {} {} {} {} {} {}\n", config.read_as, count.total, count.active, config.model.hidden,
                    fmt::join(config.used, ";"), fmt::join(config.ignored, ";"), fmt::join(config.filled, ";"));
    for (auto const& [key, value, reason, kept] : config.model.guesses) { found += key + value + reason + "\n"; }
    return found + counted(config.issues);
}

TEST(EvidenceReaders, OfConfigsLoseNothing) {
    for (char const* const name : {"llama-3-70b", "qwen3-30b-a3b", "deepseek-v3", "gemma-2-9b", "nemotron-3-nano"}) {
        std::string const text =
            nlohmann::json::parse(sample(fmt::format("configs/{}/config.json", name))).dump(1) + "\n";
        // keys within objects that say nothing of sizes: of those the object is named
        expect_seen(name, text, configured, {.quiet = {"factor", "siglip", "_type"}, .json = true});
    }
}

// ---- logs -------------------------------------------------------------------------------------------------------------

std::string collectives(std::string const& text) {
    io::BenchmarkLog const log = io::read_benchmark_log(text, "t.log", {});
    std::string found;
    for (auto const& row : log.rows) {
        found += fmt::format("{} {} {} {} {} {}\n", name_of(row.collective), row.ranks, row.nodes, row.size.size.base(),
                             row.time.base(), row.data_type);
    }
    return found + fmt::format("{}", fmt::join(log.notes, ";")) + counted(log.issues);
}

TEST(EvidenceReaders, OfLogsWithoutTheirMarksLoseNothing) {
    std::string text = "  nThread 1 nGpus 8 minBytes 1024 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20\n";
    for (int i = 0; i < 8; ++i) {
        text +=
            fmt::format("   Rank  {} Group  0 Pid  100{} on node1 device  {} [0x07] NVIDIA H100 80GB HBM3\n", i, i, i);
    }
    text +=
        "        size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
        "#wrong\n"
        "         (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
        "(GB/s)\n";
    for (int i = 0; i < 14; ++i) {
        double const size = 1024.0 * (1 << i), time = 20.0 + size / 2e5, rate = size / time / 1e3;
        text += fmt::format("{:12.0f} {:12.0f} float sum -1 {:9.2f} {:8.4f} {:8.4f} 0 {:9.2f} {:8.4f} {:8.4f} 0\n",
                            size, size / 4, time, rate, 1.75 * rate, time, rate, 1.75 * rate);
    }
    text += "  Out of bounds values : 0 OK\n  Avg bus bandwidth    : 55.5\n";
    std::vector<std::string_view> const heads{"nThread", "Rank  ", "size   ", "(B)  ", "Out of bounds", "Avg bus"};
    expect_seen("no hash", text, collectives, {.quiet = heads, .free = heads, .row = "0123456789"});
}

} // namespace
} // namespace headroom
