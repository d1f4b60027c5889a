#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

fs::path const configs = fs::path{HEADROOM_SOURCE_DIR} / "tests/data/configs";

std::string const tiny_llama = R"({
  "model_type": "llama",
  "hidden_size": 64,
  "intermediate_size": 256,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "vocab_size": 1000
})";

std::string changed(std::string text, std::string_view from, std::string_view to) {
    auto const at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

/// The config with more keys before its first.
std::string plus(std::string_view keys) { return changed(tiny_llama, "{", "{" + std::string{keys} + ","); }

Model model_of(std::string const& text) { return read_model_config(text, "config.json").model; }

std::string refused(std::string const& text, Fault fault = Fault::usage) {
    try {
        read_model_config(text, "config.json");
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return {};
}

TEST(ModelConfig, PublicConfigsGiveTheExactParameterCount) {
    // Expectation: the counts that the public checkpoints hold, to the last parameter; without vision towers and
    // without the layers that predict later tokens, which publishers add to some totals and not to others.
    std::map<std::string, double> const parameters{
        {"bloom-176b", 176247271424.0},      {"falcon-7b", 6921720704.0},         {"gemma-7b", 8537680896.0},
        {"gpt-j-6b", 6050882784.0},          {"gpt-neox-20b", 20554567680.0},     {"gpt2-xl", 1557611200.0},
        {"llama-3-70b", 70553706496.0},      {"mixtral-8x7b", 46702792704.0},     {"llama-3.2-1b", 1235814400.0},
        {"mistral-7b", 7241732096.0},        {"mpt-30b", 29957200896.0},          {"opt-6.7b", 6658473984.0},
        {"qwen2.5-7b", 7615616512.0},        {"mixtral-8x22b", 140630071296.0},   {"qwen3-30b-a3b", 30532122624.0},
        {"qwen3-235b-a22b", 235093634560.0}, {"qwen3-8b", 8190735360.0},          {"qwen2-57b-a14b", 57408658944.0},
        {"deepseek-v3", 671026419200.0},     {"kimi-k2", 1026408232448.0},        {"deepseek-v2", 235741434880.0},
        {"deepseek-v2-lite", 15706484224.0}, {"deepseek-moe-16b", 16375728128.0}, {"gpt-oss-20b", 20914757184.0},
        {"gpt-oss-120b", 116829156672.0},    {"gemma-2-9b", 9241705984.0},        {"gemma-3-27b", 27009346304.0},
        {"gemma-3-4b", 3880263168.0},        {"nemotron-3-nano", 31577940288.0},  {"nemotron-nano-9b-v2", 8888227328.0},
        {"olmoe-1b-7b", 6919161856.0},       {"phi-3.5-moe", 41873153344.0},      {"dbrx", 131596523520.0},
        {"bert-base", 110106428.0},          {"bert-large", 336226108.0},         {"roberta-large", 355412057.0},
        {"t5-large", 737668096.0},           {"bart-large", 406291456.0},         {"vit-b-16", 86567656.0},
        {"mamba2-2.7b", 2702599680.0},       {"llama4-scout", 107769861120.0},    {"llama4-maverick", 400711848960.0},
        {"glm-4.5-air", 106852251264.0},
    };
    int read = 0;
    for (auto const& entry : fs::directory_iterator{configs}) {
        auto const file = entry.path() / "config.json";
        if (!fs::exists(file)) { continue; }
        std::string const name = entry.path().filename().string();
        ASSERT_TRUE(parameters.contains(name)) << "no expectation for " << name;
        ModelConfig const config = read_model_config(read_file(file), file.string());
        EXPECT_DOUBLE_EQ(count_parameters(config.model).total, parameters.at(name)) << name;
        ++read;
    }
    EXPECT_EQ(read, static_cast<int>(parameters.size()));
}

TEST(ModelConfig, AgreesWithTheCatalog) {
    // Expectation: two independent descriptions of one public model are the same model.
    Catalog const catalog;
    for (auto const& entry : fs::directory_iterator{configs}) {
        auto const file = entry.path() / "config.json";
        std::string const name = entry.path().filename().string();
        if (!fs::exists(file)) { continue; }
        std::string const record = name == "mpt-30b" ? "mosaicml-mpt-30b" : name;
        ASSERT_TRUE(catalog.has_model(record)) << record;
        Model const left = read_model_config(read_file(file), file.string()).model, right = catalog.model(record);
        EXPECT_EQ(left.layers, right.layers) << name;
        EXPECT_EQ(left.hidden, right.hidden) << name;
        EXPECT_EQ(left.heads, right.heads) << name;
        EXPECT_EQ(left.kv_heads, right.kv_heads) << name;
        EXPECT_EQ(left.head_dim, right.head_dim) << name;
        EXPECT_EQ(left.ffn, right.ffn) << name;
        EXPECT_EQ(left.vocab, right.vocab) << name;
        EXPECT_EQ(left.feed_forward, right.feed_forward) << name;
        EXPECT_EQ(left.norm, right.norm) << name;
        EXPECT_EQ(left.norms_per_layer, right.norms_per_layer) << name;
        EXPECT_EQ(left.positions, right.positions) << name;
        EXPECT_EQ(left.tied_embeddings, right.tied_embeddings) << name;
        EXPECT_EQ(left.parallel_block, right.parallel_block) << name;
        EXPECT_EQ(left.qkv_bias, right.qkv_bias) << name;
        EXPECT_EQ(left.window, right.window) << name;
        EXPECT_EQ(left.full_every, right.full_every) << name;
        EXPECT_EQ(left.pattern, right.pattern) << name;
        EXPECT_EQ(left.encoder_layers, right.encoder_layers) << name;
        EXPECT_EQ(left.causal, right.causal) << name;
        EXPECT_EQ(left.moe.top_k, right.moe.top_k) << name;
        EXPECT_EQ(left.moe.group_limit, right.moe.group_limit) << name;
        EXPECT_EQ(left.moe.every, right.moe.every) << name;
        EXPECT_DOUBLE_EQ(count_parameters(left).total, count_parameters(right).total) << name;
        EXPECT_DOUBLE_EQ(count_parameters(left).active, count_parameters(right).active) << name;
    }
}

TEST(ModelConfig, BadConfigsAreOneLineOfTheirKind) {
    std::set<std::string> const unreadable{"not-json.json", "truncated.json", "empty.json"};
    int read = 0;
    for (auto const& entry : fs::directory_iterator{configs / "bad"}) {
        std::string const name = entry.path().filename().string();
        std::string const text = read_file(entry.path());
        ++read;
        std::string const line = refused(text, unreadable.contains(name) ? Fault::unreadable : Fault::usage);
        EXPECT_THAT(line, ::testing::StartsWith("config.json")) << name;
        EXPECT_THAT(line, Not(HasSubstr("\n"))) << name;
        EXPECT_LT(line.size(), 300U) << name;
    }
    EXPECT_GE(read, 10);
}

TEST(ModelConfig, NamesTheKeyTheLineAndTheReason) {
    EXPECT_EQ(refused(changed(tiny_llama, "64", "\"big\"")),
              "config.json:3: hidden_size: text where a whole number is due");
    EXPECT_EQ(
        refused(changed(tiny_llama, "\"llama\"", "\"longt5\"")),
        "config.json:2: model_type: 'longt5' is not supported (this pair of encoder and decoder is not modelled). "
        "`headroom catalog list models` shows models that are");
    EXPECT_THAT(refused(plus("\"hidden_act\": \"sillu\"")),
                ::testing::StartsWith("config.json:1: hidden_act: unknown activation 'sillu' (known: "));
    EXPECT_THAT(refused(plus("\"num_key_value_heads\": 3")), HasSubstr("num_key_value_heads: 3 do not divide 4 heads"));
    EXPECT_THAT(refused(plus("\"n_embd\": 128")), HasSubstr("both name the same dimension"));
    EXPECT_THAT(refused(plus("\"hidden_size\": 128")), HasSubstr("key 'hidden_size' twice"));
}

TEST(ModelConfig, RefusesWhatIsNotAModel) {
    for (std::string const text : {"[]", "7", "null", "\"text\"", "{}"}) { refused(text); }
    for (std::string const text : {"", " \n", "{", "{\"a\"", "{} {}", "{\"a\": 1,}", "{'a': 1}", "\xff"}) {
        refused(text, Fault::unreadable);
    }
    refused(tiny_llama + "x", Fault::unreadable);
    refused(changed(tiny_llama, "64", "NaN"));
    refused(changed(tiny_llama, "64", "-Infinity"));
    refused(changed(tiny_llama, "64", "1e999"));
    refused(changed(tiny_llama, "64", "true"));
    refused(changed(tiny_llama, "64", "64.5"));
    refused(changed(tiny_llama, "64", "null"));
    refused(plus("\"is_encoder_decoder\": true"));
    refused(plus("\"x\": " + std::string(100'000, '[')));
    refused(std::string(5u << 20, ' '), Fault::unreadable);
}

TEST(ModelConfig, ToleratesAByteOrderMarkAndWholeFloats) {
    EXPECT_EQ(model_of("\xEF\xBB\xBF" + tiny_llama).hidden, 64);
    EXPECT_EQ(model_of(changed(tiny_llama, "64", "64.0")).hidden, 64);
}

TEST(ModelConfig, AccountsForEveryKey) {
    ModelConfig const config = read_model_config(plus("\"rope_theta\": 10000.0, \"tie_word_embeddings\": true"), "c");
    EXPECT_THAT(config.used, Contains("hidden_size"));
    EXPECT_THAT(config.used, Contains("tie_word_embeddings"));
    EXPECT_THAT(config.used, Not(Contains("rope_theta")));
    EXPECT_THAT(config.ignored, ::testing::ElementsAre("rope_theta"));
    EXPECT_THAT(config.filled, Contains("head_dim = 16 (hidden over heads)"));
    EXPECT_TRUE(config.model.tied_embeddings);
}

TEST(ModelConfig, AnUnknownTypeWithTheUsualDimensionsIsACommonDecoder) {
    auto const unknown = [](std::string_view keys) {
        return read_model_config(changed(plus(keys), "\"llama\"", "\"brandnew\""), "c");
    };
    ModelConfig const config = unknown("\"rope_theta\": 7, \"rms_norm_eps\": 1e-5");
    EXPECT_EQ(config.model.feed_forward, FeedForward::gated);
    EXPECT_THAT(config.filled.front(),
                ::testing::StartsWith("unknown architecture 'brandnew' read as a common decoder (as llama)"));
    EXPECT_THAT(config.filled, Contains(HasSubstr("assumed grouped attention")));
    EXPECT_THAT(config.ignored, Contains("rope_theta"));
    EXPECT_EQ(refused("{\"model_type\": \"brandnew\", \"d_model\": 3, \"vocab_size\": 5}"),
              "config.json:1: model_type: unknown type 'brandnew' (and it cannot be read as a common decoder without "
              "num_hidden_layers, num_attention_heads, intermediate_size)");
    EXPECT_THAT(refused("{\"model_type\": \"mistrall\", \"d_model\": 3}"), HasSubstr("did you mean 'mistral'?"));
    // Experts and latent attention are known parts wherever their keys are.
    ModelConfig const mixture =
        unknown("\"n_routed_experts\": 64, \"num_experts_per_tok\": 4, \"n_shared_experts\": 1, "
                "\"moe_intermediate_size\": 32, \"kv_lora_rank\": 8, \"qk_nope_head_dim\": 8, "
                "\"qk_rope_head_dim\": 4, \"v_head_dim\": 8");
    EXPECT_EQ(mixture.model.moe.experts, 64);
    EXPECT_EQ(mixture.model.latent.kv_rank, 8);
    EXPECT_THAT(refused(changed(plus("\"n_routed_experts\": 64"), "\"llama\"", "\"brandnew\"")),
                HasSubstr("num_experts_per_tok: missing"));
}

TEST(ModelConfig, ContradictionsAreNamedByTheKeysOfTheFile) {
    auto const as = [](std::string_view type, std::string_view keys) {
        return refused(changed(plus(keys), "\"llama\"", "\"" + std::string{type} + "\""));
    };
    EXPECT_THAT(as("mixtral", "\"num_local_experts\": 2, \"num_experts_per_tok\": 3"),
                HasSubstr("num_experts_per_tok: 3 of 2 experts"));
    EXPECT_THAT(as("deepseek", "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"first_k_dense_replace\": 3"),
                HasSubstr("first_k_dense_replace: 3 of 2 layers"));
    EXPECT_THAT(as("qwen3_moe", "\"num_experts\": 8, \"num_experts_per_tok\": 2, \"mlp_only_layers\": [2]"),
                HasSubstr("mlp_only_layers: layer 2 of 2"));
    EXPECT_THAT(as("deepseek_v2", "\"kv_lora_rank\": 8"), HasSubstr("qk_nope_head_dim: missing"));
    EXPECT_THAT(as("nemotron_h", "\"hybrid_override_pattern\": \"M-*\""), HasSubstr("3 letters for 2 layers"));
    EXPECT_THAT(as("nemotron_h", "\"hybrid_override_pattern\": \"M?\", \"mamba_num_heads\": 4, "
                                 "\"mamba_head_dim\": 8, \"ssm_state_size\": 8, \"n_groups\": 2"),
                HasSubstr("hybrid_override_pattern: unknown letter '?'"));
    EXPECT_THAT(as("electra", "\"embedding_size\": 32"), HasSubstr("projected embeddings"));
    for (auto const& [type, why] : {std::pair{"mllama", "attend to images"},
                                    {"idefics", "attend to images"},
                                    {"rwkv", "RWKV's time mixing"},
                                    {"rwkv7", "RWKV's time mixing"},
                                    {"recurrent_gemma", "RG-LRU"},
                                    {"zamba2", "share their weights"},
                                    {"step3_vl", "factorised attention"}}) {
        EXPECT_THAT(as(type, "\"x\": 1"), HasSubstr(why));
    }
    EXPECT_THAT(as("vit", "\"image_size\": 100000, \"patch_size\": 1"),
                HasSubstr("patch_size: 1 with an image_size of 100000 (a sequence has 1 to 999999999 patches)"));
    EXPECT_THAT(as("vit", "\"image_size\": 8"), HasSubstr("patch_size: 16 with an image_size of 8"));
    EXPECT_THAT(as("whisper", "\"num_mel_bins\": 80, \"max_source_positions\": 0"),
                HasSubstr("max_source_positions: 0 is out of range"));
    EXPECT_THAT(as("nemotron-nas", "\"block_configs\": [{}, {\"attention\": {\"n_heads_in_group\": 1e300}}]"),
                HasSubstr("n_heads_in_group of 1e+300 in layer 1"));
}

TEST(ModelConfig, KeyHeadsHaveManyNames) {
    for (char const* const name : {"num_kv_heads", "n_kv_heads", "num_query_groups"}) {
        EXPECT_EQ(model_of(plus("\"" + std::string{name} + "\": 2")).kv_heads, 2) << name;
    }
}

TEST(ModelConfig, PartsOfHeadsAreNotRequiredToSizeThem) {
    EXPECT_EQ(model_of(plus("\"qk_nope_head_dim\": 8, \"v_head_dim\": 8")).head_dim, 16);
    EXPECT_EQ(
        model_of(changed(plus("\"use_mla\": false, \"qk_nope_head_dim\": 0"), "\"llama\"", "\"deepseek_v2\"")).head_dim,
        16);
}

TEST(ModelConfig, AWindowBeyondTheLongestSequenceIsSaidToBeIgnored) {
    std::string const text =
        changed(plus("\"max_position_embeddings\": 2048, \"sliding_window\": 4096"), "llama", "mistral");
    ModelConfig const config = read_model_config(text, "c");
    EXPECT_EQ(config.model.window, 0);
    EXPECT_THAT(config.filled,
                Contains(HasSubstr("sliding_window of 4096 is not shorter than the longest sequence of 2048")));
}

TEST(ModelConfig, WindowsAreReadInAllTheirSpellings) {
    auto const as = [](std::string_view type, std::string_view keys) {
        return model_of(changed(plus("\"max_position_embeddings\": 4096, " + std::string{keys}), "\"llama\"",
                                "\"" + std::string{type} + "\""));
    };
    EXPECT_EQ(as("mistral", "\"sliding_window\": 512").window, 512);
    EXPECT_EQ(as("mistral", "\"sliding_window\": 4096").window, 0) << "nothing is cut";
    EXPECT_EQ(as("mistral", "\"sliding_window\": null").window, 0);
    EXPECT_EQ(as("gemma2", "\"sliding_window\": 512").full_every, 2);
    EXPECT_EQ(as("gemma3_text", "\"sliding_window\": 512, \"sliding_window_pattern\": 4").full_every, 4);
    Model const listed = as("gpt_oss", "\"sliding_window\": 128, \"num_local_experts\": 4, \"num_experts_per_tok\": 2, "
                                       "\"layer_types\": [\"sliding_attention\", \"full_attention\"]");
    EXPECT_EQ(listed.window, 128);
    EXPECT_EQ(listed.full_every, 2);
    EXPECT_TRUE(listed.sinks && listed.moe.router_bias);
}

TEST(ModelConfig, TheTextPartOfALargerModelIsRead) {
    ModelConfig const config =
        read_model_config("{\"model_type\": \"llava\", \"tie_word_embeddings\": true, \"text_config\": " + tiny_llama +
                              ", \"vision_config\": {\"hidden_size\": 9}}",
                          "c");
    EXPECT_EQ(config.model.hidden, 64);
    EXPECT_TRUE(config.model.tied_embeddings);
    EXPECT_THAT(config.used, Contains("text_config.hidden_size"));
    EXPECT_THAT(config.ignored, Contains("vision_config"));
    EXPECT_THAT(config.filled, Contains(HasSubstr("'llava'")));
}

TEST(ModelConfig, TypesImplyWhatTheirKeysDoNotSay) {
    auto const as = [](std::string_view type, std::string_view keys = "\"x\": 0") {
        return model_of(changed(plus(keys), "\"llama\"", "\"" + std::string{type} + "\""));
    };
    EXPECT_TRUE(as("qwen2").qkv_bias);
    EXPECT_FALSE(as("qwen2").out_bias);
    EXPECT_TRUE(as("llama", "\"attention_bias\": true").out_bias);
    EXPECT_TRUE(as("llama", "\"mlp_bias\": true").mlp_bias);
    EXPECT_TRUE(as("gemma").tied_embeddings);
    EXPECT_EQ(as("gemma").head_dim, 256);
    EXPECT_EQ(as("gemma2").norms_per_layer, 4);
    EXPECT_EQ(as("phi").norms_per_layer, 1);
    EXPECT_TRUE(as("phi").head_bias);
    EXPECT_EQ(as("stablelm").norm, Normalisation::layer);
    EXPECT_TRUE(as("stablelm", "\"use_parallel_residual\": true").parallel_block);
    EXPECT_TRUE(as("internlm").out_bias);
    EXPECT_FALSE(as("internlm", "\"bias\": false").out_bias);
    EXPECT_EQ(as("baichuan", "\"model_max_length\": 4096").positions, Positions::alibi);
    EXPECT_EQ(as("baichuan", "\"max_position_embeddings\": 4096").positions, Positions::rotary);
    EXPECT_FALSE(as("olmo").norm_affine);
    EXPECT_EQ(as("gpt_neox").parallel_block, true);
    EXPECT_EQ(as("gpt_neox", "\"use_parallel_residual\": false").parallel_block, false);
    EXPECT_EQ(as("gpt_bigcode", "\"n_positions\": 128").kv_heads, 1);
    EXPECT_EQ(as("starcoder2", "\"use_bias\": false").mlp_bias, false);
    EXPECT_EQ(as("falcon").kv_heads, 1);
    EXPECT_EQ(as("falcon", "\"new_decoder_architecture\": true, \"num_kv_heads\": 2").kv_heads, 2);
    EXPECT_EQ(as("falcon", "\"new_decoder_architecture\": true, \"num_kv_heads\": 2").norms_per_layer, 2);
    EXPECT_EQ(as("falcon", "\"multi_query\": false, \"alibi\": true, \"parallel_attn\": false").positions,
              Positions::alibi);
    Model const mixture =
        as("qwen3_moe", "\"num_experts\": 16, \"num_experts_per_tok\": 4, \"moe_intermediate_size\": 32");
    EXPECT_EQ(mixture.moe.experts, 16);
    EXPECT_EQ(mixture.moe.ffn, 32);
    EXPECT_EQ(mixture.head_dim, 16);
}

} // namespace
} // namespace headroom::io
