#include "headroom/error.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace {

using namespace headroom;
using headroom::io::LaunchFile;
using Options = std::map<std::string, std::string>;

Options options_of(LaunchFile const& file) { return {file.options.begin(), file.options.end()}; }
Options implied_of(LaunchFile const& file) { return {file.implied.begin(), file.implied.end()}; }
LaunchFile script(std::string const& text) { return io::read_launch_file(text, "a.sh"); }
LaunchFile yaml(std::string const& text) { return io::read_launch_file(text, "a.yaml"); }
LaunchFile json(std::string const& text) { return io::read_launch_file(text, "a.json"); }
std::string tensor_ranks(std::string const& text) { return options_of(script(text)).at("--tp"); }
bool notes_have(LaunchFile const& file, std::string const& part) {
    for (std::string const& text : file.contradictions) {
        if (text.find(part) != std::string::npos) { return true; }
    }
    for (auto const& one : file.ignored) {
        if ((one.key + ": " + one.note).find(part) != std::string::npos) { return true; }
    }
    return false;
}

std::string const trains = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --micro-batch-size 1 ";
std::string const degree = trains + "--tensor-model-parallel-size ";

TEST(LaunchMeaning, KeyStatedAgainTakesTheFirstBack) {
    LaunchFile const file = script("torchrun train.py --per_device_train_batch_size 2 --bf16 True --bf16=False\n");
    EXPECT_FALSE(options_of(file).contains("--precision"));
    EXPECT_EQ(implied_of(file).at("--precision"), "fp32");
    EXPECT_TRUE(notes_have(file, "--bf16 is True (line 1) and False (line 1): the later is taken"));
    EXPECT_EQ(tensor_ranks(degree + "2 --tensor_model_parallel_size 4\n"), "4");
    Options const axolotl = options_of(yaml("base_model: m\nbf16: true\nmicro_batch_size: 2\nbf16: false\n"));
    EXPECT_EQ(axolotl.at("--precision"), "fp32");
}

TEST(LaunchMeaning, MappingStatedAgainReplacesAllOfTheFirst) {
    Options const options = options_of(
        json(R"({"train_batch_size": 8, "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
                            "zero_optimization": {"stage": 2}})"));
    EXPECT_EQ(options.at("--zero"), "2");
    EXPECT_FALSE(options.contains("--offload"));
    EXPECT_EQ(options_of(yaml("micro_batch_size: 2\nbase_model: m\nbf16: false\n")).at("--precision"), "fp32");
    Options const merged = options_of(yaml("base: &b\n  micro_batch_size: 1\n  optim: {lr: 1}\nmodel:\n  <<: *b\n"
                                           "  micro_batch_size: 4\n  tensor_model_parallel_size: 2\n"));
    EXPECT_EQ(merged.at("--micro-batch"), "4");
}

TEST(LaunchMeaning, EmptyTextAsksForNothing) {
    for (char const* const fsdp : {"\"\"", "[]", "null"}) { // as TrainingArguments write it
        LaunchFile const file =
            json(R"({"output_dir": "o", "per_device_train_batch_size": 2, "fsdp": )" + std::string{fsdp} + "}");
        EXPECT_FALSE(options_of(file).contains("--zero")) << fsdp;
        EXPECT_EQ(implied_of(file).at("--zero"), "0") << fsdp;
    }
    for (char const* const fsdp : {"--fsdp \"\"", "--fsdp ''", "--fsdp="}) {
        LaunchFile const file = script("torchrun train.py --per_device_train_batch_size 2 " + std::string{fsdp} + "\n");
        EXPECT_FALSE(options_of(file).contains("--zero")) << fsdp;
    }
    std::string const trainer = "torchrun train.py --per_device_train_batch_size 2 ";
    EXPECT_EQ(options_of(script(trainer + "--fsdp\n")).at("--zero"), "3");
    EXPECT_EQ(options_of(script(trainer + "--fsdp 'hybrid_shard offload'\n")).at("--offload"), "parameters");
    EXPECT_EQ(options_of(script(trainer + "--bf16 --torch_dtype float32\n")).at("--precision"), "bf16");
}

TEST(LaunchMeaning, KeysOfLoraWithoutLora) {
    std::string const axolotl = "base_model: m\nmicro_batch_size: 1\nlora_r: 16\nlora_target_linear: true\n";
    EXPECT_FALSE(options_of(yaml(axolotl)).contains("--train"));
    EXPECT_TRUE(notes_have(yaml(axolotl), "lora_r: no method of LoRA is stated"));
    EXPECT_EQ(options_of(yaml(axolotl + "adapter: lora\n")).at("--train"), "lora:16:linear");
    std::string const factory = "cutoff_len: 2048\nlora_rank: 4\nlora_target: all\nfinetuning_type: ";
    EXPECT_EQ(options_of(yaml(factory + "full\n")).at("--train"), "all");
    EXPECT_EQ(options_of(yaml(factory + "lora\n")).at("--train"), "lora:4:linear");
    EXPECT_EQ(options_of(yaml("cutoff_len: 2048\nbf16: true\n")).at("--train"), "lora:8:linear"); // its default
    EXPECT_EQ(json(R"({"finetuning_type": "full", "cutoff_len": 2048})").format, "LLaMA-Factory YAML");
}

