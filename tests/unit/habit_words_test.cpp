#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace headroom;

TEST(HabitWords, NoNameStandsTwiceOrIsAnOption) {
    std::set<std::string> seen;
    for (io::HabitWord const& row : io::habit_words()) {
        for (std::string const& name : io::words::split(row.names, ' ')) {
            EXPECT_TRUE(seen.insert(normalised(name)).second) << name << " is in two rows";
            for (io::StrategyField const& field : io::strategy_fields()) {
                EXPECT_NE(normalised(field.name()), normalised(name)) << name << " is an option of its own";
            }
        }
    }
    EXPECT_GT(seen.size(), 250U);
}

TEST(HabitWords, SwitchesTakeTheirValueOrFalse) {
    io::HabitWord const& bf16 = *io::habit_word("BF16");
    EXPECT_EQ(io::habit_value(bf16, "true"), "bf16");
    EXPECT_EQ(io::habit_value(bf16, "False"), "");
    io::HabitWord const& checkpointing = *io::habit_word("gradient_checkpointing");
    EXPECT_EQ(io::habit_value(checkpointing, "true"), "full");
    EXPECT_EQ(io::habit_value(checkpointing, "false"), "none");
    EXPECT_EQ(io::habit_value(*io::habit_word("fsdp"), "shard_grad_op auto_wrap"), "2");
    EXPECT_EQ(io::habit_addition(*io::habit_word("qlora"), "true").value, "nf4");
    EXPECT_EQ(io::habit_addition(*io::habit_word("qlora"), "false").option, "");
    EXPECT_EQ(io::habit_word("learning-rate"), nullptr);
}

TEST(HabitWords, CountsInWords) {
    EXPECT_EQ(io::parse_spelled_count("2 trillion tokens", "--tokens"), 2e12);
    EXPECT_EQ(io::parse_spelled_count("1,000,000", "--tokens"), 1e6);
    EXPECT_EQ(io::spelled_short("4M tokens"), "4M");
    EXPECT_EQ(io::spelled_short("1,00"), "1,00") << "no group of thousands: two counts, perhaps";
    EXPECT_EQ(io::parse_length("8k", "--sequence-length"), 8192);
    EXPECT_EQ(io::parse_length("1M", "--sequence-length"), 1'048'576);
    EXPECT_EQ(io::parse_length("8000", "--sequence-length"), 8000);
    EXPECT_THROW(io::parse_spelled_count("two tokens", "--tokens"), InputError);
}

TEST(HabitWords, SuggestionsAreSlipsOfThePen) {
    EXPECT_EQ(misspelled("--grobal-batch", {"--global-batch", "--top"}), "--global-batch");
    EXPECT_EQ(misspelled("--tp", {"--top"}), "");
    EXPECT_EQ(misspelled("--gradient-checkpointing", {"--checkpoint"}), "");
}

} // namespace
