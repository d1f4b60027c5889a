#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/launch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace {

using namespace headroom;
using headroom::io::LaunchFile;

LaunchFile sample(std::string const& name, std::string const& more = {}) {
    std::string const path = std::string{HEADROOM_SOURCE_DIR} + "/tests/data/launch/" + name;
    return io::read_launch_file(io::read_file(path, 1 << 20) + more, name);
}

using Options = std::map<std::string, std::string>;

Options options_in(LaunchFile const& file) { return {file.options.begin(), file.options.end()}; }

std::string note_on(LaunchFile const& file, std::string const& key) {
    for (auto const& one : file.ignored) {
        if (one.key == key) { return one.note; }
    }
    return {};
}

TEST(LaunchFile, MegatronScriptWithSlurmHeaderAndVariables) {
    LaunchFile const file = sample("megatron.sh");
    Options const expected{{"--nodes", "8"},
                           {"--accelerators-per-node", "8"},
                           {"--tp", "8"},
                           {"--pp", "2"},
                           {"--layers-per-chunk", "10"},
                           {"--sequence-parallel", "on"},
                           {"--zero", "1"},
                           {"--overlap", "gradients=framework,tensor=off,parameters=off"},
                           {"--micro-batch", "1"},
                           {"--global-batch", "512"},
                           {"--sequence-length", "8192"},
                           {"--recompute", "selective"},
                           {"--precision", "bf16"},
                           {"--steps", "100000"}};
    EXPECT_EQ(options_in(file), expected);
    EXPECT_EQ(Options(file.implied.begin(), file.implied.end()).at("--framework"), "megatron-core");
    EXPECT_EQ(note_on(file, "--num-layers"), "MODEL describes the model");
    bool const nodes = std::ranges::any_of( // $SLURM_NNODES is that of the header
        file.read, [](io::LaunchKey const& key) { return key.key == "--nnodes" && key.setting == "8"; });
    EXPECT_TRUE(nodes);
    EXPECT_EQ(note_on(file, "--lr"), "no effect on the time and the memory of a step");
    EXPECT_EQ(note_on(file, "--attention-backend"), "not understood");
}

TEST(LaunchFile, DeepSpeed) {
    LaunchFile const file = sample("ds_config.json");
    EXPECT_EQ(file.format, "DeepSpeed JSON");
    EXPECT_EQ(options_in(file), (Options{{"--micro-batch", "2"},
                                         {"--grad-accum", "8"},
                                         {"--precision", "bf16"},
                                         {"--zero", "3"},
                                         {"--offload", "optimizer"}}));
    EXPECT_EQ(note_on(file, "train_batch_size"), "\"auto\" is filled in by the Trainer");
    EXPECT_EQ(note_on(file, "mystery"), "not understood");
    EXPECT_EQ(file.read.front().line, 2);
}

TEST(LaunchFile, Torchtitan) {
    LaunchFile const file = sample("torchtitan.toml");
    Options found = options_in(file);
    found.insert(file.implied.begin(), file.implied.end());
    Options const expected{{"MODEL", "llama-3-8b"},
                           {"--micro-batch", "2"},
                           {"--global-batch", "128"},
                           {"--sequence-length", "8192"},
                           {"--steps", "1000"},
                           {"--dp", "16"},
                           {"--shard", "8"},
                           {"--zero", "3"},
                           {"--tp", "1"},
                           {"--recompute", "alternate"},
                           {"--optimizer", "AdamW"},
                           {"--framework", "torchtitan"}};
    for (auto const& [option, value] : expected) { EXPECT_EQ(found[option], value) << option; }
}

TEST(LaunchFile, Accelerate) {
    Options const found = options_in(sample("accelerate.yaml"));
    Options const expected{{"--workers", "16"},     {"--nodes", "2"},          {"--accelerators-per-node", "8"},
                           {"--precision", "bf16"}, {"--zero", "3"},           {"--shard", "node"},
                           {"--recompute", "full"}, {"--framework", "hf-fsdp"}};
    EXPECT_EQ(found, expected);
}

TEST(LaunchFile, FineTuning) {
    Options const axolotl = options_in(sample("axolotl.yaml"));
    EXPECT_EQ(axolotl.at("--train"), "lora:32:linear");
    EXPECT_EQ(axolotl.at("--base"), "nf4");
    EXPECT_EQ(axolotl.at("MODEL"), "meta-llama/Llama-3.1-8B");
    EXPECT_EQ(axolotl.at("--recompute"), "full");
    Options const factory = options_in(sample("llama_factory.yaml"));
    EXPECT_EQ(factory.at("--train"), "lora:8:linear");
    EXPECT_EQ(options_in(sample("axolotl.yaml", "\npeft_use_dora: true\n")).at("--train"), "dora:32:linear");
    EXPECT_EQ(options_in(sample("llama_factory.yaml", "\nuse_dora: true\n")).at("--train"), "dora:8:linear");
    EXPECT_EQ(options_in(sample("llama_factory.yaml", "\nuse_dora: false\n")).at("--train"), "lora:8:linear");
    EXPECT_EQ(factory.at("--sequence-length"), "2048");
    Options const trainer = options_in(sample("training_arguments.json"));
    EXPECT_EQ(trainer.at("--zero"), "3");
    EXPECT_EQ(trainer.at("--optimizer"), "adamw_torch_fused");
    EXPECT_EQ(trainer.at("--steps"), "500");
}

