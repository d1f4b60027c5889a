#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

fs::path const source{HEADROOM_SOURCE_DIR};

TEST(ModelConfigFamilies, EachHasTheParametersOfItsPublicCheckpoint) {
    // Expectation: counts of the public checkpoints, to the last parameter, without layers that predict later tokens.
    std::map<std::string, double> const parameters{
        {"GLM-4-9B-0414", 9400279040.0},
        {"apertus-8b", 8053338176.0},
        {"bert-sst", 109483778.0},
        {"chatglm3-6b", 6243584000.0},
        {"command-r-plus", 103810674688.0},
        {"distilbert", 66362880.0},
        {"distilbert-mlm", 66985530.0},
        {"ernie-pretraining", 110108732.0},
        {"megatron-bert", 82798978.0},
        {"data2vec-text-mlm", 109514298.0},
        {"dots1", 142774381696.0},
        {"ernie-0.3b", 360748032.0},
        {"ernie-21b-a3b", 21825437888.0},
        {"exaone-4-1.2b", 1279391488.0},
        {"exaone-4-32b", 32003216384.0},
        {"falcon-h1-0.5b", 521411104.0},
        {"falcon-mamba-7b", 7272665088.0},
        {"glm-4-9b", 9399951360.0},
        {"granite-4-h-tiny", 6939037248.0},
        {"hunyuan-a13b", 80393183232.0},
        {"internlm3-8b", 8804241408.0},
        {"jamba-v0.1", 51570323328.0},
        {"kimi-linear-48b", 49122681728.0},
        {"lfm2-350m", 354483968.0},
        {"lfm2-700m", 742489344.0},
        {"ling-lite", 16801974272.0},
        {"mamba-2.8b", 2768345600.0},
        {"minimax-text-01", 456089655296.0},
        {"olmo-3-7b", 7298011136.0},
        {"openelm-270m", 271527168.0},
        {"phi-2", 2779683840.0},
        {"phi-4", 14659507200.0},
        {"phi-4-mini", 3836021760.0},
        {"qwen3-next-80b", 79674391296.0},
        {"seed-oss-36b", 36151104512.0},
        {"stablelm-2-12b", 12143185920.0},
        {"whisper-large-v2", 1543304960.0},
        {"whisper-large-v3", 1543490560.0},
        {"whisper-tiny", 37760640.0},
        {"mistral-small-31", 23572403200.0},
        {"pixtral", 12247782400.0},
        {"qwen3-omni", 30532122624.0},
        {"gemma3-12b", 11766034176.0},
        {"glm-4.5v", 106852251264.0},
        {"moonlight", 15960110208.0},
        {"vit-bare", 86389248.0},
        {"ling-mini-2", 16255643392.0},
        {"flan-t5-base", 247577856.0},
        {"command-a", 111057580032.0},
        {"xlm-r-base", 278043648.0},
        {"qwen25vl7b", 7615616512.0},
        {"minicpm-2b", 2724880896.0},
        {"minicpm3-4b", 4073875968.0},
        {"persimmon-8b", 9397175296.0},
        {"modernbert-base", 149655232.0},
        {"nllb-600m", 615073792.0},
        {"xglm-7.5b", 7492771840.0},
        {"biogpt", 346763264.0},
        {"openai-gpt", 116534784.0},
        {"gpt-neo-2.7b", 2651307520.0},
        {"trinity-mini", 26123974400.0},
        {"hyperclovax-14b", 14748112896.0},
        {"falcon-40b-refinedweb", 41303293952.0},
        {"umt5-xxl", 12972531712.0},
        {"electra-base", 109483009.0},
        {"pegasus-large", 568699904.0},
        {"jais-13b", 13020811920.0},
        {"nanochat-d20", 560988160.0},
        {"bitnet-2b", 2412820480.0},
    };
    std::size_t read = 0;
    for (auto const& entry : fs::directory_iterator{source / "tests/data/config_families"}) {
        std::string const name = entry.path().stem().string();
        ASSERT_TRUE(parameters.contains(name)) << "no expectation for " << name;
        ModelConfig const config = read_model_config(read_file(entry.path()), entry.path().string());
        EXPECT_EQ(count_parameters(config.model).total, parameters.at(name)) << name;
        EXPECT_FALSE(config.model.range.open()) << name;
        EXPECT_TRUE(config.issues.empty())
            << name << ": " << (config.issues.empty() ? "" : config.issues.front().column);
        ++read;
    }
    EXPECT_EQ(read, parameters.size());
}

