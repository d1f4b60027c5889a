#include "headroom/error.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using namespace headroom;
using headroom::io::LaunchFile;
using Options = std::map<std::string, std::string>;

LaunchFile script(std::string const& text) { return io::read_launch_file(text, "a.sh"); }
Options options_of(std::string const& text) {
    LaunchFile const file = script(text);
    return {file.options.begin(), file.options.end()};
}
Options implied_of(std::string const& text) {
    LaunchFile const file = script(text);
    return {file.implied.begin(), file.implied.end()};
}
bool notes_have(LaunchFile const& file, std::string const& part) {
    for (std::string const& text : file.contradictions) {
        if (text.find(part) != std::string::npos) { return true; }
    }
    return false;
}
std::string reason_of(LaunchFile const& file, std::string const& key) {
    for (auto const& one : file.ignored) {
        if (one.key == key) { return one.note; }
    }
    return {};
}

std::string const train = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 2 ";

TEST(LaunchScript, BareSwitchRecomputes) {
    EXPECT_EQ(
        options_of("python train.py --per_device_train_batch_size 2 --gradient_checkpointing\n").at("--recompute"),
        "full");
    EXPECT_EQ(options_of(train + "--checkpoint-activations --bf16\n").at("--recompute"), "full");
    EXPECT_EQ(options_of("python train.py --tp 2 --gradient_checkpointing=false\n").at("--recompute"), "none");
}

TEST(LaunchScript, OptionsInQuotedTexts) {
    for (char const* const start : {"foo ", " -v ", "$BASE ", "\\\n  "}) {
        std::string const text =
            "#!/bin/bash\nEXTRA=\"" + std::string{start} + "--pipeline-model-parallel-size 2\"\n" + train + "$EXTRA\n";
        EXPECT_EQ(options_of(text).at("--pp"), "2") << start;
    }
    EXPECT_EQ(options_of("A=\"--bf16\"\nA=\"$A --sequence-parallel\"\nA+=\" --pipeline-model-parallel-size 4\"\n" +
                         train + "$A")
                  .at("--sequence-parallel"),
              "on");
    EXPECT_EQ(options_of("srun bash -c \"" + train + "--bf16\"\n").at("--tp"), "2");
    EXPECT_EQ(options_of("eval \"" + train + "\"\n").at("--tp"), "2");
    EXPECT_EQ(options_of("L='torchrun --nproc_per_node 4'\nCMD=\"$L pretrain.py --tp 4\"\nsrun ${CMD}\n")
                  .at("--accelerators-per-node"),
              "4");
}

TEST(LaunchScript, OverridesOfHydra) {
    LaunchFile const file =
        script("#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nsrun python gpt.py --config-name=x trainer.devices=8 "
               "model.tensor_model_parallel_size=4 ++model.sequence_parallel=True model.micro_batch_size=2\n");
    Options const found{file.options.begin(), file.options.end()};
    EXPECT_EQ(found.at("--tp"), "4");
    EXPECT_EQ(found.at("--micro-batch"), "2");
    EXPECT_EQ(found.at("--nodes"), "2");
    EXPECT_EQ(found.at("--sequence-parallel"), "on");
    EXPECT_EQ(options_of("tune run --nproc_per_node 8 full_finetune --config llama3/8B batch_size=4 dtype=bf16\n")
                  .at("--micro-batch"),
              "4");
}

TEST(LaunchScript, Tf32IsNoFormatOfItsOwn) {
    EXPECT_EQ(options_of("python train.py --per_device_train_batch_size 2 --bf16 True --tf32 True\n").at("--precision"),
              "bf16");
    EXPECT_EQ(options_of("python train.py --per_device_train_batch_size 2 --tf32 True\n").at("--precision"), "tf32");
}