TEST(LaunchFile, MaxTextAndNeMo) {
    Options const maxtext = options_in(sample("maxtext.yaml"));
    EXPECT_EQ(maxtext.at("--zero"), "3");
    EXPECT_EQ(maxtext.at("--recompute"), "full");
    Options const nemo = options_in(sample("nemo.yaml"));
    EXPECT_EQ(nemo.at("--nodes"), "4");
    EXPECT_EQ(nemo.at("--accelerators-per-node"), "8");
    EXPECT_EQ(nemo.at("--tp"), "4");
    EXPECT_EQ(nemo.at("--zero"), "1");
    EXPECT_EQ(nemo.at("--sequence-parallel"), "on");
    EXPECT_FALSE(nemo.contains("--virtual-pp") && nemo.at("--virtual-pp") != "1");
}

TEST(LaunchFile, NeMoRecomputesLayersOfAChunkByBlockAlone) {
    char const* const full = "trainer:\n  devices: 8\nmodel:\n  pipeline_model_parallel_size: 4\n"
                             "  virtual_pipeline_model_parallel_size: 2\n  activations_checkpoint_granularity: full\n"
                             "  activations_checkpoint_num_layers: 3\n  activations_checkpoint_method: ";
    Options const block = options_in(io::read_launch_file(full + std::string{"block\n"}, "a.yaml"));
    EXPECT_EQ(block.at("--recompute"), "full");
    EXPECT_EQ(block.at("--recompute-layers"), "24"); // 3 of each of 4 x 2 chunks
    EXPECT_FALSE(
        options_in(io::read_launch_file(full + std::string{"uniform\n"}, "a.yaml")).contains("--recompute-layers"));
    LaunchFile const none =
        io::read_launch_file("trainer:\n  devices: 8\nmodel:\n  activations_checkpoint_granularity: null\n", "a.yaml");
    EXPECT_EQ(Options(none.implied.begin(), none.implied.end()).at("--recompute"), "none");
}

TEST(LaunchFile, AliasesThatDoubleEndAtALimit) {
    std::string text;
    for (int i = 0; i < 200; ++i) { text += "a: &a [*a, *a]\n"; }
    try {
        static_cast<void>(io::read_launch_file(text, "a.yaml"));
        FAIL() << "2^200 words";
    } catch (InputError const& error) {
        EXPECT_NE(std::string_view{error.what()}.find("aliases that repeat too much"), std::string_view::npos);
    }
}

TEST(LaunchFile, EmptyKeysOfYamlAreNull) {
    LaunchFile const file =
        io::read_launch_file("base_model: m\nsequence_len: 4_096\nbf16: auto\nfp16:\nadapter:\nlora_r:\n"
                             "load_in_8bit:\nfsdp:\ntf32: true\nmicro_batch_size: 2\n",
                             "a.yaml");
    Options const found = options_in(file);
    EXPECT_EQ(found.at("--precision"), "bf16");
    EXPECT_EQ(found.at("--sequence-length"), "4096");
    for (char const* const none : {"--train", "--base", "--zero"}) { EXPECT_FALSE(found.contains(none)) << none; }
    Options const implied{file.implied.begin(), file.implied.end()};
    EXPECT_EQ(implied.at("--method"), "full");
    EXPECT_EQ(implied.at("--grad-accum"), "1");
}

TEST(LaunchFile, DefaultsOfDeepSpeedAndTheTrainer) {
    auto const implied = [](char const* text, char const* name) {
        LaunchFile const file = io::read_launch_file(text, name);
        return Options{file.implied.begin(), file.implied.end()};
    };
    Options const deepspeed =
        implied("{\"train_micro_batch_size_per_gpu\": 2, \"zero_optimization\": {\"stage\": 2}}", "a.json");
    EXPECT_EQ(deepspeed.at("--framework"), "deepspeed-zero");
    EXPECT_EQ(deepspeed.at("--precision"), "fp32");
    EXPECT_EQ(deepspeed.at("--grad-accum"), "1");
    EXPECT_FALSE(implied("{\"train_micro_batch_size_per_gpu\": \"auto\", \"bf16\": {\"enabled\": \"auto\"}}", "a.json")
                     .contains("--precision"));
    Options const trainer =
        implied("{\"output_dir\": \"o\", \"deepspeed\": {\"zero_optimization\": {\"stage\": 2}}}", "a.json");
    EXPECT_EQ(trainer.at("--micro-batch"), "8");
    EXPECT_FALSE(trainer.contains("--zero"));
    EXPECT_EQ(options_in(io::read_launch_file("{\"zero_optimization\": {\"stage\": 3, \"zero_hpz_partition_size\": 8}}",
                                              "a.json"))
                  .count("--shard"),
              0U);
}