TEST(ModelConfigFamilies, TheSharedTableIsExact) {
    char const* variable = std::getenv("HEADROOM_SHARED");
    fs::path const shared = variable == nullptr ? source / "../shared" : fs::path{variable};
    fs::path const folder = shared / "cases/configs";
    if (!fs::exists(folder / "truth.csv")) { GTEST_SKIP() << "no " << folder.string() << "/truth.csv here"; }
    std::istringstream table{read_file(folder / "truth.csv")};
    std::string line;
    std::getline(table, line); // heads
    int exact = 0;
    while (std::getline(table, line)) {
        std::istringstream cells{line};
        std::string file, type, all, active;
        std::getline(cells, file, ',');
        std::getline(cells, type, ',');
        std::getline(cells, all, ',');
        std::getline(cells, active, ',');
        if (all == "-") { continue; } // not derived
        ParameterCount const count = count_parameters(read_model_config(read_file(folder / file), file).model);
        EXPECT_EQ(count.total, std::stod(all)) << file;
        if (!active.empty()) { EXPECT_EQ(count.active, std::stod(active)) << file; }
        ++exact;
    }
    EXPECT_GT(exact, 0);
}

TEST(ModelConfigFamilies, NoLineIsDroppedInSilence) {
    // Expectation: without one line of a file the result has another list of keys, or there is none.
    for (auto const& entry : fs::directory_iterator{source / "tests/data/config_families"}) {
        std::string const text = read_file(entry.path());
        auto const keys = [](ModelConfig const& config) {
            auto all = config.used;
            all.insert(all.end(), config.ignored.begin(), config.ignored.end());
            return all;
        };
        auto const whole = keys(read_model_config(text, "c"));
        for (std::size_t begin = text.find('\n') + 1; begin < text.size();) {
            std::size_t const end = std::min(text.find('\n', begin), text.size());
            bool const is_key = text.compare(begin, 2, " \"") == 0;
            std::string const without = text.substr(0, begin) + text.substr(std::min(end + 1, text.size()));
            begin = end + 1;
            if (!is_key) { continue; } // a line of a list of layers: its length is checked
            try {
                EXPECT_NE(keys(read_model_config(without, "c")), whole)
                    << entry.path() << ": " << without.substr(0, begin);
            } catch (InputError const&) { // refused
            }
        }
    }
}

std::string object(std::string_view type, std::string_view keys, std::string_view dimensions = {}) {
    std::string const usual = R"("hidden_size":64,"intermediate_size":256,"num_hidden_layers":8,
        "num_attention_heads":4,"vocab_size":1000,"max_position_embeddings":4096)";
    return "{\"model_type\":\"" + std::string{type} + "\"," + (dimensions.empty() ? usual : std::string{dimensions}) +
           (keys.empty() ? "" : ",") + std::string{keys} + "}";
}

ModelConfig read(std::string_view type, std::string_view keys) { return read_model_config(object(type, keys), "c"); }

std::string refused(std::string const& text) {
    try {
        read_model_config(text, "c");
    } catch (InputError const& error) { return error.what(); }
    ADD_FAILURE() << "accepted: " << text;
    return {};
}

int windowed(Model const& model) {
    int count = 0;
    for (auto const& kind : block_kinds(model)) { count += kind.window > 0 ? 1 : 0; }
    return count;
}

