#include "headroom/error.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using namespace headroom;
using headroom::io::LaunchFile;
using Options = std::map<std::string, std::string>;

LaunchFile file_of(std::string const& text, std::string const& path, int layers = 0) {
    return io::read_launch_file(text, path, {.layers = layers});
}
/// Options of a file, its defaults among them.
Options options_of(std::string const& text, std::string const& path, int layers = 0) {
    LaunchFile const file = file_of(text, path, layers);
    Options all{file.options.begin(), file.options.end()};
    all.insert(file.implied.begin(), file.implied.end());
    return all;
}
std::string refusal_of(std::string const& text, std::string const& path) {
    try {
        io::read_launch_file(text, path);
    } catch (InputError const& error) { return error.what(); }
    return {};
}

std::string const train = "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size 2 ";

TEST(LaunchFormats, StrongerShardingOfTwoKeys) {
    std::string const sharded = train + "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params ";
    EXPECT_EQ(options_of(sharded + "--use-distributed-optimizer\n", "a.sh").at("--zero"), "3");
    EXPECT_EQ(options_of(train + "--use-distributed-optimizer --zero-stage 0\n", "a.sh").at("--zero"), "0");
    EXPECT_EQ(
        options_of("distributed_type: FSDP\nfsdp_config:\n  fsdp_reshard_after_forward: true\n", "a.yaml").at("--zero"),
        "3");
}

TEST(LaunchFormats, LayersOfTheFirstAndTheLastStage) {
    std::string const stages = train + "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 6 ";
    EXPECT_EQ(options_of(stages + "--decoder-last-pipeline-num-layers 6\n", "a.sh", 32).at("--layers-per-stage"),
              "6,10,10,6");                                                      // 32 - 12 over two stages
    EXPECT_FALSE(options_of(stages, "a.sh", 32).contains("--layers-per-stage")); // 26 over three
    EXPECT_FALSE(options_of(stages, "a.sh").contains("--layers-per-stage"));
    std::string const chunks = train +
                               "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4 "
                               "--recompute-granularity full --recompute-method block --recompute-num-layers 2\n";
    EXPECT_EQ(options_of(chunks, "a.sh", 32).at("--recompute-layers"), "16"); // two of each of eight chunks
}

TEST(LaunchFormats, EveryNthLayerIsRecomputed) {
    std::string const text = "[training]\nseq_len = 4096\n[activation_checkpoint]\nmode = \"selective\"\n"
                             "selective_ac_option = \"4\"\n";
    Options const found = options_of(text, "a.toml", 32);
    EXPECT_EQ(found.at("--recompute"), "full");
    EXPECT_EQ(found.at("--recompute-layers"), "8");
    std::string const none = "[activation_checkpoint]\nmode = \"none\"\nselective_ac_option = \"2\"\n";
    EXPECT_EQ(options_of(none, "a.toml", 32).at("--recompute"), "none");
    EXPECT_FALSE(options_of(none, "a.toml", 32).contains("--recompute-layers"));
}

TEST(LaunchFormats, GroupsOfReplicasThatShareAnOptimizer) {
    std::string const two = train + "--use-distributed-optimizer --num-distributed-optimizer-instances 2\n";
    EXPECT_EQ(options_of(two, "a.sh").at("--shard"), "8"); // 32 accelerators, tp 2, two groups
    LaunchFile const unknown = file_of("python pretrain_gpt.py --tensor-model-parallel-size 2 "
                                       "--num-distributed-optimizer-instances 2\n",
                                       "a.sh");
    EXPECT_TRUE(unknown.suppressed.contains("--shard"));
}

TEST(LaunchFormats, MegatronOverlapsWhatItsSwitchesAskFor) {
    EXPECT_EQ(options_of(train, "a.sh").at("--overlap"), "gradients=off");
    EXPECT_EQ(options_of(train + "--sequence-parallel --use-distributed-optimizer --overlap-grad-reduce\n", "a.sh")
                  .at("--overlap"),
              "gradients=framework,tensor=off,parameters=off");
}

