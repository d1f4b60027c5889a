#include "../../io/src/tables/sharding_cell.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace headroom::io {
namespace {

using namespace training;

TEST(ZeroStage, ReadsWhatPeopleWrite) {
    EXPECT_EQ(zero_stage(""), std::nullopt);
    EXPECT_EQ(zero_stage("DDP (FSDP=0)"), std::nullopt);
    EXPECT_EQ(zero_stage("FSDP_FULL_SHARD"), 3);
    EXPECT_EQ(zero_stage("FSDP_SHARD_GRAD_OP"), 2);
    EXPECT_EQ(zero_stage("ZeRO-1 (text: \"ZeRO-1 saves a lot of memory\")"), 1);
    EXPECT_EQ(zero_stage("DeepSpeed ZeRO-2"), 2);
    EXPECT_EQ(zero_stage("ZeRO (DeepSpeed, stage 3 per Megatron-LM-v1.1.5-ZeRO3 code)"), 3);
    EXPECT_EQ(zero_stage("FSDP (shards optimizer+grads, params not resharded)"), 2);
    EXPECT_EQ(zero_stage("OverlappedDistributedOptimizer (ZeRO-1-like)"), 1);
    EXPECT_EQ(zero_stage("FSDP ici_fsdp=1"), std::nullopt);
    EXPECT_EQ(zero_stage("FSDP ici_fsdp=16"), 3); // no 1 at the end of the number
    for (int stage = 0; stage <= 3; ++stage) { EXPECT_EQ(zero_stage(std::to_string(stage)), stage); }
    EXPECT_EQ(zero_stage("7"), std::nullopt);
}

TEST(ZeroStage, ReadsStagesInWords) {
    EXPECT_EQ(zero_stage("DeepSpeed ZeRO stage 1"), 1);
    EXPECT_EQ(zero_stage("ZeRO stage 2"), 2);
    EXPECT_EQ(zero_stage("ZeRO 3"), 3);
}

TEST(ZeroStage, ReadsCellsThatShardNothing) {
    for (auto const* cell : {"ZeRO-0",
                             "ZeRO 0",
                             "zero0",
                             "ZeRO=0",
                             "stage0",
                             "Stage 0",
                             "zero_stage: 0",
                             "DeepSpeed ZeRO (stage 0)",
                             "none",
                             "None",
                             "no",
                             "off",
                             "No ZeRO",
                             "DDP",
                             "PyTorch DDP",
                             "DistributedDataParallel",
                             "DP",
                             "data parallel",
                             "FSDP NO_SHARD",
                             "Horovod"}) {
        EXPECT_EQ(zero_stage(cell), 0) << cell;
    }
}

TEST(ZeroStage, ReadsEveryStageHoweverItIsSpelled) {
    for (auto const* cell : {"ZeRO-1", "zero1", "Z1", "sharding stage1", "distributed optimizer", "DDP + ZeRO-1",
                             "DDP, distributed optimizer"}) {
        EXPECT_EQ(zero_stage(cell), 1) << cell;
    }
    for (auto const* cell : {"zero_stage=2", "ds_z2", "DeepSpeed-ZeRO2 (offload)", "Stage-2", "FSDP SHARD_GRAD_OP"}) {
        EXPECT_EQ(zero_stage(cell), 2) << cell;
    }
    for (auto const* cell : {"ZeRO-3 offload", "deepspeed z3", "ZeRO-3 + CPU offload", "stage3", "ZeRO++",
                             "ZeRO-Infinity", "HSDP", "hybrid shard", "fully sharded", "FSDP2", "fsdp1"}) {
        EXPECT_EQ(zero_stage(cell), 3) << cell;
    }
}

TEST(ZeroStage, ReadsNoStageWhereNoneIsStated) {
    for (auto const* cell :
         {"ZeRO", "ZeRO-Offload", "ZeRO-9", "ZeRO 1.5", "stage 16", "n/a", "?", "unknown", "maze2"}) {
        EXPECT_EQ(zero_stage(cell), std::nullopt) << cell;
    }
}

TEST(ShardGroup, IsTheNumberOfItsRanks) {
    EXPECT_EQ(shard_group("FSDP (group 64)"), 64);
    EXPECT_EQ(shard_group("FSDP ici_fsdp=256"), 256);
    EXPECT_EQ(shard_group("FSDP (ici_fsdp_parallelism=16) within slice, DP across slices"), 16);
    EXPECT_EQ(shard_group("FSDP (ici_fsdp_parallelism=-1) within slice, DP across slices"), std::nullopt);
    EXPECT_EQ(shard_group("FSDP ici_fsdp=1"), std::nullopt);
    EXPECT_EQ(shard_group("FSDP"), std::nullopt);
    EXPECT_EQ(shard_group("group 99999999999999999999"), std::nullopt);
}

TEST(OffloadOf, SaysWhatMoves) {
    EXPECT_EQ(offload_of("CPU offload full"), Offload::both);
    EXPECT_EQ(offload_of("CPU offload: Y/Y"), Offload::both);
    EXPECT_EQ(offload_of("CPU offload: Y/N"), Offload::optimizer);
    EXPECT_EQ(offload_of("CPU OFFLOAD: y/n"), Offload::optimizer);
    EXPECT_EQ(offload_of("DeepSpeed ZeRO-3 + CPU optimizer offload"), Offload::optimizer);
    EXPECT_EQ(offload_of("CPU offload: N/N"), Offload::none);
    EXPECT_EQ(offload_of("TP_COMM_OVERLAP=True"), Offload::none);
    EXPECT_EQ(offload_of(""), Offload::none);
    EXPECT_EQ(offload_of("ZeRO-3 offload"), Offload::optimizer);
    EXPECT_EQ(offload_of("ZeRO-Offload"), Offload::optimizer);
    EXPECT_EQ(offload_of("ZeRO-3, no offload"), Offload::none);
    EXPECT_EQ(offload_of("ZeRO-3 without CPU offload"), Offload::none);
    EXPECT_EQ(offload_of("zero3 param_offload"), Offload::parameters);
    EXPECT_EQ(offload_of("ZeRO-Infinity"), Offload::parameters);
    EXPECT_EQ(offload_of("FSDP + CPU offload"), Offload::parameters);
}

} // namespace
} // namespace headroom::io
