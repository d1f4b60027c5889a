#include "support/training.hpp"

#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

/// A row of one of two nodes, with the columns that say what ran.
PublishedRun read(std::string const& columns, std::string const& cells, std::string const& workers = "8") {
    std::string const table =
        "id,source_family,arch,model_name,layers,hidden,heads,vocab,seq_len,accelerator,accelerators_total,precision,"
        "global_batch_sequences,micro_batch,tp,pp,measured_step_seconds," +
        columns + "\nX1,someone,dense_transformer,a model of our own,24,2048,16,50304,2048,A100-80GB," + workers +
        ",bf16,1024,1,1,1,12," + cells + "\n";
    auto run = read_runs(table, "runs.csv", training::catalog()).front();
    EXPECT_TRUE(run.question) << run.skipped_reason;
    return run;
}

TEST(RunKernels, AreReadFromTheirColumns) {
    auto const eager = read("framework", "hf-trainer").question->framework;
    EXPECT_EQ(eager.host, HostPace::eager);
    auto const compiled = read("framework,compile", "hf-trainer,on").question->framework;
    EXPECT_EQ(compiled.host, HostPace::modern);
    EXPECT_TRUE(compiled.fused_elementwise);
    auto const whole = read("framework,attention_kernel", "hf-trainer,unfused").question->framework;
    EXPECT_EQ(whole.attention, AttentionKernel::unfused);
    auto const rows = read("framework,fp8_recipe", "pytorch,rowwise").question->framework;
    EXPECT_EQ(rows.fp8_recipe, Fp8Recipe::rowwise);
    EXPECT_TRUE(read("framework,kernels", "hf-trainer,fused").question->framework.fused_elementwise);
    auto const limited = read("framework,power_limit_w", "hf-trainer,280").question->cluster.accelerator;
    EXPECT_DOUBLE_EQ(limited.power_limit.base(), 280.0);
}

TEST(RunKernels, OfAFrameworkThatNobodyNamesAreGuessed) {
    // Expectation: the row says Trainer; who does not say so gets what such machines run, as an assumption.
    auto const named = read("framework", "hf-trainer", "512");
    ASSERT_TRUE(named.unnamed);
    EXPECT_EQ(named.question->framework.name, "hf-trainer");
    EXPECT_EQ(named.unnamed->framework.name, "megatron-core");
    EXPECT_TRUE(framework_is_guessed(*named.unnamed));
    EXPECT_FALSE(framework_is_guessed(*named.question));
    EXPECT_TRUE(framework_is_guessed(*read("notes", "").question));
}

TEST(RunKernels, ANetworkThatIsNotStatedIsNotTheBest) {
    auto const usual = training::catalog().cluster("dgx-a100").scale_out.bandwidth;
    EXPECT_DOUBLE_EQ(read("framework", "hf-trainer", "16").question->cluster.scale_out.bandwidth / usual, 0.5);
    EXPECT_DOUBLE_EQ(read("framework", "hf-trainer", "8").question->cluster.scale_out.bandwidth / usual, 1.0);
    EXPECT_DOUBLE_EQ(read("framework", "megatron-core", "16").question->cluster.scale_out.bandwidth / usual, 1.0);
    auto const stated = read("framework,inter_node_link", "hf-trainer,8x 200Gb HDR", "16");
    EXPECT_DOUBLE_EQ(stated.question->cluster.scale_out.bandwidth / usual, 1.0);
}

TEST(RunKernels, SlowLinksAreStatedOrUsual) {
    EXPECT_FALSE(read("framework", "hf-trainer").slow_links);
    EXPECT_TRUE(read("framework,intra_node_link", "hf-trainer,PCIe").slow_links);
    EXPECT_TRUE(read("framework,inter_node_link", "hf-trainer,100 Gb/s Ethernet", "16").slow_links);
}

TEST(RunKernels, AShardThatIsNoneIsNone) {
    EXPECT_EQ(read("framework,zero_stage_or_fsdp", "hf-fsdp,DDP (FSDP NO_SHARD)").question->strategy.zero, 0);
    EXPECT_EQ(read("framework,zero_stage_or_fsdp", "hf-fsdp,FSDP FULL_SHARD").question->strategy.zero, 3);
}

TEST(RunKernels, ARowThatItsTableCallsSuspectIsDropped) {
    auto const dropped = read("framework,consistency", "hf-trainer,suspect");
    EXPECT_EQ(dropped.dropped_by, "contradicts itself");
    EXPECT_TRUE(read("framework,consistency", "hf-trainer,ok").counts());
}

} // namespace
} // namespace headroom::io