TEST(LaunchMeaning, StrategiesOfLightning) {
    auto const of = [](std::string const& strategy) {
        return options_of(yaml("trainer:\n  devices: [0, 1, 2, 3]\n  strategy: " + strategy + "\n"));
    };
    EXPECT_EQ(of("fsdp").at("--accelerators-per-node"), "4");
    EXPECT_EQ(of("deepspeed_stage_2_offload").at("--offload"), "optimizer");
    EXPECT_EQ(of("deepspeed_stage_3_offload").at("--offload"), "parameters");
    Options const arguments = of("{class_path: FSDPStrategy, init_args: {cpu_offload: true, "
                                 "activation_checkpointing_policy: [Block]}}");
    EXPECT_EQ(arguments.at("--offload"), "parameters");
    EXPECT_EQ(arguments.at("--recompute"), "full");
}

TEST(LaunchMeaning, FormatsBySigns) {
    Options const seq2seq = options_of(yaml("output_dir: o\nper_device_train_batch_size: 4\nmax_target_length: 128\n"));
    EXPECT_EQ(seq2seq.at("--micro-batch"), "4"); // of the Trainer, not of MaxText
    Options const neox =
        options_of(json(R"({"pipe_parallel_size": 1, "fp16": {"enabled": true, "type": "bfloat16"}})"));
    EXPECT_EQ(neox.at("--precision"), "bf16");
    Options const sections =
        options_of(yaml("model:\n  micro_batch_size: 1\n  tensor_model_parallel_size: 2\neval_model:\n"
                        "  micro_batch_size: 32\n  tensor_model_parallel_size: 8\ninference: {micro_batch_size: 4}\n"));
    EXPECT_EQ(sections.at("--tp"), "2");
    EXPECT_EQ(sections.at("--micro-batch"), "1");
}

TEST(LaunchMeaning, OutputsThatAreOptions) {
    for (char const* const options : {"$(cat <<EOF\n--pipeline-model-parallel-size 4\n--bf16\nEOF\n)",
                                      "$(echo --pipeline-model-parallel-size 4 --bf16)"}) {
        Options const found = options_of(script("A=" + std::string{options} + "\n" + degree + "2 $A\n"));
        EXPECT_EQ(found.at("--pp"), "4") << options;
        EXPECT_EQ(found.at("--precision"), "bf16") << options;
    }
    for (char const* const options : {"$(cat args.txt)", "`cat args.txt`", "@args.txt"}) {
        LaunchFile const file = script(degree + "2 " + options + "\n");
        EXPECT_TRUE(notes_have(file, "more options may be in it")) << options;
        EXPECT_FALSE(implied_of(file).contains("--precision")) << options;
    }
    EXPECT_TRUE(notes_have(script(degree + "2 \u2013bf16\n"), "it begins with a long dash"));
}

TEST(LaunchMeaning, VariablesOfTheShell) {
    EXPECT_EQ(tensor_ranks("TP=2\nf() { local TP=8; }\nf\n" + degree + "$TP\n"), "2");
    EXPECT_EQ(tensor_ranks("TP=2\nbash -c 'TP=8'\n" + degree + "$TP\n"), "2");
    EXPECT_EQ(tensor_ranks("TP=2\nunset TP\n" + degree + "${TP:-4}\n"), "4");
    EXPECT_EQ(tensor_ranks("TP=1\n((TP++))\n((TP *= 2))\n" + degree + "$TP\n"), "4");
    EXPECT_EQ(tensor_ranks("((A = 2, B = A + 2))\n" + degree + "$B\n"), "4");
    EXPECT_EQ(tensor_ranks(": ${TP:=2}\n" + degree + "$TP\n"), "2");
    EXPECT_EQ(tensor_ranks(degree + "2\nexit 0\n" + degree + "4\n"), "2");
    EXPECT_EQ(tensor_ranks("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n" + degree + "$((SLURM_NTASKS / 4))\n"),
              "4");
}

TEST(LaunchMeaning, TextsThatRunForSeveralValues) {
    for (std::string const& body :
         std::vector<std::string>{"bash -c \"" + degree + "$i\"", "f $i", "eval " + degree + "$i"}) {
        std::string const calls = body.starts_with("f ") ? "f() { " + degree + "$1; }\n" : "";
        LaunchFile const file = script(calls + "for i in 1 2; do " + body + "; done\n");
        EXPECT_FALSE(options_of(file).contains("--tp")) << body;
        EXPECT_TRUE(notes_have(file, "1 or 2, by a condition or a loop")) << body;
    }
    EXPECT_EQ(tensor_ranks("for h in a b; do ssh $h \"cd /x; " + degree + "2\" & done\n"), "2");
}