int routed(Model const& model) {
    int count = 0;
    for (auto const& kind : block_kinds(model)) { count += kind.channel == Channel::experts ? 1 : 0; }
    return count;
}

TEST(ModelConfigFamilies, NumbersThatPythonWritesAreTextsUntilTheyAreAskedFor) {
    EXPECT_EQ(read("llama", R"("limits":[0.0,Infinity],"x":-Infinity,"y":NaN)").model.layers, 8);
    EXPECT_THAT(refused(object("llama", R"("num_key_value_heads":Infinity)")),
                HasSubstr("num_key_value_heads: text where a whole number is due"));
    EXPECT_EQ(read("llama", R"("x":"NaN is a word")").model.layers, 8);
}

TEST(ModelConfigFamilies, APartOfALargerModelLeavesKeysToItsClass) {
    ModelConfig const llava = read_model_config(
        R"({"model_type":"llava","tie_word_embeddings":false,"vocab_size":32064,
            "text_config":{"model_type":"llama","vocab_size":32064,"max_position_embeddings":4096}})",
        "c");
    EXPECT_EQ(count_parameters(llava.model).total, 6738939904.0); // Llama-2-7B and 64 words more
    EXPECT_TRUE(llava.model.vision_left_out);
    auto const names = [](Guess const& guess) { return guess.field == "text_config.hidden_size"; };
    EXPECT_TRUE(std::ranges::any_of(llava.model.guesses, names)) << "a default is listed";
    // A null is a value: without it the class would compress queries.
    EXPECT_EQ(
        read_model_config(R"({"model_type":"x","text_config":{"model_type":"deepseek_v3","q_lora_rank":null}})", "c")
            .model.latent.q_rank,
        0);
    EXPECT_THAT(refused(R"({"model_type":"llama","vocab_size":5})"), HasSubstr("hidden_size: missing"));
}

TEST(ModelConfigFamilies, TheTextPartIsFoundWhereverItIs) {
    std::string const text = object("qwen3", R"("head_dim":16)");
    EXPECT_EQ(read_model_config(R"({"model_type":"omni","thinker_config":{"text_config":)" + text +
                                    R"(,"audio_config":{"hidden_size":5}}})",
                                "c")
                  .model.hidden,
              64);
    EXPECT_EQ(read_model_config(
                  R"({"model_type":"vl","hidden_size":1280,"num_hidden_layers":3,"text_config":)" + text + "}", "c")
                  .model.hidden,
              64);
    EXPECT_TRUE(read_model_config(R"({"model_type":"qwen3_vl","text_config":)" + object("qwen3_vl_text", "") + "}", "c")
                    .model.qk_norm);
}

TEST(ModelConfigFamilies, ListsOfLayersAreReadLayerByLayer) {
    EXPECT_EQ(windowed(read("exaone4", R"("sliding_window":64,"sliding_window_pattern":"LLLG")").model), 6);
    EXPECT_EQ(windowed(read("mistral", R"("sliding_window":64,"layer_types":["full_attention","sliding_attention",
        "sliding_attention","full_attention","full_attention","full_attention","full_attention","full_attention"])")
                           .model),
              2);
    // The first layers of Qwen2 see everything.
    EXPECT_EQ(windowed(read("qwen2", R"("sliding_window":64,"use_sliding_window":true,"max_window_layers":5)").model),
              3);
    std::string const experts = R"("num_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":32,)";
    EXPECT_EQ(routed(read("qwen3_moe", experts + R"("mlp_only_layers":[1,3],"decoder_sparse_step":2)").model), 2);
    EXPECT_EQ(
        routed(read("deepseek", R"("n_routed_experts":8,"num_experts_per_tok":2,"moe_layer_freq":[0,1,1,0,1,1,1,1])")
                   .model),
        6);
    EXPECT_EQ(routed(read("ernie4_5_moe", R"("moe_num_experts":8,"moe_k":2,"moe_layer_start_index":1,
        "moe_layer_end_index":6,"moe_layer_interval":1,"moe_intermediate_size":32)")
                         .model),
              6);
    EXPECT_THAT(refused(object("mistral", R"("sliding_window":64,"layer_types":["full_attention"])")),
                HasSubstr("layer_types: 1 entries for 8 layers"));
    EXPECT_THAT(
        refused(object("llama", R"("layer_types":["full_attention","odd","odd","odd","odd","odd","odd","odd"])")),
        HasSubstr("layer 1 is 'odd' (such layers are not modelled)"));
    EXPECT_THAT(
        refused(object("llama", R"("layer_types":["mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba"])")),
        HasSubstr("not known for this type"));
}

