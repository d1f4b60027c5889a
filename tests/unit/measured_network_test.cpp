#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/measured_system.hpp"
#include "headroom/network/link_class.hpp"
#include "headroom/network/measured_network.hpp"
#include "headroom/training/measured_links.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

MeasuredNetwork some_network() {
    MeasuredNetwork network;
    network.system = "two \"nodes\"";
    network.scale_up = MeasuredLink{.latency_seconds = {3e-6, 2.5e-6, 3.5e-6},
                                    .bytes_per_second = MeasuredValue{4.1e11, 4e11, 4.2e11},
                                    .interconnect = "NVLink",
                                    .source = "a.log"};
    network.scale_out =
        MeasuredLink{.latency_seconds = {1.0 / 3e4, 0.0, 1e-4}, .bytes_per_second = {}, .source = "b.log"};
    network.curves.push_back({.collective = Collective::all_to_all,
                              .algorithm = "pairwise",
                              .ranks = 16,
                              .nodes = 2,
                              .segments = {{Bytes{8}, Bytes{1024}, Seconds{1e-5}, SecondsPerByte{1e-9}},
                                           {Bytes{4096}, Bytes{1e9}, Seconds{2e-5}, SecondsPerByte{1e-10 / 3}}},
                              .source = "c.log"});
    return network;
}

std::string refusal_of(std::string const& network) {
    try {
        io::read_calibration("name = \"x\"\npartial = true\n" + network, "c.toml");
    } catch (InputError const& error) { return error.what(); }
    return "";
}

TEST(MeasuredNetwork, ReadsBackBitForBit) {
    MeasuredNetwork const network = some_network();
    std::string const text = io::write_measured_network(network, "mine", {"made by a test"});
    CalibrationSet const set = io::read_calibration(text, "c.toml");
    EXPECT_EQ(set.name, "mine");
    EXPECT_EQ(set.network, network);
    EXPECT_EQ(io::write_measured_network(set.network, "mine", {"made by a test"}), text);
}

TEST(MeasuredNetwork, APartialFileLiesOverTheConstantsBelow) {
    CalibrationSet below;
    for (CalibratedConstant& constant : below.constant) { constant.value = 0.25; }
    below.pace.emplace("stack", Pace{.factor = 2.0, .rows = 3, .sources = 1});
    below.network.system = "another";
    std::string const text = "partial = true\n[constants.pcie]\nvalue = 0.5\n";
    CalibrationSet const set = io::read_calibration(text, "c.toml", below);
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::pcie)].value, 0.5);
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::scale_out)].value, 0.25);
    EXPECT_EQ(set.pace.at("stack").factor, 2.0);
    EXPECT_TRUE(set.network.empty()); // links are of the file that states them
}

TEST(MeasuredNetwork, WhatMakesNoSenseIsRefused) {
    EXPECT_THAT(refusal_of("[network.scale_up]\nsource = \"x\"\n"), HasSubstr("latency_seconds"));
    EXPECT_THAT(refusal_of("[network.scale_up]\nlatency_seconds = { value = 2.0, low = 3.0, high = 4.0 }\n"),
                HasSubstr("outside its interval"));
    EXPECT_THAT(refusal_of("[network.scale_up]\nlatency_seconds = { value = 1e-6 }\nprovenance = \"guessed\"\n"),
                HasSubstr("links are given as measured"));
    EXPECT_THAT(refusal_of("[network.scale_sideways]\nlatency_seconds = { value = 1e-6 }\n"), HasSubstr("scale"));
    EXPECT_THAT(
        refusal_of("[network.scale_up]\nlatency_seconds = { value = 1e-6 }\nbytes_per_second = { value = 0.0 }\n"),
        HasSubstr("not above zero"));
    std::string const curve = "[[network.collectives]]\ncollective = \"all_reduce\"\nranks = 8\n";
    EXPECT_THAT(refusal_of(curve), HasSubstr("segments"));
    EXPECT_THAT(refusal_of(curve + "segments = [ { from_bytes = 8, to_bytes = 4, alpha_seconds = 1e-6, "
                                   "beta_seconds_per_byte = 0 } ]\n"),
                HasSubstr("above to_bytes"));
    EXPECT_THAT(refusal_of("[[network.collectives]]\ncollective = \"dance\"\nranks = 8\n"),
                HasSubstr("unknown collective"));
}