TEST(LaunchScript, SwitchBeforeAVariable) {
    LaunchFile const file = script(train + "--bf16 --use-distributed-optimizer $DATA_ARGS $OUTPUT_ARGS\n");
    Options const found{file.options.begin(), file.options.end()};
    EXPECT_EQ(found.at("--zero"), "1");
    EXPECT_EQ(reason_of(file, "$OUTPUT_ARGS"), "more options may be in it: it is set elsewhere");
    EXPECT_EQ(options_of(train + "--bf16 ${EXTRA:-}\n").at("--precision"), "bf16");
}

TEST(LaunchScript, FrameworkOfTheTrainer) {
    Options const found = implied_of("torchrun --nproc_per_node 8 train.py --per_device_train_batch_size 2 --bf16\n");
    EXPECT_EQ(found.at("--framework"), "hf-trainer");
    EXPECT_EQ(found.at("--zero"), "0");
    EXPECT_EQ(found.at("--grad-accum"), "1");
    Options const deepspeed =
        implied_of("deepspeed --num_gpus 8 train.py --deepspeed ds.json --per_device_train_batch_size 2\n");
    EXPECT_FALSE(deepspeed.contains("--zero"));
    EXPECT_EQ(options_of("deepspeed --num_gpus 8 train.py --deepspeed zero3.json --per_device_train_batch_size 2\n")
                  .at("--zero"),
              "3");
}

TEST(LaunchScript, DefaultsOfMegatron) {
    EXPECT_EQ(implied_of(train + "--micro-batch-size 4\n").at("--grad-accum"), "1");
    EXPECT_FALSE(implied_of(train + "--micro-batch-size 4 --global-batch-size 64\n").contains("--grad-accum"));
    EXPECT_EQ(implied_of(train).at("--precision"), "fp32");
    LaunchFile const file = script(train + "--pipeline-model-parallel-size $PP\n");
    EXPECT_FALSE(Options(file.implied.begin(), file.implied.end()).contains("--pp"));
    EXPECT_EQ(reason_of(file, "--pipeline-model-parallel-size"), "its value is set elsewhere: give --pp");
}

TEST(LaunchScript, IntegerArithmetic) {
    std::string const sizes =
        "TP=2; PP=2\nNODES=${SLURM_JOB_NUM_NODES:-4}\nGPUS=$((NODES * 8))\nDP=$(( GPUS / (TP * PP) ))\n";
    EXPECT_EQ(options_of(sizes + train + "--global-batch-size $((DP*4))").at("--global-batch"), "32");
    EXPECT_EQ(options_of(train + "--global-batch-size $((1<<6)) --seq-length $((4*1024))").at("--global-batch"), "64");
    EXPECT_EQ(options_of("let G=8*4\n" + train + "--global-batch-size $G").at("--global-batch"), "32");
    EXPECT_EQ(options_of("G=`expr 8 \\* 4`\n" + train + "--global-batch-size $G").at("--global-batch"), "32");
    EXPECT_FALSE(options_of(train + "--global-batch-size $((DP*4))").contains("--global-batch"));
    EXPECT_FALSE(options_of(train + "--global-batch-size $((4/0))").contains("--global-batch"));
    EXPECT_EQ(options_of("TP=${TP-4}\npython pretrain.py --tp ${TP}").at("--tp"), "4");
}

