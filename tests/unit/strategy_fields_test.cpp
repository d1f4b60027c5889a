#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace headroom::io {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using ::testing::HasSubstr;

PartialStrategy read(std::string_view name, std::string_view value) {
    PartialStrategy partial;
    known_strategy_field(name, "--fix").assign(partial, value, "--fix");
    return partial;
}

Strategy applied(std::string_view name, std::string_view value) {
    Strategy strategy;
    known_strategy_field(name, "--fix").apply(read(name, value), strategy);
    return strategy;
}

template <class Work> std::string refusal(Work work) {
    try {
        work();
    } catch (InputError const& error) { return error.what(); }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

/// A value that every field takes and that is not what it is left at.
std::string_view other_value(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 18> words{{{"exchange", "ring"},
                                                                                   {"schedule", "zb-h1"},
                                                                                   {"capacity", "1.25"},
                                                                                   {"zero", "3"},
                                                                                   {"sequence-parallel", "on"},
                                                                                   {"recompute", "full"},
                                                                                   {"offload", "both"},
                                                                                   {"train", "last:2"},
                                                                                   {"base", "nf4"},
                                                                                   {"pure-bf16", "on"},
                                                                                   {"compile", "on"},
                                                                                   {"attention-kernel", "unfused"},
                                                                                   {"fp8-recipe", "rowwise"},
                                                                                   {"optimizer", "lion"},
                                                                                   {"compression", "low-rank:8"},
                                                                                   {"overlap", "off"},
                                                                                   {"precision", "fp8"},
                                                                                   {"grad-accum", "2"}}};
    for (auto const& [field, value] : words) {
        if (field == name) { return value; }
    }
    return "2";
}

TEST(StrategyFields, EachOneReachesTheStrategyAndNoOther) {
    std::set<std::string> seen;
    for (StrategyField const& field : strategy_fields()) {
        EXPECT_TRUE(seen.insert(field.option).second) << field.option;
        Strategy const changed = applied(field.name(), other_value(field.name()));
        // accumulation is no field of a whole strategy: the micro-batch says it; state is the framework's
        bool const of_framework = field.name() == "base" || field.name() == "pure-bf16" ||
                                  field.name() == "optimizer" || field.name() == "compile" ||
                                  field.name() == "attention-kernel" || field.name() == "fp8-recipe";
        EXPECT_EQ(changed == Strategy{}, field.name() == "grad-accum" || of_framework) << field.option;
        for (StrategyField const& other : strategy_fields()) {
            Strategy untouched;
            other.apply(read(field.name(), other_value(field.name())), untouched);
            EXPECT_TRUE(&other == &field || untouched == Strategy{}) << field.option << " changes " << other.option;
        }
    }
}

TEST(StrategyFields, FillOnlyWhatIsOpen) {
    for (StrategyField const& field : strategy_fields()) {
        PartialStrategy const from = read(field.name(), other_value(field.name()));
        PartialStrategy open;
        EXPECT_FALSE(field.fill(open, PartialStrategy{})) << "nothing to take: " << field.option;
        EXPECT_TRUE(field.fill(open, from)) << field.option;
        EXPECT_FALSE(field.fill(open, from)) << "it is there now: " << field.option;
    }
    PartialStrategy given = read("train", "all"), record = read("train", "lora:4");
    EXPECT_FALSE(known_strategy_field("train", "").fill(given, record));
    EXPECT_FALSE(given.adapter_rank) << "what belongs to the record's training stays with it";
}

TEST(StrategyFields, SpellAsTheyRead) {
    for (char const* text : {"none", "low-rank:8", "quantised:4", "top-k:0.01", "one-bit:0.2"}) {
        EXPECT_EQ(spelled(parse_compression(text, "")), text);
    }
    EXPECT_EQ(parse_compression("top_k:1%", "").share, 0.01);
    EXPECT_EQ(parse_compression("quantized", ""), (GradientCompression{.kind = Compression::quantised}));
    for (char const* text : {"all", "lora:64", "dora:8", "dora:16:linear", "last:3"}) {
        EXPECT_EQ(spelled_training(applied("train", text)), text);
    }
    EXPECT_EQ(applied("exchange", "Ulysses").exchange, ContextExchange::all_to_all);
    PartialStrategy const some = read("recompute", "full:20");
    EXPECT_EQ(some.recompute, Recompute::full);
    EXPECT_EQ(some.recompute_layers, 20);
    EXPECT_FALSE(refusal([] { read("recompute", "full:some"); }).empty());
}

TEST(StrategyFields, StateTheOverlapOfEachKindOfTraffic) {
    EXPECT_EQ(applied("overlap", "on").overlap, Overlap::on);
    EXPECT_EQ(applied("overlap", "off").overlap, Overlap::off);
    Overlaps const two = applied("overlap", "tensor=off, gradients=on").overlap;
    for (TrafficKind const kind : traffic_kinds) {
        Overlap const stated = kind == TrafficKind::tensor      ? Overlap::off
                               : kind == TrafficKind::gradients ? Overlap::hidden
                                                                : Overlap::on;
        EXPECT_EQ(two[kind], stated) << name_of(kind);
        std::string const name{name_of(kind)};
        EXPECT_EQ(applied("overlap", name + "=exposed").overlap, applied("overlap", name + "=off").overlap);
        EXPECT_EQ(applied("overlap", name + "=framework").overlap, Overlap::on);
        EXPECT_EQ(spelled(applied("overlap", name + "=hidden").overlap), name + "=on");
    }
    EXPECT_EQ(applied("overlap", "tensor:off+gradients:on").overlap, two) << "inside a list of fields";
    EXPECT_EQ(applied("overlap", spelled(two)).overlap, two);
    Overlaps const one = applied("overlap", "off,tensor=on").overlap;
    EXPECT_EQ(one[TrafficKind::tensor], Overlap::hidden);
    EXPECT_EQ(one[TrafficKind::offload], Overlap::off);
    EXPECT_THAT(refusal([] { read("overlap", "tensor=off,tensor=on"); }), HasSubstr("'tensor' twice"));
    EXPECT_THAT(refusal([] { read("overlap", "tensors=off"); }), HasSubstr("'tensor'"));
    EXPECT_THAT(refusal([] { read("overlap", "tensor=half"); }), HasSubstr("hidden, exposed, framework"));
    EXPECT_THAT(refusal([] { read("overlap", "tensor=off,"); }), HasSubstr("name=value"));
}

TEST(StrategyFields, KnowTheShortNames) {
    EXPECT_EQ(strategy_field("mbs"), strategy_field("micro_batch"));
    EXPECT_EQ(strategy_field("VP"), strategy_field("virtual-pp"));
    EXPECT_EQ(strategy_field("pq"), nullptr);
    EXPECT_THAT(refusal([] { read("exchnge", "ring"); }), HasSubstr("did you mean 'exchange'?"));
}

TEST(StrategyFields, RefuseInOneLineWithTheRange) {
    EXPECT_THAT(refusal([] { read("compression", "quantised:64"); }), HasSubstr("from 1 to 32"));
    EXPECT_THAT(refusal([] { read("compression", "low-rank:"); }), HasSubstr("behind the colon"));
    EXPECT_THAT(refusal([] { read("compression", "low-rnk"); }), HasSubstr("did you mean 'low-rank'?"));
    EXPECT_THAT(refusal([] { read("train", "last"); }), HasSubstr("last:2"));
    EXPECT_THAT(refusal([] { read("capacity", "nan"); }), HasSubstr("from 0 to 1024"));
    EXPECT_THAT(refusal([] { read("zero", "4"); }), HasSubstr("choose from 0, 1, 2, 3"));
}

TEST(StrategyRecords, GiveFieldsAsWritten) {
    auto const record = read_strategy("name = \"mine\"\ntp = 8\nsequence_parallel = true\ncapacity = 1.25\n", "m.toml");
    EXPECT_EQ(record.title, "mine");
    EXPECT_EQ(record.fields.tp, 8);
    EXPECT_EQ(record.fields.sequence_parallel, true);
    EXPECT_EQ(record.fields.capacity, 1.25);
    EXPECT_FALSE(record.fields.zero);
    EXPECT_THAT(record.given, ::testing::ElementsAre(std::pair{"tp", "8"}, std::pair{"capacity", "1.25"},
                                                     std::pair{"sequence_parallel", "on"}));
}

TEST(StrategyRecords, RefuseInOneLine) {
    EXPECT_THAT(refusal([] { read_strategy("name = \"m\"\n", "m.toml"); }), HasSubstr("at least one"));
    EXPECT_THAT(refusal([] { read_strategy("name = \"m\"\nzero = 7\n", "m.toml"); }), HasSubstr("m.toml:2: zero"));
    EXPECT_THAT(refusal([] { read_strategy("name = \"m\"\nzer0 = 1\ntp = 1", "m.toml"); }), HasSubstr("'zero'"));
    EXPECT_THAT(refusal([] { read_strategy("name = \"m\"\ntp = [1, 2]\n", "m.toml"); }), HasSubstr("a list"));
}

TEST(StrategyRecords, OfTheCatalogRead) {
    Catalog const catalog;
    for (auto const& name : catalog.names(RecordKind::strategy)) {
        EXPECT_EQ(catalog.strategy(name).name, name);
        EXPECT_NE(catalog.strategy(name).title, name) << "a title says what it is";
    }
    EXPECT_EQ(catalog.strategy("ZeRO-3").name, "fsdp");
}

} // namespace
} // namespace headroom::io