/// 2 levels: 300 GB/s and 50 GB/s by the datasheet.
Cluster some_cluster() {
    Cluster cluster;
    cluster.scale_up_name = "nvlink";
    cluster.scale_up = {Seconds{1e-6}, BytesPerSecond{3e11}};
    cluster.scale_out = {Seconds{4e-6}, BytesPerSecond{5e10}};
    return cluster;
}

TEST(MeasuredNetwork, LinksGoInPlaceOfTheCatalogs) {
    Cluster cluster = some_cluster();
    CalibrationSet set;
    for (CalibratedConstant& constant : set.constant) { constant.value = 0.5; }
    use_measured_links(some_network(), cluster, set);
    Fabric const fabric = calibrated_fabric(cluster, set.values());
    EXPECT_DOUBLE_EQ(fabric.scale_up.bandwidth.base(), 4.1e11);
    EXPECT_EQ(fabric.scale_up.latency, Seconds{3e-6});
    EXPECT_DOUBLE_EQ(fabric.scale_out.bandwidth.base(), 2.5e10); // no measured rate: half of the datasheet's as before
    EXPECT_EQ(fabric.scale_out.latency, Seconds{1.0 / 3e4});
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::nvlink_hopper)].provenance, Provenance::measured);
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::scale_out)].provenance, Provenance::guessed);
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::base_latency)].value, 0.0); // measured latencies hold it
}

TEST(MeasuredNetwork, WithoutMeasurementsNothingChanges) {
    Cluster cluster = some_cluster();
    CalibrationSet set;
    for (CalibratedConstant& constant : set.constant) { constant.value = 0.5; }
    Fabric const before = calibrated_fabric(cluster, set.values());
    use_measured_links({}, cluster, set);
    Fabric const after = calibrated_fabric(cluster, set.values());
    EXPECT_EQ(before.scale_up.bandwidth, after.scale_up.bandwidth);
    EXPECT_EQ(before.scale_out.latency, after.scale_out.latency);
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::base_latency)].value, 0.5);
    MeasuredNetwork one_level;
    one_level.scale_out = some_network().scale_out;
    use_measured_links(one_level, cluster, set); // the other level still needs its start
    EXPECT_EQ(set.constant[static_cast<std::size_t>(Constant::base_latency)].value, 0.5);
}

TEST(MeasuredNetwork, ClassesOfLinksAreNamedInWords) {
    EXPECT_EQ(link_class("host memory"), LinkClass::host_memory);
    EXPECT_EQ(link_class("Shared Memory (vader)"), LinkClass::host_memory);
    EXPECT_EQ(link_class("8x NVLink 4, 400G InfiniBand"), LinkClass::nvlink);
    EXPECT_EQ(link_class("PCIe gen 5"), LinkClass::pcie);
    EXPECT_EQ(link_class("HDR InfiniBand"), LinkClass::network);
    EXPECT_EQ(link_class(""), LinkClass::unknown);
    EXPECT_EQ(link_class("tin cans"), LinkClass::unknown);
}

/// A network as `measure comm` finds it: ranks of one host, through its memory.
MeasuredNetwork host_network() {
    MeasuredNetwork network = some_network();
    network.system = "dgx-h100";
    network.scale_up->interconnect = host_memory_words;
    network.curves.front().interconnect = host_memory_words;
    return network;
}

TEST(MeasuredNetwork, LinksOfAnotherMachineDoNotHold) {
    Cluster const dgx = io::Catalog{}.cluster("dgx-h100");
    FittingLinks const links = fitting_links(some_network(), dgx, false);
    EXPECT_TRUE(links.network.empty());
    EXPECT_EQ(links.misfits, std::vector{LinkMisfit::machine});
    EXPECT_THAT(words_of(LinkMisfit::machine, some_network(), dgx, "m.toml"),
                AllOf(HasSubstr("m.toml"), HasSubstr("two"), HasSubstr("--system dgx-h100")));
}