TEST(ModelConfigFamilies, SharedKeysAndGlobalHeadsAreCountedAsByHand) {
    ModelConfig const config = read_model_config(
        R"({"model_type":"gemma4_text","hidden_size":64,"intermediate_size":256,"num_hidden_layers":6,"vocab_size":1000,
            "num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"global_head_dim":32,
            "num_global_key_value_heads":1,"attention_k_eq_v":true,"num_kv_shared_layers":2,"use_double_wide_mlp":true,
            "hidden_size_per_layer_input":8,"vocab_size_per_layer_input":100,"sliding_window":128,
            "layer_types":["sliding_attention","sliding_attention","full_attention","sliding_attention",
                           "sliding_attention","full_attention"]})",
        "c");
    double const around = 5 * 64 + 2 * 64 * 8;                // four norms, the second embedding's norm and products
    double const windowed = 64 * (64 + 2 * 32 + 64) + 2 * 16; // queries, keys, values, output; norms of heads of 16
    double const full = 64 * (128 + 32 + 128) + 2 * 32;       // heads of 32; one head of keys, which are the values
    double const borrowed = 64 * (64 + 64) + 16, borrowed_full = 64 * (128 + 128) + 32;
    double const dense = 3 * 64 * 256;
    double const tables = 100 * 6 * 8 + 64 * 6 * 8 + 8 + 1000 * 64 + 64;
    EXPECT_EQ(count_parameters(config.model).total,
              3 * windowed + full + borrowed + borrowed_full + 4 * dense + 2 * 2 * dense + 6 * around + tables);
    EXPECT_TRUE(config.issues.empty());
}

TEST(ModelConfigFamilies, LayersWithAWindowMayHaveKeyHeadsAndSinksOfTheirOwn) {
    Model const model = read("mimo_v2_flash", R"("n_routed_experts":8,"num_experts_per_tok":2,"num_key_value_heads":1,
        "swa_num_key_value_heads":2,"head_dim":24,"v_head_dim":16,"moe_intermediate_size":32,"sliding_window":64,
        "hybrid_layer_pattern":[0,1,1,1,1,1,1,0],"moe_layer_freq":[0,1,1,1,1,1,1,1],
        "add_swa_attention_sink_bias":true)")
                            .model;
    auto const runs = block_runs(model);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(routed(model), 7);
    EXPECT_EQ(windowed(model), 6);
    auto const attention = [&](BlockKind kind) {
        kind.channel = Channel::none;
        return block_parameters(model, kind).all;
    };
    // queries 4 x 24, keys 24, values 16, output 4 x 16, a norm
    EXPECT_EQ(attention(runs[0].kind), 64 * (96 + 24 + 16 + 64) + 64);
    EXPECT_EQ(attention(runs[1].kind), 64 * (96 + 48 + 32 + 64) + 64 + 4) << "two heads of keys, four sinks";
}