TEST(LaunchMeaning, CommandThatTrains) {
    EXPECT_EQ(tensor_ranks(degree + "2\npython plot.py --tp 8\n"), "2");
    EXPECT_EQ(tensor_ranks("python main.py --tp 8\n" + degree + "2\npython upload.py --tp 1\n"), "2");
    Options const llm_c = options_of(script("mpirun -np 8 ./train_gpt2cu -b 16 -t 1024 -d 1048576 -z 1 -c 0.1\n"));
    EXPECT_EQ(llm_c.at("--workers"), "8");
    EXPECT_EQ(llm_c.at("--global-batch"), "1048576 tokens");
    Options const batches = options_of(script("torchrun finetune.py --batch_size 128 --micro_batch_size 4 --lora_r 16 "
                                              "--lora_target_modules '[q_proj, \"v_proj\"]'\n"));
    EXPECT_EQ(batches.at("--train"), "lora:16:q_proj+v_proj");
    EXPECT_EQ(batches.at("--global-batch"), "128");
    EXPECT_EQ(batches.at("--micro-batch"), "4");
    EXPECT_EQ(
        options_of(script("CUDA_VISIBLE_DEVICES=0,1 accelerate launch train.py --per_device_train_batch_size 2\n"))
            .at("--workers"),
        "2");
}

TEST(LaunchMeaning, HeadersOfSlurm) {
    LaunchFile const late = script("#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n" + std::string{"set -e\n"} +
                                   "#SBATCH --nodes=64\nsrun python train.py --tp 2\n");
    EXPECT_EQ(options_of(late).at("--nodes"), "2");
    EXPECT_TRUE(notes_have(late, "#SBATCH --nodes 64 (line 4) stands behind the first command"));
    Options const quoted =
        options_of(script("#SBATCH --nodes=\"2-2\"\n#SBATCH --gres=gpu:8\npython train.py --tp 2\n"));
    EXPECT_EQ(quoted.at("--nodes"), "2");
    Options const written =
        options_of(script("sbatch <<EOF\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:8\nsrun python train.py --tp 2\nEOF\n"));
    EXPECT_EQ(written.at("--nodes"), "4");
}

TEST(LaunchMeaning, ScriptSetsKeysOfAFileOfSettings) {
    std::string const settings = "[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\n"
                                 "[activation_checkpoint]\nmode = \"selective\"\n";
    std::string const run = "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file a.toml "
                            "--activation_checkpoint.mode full --training.local_batch_size=4\n";
    for (bool const first : {true, false}) {
        std::vector<io::LaunchText> files{{"a.toml", settings}, {"a.sh", run}};
        if (!first) { std::swap(files[0], files[1]); }
        std::vector<LaunchFile> const read = io::read_launch_files(files);
        LaunchFile const &keys = read[first ? 0 : 1], &other = read[first ? 1 : 0];
        EXPECT_EQ(options_of(keys).at("--recompute"), "full");
        EXPECT_EQ(options_of(keys).at("--micro-batch"), "4");
        EXPECT_EQ(options_of(keys).at("--sequence-parallel"), "on");
        EXPECT_FALSE(options_of(other).contains("--sequence-parallel"));
        EXPECT_EQ(options_of(other).at("--accelerators-per-node"), "8");
        EXPECT_TRUE(
            notes_have(keys, "activation_checkpoint.mode is full by a.sh:1, in the place of selective (line 6)"));
    }
    std::vector<LaunchFile> const flat = io::read_launch_files(
        {{"x.yml", "base_model: m\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n"},
         {"a.sh", "accelerate launch --num_processes 8 -m axolotl.cli.train x.yml --lora_r 16\n"}});
    EXPECT_EQ(options_of(flat[0]).at("--train"), "lora:16:linear");
    EXPECT_FALSE(options_of(flat[1]).contains("--train"));
    std::vector<LaunchFile> const sourced =
        io::read_launch_files({{"env.sh", "export TP=4\n"}, {"a.sh", degree + "$TP\n"}});
    EXPECT_TRUE(sourced[0].sets_variables);
    EXPECT_EQ(options_of(sourced[1]).at("--tp"), "4");
    std::vector<LaunchFile> const deepspeed = io::read_launch_files(
        {{"ds.json", R"({"train_batch_size": 64})"}, {"a.sh", "deepspeed train.py --train_batch_size 8 --bf16\n"}});
    EXPECT_EQ(options_of(deepspeed[0]).at("--global-batch"), "64"); // DeepSpeed reads its file as it is
}

} // namespace