TEST(LaunchFormats, DefaultsOfMaxText) {
    Options const found = options_of("model_name: llama2-7b\nici_tensor_parallelism: 4\n", "a.yml");
    EXPECT_EQ(found.at("--micro-batch"), "48"); // 12 a device over four
    EXPECT_EQ(found.at("--zero"), "3");
    EXPECT_EQ(options_of("ici_fsdp_parallelism: 64\ndcn_data_parallelism: 2\n", "a.yml").at("--shard"), "64");
}

TEST(LaunchFormats, BatchOfAScriptOfItsOwn) {
    LaunchFile const each = file_of("torchrun --nproc_per_node=8 main.py --batch-size 64\n", "a.sh");
    EXPECT_EQ(Options(each.options.begin(), each.options.end()).at("--micro-batch"), "64");
    EXPECT_FALSE(each.contradictions.empty());
    LaunchFile const either = file_of("python main.py --batch_size 64 --bf16 --gpus 8\n", "a.sh");
    ASSERT_FALSE(either.ignored.empty());
    EXPECT_EQ(either.ignored.front().needed, "--micro-batch --global-batch");
    Options const nano = options_of("torchrun --nproc_per_node=8 train.py --batch_size=12 --block_size=1024 "
                                    "--gradient_accumulation_steps=40\n",
                                    "a.sh");
    EXPECT_EQ(nano.at("--micro-batch"), "12");
    EXPECT_EQ(nano.at("--global-batch"), "480"); // the steps are those of all ranks
}

TEST(LaunchFormats, TablesTrainedWithLora) {
    std::string const text = "base_model: m\nadapter: lora\nlora_r: 8\n";
    std::string const tables = "lora_modules_to_save: [embed_tokens, lm_head]\n";
    EXPECT_EQ(options_of(text + "lora_target_linear: true\n" + tables, "a.yaml").at("--train"), "lora:8:linear+tables");
    EXPECT_EQ(options_of(tables + text, "a.yaml").at("--train"), "lora:8:attention+tables");
    EXPECT_FALSE(options_of("base_model: m\n" + tables, "a.yaml").contains("--train"));
}

TEST(LaunchFormats, LoraOfTorchtuneAndLitgpt) {
    Options const tune = options_of("model:\n  _component_: torchtune.models.llama3.qlora_llama3_8b\n"
                                    "  lora_attn_modules: [q_proj, output_proj]\n  apply_lora_to_mlp: True\n"
                                    "  lora_rank: 4\nbatch_size: 2\n",
                                    "a.yaml");
    EXPECT_EQ(tune.at("--train"), "lora:4:q_proj+o_proj+gate_proj+up_proj+down_proj");
    EXPECT_EQ(tune.at("--base"), "nf4");
    Options const lit = options_of("precision: bf16-true\nlora_r: 32\nlora_key: true\nlora_value: false\n"
                                   "train:\n  global_batch_size: 8\n  micro_batch_size: 1\n",
                                   "a.yaml");
    EXPECT_EQ(lit.at("--train"), "lora:32:q+k");
    EXPECT_EQ(lit.at("--pure-bf16"), "on");
    EXPECT_EQ(lit.at("--framework"), "litgpt");
}