TEST(ModelConfigFamilies, LayersFoundBySearchMayLeavePartsOut) {
    Model const model =
        read_model_config(
            R"({"model_type":"nemotron-nas","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":1000,
            "num_key_value_heads":null,"intermediate_size":null,"block_configs":[
              {"attention":{"n_heads_in_group":2,"no_op":false},"ffn":{"ffn_mult":6.0,"no_op":false}},
              {"attention":{"n_heads_in_group":null,"no_op":true},"ffn":{"ffn_mult":3.0,"no_op":false}}]})",
            "c")
            .model;
    // widths 2/3 x 6 x 64 = 256 and 2/3 x 3 x 64 = 128, to the next multiple of 256
    double const first = 64 * (64 + 2 * 32 + 64) + 3 * 64 * 256 + 2 * 64, second = 3 * 64 * 256 + 64;
    EXPECT_EQ(count_parameters(model).total, first + second + 2 * 64'000 + 64);
}

TEST(ModelConfigFamilies, ExpertsATokenVisitsHaveManyNames) {
    for (char const* name :
         {"num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_k"}) {
        std::string const keys = R"("num_local_experts":8,")" + std::string{name} + "\":3";
        EXPECT_EQ(read("granitemoe", keys).model.moe.top_k, 3) << name;
    }
    // One number for every layer.
    EXPECT_EQ(read("hunyuan_v1_moe", R"("num_experts":4,"moe_topk":[2,2,2,2,2,2,2,2])").model.moe.top_k, 2);
    EXPECT_THAT(refused(object("hunyuan_v1_moe", R"("num_experts":4,"moe_topk":[2,1])")),
                HasSubstr("moe_topk: a list of different numbers"));
}

TEST(ModelConfigFamilies, AHeadlessModelHasNoHead) {
    Model const bare = read("bert", R"("architectures":["BertModel"])").model;
    EXPECT_FALSE(bare.has_head);
    EXPECT_EQ(bare.other_parameters, 2 * 64 + 64 * 64 + 64) << "segments and the pooler";
    Model const embeds = read("qwen3", R"("architectures":["Qwen3Model"],"head_dim":16)").model;
    EXPECT_EQ(count_parameters(embeds).head, 0.0);
    Model const reward = read("llama", R"("architectures":["LlamaForSequenceClassification"],"num_labels":1)").model;
    EXPECT_EQ(reward.other_parameters, 64.0);
    EXPECT_TRUE(read("llama", R"("architectures":["LlamaForCausalLM"])").model.has_head);
}

TEST(ModelConfigFamilies, TheClassOfAnyFamilySaysWhetherThereIsAHead) {
    for (auto const& [type, name] : {std::pair{"qwen3_vl_text", "Qwen3VLTextModel"},
                                     {"llama", "LlamaBidirectionalModel"},
                                     {"brandnew", "BrandNewTextModel"}}) {
        EXPECT_FALSE(read(type, R"("architectures":[")" + std::string{name} + "\"]").model.has_head) << name;
    }
    for (auto const& [type, name] : {std::pair{"gpt2", "GPT2LMHeadModel"}, {"bloom", "BloomModel"}}) {
        EXPECT_TRUE(read(type, R"("architectures":[")" + std::string{name} + "\"]").model.has_head) << name;
    }
    // Half of a pair has about half of its parameters.
    EXPECT_THAT(refused(object("t5", R"("architectures":["T5EncoderModel"],"num_decoder_layers":8)")),
                HasSubstr("architectures: 'T5EncoderModel' (one half of a pair"));
    EXPECT_THAT(refused(object("mbart", R"("architectures":["MBartForCausalLM"])")), HasSubstr("one half of a pair"));
}

TEST(ModelConfigFamilies, LayersAreCountedByTheListOfThem) {
    // Nemotron-H as transformers 5 writes it: no number of layers, and words in the place of letters.
    std::string const dimensions =
        R"("hidden_size":64,"intermediate_size":256,"num_attention_heads":4,"vocab_size":1000,
        "mamba_num_heads":4,"mamba_head_dim":8,"ssm_state_size":8,"n_groups":2)";
    Model const letters =
        read_model_config(object("nemotron_h", R"("num_hidden_layers":4,"hybrid_override_pattern":"M-*M")", dimensions),
                          "c")
            .model;
    Model const words =
        read_model_config(
            object("nemotron_h",
                   R"("layers_block_type":["linear_attention","mlp","full_attention","linear_attention"])", dimensions),
            "c")
            .model;
    EXPECT_EQ(words.layers, 4);
    EXPECT_EQ(words.pattern, "M-*M");
    EXPECT_EQ(count_parameters(words).total, count_parameters(letters).total);
}