TEST(LaunchScript, BranchesOfAScript) {
    std::string const known = "SIZE=7\nif [ \"$SIZE\" == 7 ]; then\n  TP=1\nelif [ $SIZE = 70 ]; then\n  "
                              "TP=8\nfi\npython pretrain.py --tp $TP\n";
    EXPECT_EQ(options_of(known).at("--tp"), "1");
    LaunchFile const unset = script("TP=2\nif [ \"$BIG\" = 1 ]; then TP=8; fi\npython pretrain.py --tp $TP\n");
    EXPECT_EQ(Options(unset.options.begin(), unset.options.end()).at("--tp"), "2");
    EXPECT_TRUE(notes_have(unset, "$BIG"));
    LaunchFile const unknown =
        script("if nvidia-smi | grep -q H100; then TP=2; else TP=8; fi\npython pretrain.py --tp $TP --pp 2\n");
    EXPECT_FALSE(Options(unknown.options.begin(), unknown.options.end()).contains("--tp"));
    EXPECT_EQ(reason_of(unknown, "--tp"), "2 or 8, by a condition or a loop of the script");
    LaunchFile const loop = script("for TP in 1 2 4; do\npython pretrain.py --tp $TP --pp 2\ndone\n");
    EXPECT_EQ(reason_of(loop, "--tp"), "1, 2 or 4, by a condition or a loop of the script");
    EXPECT_EQ(
        options_of(
            "while getopts t: o; do case $o in t) TP=$OPTARG;; esac; done\nTP=${TP:-4}\npython pretrain.py --tp $TP\n")
            .at("--tp"),
        "4");
    EXPECT_EQ(
        options_of("P=b\ncase $P in a) TP=2;; b|c) TP=4;; *) TP=8;; esac\npython pretrain.py --tp $TP\n").at("--tp"),
        "4");
    EXPECT_EQ(
        options_of("function run() {\n local tp=$1\n python pretrain.py --tp $tp --pp $2\n}\nrun 2 4\n").at("--pp"),
        "4");
    EXPECT_FALSE(options_of("UNUSED=(--pp 4)\n" + train).contains("--pp"));
    EXPECT_EQ(
        options_of("TP=2\nA=(--tp $TP)\n[[ $TP -gt 1 ]] && A+=(--sequence-parallel)\npython pretrain.py ${A[@]}\n")
            .at("--sequence-parallel"),
        "on");
}

TEST(LaunchScript, OptionsOfTheCommandThatTrains) {
    LaunchFile const file = script("srun python tools/preprocess_data.py --workers 64 --seq-length 1024\n" + train +
                                   "--seq-length 8192\nsrun python tools/eval.py --tensor-model-parallel-size 4\n");
    Options const found{file.options.begin(), file.options.end()};
    EXPECT_EQ(found.at("--tp"), "2");
    EXPECT_EQ(found.at("--sequence-length"), "8192");
    EXPECT_FALSE(found.contains("--workers"));
    EXPECT_TRUE(notes_have(file, "not read: options of preprocess_data.py (line 1), eval.py (line 3)"));
    LaunchFile const two = script(train + "\n" + train + "--bf16\n");
    EXPECT_TRUE(notes_have(two, "2 commands train"));
    EXPECT_EQ(options_of("docker run --gpus all --network host image " + train).at("--nodes"), "2");
    EXPECT_EQ(reason_of(script("python main.py --workers 32 --tp 2\n"), "--workers"),
              "threads that load data, mostly: give --workers for accelerators");
}

TEST(LaunchScript, Slurm) {
    std::string const python = "srun python pretrain_gpt.py --tensor-model-parallel-size 2\n";
    auto const of = [&](std::string const& header) { return options_of("#!/bin/bash\n" + header + python); };
    Options const line = of("#SBATCH -p batch -N 32 --gpus-per-node=8 # comment\n");
    EXPECT_EQ(line.at("--nodes"), "32");
    EXPECT_EQ(line.at("--accelerators-per-node"), "8");
    EXPECT_EQ(of("#SBATCH -N4\n#SBATCH --gres=gpu:h100:4,nvme:1\n").at("--accelerators-per-node"), "4");
    EXPECT_EQ(of("#SBATCH --nodes 4\n#SBATCH -G 16\n").at("--accelerators-per-node"), "4");
    EXPECT_EQ(of("#SBATCH --nodes=2\n#SBATCH --ntasks=8\n#SBATCH --gpus-per-task=1\n").at("--accelerators-per-node"),
              "4");
    EXPECT_EQ(of("#SBATCH --ntasks=64\n#SBATCH --ntasks-per-node=8\n").at("--workers"), "64");
    EXPECT_EQ(options_of("mpirun -np 32 python train.py --tp 2\n").at("--workers"), "32");
    Options const deepspeed = options_of("deepspeed --num_nodes 2 --num_gpus 8 train.py --tp 2\n");
    EXPECT_EQ(deepspeed.at("--accelerators-per-node"), "8");
    EXPECT_EQ(deepspeed.at("--nodes"), "2");
    EXPECT_EQ(options_of("sbatch -N 4 --gres=gpu:8 --wrap 'srun python pretrain.py --tp 4'\n").at("--nodes"), "4");
    EXPECT_EQ(reason_of(script("torchrun --nnodes 2:4 train.py --tp 2\n"), "--nnodes"),
              "a range of nodes: give --nodes");
}

