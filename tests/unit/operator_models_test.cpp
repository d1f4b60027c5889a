#include "headroom/io/catalog.hpp"
#include "headroom/training/model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

Catalog const& embedded() {
    static Catalog const catalog;
    return catalog;
}

double parameters(std::string const& name) { return count_parameters(embedded().model(name)).total; }

/// Multiply-adds of the forward pass over one sample, in billions.
double giga_multiply_adds(std::string const& name) {
    Model const model = embedded().model(name);
    return forward_flops(model, model.nominal_length, AttentionConvention::full).total().base() / 2e9;
}

std::vector<std::string> operator_models() {
    std::vector<std::string> found;
    for (auto const& name : embedded().names(RecordKind::model)) {
        if (!embedded().model(name).operators.empty()) { found.push_back(name); }
    }
    return found;
}

// ---- counts that others print --------------------------------------------------------------------------------------

struct Published {
    char const* name;
    double parameters;
    double giga_multiply_adds; ///< forward, one picture
};

// num_params and _ops of the weights in torchvision/models. _ops counts multiply-adds of convolutions and matrix
// products, biases not, of 224 x 224 pictures; 299 for Inception (without its auxiliary head), 380 for EfficientNet-B4.
constexpr std::array torchvision{
    Published{"resnet-18", 11'689'512, 1.814},         Published{"resnet-34", 21'797'672, 3.664},
    Published{"resnet-50", 25'557'032, 4.089},         Published{"resnet-101", 44'549'160, 7.801},
    Published{"resnet-152", 60'192'808, 11.514},       Published{"resnext-50-32x4d", 25'028'904, 4.23},
    Published{"wide-resnet-50-2", 68'883'240, 11.398}, Published{"vgg-16", 138'357'544, 15.47},
    Published{"alexnet", 61'100'840, 0.714},           Published{"inception-v3", 27'161'264, 5.713},
    Published{"densenet-121", 7'978'856, 2.834},       Published{"mobilenet-v2", 3'504'872, 0.301},
    Published{"efficientnet-b0", 5'288'548, 0.386},    Published{"efficientnet-b4", 19'341'616, 4.394},
};

// Further weights of torchvision; pictures of 224 x 224, those of EfficientNet of the size of their record.
constexpr std::array torchvision_later{
    Published{"efficientnet-b1", 7'794'184, 0.687},
    Published{"efficientnet-b2", 9'109'994, 1.088},
    Published{"efficientnet-b3", 12'233'232, 1.827},
    Published{"efficientnet-b5", 30'389'784, 10.266},
    Published{"efficientnet-b6", 43'040'704, 19.068},
    Published{"efficientnet-b7", 66'347'960, 37.746},
    Published{"efficientnet-v2-s", 21'458'488, 8.366},
    Published{"efficientnet-v2-m", 54'139'356, 24.582},
    Published{"efficientnet-v2-l", 118'515'272, 56.08},
    Published{"convnext-t", 28'589'128, 4.456},
    Published{"convnext-s", 50'223'688, 8.684},
    Published{"convnext-b", 88'591'464, 15.355},
    Published{"convnext-l", 197'767'336, 34.361},
    Published{"swin-t", 28'288'354, 4.491},
    Published{"swin-s", 49'606'258, 8.741},
    Published{"swin-b", 87'768'224, 15.431},
    Published{"densenet-161", 28'681'000, 7.728},
    Published{"densenet-169", 14'149'480, 3.36},
    Published{"densenet-201", 20'013'928, 4.291},
    Published{"wide-resnet-101-2", 126'886'696, 22.753},
    Published{"resnext-101-64x4d", 83'455'272, 15.46},
    Published{"mobilenet-v3-small", 2'542'856, 0.057},
    Published{"mobilenet-v3-large", 5'483'032, 0.217},
    Published{"regnet-y-400mf", 4'344'144, 0.402},
    Published{"regnet-y-8gf", 39'381'472, 8.473},
    Published{"regnet-x-400mf", 5'495'976, 0.414},
    Published{"vgg-11", 132'863'336, 7.609},
    Published{"vgg-13", 133'047'848, 11.308},
    Published{"vgg-19", 143'667'240, 19.632},
};

// Model table of osmr/imgclsmob, pytorch/README.md: 8003.45 and 8012.73 M, norms and activations counted too.
constexpr std::array imgclsmob{
    Published{"resnext-101-32x4d", 44'177'704, 8.00345},
    Published{"se-resnext-101-32x4d", 48'955'416, 8.01273},
};