TEST(ModelConfigFamilies, AttentionWithAnIndexerIsNamedInListsOfLayers) {
    std::string const latent = R"("kv_lora_rank":16,"qk_nope_head_dim":16,"qk_rope_head_dim":8,"v_head_dim":16,
        "num_hidden_layers":2,"layer_types":["indexed_attention","indexed_attention"])";
    std::string const dimensions =
        R"("hidden_size":64,"intermediate_size":256,"num_attention_heads":4,"vocab_size":1000)";
    Model const model =
        read_model_config(
            object("deepseek_v32", latent + R"(,"index_n_heads":2,"index_head_dim":8,"index_topk":64)", dimensions),
            "c")
            .model;
    EXPECT_EQ(model.indexer.heads, 2);
    EXPECT_THAT(refused(object("deepseek_v32", latent, dimensions)), HasSubstr("the dimensions of its indexer"));
    EXPECT_THAT(
        refused(object("brandnew", latent + R"(,"index_n_heads":2,"index_head_dim":8,"index_topk":64)", dimensions)),
        HasSubstr("may change what is counted: layer_types"));
}

TEST(ModelConfigFamilies, AKeyThatMayChangeTheCountIsAnIssueOrARefusal) {
    ModelConfig const known = read("llama", R"("num_local_experts":8,"rope_theta":7,"rms_norm_eps":1e-5)");
    ASSERT_EQ(known.issues.size(), 1U);
    EXPECT_EQ(known.issues.front().column, "num_local_experts");
    EXPECT_THAT(refused(object("brandnew", R"("ssm_rank":3)")), HasSubstr("may change what is counted: ssm_rank"));
    // Tables of other sizes, parts with a configuration of their own, experts that are switched off.
    for (auto const& [key, value] : {std::pair{"vision_config", R"({"hidden_size":32})"},
                                     {"entity_vocab_size", "500000"},
                                     {"input_embedding_size", "32"},
                                     {"num_codebooks", "32"},
                                     {"is_moe", "false"}}) {
        EXPECT_THAT(refused(object("brandnew", "\"" + std::string{key} + "\":" + value)), HasSubstr(key));
    }
    EXPECT_EQ(read("brandnew", R"("quantization_config":{"quant_method":"gptq"},"type_vocab_size":2)").model.layers, 8);
    EXPECT_THAT(refused(object("jetmoe", "")), HasSubstr("attention heads that tokens choose"));
    ModelConfig const stored = read("llama", R"("quantization_config":{"quant_method":"gptq","bits":4})");
    ASSERT_EQ(stored.issues.size(), 1U);
    EXPECT_THAT(stored.issues.front().kind, HasSubstr("stored quantised (gptq)"));
}

TEST(ModelConfigFamilies, AnUnknownTypeIsReadOnlyWhereItDecodesText) {
    for (auto const name : {"BrandNewForMaskedLM", "BrandNewForImageClassification", "BrandNewEncoder"}) {
        EXPECT_THAT(refused(object("brandnew", R"("architectures":[")" + std::string{name} + "\"]")),
                    HasSubstr("is no decoder of text"));
    }
    EXPECT_EQ(read("brandnew", R"("architectures":["BrandNewForCausalLM"])").model.layers, 8);
    // Two towers side by side, and a detector that reads a text.
    EXPECT_THAT(refused(R"({"model_type":"towers","architectures":["TowersModel"],"text_config":)" +
                        object("towers_text", "") + "}"),
                HasSubstr("is no decoder of text"));
    EXPECT_THAT(refused(R"({"model_type":"detector","text_config":)" + object("bert", "") + "}"),
                HasSubstr("'bert' encodes the text of 'detector'"));
    EXPECT_THAT(refused(object("brandnew", R"("num_loops":4)")), HasSubstr("may change what is counted: num_loops"));
}