TEST(LaunchScript, TextsThatAreNoOptions) {
    EXPECT_EQ(options_of("#!/bin/bash\ncat <<EOF\nIt's --tp 8\nEOF\n" + train).at("--tp"), "2");
    EXPECT_EQ(options_of("#!/bin/bash\n[ -z \"$X\" ] && X=1\necho \"a \\\" --tp 8\"\n" + train).at("--tp"), "2");
    EXPECT_EQ(
        options_of("python train.py --tp 2 --recompute-modules core_attn layernorm mlp --bf16\n").at("--recompute"),
        "core_attn,layernorm,mlp");
    EXPECT_EQ(options_of("torchrun train.py --per_device_train_batch_size 1 --fsdp \"hybrid_shard auto_wrap\"\n")
                  .at("--shard"),
              "node");
}

TEST(LaunchScript, HostileTexts) {
    for (std::string const part : {"$(", "${", "\"$(", "(", "A=(", "if [ a ]; then ", "case x in ", "f() { f; ", "$((",
                                   "`", "<<E\n", "for i in 1; do "}) {
        std::string text = train + "\n";
        for (int i = 0; i < 3000; ++i) { text += part; }
        try {
            script(text);
        } catch (InputError const&) {}
    }
    std::string grows = "A=aaaaaaaaaaaaaaaa\n";
    for (int i = 0; i < 2000; ++i) { grows += "A=\"$A$A\"\nB" + std::to_string(i) + "=\"$A\"\n"; }
    EXPECT_THROW(script(grows + train), InputError);
    EXPECT_NO_THROW(script("f() { f; }\nf\n" + train));
}

TEST(LaunchScript, SubshellsAndSingleCommandsKeepTheirVariables) {
    std::string const trains =
        "torchrun --nproc_per_node 8 --nnodes ${NODES:-2} pretrain_gpt.py --micro-batch-size 1\n";
    for (char const* const part :
         {"(NODES=16)\n", "(\n  NODES=16\n  cd x\n)\n", "( cd data && NODES=16 && make )\n", "NODES=16 echo a\n",
          "NODES=16 bash prepare.sh; echo b\n", "if [ -z \"$X\" ]; then (NODES=16); fi\n",
          "(NODES=16) && echo a || exit 1\n", "f() ( NODES=16 )\nf\n", "f() (\n  NODES=16\n)\nf && echo a\n",
          "NODES=16 &\n", "NODES=16 && echo a &\n", "{ NODES=16; } &\nwait\n", "f() { NODES=16; }\nf &\n",
          "if [ a = a ]; then NODES=16; fi &\n"}) {
        EXPECT_EQ(options_of("#!/bin/bash\n" + std::string{part} + trains).at("--nodes"), "2") << part;
    }
    for (char const* const part :
         {"{ NODES=16; }\n", "f() { NODES=16; }\nf\n", "sleep 1 &\nNODES=16\n", "NODES=16; sleep 1 & wait\n",
          "f() ( X=1 )\nf() { NODES=16; }\nf\n", "(cd x) && NODES=16\n", "(cd x); NODES=16\n",
          "case a in (a) NODES=16;; (b) NODES=4;; esac\n", "(case b in a) X=1;; b) X=2;; esac); NODES=16\n",
          "if (test a = a); then NODES=16; fi\n"}) {
        EXPECT_EQ(options_of("#!/bin/bash\n" + std::string{part} + trains).at("--nodes"), "16") << part;
    }
    EXPECT_EQ(
        options_of("(\n  cd x\n  torchrun --nproc_per_node 4 --nnodes 3 pretrain_gpt.py --micro-batch-size 1\n)\n")
            .at("--nodes"),
        "3");
    // what a command has of its own is read with it
    EXPECT_EQ(options_of("ARGS='--tensor-model-parallel-size 4' ./pretrain.sh\n").at("--tp"), "4");
}

