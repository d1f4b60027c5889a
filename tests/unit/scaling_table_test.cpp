#include "headroom/error.hpp"
#include "headroom/io/scaling_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ScalingTable read(std::string_view text, ScalingTableQuestion const& question = {}) {
    return read_scaling_table(text, "t.csv", question);
}

std::string refused(std::string_view text, Fault fault = Fault::unreadable, ScalingTableQuestion const& question = {}) {
    try {
        read(text, question);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

TEST(ScalingTable, ReadsWorkersAndSecondsWithRepeats) {
    ScalingTable const table = read("\"workers\",\"seconds\"\r\n1,10\r\n2,5.5\r\n2,5.25\r\n");
    ASSERT_EQ(table.rows.size(), 3U);
    EXPECT_EQ(table.quantity, ScalingQuantity::seconds);
    EXPECT_EQ(table.rows[2].workers, 2.0);
    EXPECT_EQ(table.rows[2].value, 5.25);
    EXPECT_EQ(table.rows[2].weight, 1.0);
    EXPECT_EQ(table.rows[2].line, 4U);
    EXPECT_THAT(table.notes, IsEmpty());
}

/// A batch that grows with the workers, or a rate that times the time does, makes the scaling weak.
TEST(ScalingTable, BatchesAndRatesShowThatTheWorkGrows) {
    auto const work = [](std::string const& text) { return read(text).work; };
    for (char const* const text : {"gpus,global_batch_size,step_time_s\n1,8,7.0\n2,16,7.1\n4,32,7.2\n",
                                   "gpus,batch per gpu,ms/step\n1,8,7.0\n2,8,7.1\n4,8,7.2\n",
                                   "gpus,time_s,samples_per_sec\n1,7.0,1.14\n2,7.1,2.25\n4,7.2,4.44\n",
                                   "gpus,time_s,tokens/s/GPU\n1,7.0,1.14\n2,7.1,1.13\n4,7.2,1.11\n"}) {
        EXPECT_EQ(work(text).growth, WorkGrowth::with_workers) << text;
    }
    EXPECT_EQ(work("gpus,GBS,step_time_s\n1,8,7\n2,16,7\n4,32,7\n").column, "GBS");
    EXPECT_EQ(work("gpus,global_batch,iteration time\n1,8,7\n2,8,4\n4,16,4\n").growth, WorkGrowth::otherwise);
    for (char const* const text : {"gpus,global_batch_size,step_time_s\n1,8,7.0\n2,8,3.6\n4,8,1.9\n",
                                   "gpus,step_time_s,steps_per_sec\n1,4.0,0.25\n2,2.0,0.5\n4,1.0,1.0\n",
                                   "gpus,global batch,time to train (min)\n1,8,70\n2,16,36\n4,32,19\n",
                                   "gpus,global_batch_size,step_time_s\n1,8,7\n1,16,7\n2,16,7\n2,32,7\n",
                                   "gpus,time_s,samples_per_sec\n1,7.0,1.0\n2,4.0,2.0\n4,2.5,4.0\n"}) {
        EXPECT_EQ(work(text).growth, WorkGrowth::unsaid) << text;
    }
}

TEST(ScalingTable, UnitsStandInCellsOrInTheHeader) {
    EXPECT_DOUBLE_EQ(read("gpus,time\n8,180ms\n16, 95 ms \n").rows[0].value, 0.180);
    EXPECT_DOUBLE_EQ(read("gpus,step_ms\n8,180\n").rows[0].value, 0.180);
    EXPECT_DOUBLE_EQ(read("gpus,Time (us)\n8,180\n").rows[0].value, 180e-6);
    EXPECT_DOUBLE_EQ(read("gpus,ms\n8,180\n").rows[0].value, 0.180);
    EXPECT_DOUBLE_EQ(read("gpus,time [min]\n8,3\n").rows[0].value, 180.0);
    EXPECT_DOUBLE_EQ(read("gpus,step_ms\n8,0.18s\n").rows[0].value, 0.180) << "the cell knows better";
    EXPECT_DOUBLE_EQ(read("threads,real_time,time_unit\n1,180,ns\n2,90,ns\n").rows[0].value, 180e-9);
    EXPECT_THAT(refused("n,time,unit\n1,180,ns\n2,90,us\n", Fault::usage), HasSubstr("'unit' differs from row to row"));
    ScalingTable const rates = read("gpus,throughput\n1k,1.2k img/s\n2000,2300 img/s\n");
    EXPECT_DOUBLE_EQ(rates.rows[0].value, 1200.0);
    EXPECT_EQ(rates.rows[0].workers, 1000.0);
    EXPECT_EQ(rates.unit, "img/s");
    EXPECT_DOUBLE_EQ(read("n,speedup\n4,3.9x\n").rows[0].value, 3.9);
}

TEST(ScalingTable, ColumnsHaveManyNames) {
    struct Named {
        char const* header;
        ScalingQuantity quantity;
    };
    for (auto const& [header, quantity] :
         {Named{"processors,throughput", ScalingQuantity::throughput},
          Named{"load,throughput", ScalingQuantity::throughput},
          Named{"p,samples_per_second", ScalingQuantity::throughput},
          Named{"nodes,frames/s", ScalingQuantity::throughput}, Named{"world_size,step time", ScalingQuantity::seconds},
          Named{"n,x", ScalingQuantity::throughput}, Named{"users,Speed-up", ScalingQuantity::speedup},
          Named{"ranks,barrier_us", ScalingQuantity::sync}}) {
        ScalingTable const table = read(std::string{header} + "\n1,2\n2,3\n");
        EXPECT_EQ(table.quantity, quantity) << header;
        EXPECT_EQ(table.rows.size(), 2U);
    }
    ScalingTableQuestion question{.quantity = "sync"};
    EXPECT_EQ(read("k,seconds\n2,1\n", question).quantity, ScalingQuantity::sync);
    question = {.quantity = "seconds", .workers_column = "a", .value_column = "b"};
    EXPECT_EQ(read("a,b\n2,1\n", question).rows[0].workers, 2.0);
}

TEST(ScalingTable, CyclesAreNoSeconds) {
    for (char const* const head : {"time (cycles)", "time [Mcycles]", "runtime (%)", "time (normalized)"}) {
        EXPECT_THAT(refused("workers," + std::string{head} + "\n1,100\n2,51\n", Fault::usage),
                    HasSubstr("which is no unit of time"))
            << head;
    }
    // next to a time they are not used; a note in brackets is no unit
    EXPECT_EQ(read("workers,time (s),time (cycles)\n1,10,100\n2,5,50\n").rows.at(0).value, 10.0);
    EXPECT_EQ(read("workers,time (avg of 5)\n1,10\n2,5\n").rows.at(0).value, 10.0);
}

TEST(ScalingTable, TimeOfAllWorkersIsNoElapsedTime) {
    for (char const* const head : {"GPU-hours", "core hours", "node_seconds", "CPU time (s)", "cpu_time"}) {
        EXPECT_THAT(refused("workers," + std::string{head} + "\n1,100\n2,101\n", Fault::usage),
                    HasSubstr("time of all workers together"))
            << head;
    }
    EXPECT_EQ(read("gpus,wall time (s),GPU-hours\n1,10,10\n2,5,10\n").rows.at(1).value, 5.0);
    EXPECT_EQ(read("gpus,GPU time (s)\n1,10\n2,5\n").rows.at(1).value, 5.0);
}

TEST(ScalingTable, WeightsAreStatedOrComeFromErrors) {
    EXPECT_EQ(read("workers,seconds,weight\n1,10,3\n").rows[0].weight, 3.0);
    ScalingTable const table = read("workers,time_ms,sigma\n1,10,2\n2,6,1\n");
    EXPECT_EQ(table.weight_column, "sigma");
    EXPECT_NEAR(table.rows[1].weight / table.rows[0].weight, 4.0, 1e-12) << "one over the square";
    EXPECT_NEAR(read("workers,time_ms,stderr\n1,10,2\n").rows[0].weight, 1.0 / 4e-6, 1e-3) << "2 ms";
    EXPECT_THAT(refused("workers,seconds,sigma\n1,10,0\n"), HasSubstr("t.csv:2: 'sigma': '0' is not above zero"));
}

TEST(ScalingTable, WhatIsNotUsedIsSaid) {
    ScalingTable const table = read("workers,seconds,host,throughput\n1,10,a,5\n");
    EXPECT_THAT(table.ignored, ElementsAre("host", "throughput"));
    ASSERT_EQ(table.notes.size(), 1U);
    EXPECT_THAT(table.notes[0], HasSubstr("column 'throughput' is not used"));
    EXPECT_EQ(read("nodes,gpus,throughput\n1,8,5\n").rows[0].workers, 8.0) << "workers are accelerators";
}

TEST(ScalingTable, SeveralSeriesAreToldAndChosen) {
    char const* text = "framework,gpus,throughput\nA,1,5\nB,1,7\nA,2,9\nB,2,13\n";
    EXPECT_THAT(read(text).notes.back(), HasSubstr("differ in 'framework' (2 values)"));
    ScalingTable const one = read(text, {.where = "framework=B"});
    ASSERT_EQ(one.rows.size(), 2U);
    EXPECT_EQ(one.rows[1].value, 13.0);
    EXPECT_THAT(one.notes, IsEmpty());
    EXPECT_THAT(refused(text, Fault::usage, {.where = "framework=C"}), HasSubstr("no row with framework = 'C'"));
    EXPECT_THAT(refused(text, Fault::usage, {.where = "frame=A"}), HasSubstr("no column 'frame'"));
    EXPECT_THAT(refused(text, Fault::usage, {.where = "A"}), HasSubstr("it is not column=value"));
}

TEST(ScalingTable, DamageIsNamedWithLineAndColumn) {
    EXPECT_EQ(refused("workers,seconds\n1,10\n2,fast\n"), "t.csv:3: 'seconds': 'fast' is no number");
    EXPECT_EQ(refused("workers,seconds\n1,-3\n"), "t.csv:2: 'seconds': '-3' is not above zero");
    EXPECT_EQ(refused("workers,seconds\n1,nan\n"), "t.csv:2: 'seconds': 'nan' is no number");
    EXPECT_EQ(refused("workers,seconds\n1,1e300\n"), "t.csv:2: 'seconds': '1e300' is too large or too small");
    EXPECT_THAT(refused("workers,seconds\n1,\n"), HasSubstr("t.csv:2: 'seconds': '' is no number"));
    EXPECT_THAT(refused("workers,seconds\n0,1\n"), HasSubstr("t.csv:2: 'workers': '0' is not above zero"));
    EXPECT_THAT(refused("workers,seconds\n1.5,1\n"), HasSubstr("'1.5' is not a whole number of workers"));
    EXPECT_THAT(refused("workers,seconds\n1,3 furlongs\n"), HasSubstr("is not a time. write it like 180ms"));
    EXPECT_THAT(refused("workers,throughput\n1,3 img/s\n2,5 tok/s\n"), HasSubstr("t.csv:3: 'throughput': in 'tok/s'"));
    EXPECT_THAT(refused("a,seconds\n1,3\n", Fault::usage), HasSubstr("t.csv:1: no column of worker counts"));
    EXPECT_THAT(refused("workers,b\n1,3\n", Fault::usage), HasSubstr("no column of seconds, throughput or speedup"));
    EXPECT_THAT(refused("workers,seconds\n1,3\n2,1,5\n"), HasSubstr("t.csv:3: 3 cells (the header has 2)"));
    EXPECT_THAT(refused("workers,seconds\n", Fault::insufficient), HasSubstr("no measurements"));
    EXPECT_THAT(refused("workers,seconds\n1,3\n", Fault::usage, {.value_column = "second"}), HasSubstr("seconds"));
    EXPECT_THAT(refused("workers,seconds\n1,3\n", Fault::usage, {.region = "main"}), HasSubstr("belongs to a text"));
}

TEST(ScalingTable, CountsMayCarryTheWordThatTheyCount) {
    EXPECT_EQ(read("gpus,time\n1 GPU,10\n8 GPUs,2\n").rows[1].workers, 8.0);
    EXPECT_EQ(read("config,time\n1 node,10\n4 nodes,3\n").rows[1].workers, 4.0);
    EXPECT_EQ(read("gpus,time\n8x A100,10\n16x A100,6\n").rows[1].workers, 16.0);
    EXPECT_THAT(refused("gpus,time\n1 node,10\n8 GPUs,2\n"), HasSubstr("t.csv:3: 'gpus': counts 'GPUs'"));
    EXPECT_THAT(refused("gpus,time\n8x A100,10\n8x H100,6\n"), HasSubstr("the rows above count 'x A100'"));
    EXPECT_THAT(refused("gpus,time\n8 apples,10\n"), HasSubstr("'8 apples' is not a whole number of workers"));
}

TEST(ScalingTable, MarksOfFootnotesAndApproximationsAreCounted) {
    ScalingTable const table = read("gpus,time (s)\n1*,100\n2,~52\n4,28\xE2\x80\xA0\n8 (1 node),16\n2x8,9\n");
    ASSERT_EQ(table.rows.size(), 5u);
    EXPECT_EQ(table.rows[1].value, 52.0);
    EXPECT_EQ(table.rows[2].value, 28.0);
    EXPECT_EQ(table.rows[3].workers, 8.0);
    EXPECT_EQ(table.rows[4].workers, 16.0);
    ASSERT_EQ(table.issues.size(), 1u);
    EXPECT_EQ(table.issues[0].count, 3u);
    EXPECT_EQ(table.issues[0].kind, "mark of a footnote or an approximation, not used");
    EXPECT_EQ(read("workers,time\n1 GPU (1 node),10\n16 GPUs (2 nodes),3\n").rows[1].workers, 16.0);
    EXPECT_THAT(refused("gpus,time\n1 node (8 GPUs),10\n2 nodes (16 GPUs),6\n"), HasSubstr("t.csv"));
    EXPECT_THAT(refused("gpus,time (s)\n1,<100\n2,52\n"), HasSubstr("'<100' is no number"));
}

TEST(ScalingTable, RowsMayBeObjectsOfJson) {
    for (std::string const text :
         {"{\"gpus\": 1, \"time\": 10.5}\n{\"gpus\": 2, \"time\": 6}\n",
          "[{\"gpus\": 1, \"time\": 10.5},\n {\"gpus\": 2, \"time\": 6}]",
          "{\"of\": \"a\", \"rows\": [{\"gpus\": 1, \"time\": 10.5},\n{\"gpus\": 2, \"time\": 6}]}"}) {
        ScalingTable const table = read(text);
        ASSERT_EQ(table.rows.size(), 2u) << text;
        EXPECT_EQ(table.rows[0].value, 10.5) << text;
        EXPECT_EQ(table.rows[1].workers, 2.0) << text;
        EXPECT_EQ(table.rows[1].line, 2u) << text;
    }
    ScalingTable const partial = read("[{\"gpus\": 1, \"time\": 9}, {\"gpus\": 2}, {\"gpus\": 4, \"time\": 3}]");
    EXPECT_EQ(partial.rows.size(), 2u);
    EXPECT_THAT(refused("[{\"gpus\": 1, \"time\": 9}, {\"gpus\": 2, \"time"),
                HasSubstr("t.csv: JSON that is cut short"));
    EXPECT_THAT(refused("{\"gpus\": 1, \"time\": 9}\noops\n"), HasSubstr("t.csv:2: no whole object of JSON"));
    EXPECT_THAT(refused("[{\"gpus\": 1, \"times\": [9, 8]}]", Fault::usage), HasSubstr("the columns are 'gpus'"));
    EXPECT_THAT(refused("[[1, 9], [2, 5]]"), HasSubstr("JSON without rows"));
}

TEST(ScalingTable, ASpreadBehindAValueIsCounted) {
    for (char const* const text : {"n,time\n1,10 \xC2\xB1 0.2\n", "n,time\n1,10 +/- 0.2 s\n", "n,time\n1,10(0.2)\n",
                                   "n,time (s)\n1,10 \xC2\xB1 2%\n", "n,time\n1,10s +- 0.2s\n"}) {
        ScalingTable const table = read(text);
        EXPECT_DOUBLE_EQ(table.rows[0].value, 10.0) << text;
        ASSERT_EQ(table.issues.size(), 1U) << text;
        EXPECT_EQ(table.issues[0].count, 1U);
        EXPECT_EQ(table.issues[0].line, 2U);
    }
    EXPECT_DOUBLE_EQ(read("n,time\n1,10 \xC2\xB1 0.2 ms\n").rows[0].value, 0.010) << "one unit for both";
    EXPECT_THAT(refused("n,time\n1,10 \xC2\xB1 few\n"), HasSubstr("is not a time"));
}

TEST(ScalingTable, ValuesOfOneWorkerAreTakenTimesTheWorkers) {
    ScalingTable const share = read("workers,efficiency\n1,1.0\n8,0.75\n");
    EXPECT_EQ(share.quantity, ScalingQuantity::speedup);
    EXPECT_DOUBLE_EQ(share.rows[1].value, 6.0);
    EXPECT_THAT(share.notes.at(0), HasSubstr("speedups over one worker"));
    EXPECT_DOUBLE_EQ(read("n,Efficiency (%)\n1,100\n8,75\n").rows[1].value, 6.0);
    EXPECT_DOUBLE_EQ(read("n,parallel efficiency\n1,100%\n8,75 %\n").rows[1].value, 6.0);
    EXPECT_DOUBLE_EQ(read("n,eff\n1,99\n8,75\n").rows[1].value, 6.0) << "no share is 75";
    for (char const* const head : {"tokens/s/GPU", "throughput (per GPU)", "samples_per_second_per_device"}) {
        ScalingTable const rate = read(std::string{"gpus,"} + head + "\n8,100\n16,90\n");
        EXPECT_EQ(rate.quantity, ScalingQuantity::throughput) << head;
        EXPECT_DOUBLE_EQ(rate.rows[1].value, 1440.0) << head;
    }
    EXPECT_DOUBLE_EQ(read("gpus,images/s,images/s/GPU\n8,800,100\n").rows[0].value, 800.0) << "the total is stated";
    EXPECT_THAT(refused("n,efficiency\n1,1 s\n"), HasSubstr("is not a share"));
    EXPECT_THAT(refused("nodes,tokens/s/GPU\n1,100\n", Fault::usage),
                HasSubstr("'tokens/s/GPU' is of another worker than 'nodes' counts"));
}

TEST(ScalingTable, TablesOfPapers) {
    char const* latex = "\\begin{tabular}{lr}\n\\toprule\n\\textbf{GPUs} & Time (s) \\\\\n\\midrule\n1 & $100.5$ \\\\\n"
                        "8 & 20 $\\pm$ 1 \\\\ \\hline\n% 16 & 3 \\\\\n\\end{tabular}\n";
    ScalingTable const table = read(latex);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.workers_column, "GPUs");
    EXPECT_DOUBLE_EQ(table.rows[0].value, 100.5);
    EXPECT_DOUBLE_EQ(table.rows[1].value, 20.0);
    ScalingTable const sideways = read("nodes,1,2,4\ntime [s],100,55,30\n");
    ASSERT_EQ(sideways.rows.size(), 3U);
    EXPECT_EQ(sideways.rows[2].workers, 4.0);
    EXPECT_DOUBLE_EQ(sideways.rows[2].value, 30.0);
    EXPECT_THAT(refused("n,time_small,time_large\n1,10,100\n", Fault::usage),
                HasSubstr("columns 'time_small' and 'time_large' (each may be a series of its own). say which: "
                          "--value-column 'time_small' --quantity seconds"));
}

// Expectation: the counts are those of the column that varies, unless somebody names another.
TEST(ScalingTable, OfSeveralCountsTheOneThatVariesIsTaken) {
    char const* text = "processes,threads,compute_ms,total_ms\n1,1,70,90\n1,2,40,50\n1,4,25,30\n";
    ScalingTable const table = read(text);
    EXPECT_EQ(table.workers_column, "threads");
    EXPECT_EQ(table.value_column, "total_ms");
    EXPECT_DOUBLE_EQ(table.rows[1].value, 0.05);
    EXPECT_THAT(table.ignored, ElementsAre("processes", "compute_ms"));
    EXPECT_EQ(read("gpus,nodes,time\n8,1,3\n16,2,2\n").workers_column, "gpus");
    EXPECT_EQ(read("n,p,time\n1000000,1,10\n1000000,2,5.3\n").workers_column, "p") << "n is the size where p is stated";
    EXPECT_EQ(read("MPI Ranks,OpenMP Threads per Rank,rate\n2,1,3\n2,4,9\n").workers_column, "OpenMP Threads per Rank");
}

// Expectation: whole numbers that differ within one count are settings, fractions are results.
TEST(ScalingTable, SettingsOfNumbersAreSeriesToo) {
    char const* text = "n_cells,np,time,gain\n1000,1,8.5,1\n1000,2,4.5,1.9\n500,1,4.25,1\n500,2,2.5,1.7\n";
    ASSERT_THAT(read(text).notes, testing::Contains(HasSubstr("choose with --where 'n_cells=1000'")));
    ScalingTable const one = read(text, {.where = "n_cells=500"});
    EXPECT_EQ(one.rows.size(), 2U);
    for (std::string const& note : one.notes) { EXPECT_THAT(note, Not(HasSubstr("--where"))); }
    EXPECT_THAT(read("np,run,time\n1,1,3\n1,2,4\n2,1,2\n2,2,3\n").notes, IsEmpty()) << "repeats";
}

TEST(ScalingTable, ColumnsMayHoldRepeats) {
    for (char const* header : {"np,time1,time2", "np,time_run1 (s),time_run2 (s)", "np,time,time", "np,t 1,t 2"}) {
        ScalingTable const table = read(std::string{header} + "\n1,8,9\n2,4,5\n");
        ASSERT_EQ(table.rows.size(), 4U) << header;
        EXPECT_EQ(table.rows[1].value, 9.0);
        EXPECT_EQ(table.rows[3].workers, 2.0);
    }
}

TEST(ScalingTable, WithoutAHeaderFallingFractionsAreSeconds) {
    ScalingTable const table = read("1,640,12.5\n2,640,6.75\n4,640,3.5\n");
    EXPECT_EQ(table.workers_column, "1");
    EXPECT_EQ(table.value_column, "3");
    EXPECT_EQ(table.rows[2].value, 3.5);
    EXPECT_THAT(table.notes, ElementsAre(HasSubstr("no header: column 1 is taken for worker counts, column 3")));
    EXPECT_THAT(refused("1,12.5\n2,22.5\n", Fault::usage), HasSubstr("--quantity throughput or speedup"));
    EXPECT_THAT(refused("1,12.5,1.5\n2,6.5,2.5\n", Fault::usage), HasSubstr("2 of 3 hold fractions"));
    EXPECT_EQ(read("# cores seconds\n1 12.5\n2 6.5\n").value_column, "seconds") << "named in a comment";
    EXPECT_EQ(read("1,12.5\n2,22.5\n", {.quantity = "throughput"}).rows[1].value, 22.5);
}

TEST(ScalingTable, NumbersAreReadWholeOrRefused) {
    EXPECT_EQ(read("np;time\n1;1.500,25\n2;800,5\n").rows[0].value, 1500.25);
    EXPECT_EQ(read("np\tthroughput\n1\t1,500\n2\t2,900\n").rows[0].value, 1500.0);
    EXPECT_DOUBLE_EQ(read("np,time\n1,2m5.5s\n2,1:03\n").rows[0].value, 125.5);
    EXPECT_EQ(read("np,time\n1,2m5.5s\n2,1:03\n").rows[1].value, 63.0);
    EXPECT_THAT(refused("np;time\n1;1,500\n2;2,900\n"),
                HasSubstr("t.csv:2: 'time': '1,500' is ambiguous: its mark may part decimals or groups of digits"));
    EXPECT_THAT(refused("np,throughput\n1,\"1,50,00\"\n"), HasSubstr("groups of digits are uneven"));
    EXPECT_THAT(refused("np,speedup\n1,1.5 or so\n"), HasSubstr("'1.5 or so' is not a speedup"));
}

char const* const text = "# a comment\nPARAMETER p\nPOINTS (4) (8)\n\nREGION main\nMETRIC time\nDATA 8 9\nDATA 22\n"
                         "REGION side->inner\nDATA 1\nDATA 2\nMETRIC flops\nDATA 3\nDATA 4\n";

TEST(ScalingTable, TextsOfExtraPAreRead) {
    ScalingTable const table = read(text);
    EXPECT_EQ(table.format, "extra-p");
    ASSERT_EQ(table.rows.size(), 3U);
    EXPECT_EQ(table.rows[1].workers, 4.0);
    EXPECT_EQ(table.rows[1].value, 9.0);
    EXPECT_EQ(table.rows[2].line, 8U);
    EXPECT_EQ(table.quantity, ScalingQuantity::seconds);
    EXPECT_EQ(table.region, "main");
    EXPECT_THAT(table.regions, ElementsAre("main", "side->inner"));
    EXPECT_THAT(table.metrics, ElementsAre("time", "flops"));
    ScalingTable const side = read(text, {.region = "side->inner", .metric = "flops"});
    EXPECT_EQ(side.quantity, ScalingQuantity::value);
    EXPECT_EQ(side.rows[1].value, 4.0);
    EXPECT_EQ(read("PARAMETER p\nPOINTS 4 8 16.5\nDATA 1\nDATA 2\nDATA 3\n").rows[2].workers, 16.5);
}

TEST(ScalingTable, DamageInATextIsNamedWithItsLine) {
    EXPECT_THAT(refused(text, Fault::usage, {.region = "sine->inner"}), HasSubstr("did you mean 'side->inner'?"));
    EXPECT_THAT(refused("PARAMETER p\nPOINTS 4\nDATA 1\nDATA 2\n"), HasSubstr("t.csv:4: more DATA lines than points"));
    EXPECT_THAT(refused("PARAMETER p\nPOINTS 4 8\nDATA 1\n"), HasSubstr("1 DATA lines for 2 points"));
    EXPECT_THAT(refused("PARAMETER p\nPOINTS 4 x\nDATA 1\n"), HasSubstr("t.csv:2: 'POINTS': 'x' is no number"));
    EXPECT_THAT(refused("PARAMETER p\nPOINTS 4\nDATA 0\n"), HasSubstr("t.csv:3: 'DATA': '0' is not above zero"));
    EXPECT_THAT(refused("PARAMETER p\nPOINT 4\n"), HasSubstr("unknown field 'POINT'"));
    EXPECT_THAT(refused("PARAMETER p q\nPOINTS (4 8)\nDATA 1\n", Fault::usage), HasSubstr("several parameters"));
    EXPECT_THAT(refused("PARAMETER p\n"), HasSubstr("no DATA lines"));
}

TEST(ScalingTable, ItsSizeIsBounded) {
    std::string many = "workers,seconds\n";
    for (int i = 1; i <= 1001; ++i) { many += std::to_string(i) + ",1\n"; }
    EXPECT_THAT(refused(many), HasSubstr("1001 worker counts"));
    EXPECT_THAT(refused("workers,seconds,weight\n1,1,1e-20\n2,1,1\n"), HasSubstr("weighs less"));
}

/// A table of somebody else's report; empty where the folder of such cases is not there.
std::string case_text(char const* name) {
    char const* shared = std::getenv("HEADROOM_SHARED");
    std::filesystem::path const folder =
        shared != nullptr ? std::filesystem::path{shared} : std::filesystem::path{HEADROOM_SOURCE_DIR} / "../shared";
    std::ifstream file{folder / "cases" / name};
    return {std::istreambuf_iterator<char>{file}, {}};
}

struct Reported {
    char const* name;
    std::size_t rows;
    char const *workers, *value;
    double last;
};

// Expectation: the rows, columns and last value that a person reads in each.
TEST(ScalingTable, TablesOfReportsAreRead) {
    if (case_text("laws-digit-groups/l2.csv").empty()) { GTEST_SKIP() << "no folder of cases: HEADROOM_SHARED"; }
    for (Reported const& one : std::array{
             Reported{"laws-digit-groups/l2.csv", 6, "OpenMP Threads per Rank", "Inactive [particles/sec]", 134937.0},
             Reported{"laws-digit-groups/thousand.csv", 5, "threads", "throughput", 11500.0},
             Reported{"laws-digit-groups/thousand_ok.csv", 5, "threads", "throughput", 11500.0},
             Reported{"laws-digit-groups/th_us.csv", 4, "cores", "throughput", 7500.0},
             Reported{"laws-read-right/negative_scaling.csv", 5, "threads", "time_us", 8038e-6},
             Reported{"laws-read-right/algorithms.csv", 15, "threads", "seconds", 0.00408871},
             Reported{"laws-read-right/ranks.csv", 3, "ranks", "time_seconds", 2.720954},
             Reported{"laws-speedup-from-4/speedups.csv", 3, "cores", "speed-up", 5.21},
             Reported{"laws-speedup-from-4/with_one.csv", 4, "cores", "speed-up", 5.21},
             Reported{"laws-tables-as-found/comment_first.csv", 4, "cores", "time (s)", 187.4},
             Reported{"laws-tables-as-found/jdftx.md", 26, "CPUs", "timeOfOneLCAOMinimize(s)", 20.77},
             Reported{"laws-tables-as-found/n_procs.csv", 23, "n_procs", "time_taken", 1.16},
             Reported{"laws-tables-as-found/no_header.csv", 8, "1", "6", 0.0194741},
             Reported{"laws-tables-as-found/omp_threads.csv", 4, "OMP_NUM_THREADS", "wall clock time", 146.595},
             Reported{"laws-tables-as-found/omp_threads.md", 4, "OMP_NUM_THREADS", "wall clock time", 146.595},
             Reported{"laws-tables-as-found/openmc.md", 6, "OpenMP Threads per Rank", "Inactive [particles/sec]",
                      134937.0},
             Reported{"laws-tables-as-found/semicolon.csv", 5, "cores", "time (s)", 115.0},
             Reported{"laws-tables-as-found/tab.csv", 4, "cores", "time (s)", 187.4},
             Reported{"laws-two-sizes/two_sizes.csv", 6, "nprocs", "time", 3.3}}) {
        ScalingTable const table = read(case_text(one.name));
        EXPECT_EQ(table.rows.size(), one.rows) << one.name;
        EXPECT_EQ(table.workers_column, one.workers) << one.name;
        EXPECT_EQ(table.value_column, one.value) << one.name;
        EXPECT_DOUBLE_EQ(table.rows.back().value, one.last) << one.name;
    }
    EXPECT_THAT(read(case_text("laws-two-sizes/two_sizes.csv")).notes,
                testing::Contains(HasSubstr("--where 'size=100000000'")));
    std::string const processes = case_text("laws-worker-column-constant/processes.csv");
    ScalingTable const open_mp = read(processes, {.where = "model=openmp"});
    EXPECT_EQ(open_mp.workers_column, "threads");
    EXPECT_EQ(open_mp.value_column, "total_ms");
    EXPECT_EQ(open_mp.rows.back().value, 0.472);
    EXPECT_EQ(read(processes, {.where = "model=hybrid"}).workers_column, "processes");
}

} // namespace
} // namespace headroom::io