TEST(ModelConfigFamilies, AnActivationThatGatesNothingMakesPlainLayers) {
    ModelConfig const config = read("brandnew", R"("hidden_act":"relu2","tie_word_embeddings":false)");
    EXPECT_EQ(config.model.feed_forward, FeedForward::plain);
    double const count = count_parameters(config.model).total;
    EXPECT_EQ(config.model.range.low, 1.0);
    EXPECT_GE(config.model.range.high * count, count + 8.0 * 64 * 256) << "gated ones are within the bounds";
}

TEST(ModelConfigFamilies, OtherFilesOfAModelAreNamed) {
    for (auto const& [text, why] :
         {std::pair{R"({"_class_name":"DiTTransformer2DModel","num_layers":28})", "diffusers"},
          {R"({"peft_type":"LORA","r":16})", "--train lora:16"},
          {R"({"weight_map":{"a":"b"},"metadata":{}})", "index of files of weights"},
          {R"({"dim":4096,"n_layers":32,"n_heads":32,"vocab_size":32000,"multiple_of":256})", "feed-forward width"}}) {
        EXPECT_THAT(refused(text), ::testing::AllOf(HasSubstr("not a model's config.json"), HasSubstr(why)));
    }
}

TEST(ModelConfigFamilies, WindowsAndSharedHeadsOfOlderKeysAreRead) {
    EXPECT_EQ(windowed(read("modernbert", "").model), 5); // layers 1, 4 and 7 of 8 see everything
    EXPECT_EQ(windowed(read("gpt_neo", R"("window_size":16,"attention_layers":["global","local","global","local",
        "global","local","global","local"])")
                           .model),
              4);
    EXPECT_EQ(windowed(read("afmoe", R"("num_experts":8,"num_experts_per_tok":2,"sliding_window":64,
        "global_attn_every_n_layers":4)")
                           .model),
              6);
    EXPECT_EQ(read("gpt2", R"("attention_head_type":"multiquery")").model.kv_heads, 1);
    EXPECT_EQ(read("gpt_bigcode", R"("multi_query":false,"num_key_value_heads":1)").model.kv_heads, 4);
    EXPECT_THAT(refused(object("hunyuan_v1_dense", R"("use_cla":true)")), HasSubstr("use_cla: true"));
    ModelConfig const tied = read_model_config(R"({"model_type":"x","tie_word_embeddings":true,"text_config":)" +
                                                   object("llama", R"("tie_word_embeddings":false)") + "}",
                                               "c");
    ASSERT_EQ(tied.issues.size(), 1U);
    EXPECT_THAT(tied.issues.front().kind, HasSubstr("false of the text part, against true of the whole"));
}

TEST(ModelConfigFamilies, AnUnknownTypeIsBounded) {
    ModelConfig const config = read("brandnew", R"("hidden_act":"gelu","tie_word_embeddings":false)");
    double const count = count_parameters(config.model).total;
    // Two matrices in the place of three: 8 x 64 x 256 less.
    EXPECT_DOUBLE_EQ(config.model.range.low * count, count - 8.0 * 64 * 256);
    EXPECT_GT(config.model.range.high, 1.0);
    EXPECT_EQ(config.model.guesses.front().field, "architecture");
    EXPECT_THAT(config.filled.front(), HasSubstr("unknown architecture 'brandnew'"));
    // A silu stands in gated layers; biases and norms remain.
    EXPECT_EQ(read("brandnew", R"("hidden_act":"silu","tie_word_embeddings":true)").model.range.low, 1.0);
    EXPECT_FALSE(read("llama", "").model.range.open());
}

} // namespace
} // namespace headroom::io