TEST(LaunchFormats, FormatsOfMoreSoftware) {
    Options const lightning =
        options_of("trainer:\n  devices: 8\n  num_nodes: 2\n  strategy: fsdp\n"
                   "  precision: bf16-mixed\n  accumulate_grad_batches: 4\ndata:\n  batch_size: 2\n",
                   "a.yaml");
    EXPECT_EQ(lightning.at("--framework"), "lightning");
    EXPECT_EQ(lightning.at("--zero"), "3");
    EXPECT_EQ(lightning.at("--micro-batch"), "2");
    EXPECT_EQ(lightning.at("--grad-accum"), "4");
    Options const nanotron = options_of("parallelism: {dp: 4, pp: 2, tp: 2, tp_mode: REDUCE_SCATTER}\n"
                                        "tokens: {batch_accumulation_per_replica: 8, micro_batch_size: 2}\n",
                                        "a.yaml");
    EXPECT_EQ(nanotron.at("--dp"), "4");
    EXPECT_EQ(nanotron.at("--grad-accum"), "8");
    EXPECT_EQ(nanotron.at("--sequence-parallel"), "on");
    Options const foundry = options_of("variables: {length: 4096}\nmax_seq_len: ${variables.length}\n"
                                       "global_train_batch_size: 512\ndevice_train_microbatch_size: auto\n"
                                       "precision: amp_bf16\nfsdp_config: {sharding_strategy: SHARD_GRAD_OP}\n",
                                       "a.yaml");
    EXPECT_EQ(foundry.at("--sequence-length"), "4096");
    EXPECT_EQ(foundry.at("--zero"), "2");
    EXPECT_EQ(foundry.at("--precision"), "bf16");
    EXPECT_FALSE(foundry.contains("--micro-batch"));
    Options const paddle = options_of("{\"tensor_parallel_degree\": 2, \"pipeline_parallel_degree\": -1,\n"
                                      "\"sharding\": \"stage2\", \"recompute\": 1, \"per_device_train_batch_size\": 4}",
                                      "a.json");
    EXPECT_EQ(paddle.at("--zero"), "2");
    EXPECT_EQ(paddle.at("--pp"), "1");
    EXPECT_EQ(paddle.at("--recompute"), "full");
    EXPECT_EQ(paddle.at("--framework"), "paddlenlp");
}

TEST(LaunchFormats, ProgramsThatNameTheirSoftware) {
    Options const swift = options_of("swift sft --model m --per_device_train_batch_size 1 --max_length 512\n", "a.sh");
    EXPECT_EQ(swift.at("--framework"), "ms-swift");
    EXPECT_EQ(swift.at("--train"), "lora:8:linear");
    Options const colossal =
        options_of("colossalai run --nproc_per_node 8 t.py --plugin gemini --batch_size 2\n", "a.sh");
    EXPECT_EQ(colossal.at("--zero"), "3");
    EXPECT_EQ(colossal.at("--micro-batch"), "2");
    EXPECT_EQ(colossal.at("--framework"), "colossalai");
    Options const habana = options_of("python gaudi_spawn.py --world_size 8 --use_deepspeed run_clm.py --use_habana "
                                      "--per_device_train_batch_size 4\n",
                                      "a.sh");
    EXPECT_EQ(habana.at("--workers"), "8");
    EXPECT_EQ(habana.at("--framework"), "optimum-habana-deepspeed");
    Options const paddle = options_of(
        "python -m paddle.distributed.launch --gpus 0,1,2,3 run.py --sharding stage1 --recompute 1\n", "a.sh");
    EXPECT_EQ(paddle.at("--accelerators-per-node"), "4");
    EXPECT_EQ(paddle.at("--zero"), "1");
}

TEST(LaunchFormats, BatchesOfFairseqInTokens) {
    std::string const command =
        "fairseq-train d --arch transformer_lm_gpt --tokens-per-sample 2048 --update-freq 8 --fp16 "
        "--distributed-world-size 64 ";
    Options const found = options_of(command + "--max-tokens 4096\n", "a.sh");
    EXPECT_EQ(found.at("--micro-batch"), "2"); // 4096 tokens of an accelerator
    EXPECT_EQ(found.at("--grad-accum"), "8");
    EXPECT_EQ(found.at("--workers"), "64");
    EXPECT_EQ(found.at("--precision"), "fp16");
    EXPECT_EQ(found.at("--zero"), "0");
    EXPECT_FALSE(options_of(command + "--max-tokens 3000\n", "a.sh").contains("--micro-batch"));
    Options const sharded = options_of(command + "--batch-size 4 --ddp-backend fully_sharded\n", "a.sh");
    EXPECT_EQ(sharded.at("--micro-batch"), "4");
    EXPECT_EQ(sharded.at("--zero"), "3");
    EXPECT_EQ(sharded.at("--framework"), "pytorch-fsdp");
}