void expect_as_published(Published const& one) {
    // Expectation: the lists are the networks, so parameters agree to the last one; conventions of counting
    // multiply-adds (biases, norms, pooling) differ by less than 1.5 %.
    EXPECT_EQ(parameters(one.name), one.parameters) << one.name;
    EXPECT_NEAR(giga_multiply_adds(one.name), one.giga_multiply_adds, 0.015 * one.giga_multiply_adds) << one.name;
}

TEST(OperatorModels, CountAsTorchvisionStates) {
    for (auto const& one : torchvision) { expect_as_published(one); }
    for (auto const& one : torchvision_later) { expect_as_published(one); }
}

TEST(OperatorModels, CountAsTheTableOfImgclsmobStates) {
    for (auto const& one : imgclsmob) { expect_as_published(one); }
}

TEST(OperatorModels, PublishedTotalsOfRecordsAreMetExactly) {
    int published = 0;
    for (auto const& name : operator_models()) {
        double const total = embedded().published_count(name).total;
        if (total == 0.0) { continue; }
        EXPECT_EQ(parameters(name), total) << name;
        ++published;
    }
    EXPECT_GE(published, 18);
}

TEST(OperatorModels, MaskRcnnHasTheParametersOfTorchvision) {
    // Source: num_params in torchvision/models/detection/mask_rcnn.py. Frozen norms are buffers there.
    EXPECT_EQ(parameters("mask-rcnn-r50-fpn"), 44'401'393);
}

TEST(OperatorModels, GnmtHasTheParametersOfItsTensors) {
    // Source: the MLPerf GNMT of NVIDIA lists its tensors, 160671297 elements with 32320 sub-words.
    EXPECT_EQ(parameters("gnmt-v2"), 160'671'297);
}

// ---- counts by hand ------------------------------------------------------------------------------------------------

TEST(OperatorModels, SsdIsResNetUpToItsFourthStageWithExtraLayersAndHeads) {
    // Expectation: ResNet-50 less its classifier and last stage; then pairs of convolutions with norms, and on each
    // of six maps 3x3 convolutions to 4 coordinates and 81 classes a default box.
    double const classifier = 2048.0 * 1000 + 1000;
    double const first = 1024.0 * 512 + 9.0 * 512 * 512 + 512.0 * 2048 + 1024.0 * 2048; // with the shortcut
    double const other = 2048.0 * 512 + 9.0 * 512 * 512 + 512.0 * 2048;
    double const norms = 2.0 * (3 * (512 + 512 + 2048) + 2048);
    double expected = parameters("resnet-50") - classifier - first - 2 * other - norms;
    std::array const maps{1024.0, 512.0, 512.0, 256.0, 256.0, 256.0};
    std::array const narrow{256.0, 256.0, 128.0, 128.0, 128.0};
    std::array const boxes{4.0, 6.0, 6.0, 6.0, 4.0, 4.0};
    for (std::size_t i = 0; i < narrow.size(); ++i) {
        expected += maps[i] * narrow[i] + 9.0 * narrow[i] * maps[i + 1] + 2.0 * (narrow[i] + maps[i + 1]);
    }
    for (std::size_t i = 0; i < maps.size(); ++i) { expected += (9.0 * maps[i] + 1.0) * boxes[i] * (4.0 + 81.0); }
    EXPECT_EQ(parameters("ssd300-resnet50"), expected);
}

/// Weights of a U-Net with transposed convolutions of k x k, from one channel to two classes.
double unet_parameters(double k) {
    auto const convolution = [](double taps, double in, double out) { return (taps * in + 1.0) * out; };
    double total = convolution(9, 1, 64) + convolution(9, 64, 64) + convolution(1, 64, 2);
    for (double c = 64; c < 1024; c *= 2) {
        total += convolution(9, c, 2 * c) + convolution(9, 2 * c, 2 * c);                        // down
        total += convolution(k * k, 2 * c, c) + convolution(9, 2 * c, c) + convolution(9, c, c); // up
    }
    return total;
}

TEST(OperatorModels, UNetsHaveTheParametersOfTheirFigure) {
    // Expectation: figure 1 of [Ronneberger2015]; implementations of it print 31030658.
    EXPECT_EQ(unet_parameters(2), 31'030'658);
    EXPECT_EQ(parameters("unet"), unet_parameters(2));
    EXPECT_EQ(parameters("unet-medical"), unet_parameters(3));
}

