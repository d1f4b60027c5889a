// Heads of tables of scaling measurements that may mean one thing or another, and rows that are no measurements.

#include "headroom/error.hpp"
#include "headroom/io/scaling_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace headroom::io {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ScalingTable read(std::string_view text, ScalingTableQuestion const& question = {}) {
    return read_scaling_table(text, "t.csv", question);
}

std::string refused(std::string_view text, ScalingTableQuestion const& question = {}) {
    try {
        read(text, question);
    } catch (InputError const& error) { return error.what(); }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

/// ISO 80000 labels a column by the quantity over its unit: "time/s" is a time, not a rate.
TEST(TableHeads, AQuantityOverItsUnitIsATime) {
    for (std::string const head : {"time/ms", "t/ms", "step time/ms", "Zeit / ms", "Laufzeit/ms", "latency/ms"}) {
        ScalingTable const table = read("gpus," + head + "\n1,100\n2,52.5\n");
        EXPECT_EQ(table.quantity, ScalingQuantity::seconds) << head;
        EXPECT_DOUBLE_EQ(table.rows[1].value, 0.0525) << head;
    }
    EXPECT_DOUBLE_EQ(read("gpus,time/s\n1,100\n2,52.5\n").rows[0].value, 100.0);
    EXPECT_DOUBLE_EQ(read("gpus,wall time/min\n1,2\n2,1\n").rows[0].value, 120.0);
    for (std::string const head : {"step/s", "img/s", "tokens/min"}) {
        EXPECT_EQ(read("gpus," + head + "\n1,100\n2,190\n").quantity, ScalingQuantity::throughput) << head;
    }
    EXPECT_THAT(refused("gpus,t/s\n1,100\n2,190\n"), HasSubstr("may be a time or tokens per second"));
}

TEST(TableHeads, AFunctionOfTheWorkersIsNoUnit) {
    for (std::string const head : {"T(p)", "T(n)", "time (p)", "T(workers) [s]"}) {
        EXPECT_EQ(read("p," + head + "\n1,100\n2,52\n4,28\n").rows[1].value, 52.0) << head;
    }
    EXPECT_EQ(read("p,speedup (p)\n1,1\n2,1.9\n4,3.6\n").quantity, ScalingQuantity::speedup);
}

TEST(TableHeads, AMinWithoutBracketsIsMinutesOrAMinimum) {
    for (std::string const head : {"runtime_min", "time_min", "duration_min", "walltime_min", "time min"}) {
        EXPECT_THAT(refused("gpus," + head + "\n1,100\n2,52.5\n"), HasSubstr("may be in minutes or a minimum")) << head;
    }
    for (std::string const head : {"time (min)", "Time (min.)", "runtime [min]"}) {
        EXPECT_DOUBLE_EQ(read("gpus," + head + "\n1,100\n2,52.5\n").rows[0].value, 6000.0) << head;
    }
    EXPECT_DOUBLE_EQ(read("gpus,time_min,time_max\n1,97,150\n2,51,79\n").rows[0].value, 97.0);
    EXPECT_DOUBLE_EQ(read("gpus,time_min,time_avg\n1,97,100\n2,51,52.5\n").rows[0].value, 100.0);
    EXPECT_DOUBLE_EQ(read("gpus,runtime_min\n1,97 s\n2,51 s\n").rows[0].value, 97.0);
}

/// Nobody measured an ideal or predicted time: it is taken only where there is no other.
TEST(TableHeads, MeasuredColumnsGoBeforeIdealOnes) {
    for (std::string const word : {"ideal", "predicted", "expected", "linear", "theoretical"}) {
        ScalingTable const table = read("gpus," + word + " time (s),measured time (s)\n1,100,100\n2,50,52.5\n");
        EXPECT_EQ(table.rows[1].value, 52.5) << word;
        EXPECT_EQ(table.value_column, "measured time (s)") << word;
    }
    EXPECT_EQ(read("gpus,linear scaling img/s,actual img/s\n1,400,400\n2,800,784\n").rows[1].value, 784.0);
    EXPECT_EQ(read("gpus,ideal time (s)\n1,100\n2,50\n").rows[1].value, 50.0);
}

/// Parts of a step, or two series: none of them is the whole.
TEST(TableHeads, ColumnsAlikeAreNamedAndNotChosenAmong) {
    for (std::string const heads : {"forward_ms,backward_ms", "compute_ms,comm_ms", "load_time_s,train_time_s",
                                    "time_before_s,time_after_s", "A100 (s),H100 (s)"}) {
        std::string const error = refused("gpus," + heads + "\n1,30,60\n2,15,30\n");
        EXPECT_THAT(error, HasSubstr("parts of a step, or series of their own")) << heads;
        EXPECT_THAT(error, HasSubstr("--value-column '" + heads.substr(0, heads.find(',')))) << heads;
    }
    EXPECT_EQ(read("gpus,compute_s,comm_s,total_s\n1,95,5,100\n2,47.5,5,52.5\n").rows[1].value, 52.5);
    EXPECT_EQ(read("gpus,measured_s,sigma_s\n1,95,5\n2,47.5,5\n").rows[1].value, 47.5);
    // Expectation: rates are no parts of one another: the first is taken, with a note.
    ScalingTable const rates = read("gpus,train img/s,eval img/s\n1,30,60\n2,58,115\n");
    EXPECT_EQ(rates.value_column, "train img/s");
    EXPECT_THAT(rates.notes, testing::Contains(HasSubstr("not 'eval img/s'")));
    ScalingTableQuestion const named{.quantity = "seconds", .value_column = "comm_ms"};
    EXPECT_EQ(read("gpus,compute_ms,comm_ms\n1,95,5\n2,47.5,4\n", named).rows[1].value, 0.004);
}

/// A rate of steps says nothing where their batch grows: 10 steps of 32 are 320 samples, 9.5 of 64 are 608.
TEST(TableHeads, RatesOfStepsAreTakenTimesABatchThatGrows) {
    for (std::string const heads : {"global_batch_size,iterations/s", "bs,it/s", "gbs,steps_per_second"}) {
        ScalingTable const table = read("gpus," + heads + "\n1,32,10\n2,64,9.5\n4,128,9\n");
        EXPECT_EQ(table.rows[0].value, 320.0) << heads;
        EXPECT_EQ(table.rows[1].value, 608.0) << heads;
        ASSERT_EQ(table.notes.size(), 1U) << heads;
        EXPECT_THAT(table.notes[0], HasSubstr("the values are their product")) << heads;
    }
    EXPECT_EQ(read("gpus,global_batch_size,it/s\n1,32,10\n2,32,19\n").rows[1].value, 19.0);
    EXPECT_EQ(read("gpus,global_batch_size,img/s\n1,32,10\n2,64,19\n").rows[1].value, 19.0);
}

TEST(TableHeads, ClockTimesAreInTheUnitsOfTheirHead) {
    for (std::string const head : {"time (h:mm)", "Time [HH:MM]"}) {
        EXPECT_EQ(read("nodes," + head + "\n1,10:00\n2,5:15\n").rows[1].value, 5 * 3600.0 + 15 * 60.0) << head;
    }
    EXPECT_EQ(read("nodes,time\n1,10:00\n2,5:15\n").rows[1].value, 315.0);
    EXPECT_EQ(read("nodes,time (hh:mm:ss)\n1,00:10:00\n2,00:05:15\n").rows[1].value, 315.0);
}

/// Totals, blanks and words are no measurements, and a run that failed measured nothing.
TEST(TableHeads, RowsWithoutAMeasurementAreLeftOutAndCounted) {
    for (std::string const row : {"Total,250", ",", "8,OOM", "8,-", "Average,52", "8,n/a"}) {
        ScalingTable const table = read("gpus,time_s\n1,100\n2,52.5\n" + row + "\n4,28.75\n");
        ASSERT_EQ(table.rows.size(), 3U) << row;
        ASSERT_EQ(table.issues.size(), 1U) << row;
        EXPECT_EQ(table.issues[0].line, 4U) << row;
        EXPECT_THAT(table.notes.back(), HasSubstr("1 of 4 rows are left out")) << row;
    }
    for (std::string const row : {"8,1.2,FAILED", "8,1.2,OOM", "8,1.2,CANCELLED by 1000", "8,1.2,OUT_OF_MEMORY"}) {
        ScalingTable const table = read("nodes,time_s,State\n1,100,COMPLETED\n2,52,COMPLETED\n" + row + "\n");
        ASSERT_EQ(table.rows.size(), 2U) << row;
        EXPECT_THAT(table.issues[0].kind, HasSubstr("failed run")) << row;
    }
    EXPECT_EQ(read("gpus,time_s,success\n1,100,true\n2,52,true\n4,3,false\n").rows.size(), 2U);
    EXPECT_EQ(read("gpus,time_s,error\n1,100,\n2,52,\n4,3,timeout\n").rows.size(), 2U);
    ScalingTableQuestion const asked{.where = "State=FAILED"};
    EXPECT_EQ(read("nodes,time_s,State\n1,100,FAILED\n2,52,FAILED\n", asked).rows.size(), 2U);
    EXPECT_THAT(refused("gpus,time_s\n1,100\n2,52\ngpus,time_s\n1,9\n"), HasSubstr("no number"));
    EXPECT_THAT(refused("gpus,time_s\n0,100\n2,52\n"), HasSubstr("not above zero"));
}

TEST(TableHeads, AKNextToPowersOfTwoIs1024) {
    EXPECT_EQ(read("gpus,img/s\n256,1.1M\n512,2.1M\n1K,3.9M\n2K,7M\n").rows[3].workers, 2048.0);
    EXPECT_EQ(read("gpus,img/s\n250,1.1M\n500,2.1M\n1K,3.9M\n").rows[2].workers, 1000.0);
}

/// "1,500" s between tabs, bars or quotes may be 1500 s or 1.5 s.
TEST(TableHeads, ACommaOfATimeIsNotGuessed) {
    for (std::string const text :
         {"GPUs\tTime (s)\n1\t100,000\n2\t52,500\n", "| GPUs | Time (s) |\n|--|--|\n| 1 | 100,000 |\n| 2 | 52,500 |\n",
          "GPUs,Time (s)\n1,\"100,000\"\n2,\"52,500\"\n"}) {
        EXPECT_THAT(refused(text), HasSubstr("ambiguous")) << text;
    }
    EXPECT_EQ(read("GPUs\tTime (s)\tSpeedup\n1\t100,000\t1,00\n2\t52,500\t1,90\n").rows[1].value, 52.5);
    EXPECT_EQ(read("GPUs\tTime (ms)\n1\t1,500.5\n2\t1,250\n").rows[1].value, 1.25);
    ScalingTable const rates = read("GPUs\ttokens/s\n1\t10,500\n2\t20,100\n");
    EXPECT_EQ(rates.rows[1].value, 20100.0);
    EXPECT_THAT(rates.notes.back(), HasSubstr("taken for a mark of thousands"));
}

/// Amdahl's law with 5 % serial, and one row that is 3 times as long.
TEST(TableHeads, TheOneRowThatLiesApartIsNamed) {
    ScalingTable const table = read("gpus,time_s\n1,100\n2,52.5\n4,28.75\n8,16.9\n16,32.8\n32,7.97\n64,6.48\n");
    ASSERT_EQ(table.notes.size(), 1U);
    EXPECT_THAT(table.notes[0], HasSubstr("line 6, 16 workers: its value is 2.8x"));
    EXPECT_THAT(read("gpus,time_s\n1,100\n2,52.5\n4,28.75\n8,16.9\n16,10.9\n32,7.97\n64,6.48\n").notes, IsEmpty());
    EXPECT_THAT(read("gpus,time_s\n1,100\n2,90\n4,28.75\n8,30\n16,10.9\n32,20\n64,6.48\n").notes, IsEmpty());
}

TEST(TableHeads, LinesOutsideOfATableAreNoRows) {
    std::string const table = "| GPUs | time (s) |\n|---|---|\n| 1 | 100 |\n| 2 | 52.5 |\n";
    for (std::string const& text : {"Scaling of our model\n\n" + table, table + "\nTable 1: strong scaling\n",
                                    "Results:\n" + table + ": caption\n"}) {
        ScalingTable const read_table = read(text);
        ASSERT_EQ(read_table.rows.size(), 2U) << text;
        EXPECT_EQ(read_table.rows[1].value, 52.5) << text;
        EXPECT_THAT(read_table.notes, IsEmpty()) << text;
    }
    EXPECT_EQ(read("sep=;\nGPUs;Time (s)\n1;100,00\n2;52,50\n").rows[1].value, 52.5);
}

/// Heads in other languages are read as English ones, and noted.
TEST(TableHeads, HeadsInOtherLanguages) {
    for (std::string const heads : {"Anzahl GPUs;Durchsatz (Bilder/s)", "Knoten;Bilder pro Sekunde",
                                    "Nombre de GPU;D\xC3\xA9"
                                    "bit (images/s)",
                                    "GPU\xE6\x95\xB0\xE9\x87\x8F;\xE5\x90\x9E\xE5\x90\x90\xE9\x87\x8F(images/s)",
                                    "\xE5\x8D\xA1\xE6\x95\xB0;\xE5\x90\x9E\xE5\x90\x90"}) {
        ScalingTable const table = read(heads + "\n1;100,5\n2;190,5\n");
        EXPECT_EQ(table.quantity, ScalingQuantity::throughput) << heads;
        EXPECT_DOUBLE_EQ(table.rows[1].value, 190.5) << heads;
        EXPECT_THAT(table.notes, ::testing::Contains(HasSubstr("is read as"))) << heads;
    }
    for (std::string const heads : {"Kerne;Laufzeit [s]", "Prozesse;Zeit in Sekunden",
                                    "Processus;Temps d'ex\xC3\xA9"
                                    "cution (s)",
                                    "Procesadores;Tiempo (s)", "n\xC5\x93uds;Temps (s)"}) {
        ScalingTable const table = read(heads + "\n1;800,5\n2;420,5\n");
        EXPECT_EQ(table.quantity, ScalingQuantity::seconds) << heads;
        EXPECT_DOUBLE_EQ(table.rows[0].value, 800.5) << heads;
    }
    EXPECT_EQ(read("Anzahl Prozessoren;Beschleunigung\n1;1\n2;1,9\n").quantity, ScalingQuantity::speedup);
    EXPECT_THAT(refused("Kerne;Zeitung\n1;2\n2;1\n"), HasSubstr("Zeitung")); // another word
    EXPECT_EQ(read("Kerne,Zeit (s),Laufzeit (s)\n1,8,9\n2,4,5\n", {.value_column = "Laufzeit (s)"}).rows[0].value, 9.0);
}

} // namespace
} // namespace headroom::io
