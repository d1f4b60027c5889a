#include "headroom/precision.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(PrecisionFrom, ReadsWhatPeopleWrite) {
    EXPECT_EQ(precision_from("bf16"), Precision::bf16);
    EXPECT_EQ(precision_from("BF16"), Precision::bf16);
    EXPECT_EQ(precision_from("amp_bf16"), Precision::bf16);
    EXPECT_EQ(precision_from("bfloat16"), Precision::bf16);
    EXPECT_EQ(precision_from("mixed(fp16)"), Precision::fp16);
    EXPECT_EQ(precision_from("tf32"), Precision::tf32);
    EXPECT_EQ(precision_from("fp32"), Precision::fp32);
    EXPECT_EQ(precision_from("FP8-CS"), Precision::fp8);
    EXPECT_EQ(precision_from("fp8_full"), Precision::fp8);
    EXPECT_EQ(precision_from("FP8 (current scaling / recipe default)"), Precision::fp8);
    EXPECT_EQ(precision_from("MXFP8"), Precision::mxfp8);
    EXPECT_EQ(precision_from("FP8-MX"), Precision::mxfp8);
    EXPECT_EQ(precision_from("NVFP4"), Precision::nvfp4);
}

TEST(PrecisionFrom, TakesTheNarrowerOfTwo) {
    // Expectation: a step in bf16 with fp8 products spends its products in fp8.
    EXPECT_EQ(precision_from("bf16 + fp8"), Precision::fp8);
    EXPECT_EQ(precision_from("fp8/bf16"), Precision::fp8);
}

TEST(PrecisionFrom, RefusesWhatNamesNoFormat) {
    EXPECT_EQ(precision_from(""), std::nullopt);
    EXPECT_EQ(precision_from("mixed"), std::nullopt);
    EXPECT_EQ(precision_from("bf61"), std::nullopt);
    EXPECT_EQ(precision_from("int8"), std::nullopt);
}

TEST(PrecisionName, ReadsBackAsItself) {
    for (Precision const precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                                      Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
        EXPECT_EQ(precision_from(name_of(precision)), precision);
    }
}

TEST(ElementBytes, EightBitFormatsKeepActivationsInSixteen) {
    EXPECT_EQ(element_bytes(Precision::fp32), 4.0);
    EXPECT_EQ(element_bytes(Precision::tf32), 4.0); // tf32 rounds inside the product only
    EXPECT_EQ(element_bytes(Precision::fp16), 2.0);
    EXPECT_EQ(element_bytes(Precision::bf16), 2.0);
    EXPECT_EQ(element_bytes(Precision::fp8), 2.0);
    EXPECT_EQ(element_bytes(Precision::nvfp4), 2.0);
}

} // namespace
} // namespace headroom