TEST(LaunchFile, OlderKeysAndOtherTools) {
    Options const old = options_in(io::read_launch_file(
        "[training]\nbatch_size = 8\ndata_parallel_degree = 2\ntensor_parallel_degree = 4\n[experimental]\n"
        "pipeline_parallel_degree = 2\npipeline_parallel_microbatches = 8\n",
        "a.toml"));
    EXPECT_EQ(old.at("--tp"), "4");
    EXPECT_EQ(old.at("--pp"), "2");
    EXPECT_EQ(old.at("--dp"), "2");
    EXPECT_EQ(old.at("--micro-batch"), "1");
    EXPECT_EQ(old.at("--grad-accum"), "8");
    LaunchFile const neox = io::read_launch_file(
        "{\"pipe-parallel-size\": 4, \"model-parallel-size\": 2, \"checkpoint-activations\": true}", "a.json");
    EXPECT_EQ(neox.format, "GPT-NeoX configuration");
    EXPECT_EQ(options_in(neox).at("--tp"), "2");
    EXPECT_EQ(options_in(neox).at("--recompute"), "full");
    Options const tune = options_in(
        io::read_launch_file("model:\n  _component_: torchtune.models.m\nbatch_size: 4\ndevice: cuda\n", "a.yaml"));
    EXPECT_EQ(tune.at("--micro-batch"), "4");
    EXPECT_FALSE(tune.contains("--cluster"));
    Options const maxtext = options_in(io::read_launch_file(
        "per_device_batch_size: 6\nici_tensor_parallelism: 2\nmax_target_length: 4096\n", "a.yaml"));
    EXPECT_EQ(maxtext.at("--micro-batch"), "12");
}

TEST(LaunchFile, ChunksThatRecomputeBySize) {
    std::string const keys =
        "trainer:\n  devices: 8\n  accumulate_grad_batches: 1\nmodel:\n  pipeline_model_parallel_size: 4\n"
        "  recompute_granularity: full\n  recompute_num_layers: 3\n  recompute_method: ";
    Options const block = options_in(io::read_launch_file(keys + "block\n", "a.yaml"));
    EXPECT_EQ(block.at("--recompute-layers"), "12");
    EXPECT_FALSE(block.contains("--grad-accum"));
    EXPECT_FALSE(options_in(io::read_launch_file(keys + "uniform\n", "a.yaml")).contains("--recompute-layers"));
}

TEST(LaunchFile, ArgumentsOfAScriptAreNoValue) {
    Options const script = options_in(
        io::read_launch_file("torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --bf16 \\\n \"$@\"\n", "a.sh"));
    EXPECT_EQ(script.at("--precision"), "bf16");
}

TEST(LaunchFile, SaysWhichKeyGoesBeforeAnother) {
    LaunchFile const file =
        io::read_launch_file("run --tp 8 --micro-batch-size 1 \\\n --tensor-model-parallel-size 4", "a.sh");
    ASSERT_EQ(file.contradictions.size(), 1U);
    EXPECT_EQ(file.contradictions.front(),
              "--tp is 8 by --tp (line 1) and 4 by --tensor-model-parallel-size (line 2): the later is taken");
    EXPECT_EQ(options_in(file).at("--tp"), "4");
}

TEST(LaunchFile, RefusesWithTheLineAndWhatIsRead) {
    auto const refusal = [](char const* text, char const* name) -> std::string {
        try {
            io::read_launch_file(text, name);
        } catch (InputError const& error) { return error.what(); }
        return {};
    };
    EXPECT_TRUE(refusal("a: [1\nb: 2", "a.yaml").starts_with("a.yaml:2: not valid YAML or JSON"))
        << refusal("a: [1\nb: 2", "a.yaml");
    EXPECT_TRUE(refusal("[a]\nb = \n", "a.toml").starts_with("a.toml:2: not valid TOML"));
    EXPECT_TRUE(
        refusal("colour: red\nsize: 3\n", "a.yaml").starts_with("a.yaml: YAML of no launch file that is known"));
    EXPECT_NE(refusal("nothing at all", "a.sh").find("read are: Megatron-LM"), std::string::npos);
    std::string const deep(64, '[');
    EXPECT_NE(refusal(("a: " + deep).c_str(), "a.yaml").find("nested too deeply"), std::string::npos);
}

} // namespace