TEST(LaunchScript, HeterogeneousJobsAreRefused) {
    std::string const trains = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --micro-batch-size 1\n";
    std::string const head = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH hetjob\n#SBATCH --nodes=16\n";
    try {
        options_of(head + trains);
        ADD_FAILURE() << "read";
    } catch (InputError const& error) {
        EXPECT_NE(std::string_view{error.what()}.find(":3: a heterogeneous job"), std::string_view::npos)
            << error.what();
    }
}

TEST(LaunchScript, AnArrayOfAnOutputHasNoLength) {
    std::string const head = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:h100:8\n"
                             "nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )\nhead=${nodes[0]}\n";
    Options const options = options_of(
        head + "srun torchrun --nnodes ${#nodes[@]} --nproc_per_node $SLURM_GPUS_ON_NODE pretrain_gpt.py --bf16\n");
    EXPECT_EQ(options.at("--nodes"), "4"); // Slurm's
    EXPECT_EQ(options.at("--accelerators-per-node"), "8");
    EXPECT_EQ(options_of("GPUS=(0 1 2 3)\ntorchrun --nproc_per_node ${#GPUS[@]} pretrain_gpt.py --bf16\n")
                  .at("--accelerators-per-node"),
              "4");
}

TEST(LaunchScript, TorchrunStatesTheNodesOfStepsInALoop) {
    LaunchFile const file =
        script("#!/bin/bash\n#SBATCH --nodes=4\nfor ((i = 0; i < 4; i++)); do\n  srun -N1 -n1 torchrun "
               "--nproc_per_node=8 --nnodes=$SLURM_NNODES pretrain_gpt.py --bf16 &\ndone\n");
    Options const options{file.options.begin(), file.options.end()};
    EXPECT_EQ(options.at("--nodes"), "4");
    EXPECT_EQ(reason_of(file, "srun -N"), "torchrun states the nodes of the run");
}

TEST(LaunchScript, VariablesThatHoldTrueOrFalseDecide) {
    EXPECT_EQ(
        options_of("FP8=true\nif $FP8; then A='--fp8-format hybrid'; fi\n" + train + "--bf16 $A\n").at("--precision"),
        "fp8");
    EXPECT_EQ(options_of("FP8=false\nif \"${FP8}\"; then A='--fp8-format hybrid'; fi\n" + train + "--bf16 $A\n")
                  .at("--precision"),
              "bf16");
    EXPECT_FALSE(
        options_of("SP=false\nA=\n$SP && A=--sequence-parallel\n" + train + "$A\n").contains("--sequence-parallel"));
    EXPECT_EQ(options_of("SP=false\nA=\n! $SP && A=--sequence-parallel\n" + train + "$A\n").at("--sequence-parallel"),
              "on");
}

TEST(LaunchScript, ConfigurationsOfTrlByTheirName) {
    std::string const trl = "trl sft --per_device_train_batch_size 2 --num_processes 8 --accelerate_config ";
    EXPECT_EQ(options_of(trl + "zero2\n").at("--zero"), "2");
    EXPECT_EQ(options_of(trl + "fsdp1\n").at("--zero"), "3");
    EXPECT_EQ(options_of(trl + "zero3\n").at("--precision"), "bf16");
    EXPECT_EQ(options_of(trl + "zero3 --fp16\n").at("--precision"), "fp16");
}

TEST(LaunchScript, TheBatchOfALoaderIsThatOfOneProcess) {
    Options const options =
        options_of("accelerate launch --num_processes 16 train_text_to_image.py --train_batch_size=4 "
                   "--gradient_accumulation_steps=4 --mixed_precision bf16\n");
    EXPECT_EQ(options.at("--micro-batch"), "4");
    EXPECT_FALSE(options.contains("--global-batch"));
}

} // namespace