TEST(LaunchFormats, StagesByALayoutOfMegatron) {
    auto const with = [](std::string const& layout) {
        return train + "--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout \"" + layout + "\"\n";
    };
    EXPECT_EQ(options_of(with("Et*7|t*9|t*9|t*7L"), "a.sh", 32).at("--layers-per-stage"), "7,9,9,7");
    Options const chunks = options_of(with("Et*4|(t*4|)*6,t*4L"), "a.sh", 32); // eight chunks on four stages
    EXPECT_EQ(chunks.at("--virtual-pp"), "2");
    EXPECT_FALSE(chunks.contains("--layers-per-stage"));
    for (std::string const other : {"Et*3|t*3|t*3|t*3L", "Et*7|t*9|t*9|t*7mL", "Et*7|t*9|t*16L", "E(t*8|*4L"}) {
        LaunchFile const file = file_of(with(other), "a.sh", 32);
        EXPECT_FALSE(Options(file.options.begin(), file.options.end()).contains("--layers-per-stage")) << other;
        EXPECT_EQ(file.ignored.back().needed, "--layers-per-stage") << other;
    }
}

TEST(LaunchFormats, ReplicasOfShards) {
    std::string const mesh = "parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
                             "  parallelism_config_dp_shard_size: 8\n";
    Options const accelerate =
        options_of("distributed_type: FSDP\nfsdp_config:\n  fsdp_reshard_after_forward: true\n" + mesh, "a.yaml");
    EXPECT_EQ(accelerate.at("--shard"), "8");
    EXPECT_EQ(accelerate.at("--dp"), "16");
    std::string const axolotl = "base_model: m\nmicro_batch_size: 1\nfsdp_version: 2\nfsdp_config:\n";
    EXPECT_EQ(options_of(axolotl + "  reshard_after_forward: true\n", "a.yaml").at("--zero"), "3");
    EXPECT_EQ(options_of(axolotl + "  reshard_after_forward: false\n", "a.yaml").at("--zero"), "2");
    EXPECT_EQ(options_of("dp_replicate_size: 2\ndp_shard_size: 4\n" + axolotl + "  offload_params: false\n", "a.yaml")
                  .at("--shard"),
              "4");
}

TEST(LaunchFormats, Levanter) {
    Options const found = options_of("model:\n  type: llama\n  seq_len: 4096\ntrainer:\n  mp: p=f32,c=bfloat16\n"
                                     "  train_batch_size: 256\n  per_device_parallelism: 4\n",
                                     "a.yaml");
    EXPECT_EQ(found.at("--precision"), "bf16");
    EXPECT_EQ(found.at("--global-batch"), "256");
    EXPECT_EQ(found.at("--micro-batch"), "4");
    EXPECT_EQ(found.at("--sequence-length"), "4096");
    EXPECT_EQ(found.at("--framework"), "maxtext");
}

TEST(LaunchFormats, StepsThatAreNotModelled) {
    std::string const rows = "finetuning_type: lora\ncutoff_len: 512\n";
    EXPECT_NE(refusal_of(rows + "stage: dpo\n", "a.yaml").find("preferences"), std::string::npos);
    EXPECT_EQ(refusal_of(rows + "stage: sft\n", "a.yaml"), "");
    EXPECT_NE(refusal_of("accelerate launch grpo.py --per_device_train_batch_size 4\n", "a.sh").find("reinforcement"),
              std::string::npos);
    EXPECT_NE(refusal_of("python3 -m x.main algorithm.adv_estimator=gae data.train_batch_size=64\n", "a.sh")
                  .find("reinforcement"),
              std::string::npos);
    EXPECT_NE(refusal_of("import torch\nbatch_size = 4\n", "a.py").find("Python"), std::string::npos);
}