TEST(OperatorModels, TransposedConvolutionsMultiplyAtTheirInputs) {
    // Expectation: 3 x 3 in the place of 2 x 2 adds 5 taps at each input position, of which there are 28, 52, 100
    // and 196 squared.
    double const more =
        5e-9 * (28.0 * 28 * 1024 * 512 + 52.0 * 52 * 512 * 256 + 100.0 * 100 * 256 * 128 + 196.0 * 196 * 128 * 64);
    EXPECT_NEAR(giga_multiply_adds("unet-medical") - giga_multiply_adds("unet"), more, 1e-6 * more);
}

TEST(OperatorModels, LstmsMultiplyEveryWeightAtEveryStep) {
    // Expectation: 35 steps through two layers of 4 gates over 650 + 650 numbers, then 650 x 10000; the 8 biases of a
    // layer and those of the words are added, not multiplied.
    double const layers = 2.0 * (4.0 * 650 * 1300), biases = 2.0 * (8.0 * 650) + 10'000;
    double const head = 650.0 * 10'000;
    EXPECT_EQ(parameters("lstm-medium"), 650.0 * 10'000 + layers + head + biases);
    EXPECT_DOUBLE_EQ(giga_multiply_adds("lstm-medium"), 35e-9 * (layers + head));
}

TEST(OperatorModels, GnmtMultipliesAllButItsTableOncePerTokenPair) {
    // Expectation: 25 steps each of encoder and decoder pass every weight but the embedding once; the two vectors
    // of the attention's score meet all 25 x 25 pairs. Biases (8 x 1024 of nine LSTMs, one a word, the scalar of the
    // score) are added, not multiplied.
    double const score = 1024.0 + 1024.0, biases = 9.0 * 8 * 1024 + 32'320 + 1;
    double const others = 160'671'297.0 - 32'320.0 * 1024 - score - biases;
    EXPECT_DOUBLE_EQ(giga_multiply_adds("gnmt-v2"), 1e-9 * (25.0 * others + 625.0 * score));
}

// ---- what every list has -------------------------------------------------------------------------------------------

TEST(OperatorModels, StateOneSampleAndABatch) {
    auto const names = operator_models();
    EXPECT_GE(names.size(), 22U);
    for (auto const& name : names) {
        Model const model = embedded().model(name);
        EXPECT_GT(model.nominal_length, 0) << name;
        EXPECT_GT(model.nominal_batch, 0) << name;
        EXPECT_EQ(model.layers, 0) << name;
        EXPECT_TRUE(block_runs(model).empty()) << name;
        for (auto const& one : model.operators) { EXPECT_FALSE(one.name.empty()) << name; }
    }
}

TEST(OperatorModels, MaskRcnnTrainsAllButItsFirstTwoStages) {
    // Expectation: the stem's 7x7 and the 1x1 and 3x3 convolutions of stage 2, as torchvision freezes them.
    double const stem = 49.0 * 3 * 64;
    double const blocks = 64.0 * 64 + 64 * 256.0 + 2 * 256.0 * 64 + 3 * (9.0 * 64 * 64 + 64.0 * 256);
    double frozen = 0.0;
    for (auto const& one : embedded().model("mask-rcnn-r50-fpn").operators) {
        if (!one.trained) { frozen += parameters_of(one); }
    }
    EXPECT_EQ(frozen, stem + blocks);
}

TEST(OperatorModels, AreFoundByTheNamesOfPublishedRuns) {
    std::map<std::string, std::string> const names{{"ResNet-50 v1.5", "resnet-50"},
                                                   {"ResNet-50 v1.5 (MLPerf)", "resnet-50"},
                                                   {"ResNet50", "resnet-50"},
                                                   {"ResNeXt101-32x4d", "resnext-101-32x4d"},
                                                   {"SE-ResNeXt101-32x4d", "se-resnext-101-32x4d"},
                                                   {"SSD300 ResNet-50", "ssd300-resnet50"},
                                                   {"U-Net Medical", "unet-medical"},
                                                   {"Mask R-CNN R50-FPN", "mask-rcnn-r50-fpn"},
                                                   {"GNMT v2", "gnmt-v2"}};
    for (auto const& [written, record] : names) { EXPECT_EQ(embedded().model(written).name, record) << written; }
}

} // namespace
} // namespace headroom::io
