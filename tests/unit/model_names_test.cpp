// Names of models that no record has: tuned variants, copies of other organisations, other separators.

#include "records/model_names.hpp"
#include "support/scratch_folder.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Catalog const& embedded() {
    static Catalog const catalog;
    return catalog;
}

std::string refusal(std::string const& name) {
    try {
        static_cast<void>(load_model(embedded(), name, nullptr));
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage) << name;
        return error.what();
    }
    ADD_FAILURE() << name << " is read";
    return {};
}

TEST(ModelNames, ATunedVariantHasTheDimensionsOfItsModel) {
    for (auto const& [name, record] : {
             std::pair{"mixtral-8x7b-instruct", "mixtral-8x7b"},
             std::pair{"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
             std::pair{"llama-2-70b-chat", "llama-2-70b"},
             std::pair{"meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"},
             std::pair{"Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"},
             std::pair{"google/gemma-2-9b-it", "gemma-2-9b"},
             std::pair{"codellama/CodeLlama-34b-Instruct-hf", "code-llama-34b"},
             std::pair{"mpt-7b-instruct", "mpt-7b"},
             std::pair{"mosaicml/mpt-7b-chat",
                       "mosaicml-mpt-7b"}, // an organisation that a record names tells models apart
             std::pair{"deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"},
         }) {
        std::vector<std::string> notes;
        EXPECT_EQ(load_model(embedded(), name, &notes).name, record) << name;
        EXPECT_EQ(embedded().text(RecordKind::model, name).name, record) << name;
    }
    std::vector<std::string> notes;
    static_cast<void>(load_model(embedded(), "mixtral-8x7b-instruct", &notes));
    EXPECT_THAT(notes,
                ElementsAre("mixtral-8x7b-instruct is read as mixtral-8x7b: a tuned variant has its dimensions"));
    notes.clear();
    static_cast<void>(load_model(embedded(), "some-org/Llama-3.1-8B", &notes));
    EXPECT_THAT(notes, ElementsAre("some-org/Llama-3.1-8B is read as llama-3.1-8b: a copy of another organisation has "
                                   "its dimensions"));
}

TEST(ModelNames, SeparatorsDoNotMatterWhereOneRecordIsMeant) {
    for (auto const* name :
         {"Llama 3.1 8B", "llama3.1-8b", "llama31-8b", "llama-3-1-8b", "LLAMA_3.1_8B", "llama3.1:8b"}) {
        EXPECT_EQ(load_model(embedded(), name, nullptr).name, "llama-3.1-8b") << name;
    }
    // Expectation: the dot of a size tells models apart, and so does the end of a version.
    EXPECT_EQ(load_model(embedded(), "opt-13b", nullptr).name, "opt-13b");
    EXPECT_EQ(load_model(embedded(), "gpt3_6.7b-chat", nullptr).name, "gpt3-6.7b");
    for (auto const* name : {"opt-67b", "llama-3-18b", "llama318b-chat", "qwen2.5-15b"}) { refusal(name); }
}

TEST(ModelNames, ARecordOfThatNameGoesFirst) {
    std::vector<std::string> notes;
    for (auto const& name : embedded().names_and_aliases(RecordKind::model)) {
        EXPECT_EQ(embedded().model_named_like(name).record, "") << name;
        static_cast<void>(load_model(embedded(), name, &notes));
    }
    EXPECT_THAT(notes, ::testing::IsEmpty());
}

/// A word of tuning in a record's name must not turn it into another record's: bert-base would be read as bert.
TEST(ModelNames, NoRecordIsAVariantOfAnother) {
    std::vector<ModelSpelling> others;
    auto const names = embedded().names(RecordKind::model);
    for (auto const& name : names) {
        others.clear();
        for (auto const& other : names) {
            if (other != name) { others.push_back({other, other}); }
        }
        EXPECT_EQ(read_model_name(name, others).record, "") << name;
    }
}

TEST(ModelNames, WordsThatChangeTheModelStay) {
    for (auto const* name :
         {"mistralai/Mistral-7B-Instruct-v0.4", "llama-3-8b-awq", "llama-3-8b-instruct-gptq", "llama-3-8b-fp8",
          "llama-3-8b-4bit", "llama-3-8b-bnb", "qwen2.5-audio-7b-instruct", "tiny-llama-3-8b", "llama-3-9b-instruct",
          "bart-large-it", "Llama-3.1-Atlas-70B-Instruct-HF", "instruct", "org/", "/llama-3-8b-it", "a/b/llama-3-8b",
          "../llama-3-8b-it"}) {
        EXPECT_THAT(refusal(name), HasSubstr("unknown model")) << name;
    }
    EXPECT_THAT(refusal("llama-3-8b-awq"), HasSubstr("did you mean 'llama-3-8b'?"));
}

TEST(ModelNames, ANameWithoutItsSizeListsTheSizes) {
    for (auto const* name : {"llama-3", "llama3", "Llama 3", "meta-llama/Llama-3", "llama-3-instruct"}) {
        EXPECT_THAT(refusal(name), HasSubstr("choose from llama-3-8b, llama-3-70b, llama-3-405b")) << name;
    }
    EXPECT_THAT(refusal("llama"), HasSubstr(" and "));
    EXPECT_THAT(refusal("swin-tiny"), HasSubstr("did you mean 'swin-t'?"));
    EXPECT_EQ(embedded().suggestion(RecordKind::node, "dgx-h10"), "did you mean 'dgx-h100'?");
}

TEST(ModelNames, ANameOfTwoRecordsIsNone) {
    std::vector<ModelSpelling> const known{
        {"one", "one"}, {"one", "a/net-7b-chat"}, {"two", "two"}, {"two", "b/net-7b"}, {"net-1.3b", "net-1.3b"}};
    EXPECT_EQ(read_model_name("net-7b", known).record, "");
    EXPECT_EQ(read_model_name("b/net-7b-sft", known).record, "two");
    EXPECT_EQ(read_model_name("net 1.3b", known).record, "net-1.3b");
    EXPECT_EQ(read_model_name("net-13b", known).record, "");
    EXPECT_EQ(read_model_name("", known).record, "");
    EXPECT_THAT(models_that_begin_with("net", known), ElementsAre("net-1.3b", "one", "two"));
}

TEST(ModelNames, AFileGoesBeforeANameThatIsLikeARecords) {
    test::ScratchFolder const scratch;
    auto const config = scratch.path() / "hub/models--acme--llama-3-8b-chat/snapshots/0123abc/config.json";
    std::filesystem::create_directories(config.parent_path());
    write_file(config,
               read_file(std::filesystem::path{HEADROOM_SOURCE_DIR} / "tests/data/configs/llama-3-70b/config.json"));
    EXPECT_EQ(load_model(embedded(), "acme/llama-3-8b-chat", nullptr).layers, 32);
    ::setenv("HF_HOME", scratch.path().c_str(), 1);
    ::unsetenv("HF_HUB_CACHE");
    EXPECT_EQ(load_model(embedded(), "acme/llama-3-8b-chat", nullptr).layers, 80);
    EXPECT_EQ(model_meant_by(embedded(), "acme/llama-3-8b-chat").record, "");
    ::unsetenv("HF_HOME");
}

} // namespace
} // namespace headroom::io