TEST(LaunchFormats, SettingsOfASecondFileAreNoDefaults) {
    Options const found =
        options_of("accelerate launch t.py --config c.yaml --per_device_train_batch_size 4\n", "a.sh");
    EXPECT_FALSE(found.contains("--precision"));
    EXPECT_FALSE(found.contains("--recompute"));
}

TEST(LaunchFormats, CommentsInJson) {
    Options const found = options_of("// ours\n{\n \"train_batch_size\": 64, /* of\n all */\n"
                                     " \"optimizer\": {\"type\": \"a//b\"},\n \"bf16\": {\"enabled\": true},\n}\n",
                                     "a.json");
    EXPECT_EQ(found.at("--global-batch"), "64");
    EXPECT_EQ(found.at("--optimizer"), "a//b");
    EXPECT_EQ(found.at("--precision"), "bf16");
}

TEST(LaunchFormats, TextsThatAScriptWrites) {
    std::string const written = "STAGE=2\ncat <<EOF > ds.json\n{\"zero_optimization\": {\"stage\": $STAGE},\n"
                                " \"fp16\": {\"enabled\": true}, \"train_batch_size\": \"auto\"}\nEOF\n";
    Options const found = options_of(
        written + "deepspeed --num_gpus 8 t.py --deepspeed ds.json --per_device_train_batch_size 4\n", "a.sh");
    EXPECT_EQ(found.at("--zero"), "2");
    EXPECT_EQ(found.at("--precision"), "fp16");
    EXPECT_EQ(found.at("--grad-accum"), "1");
    EXPECT_EQ(options_of("read -r -d '' ARGS <<EOF\nt.train_sft \\\n  --zero_stage 2 \\\n  --bf16\nEOF\n"
                         "deepspeed --num_gpus 8 --module $ARGS\n",
                         "a.sh")
                  .at("--zero"),
              "2");
}

TEST(LaunchFormats, VisibleDevices) {
    EXPECT_EQ(options_of("CUDA_VISIBLE_DEVICES=4,5,6 torchrun --nproc_per_node=gpu t.py --bf16\n", "a.sh")
                  .at("--accelerators-per-node"),
              "3");
    EXPECT_EQ(
        options_of("G=0,1\nN=$(echo $G | tr ',' '\\n' | wc -l)\ntorchrun --nproc_per_node=$N t.py --bf16\n", "a.sh")
            .at("--accelerators-per-node"),
        "2");
    EXPECT_EQ(options_of("jsrun -n 4 -a 6 -g 6 -c 42 python pretrain.py --bf16\n", "a.sh").at("--workers"), "24");
}

TEST(LaunchFormats, AnchorsOfYaml) {
    Options const value = options_of("x: &length 4096\nbase_model: m\nsequence_len: *length\n", "a.yaml");
    EXPECT_EQ(value.at("--sequence-length"), "4096");
    Options const merged = options_of("base: &b\n  micro_batch_size: 2\n  tensor_model_parallel_size: 4\n"
                                      "model:\n  pipeline_model_parallel_size: 2\n  micro_batch_size: 1\n  <<: *b\n",
                                      "a.yaml");
    EXPECT_EQ(merged.at("--tp"), "4");
    EXPECT_EQ(merged.at("--micro-batch"), "1"); // a mapping's own value stands before those that it takes in
    EXPECT_FALSE(options_of("base_model: m\nsequence_len: *none\n", "a.yaml").contains("--sequence-length"));
}

TEST(LaunchFormats, LoraKeysWithoutLora) {
    std::string const text = "output_dir: o\nlora_r: 32\nlora_target_modules: [q_proj, k_proj]\n";
    EXPECT_EQ(options_of(text + "use_peft: true\n", "a.yaml").at("--train"), "lora:32:q_proj+k_proj");
    EXPECT_EQ(options_of(text + "use_peft: false\n", "a.yaml").at("--train"), "all");
    std::string const command = "trl sft --per_device_train_batch_size 4 --lora_r 8 ";
    EXPECT_EQ(options_of(command + "--use_peft\n", "a.sh").at("--train"), "lora:8");
    EXPECT_EQ(options_of(command + "--use_peft False\n", "a.sh").at("--train"), "all");
}

