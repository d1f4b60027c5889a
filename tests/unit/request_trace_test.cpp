#include "support/scratch_folder.hpp"
#include "tables/time_stamp.hpp"

#include "headroom/error.hpp"
#include "headroom/io/request_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace headroom::io {
namespace {

using testing::HasSubstr;

RequestTrace read(std::string_view text, RequestTraceQuestion const& question = {}) {
    return read_request_text(text, "requests", question);
}

std::string refusal(std::string_view text, Fault fault, RequestTraceQuestion const& question = {}) {
    try {
        read(text, question);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "was read: " << text;
    return {};
}

std::string corpus(std::string const& file) {
    return std::string{HEADROOM_SOURCE_DIR} + "/tests/fuzz/corpus/request_trace/" + file;
}

TEST(RequestTrace, FailedRequestsAreCountedAndNotServed) {
    for (std::string const cells : {"status,200,500", "status,ok,failed", "success,true,false", "error,,timeout"}) {
        auto const first = cells.find(','), second = cells.find(',', first + 1);
        std::string const name = cells.substr(0, first), good = cells.substr(first + 1, second - first - 1),
                          bad = cells.substr(second + 1);
        std::string const csv = "time_s,input_tokens,output_tokens," + name + "\n0,10,5," + good + "\n1,20,5," + bad +
                                "\n2,30,5," + good + "\n";
        std::string const json = R"({"time_s": 0, "input_tokens": 10, "output_tokens": 5})"
                                 "\n"
                                 R"({"time_s": 1, "input_tokens": 20, "output_tokens": 5, ")" +
                                 name + R"(": ")" + bad + "\"}\n" +
                                 R"({"time_s": 2, "input_tokens": 30, "output_tokens": 5})"
                                 "\n";
        for (std::string const& text : {csv, json}) {
            RequestTrace const trace = read(text);
            ASSERT_EQ(trace.requests.size(), 2u) << text;
            EXPECT_EQ(trace.requests[1].prompt, 30) << text;
            ASSERT_EQ(trace.issues.size(), 1u) << text;
            EXPECT_EQ(trace.issues[0].kind, "failed request");
        }
    }
}

TEST(RequestTrace, AzureHasDatesAndIsSorted) {
    RequestTrace const trace = read_request_trace(corpus("azure.csv"), {});
    ASSERT_EQ(trace.requests.size(), 3u);
    EXPECT_EQ(trace.requests[0].arrives, 0.0);
    EXPECT_NEAR(trace.requests[1].arrives, 48.0 - 46.68059, 1e-9);
    EXPECT_EQ(trace.requests[1].prompt, 879);
    EXPECT_NEAR(trace.requests[2].arrives, 50.995169 - 46.68059, 1e-9);
    EXPECT_EQ(trace.requests[2].output, 109);
    EXPECT_EQ(trace.out_of_order, 1u);
    EXPECT_EQ(trace.first_out_of_order, 4u);
    EXPECT_EQ(trace.time_unit, "date and time");
    EXPECT_EQ(trace.prompt_column, "ContextTokens");
    EXPECT_NEAR(trace.span().base(), 4.314579, 1e-9);
}

TEST(RequestTrace, CompressedIsTheSame) {
    RequestTrace const plain = read_request_trace(corpus("azure.csv"), {});
    RequestTrace const packed = read_request_trace(corpus("azure.csv.gz"), {});
    ASSERT_EQ(packed.requests.size(), plain.requests.size());
    for (std::size_t i = 0; i < plain.requests.size(); ++i) {
        EXPECT_EQ(packed.requests[i].arrives, plain.requests[i].arrives);
        EXPECT_EQ(packed.requests[i].prompt, plain.requests[i].prompt);
    }
}

TEST(RequestTrace, AnArchiveThatIsCutIsRefused) {
    std::ifstream file{corpus("azure.csv.gz"), std::ios::binary};
    std::string const packed{std::istreambuf_iterator<char>{file}, {}};
    test::ScratchFolder const folder;
    std::string const path = (folder.path() / "cut.csv.gz").string();
    for (std::size_t const kept : {packed.size() - 1, packed.size() - 8, packed.size() / 2, std::size_t{12}}) {
        std::ofstream{path, std::ios::binary}.write(packed.data(), static_cast<std::streamsize>(kept));
        EXPECT_THROW(read_request_trace(path, {}), InputError) << kept;
    }
}

TEST(RequestTrace, UnitsThatAFormatHas) {
    RequestTrace const mooncake = read_request_trace(corpus("mooncake.jsonl"), {});
    EXPECT_EQ(mooncake.format, "jsonl");
    EXPECT_EQ(mooncake.requests.at(1).arrives, 3.0); // 3000 of them
    EXPECT_EQ(mooncake.unit_from, "format");
    RequestTrace const burst = read_request_trace(corpus("burstgpt.csv"), {});
    EXPECT_EQ(burst.requests.size(), 2u);
    EXPECT_EQ(burst.requests.at(1).arrives, 40.0);
    ASSERT_EQ(burst.issues.size(), 2u); // columns that were not used, and a request that failed
    EXPECT_EQ(burst.issues[1].kind, "nothing was generated");
    EXPECT_EQ(burst.issues[1].line, 4u);
    EXPECT_NEAR(read_request_trace(corpus("vidur.csv"), {}).requests.at(1).arrives, 0.09, 1e-12);
}

TEST(RequestTrace, ABareNumberWithoutAUnitIsRefused) {
    std::string const text = "arrival,prompt,output\n1,2,3\n";
    EXPECT_THAT(refusal(text, Fault::usage), HasSubstr("requests:2: '1' has no unit"));
    EXPECT_EQ(read(text, {.time_unit = "ms"}).unit_from, "given");
    EXPECT_THAT(refusal(text, Fault::usage, {.time_unit = "mss"}), HasSubstr("no unit of time"));
    for (auto const& [header, second] : {std::pair{"arrival_ms", 0.5}, std::pair{"arrival (s)", 500.0},
                                         std::pair{"Arrival Time [us]", 0.0005}, std::pair{"arrival-ns", 5e-7}}) {
        RequestTrace const trace = read(std::string{header} + ",prompt,output\n1500,2,3\n2000,2,3\n");
        EXPECT_NEAR(trace.requests.at(1).arrives, second, 1e-12) << header;
        EXPECT_EQ(trace.unit_from, "header");
    }
}

TEST(RequestTrace, DirtIsCountedWithItsFirstLine) {
    RequestTrace const trace = read_request_trace(corpus("dirty.csv"), {});
    EXPECT_EQ(trace.rows, 5u);
    ASSERT_EQ(trace.requests.size(), 1u);
    EXPECT_EQ(trace.requests[0].prompt, 100);
    ASSERT_EQ(trace.issues.size(), 4u);
    EXPECT_EQ(trace.issues[0].kind, "prompt is no count of tokens");
    EXPECT_EQ(trace.issues[0].line, 3u);
    EXPECT_EQ(trace.issues[2].kind, "arrival is no time");
    EXPECT_EQ(trace.issues[3].line, 6u);
    RequestTrace const mixed = read_request_trace(corpus("units.tsv"), {});
    EXPECT_NEAR(mixed.requests.at(1).arrives, 0.1, 1e-12);
    EXPECT_EQ(mixed.issues.at(0).count, 1u); // 29 February of a year without one
}

/// Answers of an OpenAI-like server, whose counts stand in an object of their own; a list of objects is as good as lines.
TEST(RequestTrace, TokensOfUsageAreRead) {
    std::string const one = "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"total_tokens\":120,"
                            "\"prompt_tokens_details\":{\"cached_tokens\":0}}}";
    std::string const first = "{\"id\":\"a\",\"created\":1767225600," + one,
                      second = "{\"id\":\"b\",\"created\":1767225603," + one;
    for (std::string const& text : {first + "\n" + second + "\n", "[" + first + ",\n" + second + "]"}) {
        RequestTrace const trace = read(text);
        ASSERT_EQ(trace.requests.size(), 2U) << text;
        EXPECT_EQ(trace.prompt_column, "usage.prompt_tokens");
        EXPECT_EQ(trace.requests[1].arrives, 3.0);
        EXPECT_EQ(trace.requests[1].prompt, 100);
        EXPECT_EQ(trace.requests[1].output, 20);
        EXPECT_EQ(trace.unit_from, "digits"); // ten of them: seconds since 1970
    }
    RequestTrace const batch =
        read("{\"response\":{\"status_code\":200,\"body\":{\"created\":1767225600," + one + "}}\n" +
             "{\"response\":{\"status_code\":500,\"body\":{\"created\":1767225601," + one + "}}\n");
    EXPECT_EQ(batch.requests.size(), 1U);
    // a clock that counts microseconds since boot has as many digits
    EXPECT_THAT(refusal("time,prompt,output\n1500000000,10,5\n1500100000,10,5\n", Fault::usage),
                HasSubstr("has no unit"));
}

TEST(RequestTrace, WhatIsNoTraceIsRefused) {
    EXPECT_THAT(refusal("", Fault::insufficient), HasSubstr("empty"));
    EXPECT_THAT(refusal("arrival_s,prompt,output\n", Fault::insufficient), HasSubstr("no rows"));
    EXPECT_THAT(refusal("arrival_s,prompt,output\n1,0,1\n", Fault::insufficient), HasSubstr("line 2: prompt without"));
    EXPECT_THAT(refusal("a,b\n1,2\n", Fault::usage), HasSubstr("no column of when a request arrived"));
    EXPECT_THAT(refusal("[{", Fault::unreadable), HasSubstr("no JSON array"));
    EXPECT_THAT(refusal(std::string{"a\0b", 3}, Fault::unreadable), HasSubstr("zero byte"));
    EXPECT_THAT(refusal(std::string{"\xff\xfe"
                                    "a\0",
                                    4},
                        Fault::unreadable),
                HasSubstr("text in UTF-16"));
    EXPECT_THAT(refusal("arrival_s,prompt,output\n" + std::string(40u << 20, '1'), Fault::unreadable),
                HasSubstr("16 MiB"));
    EXPECT_THAT(refusal("arrival_s,prompt,output\n1,2,3\n", Fault::usage, {.prompt_column = "promt"}),
                HasSubstr("did you mean 'prompt'?"));
}

TEST(RequestCells, DatesByHand) {
    auto const at = [](char const* text) { return date_and_time(text).value(); };
    EXPECT_EQ(at("1970-01-01 00:00:00"), 0);
    EXPECT_EQ(at("2000-03-01T00:00:00Z"), 951'868'800'000'000'000);
    EXPECT_EQ(at("2023-11-16 18:15:46.6805900"), 1'700'158'546'680'590'000);
    EXPECT_EQ(at("2024-02-29 23:59:59.999999999") + 1, at("2024-03-01 00:00:00"));
    EXPECT_EQ(at("2024-03-01T02:00:00+02:00"), at("2024-03-01T00:00:00Z"));
    EXPECT_EQ(at("1969-12-31 23:59:59"), -1'000'000'000);
    for (char const* wrong :
         {"2023-02-29 00:00:00", "2023-13-01 00:00:00", "2023-11-16", "2023-11-16 24:00:00", "2023-11-16 18:15:46.",
          "2023-11-16 18:15:46 CET", "nan", "inf", "1e300", "1 apple", ""}) {
        EXPECT_FALSE(date_and_time(wrong)) << wrong;
    }
}

// Expectation: a row counts whose three cells are read to their ends.
TEST(RequestTrace, CellsAreReadWhole) {
    for (char const* wrong : {"-1", "1.5", "nan", "inf", "", "12k", "12 or so"}) {
        RequestTrace const trace = read("arrival_s;prompt;output\n0;5;5\n1;" + std::string{wrong} + ";5\n");
        EXPECT_EQ(trace.requests.size(), 1u) << wrong;
    }
    for (char const* wrong : {"nan", "inf", "1e300", "1 apple", "x"}) {
        EXPECT_EQ(read("arrival_s,prompt,output\n0,5,5\n" + std::string{wrong} + ",5,5\n").issues.size(), 1u) << wrong;
    }
    RequestTrace const trace = read("arrival_s;prompt;output;user\n0;1.024;5;a\n1,5;12;5;b\n");
    EXPECT_EQ(trace.requests.at(0).prompt, 1024) << "the comma is decimal, so the point parts groups";
    EXPECT_EQ(trace.requests.at(1).arrives, 1.5);
    ASSERT_EQ(trace.issues.size(), 1u);
    EXPECT_EQ(trace.issues[0].column, "user");
}

TEST(RequestTrace, QuotesAndSpaces) {
    RequestTrace const trace =
        read("\"prompt, in \"\"tokens\"\"\"; arrival_s ;output\n\"12\" ; 1.5 ;3\n \"13\";\"2\";4\n\"14;3;4\n1;2\n",
             {.prompt_column = "prompt, in \"tokens\""});
    ASSERT_EQ(trace.requests.size(), 2u);
    EXPECT_EQ(trace.requests[0].prompt, 12);
    EXPECT_EQ(trace.requests[1].prompt, 13);
    EXPECT_EQ(trace.requests[1].arrives, 0.5);
    ASSERT_EQ(trace.issues.size(), 1u); // a quote that does not end, and a row that is short
    EXPECT_EQ(trace.issues[0].count, 2u);
    EXPECT_EQ(trace.issues[0].line, 4u);
    EXPECT_THAT(refusal("\"arrival_s,prompt,output\n1,2,3\n", Fault::unreadable), HasSubstr("never closed"));
}

} // namespace
} // namespace headroom::io