TEST(MeasuredNetwork, MemoryOfAHostIsNoNvlink) {
    Cluster const dgx = io::Catalog{}.cluster("dgx-h100");
    FittingLinks const links = fitting_links(host_network(), dgx, true);
    EXPECT_FALSE(links.network.scale_up);
    EXPECT_TRUE(links.network.curves.empty()); // several ranks a node
    EXPECT_TRUE(links.network.scale_out);      // between hosts it is the same network
    EXPECT_EQ(links.misfits, std::vector{LinkMisfit::inside});
    MeasuredNetwork beyond = host_network();
    beyond.scale_out->interconnect = host_memory_words;
    EXPECT_EQ(fitting_links(beyond, dgx, true).misfits, (std::vector{LinkMisfit::inside, LinkMisfit::between}));
}

TEST(MeasuredNetwork, LinksOfTheSameClassHold) {
    Cluster const dgx = io::Catalog{}.cluster("dgx-h100");
    FittingLinks const links = fitting_links(some_network(), dgx, true);
    EXPECT_EQ(links.network, some_network());
    EXPECT_TRUE(links.misfits.empty());
    Cluster own = some_cluster(); // described by a user, of a class that nobody knows
    own.scale_up_name = "lab scale-up";
    EXPECT_TRUE(fitting_links(host_network(), own, true).misfits.empty());
}

TEST(MeasuredNetwork, WordsNameAMachineByItsNodeOrItsAccelerator) {
    io::Catalog const catalog;
    Cluster const dgx = catalog.cluster("dgx-h100");
    for (char const* same : {"dgx-h100", "NVIDIA H100 80GB HBM3", "8x H100 SXM", "h100-sxm-80gb", ""}) {
        EXPECT_TRUE(io::names_machine(catalog, same, dgx)) << same;
    }
    for (char const* other : {"Intel(R) Xeon(R) Processor", "NVIDIA A100-SXM4-80GB", "H100 PCIe", "lab"}) {
        EXPECT_FALSE(io::names_machine(catalog, other, dgx)) << other;
    }
}

TEST(MeasuredNetwork, TheIntervalOfALinkWidensThatOfAStep) {
    io::Catalog const catalog;
    Question question{.model = catalog.model("llama-3-8b"),
                      .cluster = catalog.cluster("dgx-h100"),
                      .framework = catalog.framework("megatron-core"),
                      .workload = {.sequence_length = 8192, .global_batch = 64},
                      .strategy = {.dp = 1, .tp = 8},
                      .assumptions = {},
                      .tokens = {}};
    auto const predicted = [&](double share) {
        CalibrationSet set = catalog.calibration("training");
        Cluster cluster = question.cluster;
        set.network.scale_up =
            MeasuredLink{.latency_seconds = {3e-6, 3e-6 * (1.0 - share), 3e-6 * (1.0 + share)},
                         .bytes_per_second = MeasuredValue{4e11, 4e11 * (1.0 - share), 4e11 * (1.0 + share)},
                         .source = "a.log"};
        Question asked = question;
        use_measured_links(set.network, asked.cluster, set);
        return predict(asked, set);
    };
    Prediction const sure = predicted(0.0), unsure = predicted(0.5);
    EXPECT_EQ(sure.step(), unsure.step());
    EXPECT_LT(unsure.interval.low, sure.interval.low);
    EXPECT_GT(unsure.interval.high, sure.interval.high);
}

// From 1024 to 4096 bytes: 11.02 us to 20.14 us, and at their geometric mean the geometric mean of both.
TEST(MeasuredNetwork, ACurveIsStraightBetweenPiecesThatDoNotMeet) {
    MeasuredNetwork const network = some_network();
    EXPECT_EQ(network.curve(Collective::all_to_all, 16, 1), nullptr);
    ASSERT_NE(network.curve(Collective::all_to_all, 16, 2), nullptr);
    MeasuredCurve const curve = *network.curve(Collective::all_to_all, 16, 2);
    EXPECT_DOUBLE_EQ(curve.time({Bytes{512}}).base(), 1e-5 + 512e-9);
    EXPECT_DOUBLE_EQ(curve.time({Bytes{8192}}).base(), 2e-5 + 8192 * 1e-10 / 3);
    double const low = curve.time({Bytes{1024}}).base(), high = curve.time({Bytes{4096}}).base();
    EXPECT_NEAR(curve.time({Bytes{2048}}).base(), std::sqrt(low * high), 1e-15);
}

} // namespace
} // namespace headroom