TEST(LaunchFormats, OptionsThatAreKeysOfAFile) {
    Options const titan = options_of("torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file c.toml "
                                     "--training.local_batch_size 2 --parallelism.tensor_parallel_degree 4\n",
                                     "a.sh");
    EXPECT_EQ(titan.at("--framework"), "torchtitan");
    EXPECT_EQ(titan.at("--tp"), "4");
    EXPECT_EQ(titan.at("--micro-batch"), "2");
    EXPECT_FALSE(titan.contains("--recompute")); // the file may set it
    Options const lit =
        options_of("litgpt finetune lora m --train.micro_batch_size 1 --lora_r 4 --devices 2\n", "a.sh");
    EXPECT_EQ(lit.at("--train"), "lora:4:q+v");
    EXPECT_EQ(lit.at("--accelerators-per-node"), "2");
    EXPECT_EQ(options_of("megatron sft --train_type lora --tensor_model_parallel_size 2\n", "a.sh").at("--train"),
              "lora:8:linear");
}

TEST(LaunchFormats, ShardsOfTheRest) {
    std::string const text = "[parallelism]\ndata_parallel_replicate_degree = 2\ndata_parallel_shard_degree = -1\n"
                             "tensor_parallel_degree = 2\n";
    LaunchFile const file = io::read_launch_file(text, "a.toml", {.workers = 32});
    EXPECT_EQ(Options(file.options.begin(), file.options.end()).at("--shard"), "8"); // 32 of tp 2, two copies
    EXPECT_TRUE(file_of(text, "a.toml").suppressed.contains("--shard"));
}

TEST(LaunchFormats, CommandsOfJobs) {
    LaunchFile const sky = file_of("resources:\n  accelerators: H100:8\nnum_nodes: 4\nenvs:\n  TP: 4\nrun: |\n"
                                   "  torchrun --nnodes=$SKYPILOT_NUM_NODES t.py \\\n"
                                   "    --tensor-model-parallel-size $TP --bf16\n",
                                   "a.yaml");
    Options const found{sky.options.begin(), sky.options.end()};
    EXPECT_EQ(found.at("--nodes"), "4");
    EXPECT_EQ(found.at("--accelerators-per-node"), "8");
    EXPECT_EQ(found.at("--tp"), "4");
    for (auto const& key : sky.read) {
        if (key.option == "--tp") { EXPECT_EQ(key.line, 8); }
    }
    std::string const pod = "        spec:\n          containers:\n          - name: c\n"
                            "            args: [--tensor-model-parallel-size, \"2\", --bf16]\n"
                            "            command: [torchrun, pretrain.py]\n            resources:\n"
                            "              limits: {nvidia.com/gpu: 8}\n";
    Options const job = options_of("kind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n"
                                   "      template:\n" +
                                       pod + "    Worker:\n      replicas: 3\n      template:\n" + pod,
                                   "a.yaml");
    EXPECT_EQ(job.at("--nodes"), "4");
    EXPECT_EQ(job.at("--accelerators-per-node"), "8");
    EXPECT_EQ(job.at("--tp"), "2");
    Options const shell =
        options_of("spec:\n  parallelism: 2\n  containers:\n  - env:\n    - name: G\n      value: \"64\"\n"
                   "    command: [\"/bin/bash\", \"-c\"]\n    args:\n    - |\n      set -e\n"
                   "      torchrun t.py --tensor-model-parallel-size 4 --global-batch-size ${G}\n"
                   "    resources: {limits: {nvidia.com/gpu: 4}}\n",
                   "a.yaml");
    EXPECT_EQ(shell.at("--global-batch"), "64");
    EXPECT_EQ(shell.at("--nodes"), "2");
    EXPECT_EQ(options_of("commands:\n  - pip install x\n  - torchrun --nproc_per_node=8 t.py --bf16\n", "a.yaml")
                  .at("--precision"),
              "bf16");
}

} // namespace
