#include "support/processor_time.hpp"
#include "support/scratch_folder.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace headroom::io {

using namespace headroom::training;

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Catalog const& embedded() {
    static Catalog const catalog;
    return catalog;
}

/// The fault and the line of the error that `work` throws; an empty line when it throws none.
struct Refusal {
    Fault fault = Fault::insufficient;
    std::string line;
};

template <class Work> Refusal refusal(Work work) {
    try {
        work();
    } catch (InputError const& error) {
        EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << "an error is one line";
        return {error.fault(), error.what()};
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

/// A folder of its own for each test, gone afterwards.
class CatalogFiles : public ::testing::Test {
protected:
    fs::path write(fs::path const& name, std::string_view content) {
        fs::create_directories((folder_ / name).parent_path());
        write_file(folder_ / name, content);
        return folder_ / name;
    }
    test::ScratchFolder scratch_;
    fs::path folder_ = scratch_.path();
};

std::string const small_model = R"(name = "small"
aliases = ["Small Model"]
[dimensions]
layers = 2
hidden = 64
heads = 4
ffn = 256
vocab = 1000
)";

std::string const small_chip = R"(name = "chip"
vendor = "Example"
year = 2024
generation = "hopper"
[memory]
capacity = "80 GiB"
bandwidth = "2 TB/s"
[peak]
bf16 = "300 TFLOP/s"
)";

std::string changed(std::string text, std::string_view from, std::string_view to) {
    auto const at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// ---- the whole catalog ---------------------------------------------------------------------------------------------

TEST(Catalog, EveryRecordReads) {
    for (auto const& name : embedded().names(RecordKind::accelerator)) {
        EXPECT_NO_THROW(EXPECT_EQ(embedded().accelerator(name).name, name)) << name;
        EXPECT_NO_THROW(static_cast<void>(embedded().price(name))) << name;
    }
    for (auto const& name : embedded().names(RecordKind::accelerator)) {
        // Expectation: a narrower format is no slower; rates that a chip does not have are zero.
        auto const& peak = embedded().accelerator(name).peak;
        FlopsPerSecond last;
        for (auto const rate : {peak.fp32, peak.tf32, std::max(peak.bf16, peak.fp16), peak.fp8, peak.fp4}) {
            if (rate.base() == 0.0) { continue; }
            EXPECT_GE(rate, last) << name;
            last = rate;
        }
    }
    for (auto const& name : embedded().names(RecordKind::model)) {
        EXPECT_NO_THROW(EXPECT_EQ(embedded().model(name).name, name)) << name;
    }
    for (auto const& name : embedded().names(RecordKind::framework)) {
        EXPECT_NO_THROW(EXPECT_EQ(embedded().framework(name).name, name)) << name;
    }
    for (auto const& name : embedded().names(RecordKind::calibration)) {
        constexpr std::array<std::string_view, 4> others{"folds", "memory", "evidence",
                                                         "serving"}; // readers of their own
        if (std::ranges::count(others, name) > 0) { continue; }
        EXPECT_NO_THROW(static_cast<void>(embedded().calibration(name))) << name;
    }
    for (auto const& name : embedded().names(RecordKind::node)) {
        Cluster const cluster = embedded().cluster(name);
        EXPECT_EQ(cluster.name, name);
        EXPECT_GT(cluster.scale_up.bandwidth.base(), 0.0) << name;
        EXPECT_GT(cluster.scale_out.bandwidth.base(), 0.0) << name;
        EXPECT_GT(cluster.scale_out.latency.base(), 0.0) << name;
        EXPECT_EQ(cluster.price.has_value(), !cluster.price_origin.empty()) << name;
    }
}

TEST(Catalog, NamesThatOthersRelyOnAreThere) {
    for (auto const* name : {"llama-3-8b", "llama-3-70b", "llama-3-405b", "gpt3-175b", "mixtral-8x7b"}) {
        EXPECT_TRUE(embedded().has_model(name)) << name;
    }
    for (auto const* name : {"dgx-v100", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72"}) {
        EXPECT_TRUE(embedded().has_node(name)) << name;
    }
}

TEST(Catalog, StatedParameterCountsAreExact) {
    // Expectation: where a record states the published count, the dimensions give that very number.
    int stated = 0;
    for (auto const& name : embedded().names(RecordKind::model)) {
        std::string_view const text = embedded().text(RecordKind::model, name).content;
        constexpr std::string_view key = "\nparameters = ";
        auto const at = text.find(key);
        if (at == std::string_view::npos) { continue; }
        double parameters = 0.0;
        std::from_chars(text.data() + at + key.size(), text.data() + text.size(), parameters);
        EXPECT_DOUBLE_EQ(count_parameters(embedded().model(name)).total, parameters) << name;
        ++stated;
    }
    EXPECT_GE(stated, 100);
}

TEST(Catalog, NoAliasMeansTwoRecords) {
    for (auto const kind : {RecordKind::accelerator, RecordKind::link, RecordKind::node, RecordKind::model,
                            RecordKind::framework, RecordKind::strategy}) {
        std::map<std::string, std::string> owner;
        for (auto const& name : embedded().names(kind)) {
            // A record is found by its own name, whatever aliases say.
            EXPECT_EQ(embedded().text(kind, name).name, name);
            owner.emplace(normalised(name), name);
        }
        auto const names = embedded().names(kind);
        auto next = names.begin();
        std::string record;
        for (auto const& alias : embedded().names_and_aliases(kind)) { // aliases stand behind their name
            if (next != names.end() && alias == *next) { record = *next++; }
            EXPECT_NO_THROW(EXPECT_EQ(embedded().text(kind, alias).name, record)) << alias;
        }
        EXPECT_EQ(owner.size(), embedded().names(kind).size()) << "two names differ in punctuation only";
    }
}

TEST(Catalog, LooksUpInAFewMilliseconds) {
    // Expectation: well under 5 ms; the limit is wide because sanitizers are slow.
    double const before = test::processor_seconds();
    Catalog const catalog;
    static_cast<void>(catalog.model("meta-llama/Meta-Llama-3-70B"));
    static_cast<void>(load_cluster(catalog, "H100"));
    EXPECT_LT(test::processor_seconds() - before, 0.5);
}

// ---- names ---------------------------------------------------------------------------------------------------------

TEST(Catalog, FindsByStemThenByAliasAsPeopleWriteIt) {
    EXPECT_EQ(embedded().text(RecordKind::model, "llama-3-70b").name, "llama-3-70b");
    EXPECT_EQ(embedded().text(RecordKind::model, "Llama 3 70B").name, "llama-3-70b");
    EXPECT_EQ(embedded().text(RecordKind::model, "meta-llama/Meta-Llama-3-70B").name, "llama-3-70b");
    EXPECT_EQ(embedded().text(RecordKind::accelerator, "A100").name, "a100-sxm-80gb");
    EXPECT_EQ(embedded().text(RecordKind::model, "llama-3-70b").origin, "embedded:catalog/models/llama-3-70b.toml");
}

TEST(Catalog, OffersTheNearestName) {
    auto const [fault, line] = refusal([] { static_cast<void>(embedded().model("lama-3-70b")); });
    EXPECT_EQ(fault, Fault::usage);
    EXPECT_EQ(line,
              "catalog: unknown model 'lama-3-70b' (no record has this name or alias). did you mean 'llama-3-70b'?");
    EXPECT_THAT(refusal([] { load_model(embedded(), "llama-3-70bb", nullptr); }).line,
                HasSubstr("did you mean 'llama-3-70b'?"));
    EXPECT_THAT(refusal([] { load_cluster(embedded(), "dgx-h10"); }).line, HasSubstr("did you mean 'dgx-h100'?"));
    EXPECT_THAT(refusal([] { load_cluster(embedded(), "zzzz"); }).line, HasSubstr("neither a node"));
    EXPECT_FALSE(embedded().has_model(""));
    EXPECT_FALSE(embedded().has_model("--- "));
}

TEST(Catalog, HashIsStable) {
    EXPECT_EQ(embedded().hash(), Catalog{}.hash());
    EXPECT_EQ(embedded().hash().size(), 16U);
}

// ---- clusters ------------------------------------------------------------------------------------------------------

TEST(Catalog, NodeBecomesACluster) {
    Cluster const cluster = embedded().cluster("dgx-h100");
    EXPECT_EQ(cluster.accelerator.name, "h100-sxm-80gb");
    EXPECT_EQ(cluster.accelerators_per_node, 8);
    EXPECT_EQ(cluster.domain, 8);
    // Expectation: NVLink 4 is 450 GB/s a direction; 8 NICs of 400 Gbit/s over 8 accelerators are 50 GB/s each.
    EXPECT_DOUBLE_EQ(cluster.scale_up.bandwidth.in(units::GB / units::s), 450.0);
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::GB / units::s), 50.0);
    EXPECT_EQ(cluster.scale_up_name, "nvlink4");
    EXPECT_EQ(cluster.scale_out_name, "infiniband-ndr");
    EXPECT_GT(cluster.scale_up.latency.base(), 0.0);
}

TEST(Catalog, ARackIsOneDomain) {
    Cluster const rack = embedded().cluster("gb200-nvl72");
    EXPECT_EQ(rack.accelerators_per_node, 4);
    EXPECT_EQ(rack.domain, 72);
}

TEST(Catalog, ANodeMayUseAnotherLinkThanItsChipWasMadeFor) {
    // Expectation: without peer-to-peer the A100 talks over PCIe 4, not over its 300 GB/s of NVLink.
    EXPECT_DOUBLE_EQ(embedded().cluster("dgx-a100").scale_up.bandwidth.in(units::GB / units::s), 300.0);
    EXPECT_DOUBLE_EQ(embedded().cluster("dgx-a100-no-p2p").scale_up.bandwidth.in(units::GB / units::s), 31.5);
    EXPECT_DOUBLE_EQ(embedded().cluster("l4-pcie-8").scale_up.bandwidth.in(units::GB / units::s), 31.5);
}

TEST(Catalog, CardsOnPcieReachTheirHostOverTheSameLink) {
    // Expectation: cards of PCIe 4 in hosts of 2022 and later, which have PCIe 5.
    for (char const* node : {"rtx-4090-pcie-8", "rtx-3090-pcie-8"}) {
        Cluster const cluster = embedded().cluster(node);
        EXPECT_EQ(cluster.host.bandwidth, cluster.scale_up.bandwidth) << node;
    }
    EXPECT_GT(embedded().cluster("dgx-h100").host.bandwidth, Catalog{}.cluster("rtx-4090-pcie-8").host.bandwidth);
}

TEST(Catalog, PriceIsTheMedianOfOnDemandOffers) {
    auto const range = embedded().price("h100-sxm-80gb");
    ASSERT_TRUE(range);
    auto const hourly = [](DollarsPerSecond price) { return price.in(units::dollar / units::hour); };
    EXPECT_GT(range->offers, 1);
    EXPECT_LE(range->low, range->median);
    EXPECT_LE(range->median, range->high);
    EXPECT_DOUBLE_EQ(hourly(range->high), 12.29);
    EXPECT_EQ(range->newest, "2025-03-17");
    EXPECT_THAT(embedded().cluster("dgx-h100").price_origin,
                ::testing::MatchesRegex("median of [0-9]+ on-demand offers, [0-9.]+ to 12.29 \\$/h, "
                                        "2025-02-28 to 2025-03-17"));
    EXPECT_FALSE(embedded().price("v100-pcie-32gb"));
    EXPECT_FALSE(embedded().cluster("v100-pcie-4").price);
}

TEST(Catalog, EveryAcceleratorHasAUsualNode) {
    for (auto const& name : embedded().names(RecordKind::accelerator)) {
        EXPECT_NO_THROW(EXPECT_EQ(embedded().cluster(embedded().default_node(name)).accelerator.name, name)) << name;
    }
    EXPECT_EQ(embedded().default_node("h100-sxm-80gb"), "dgx-h100");
    EXPECT_EQ(embedded().default_node("A100"), "dgx-a100");
    EXPECT_EQ(embedded().default_node("v100-sxm2-32gb"), "dgx-v100");
    EXPECT_EQ(load_cluster(embedded(), "h100-sxm-80gb").name, "dgx-h100");
}

// ---- overlays ------------------------------------------------------------------------------------------------------

TEST_F(CatalogFiles, AnOverlayReplacesARecordWhole) {
    write("models/llama-3-70b.toml", changed(small_model, "small", "llama-3-70b"));
    write("models/small.toml", small_model);
    Catalog const catalog{{folder_}};
    EXPECT_EQ(catalog.model("llama-3-70b").layers, 2);
    EXPECT_EQ(catalog.model("small model").layers, 2);
    EXPECT_EQ(catalog.model("llama-3-8b").layers, 32);
    EXPECT_NE(catalog.hash(), embedded().hash());
    EXPECT_EQ(catalog.text(RecordKind::model, "small").origin, (folder_ / "models/small.toml").string());
}

TEST_F(CatalogFiles, EmbeddedRecordsAreSharedAndOverlaysReadAgain) {
    EXPECT_EQ(&Catalog{}.text(RecordKind::model, "llama-3-8b"), &embedded().text(RecordKind::model, "llama-3-8b"));
    std::set<std::string> hashes{embedded().hash()};
    for (int const layers : {2, 3}) {
        write("models/llama-3-8b.toml",
              changed(changed(small_model, "small", "llama-3-8b"), "layers = 2", "layers = " + std::to_string(layers)));
        Catalog const catalog{{folder_}};
        EXPECT_EQ(catalog.model("llama-3-8b").layers, layers);
        EXPECT_FALSE(catalog.has_model("LLAMA3_8B SFT")) << "an alias of the record that is hidden";
        EXPECT_EQ(std::ranges::count(catalog.names(RecordKind::model), "llama-3-8b"), 1);
        EXPECT_EQ(embedded().model("LLAMA3_8B SFT").layers, 32);
        hashes.insert(catalog.hash());
    }
    EXPECT_EQ(hashes.size(), 3U);
}

TEST_F(CatalogFiles, TheFirstOverlayWins) {
    write("first/models/small.toml", small_model);
    write("second/models/small.toml", changed(small_model, "layers = 2", "layers = 3"));
    Catalog const catalog{{folder_ / "first", folder_ / "second"}};
    EXPECT_EQ(catalog.model("small").layers, 2);
}

TEST_F(CatalogFiles, AnOverlayMustBeAFolderOfKinds) {
    EXPECT_EQ(refusal([&] { Catalog{{folder_ / "missing"}}; }).fault, Fault::unreadable);
    write("model/small.toml", small_model);
    EXPECT_THAT(refusal([&] { Catalog{{folder_}}; }).line, HasSubstr("unknown folder 'model'"));
    EXPECT_THAT(refusal([&] { Catalog{{folder_}}; }).line, HasSubstr("did you mean 'models'?"));
}

// ---- mistakes in records -------------------------------------------------------------------------------------------

TEST(Records, MistakesAreNamedWithTheirLine) {
    auto const chip = [](std::string_view from, std::string_view to) {
        auto const found = refusal([&] { read_accelerator(changed(small_chip, from, to), "chip.toml"); });
        EXPECT_EQ(found.fault, Fault::usage);
        return found.line;
    };
    EXPECT_EQ(
        chip("\"80 GiB\"", "80"),
        "chip.toml:6: memory.capacity: a bare number 80 (a quantity carries its unit). write it as text, like \"1 B\"");
    EXPECT_THAT(chip("2 TB/s", "2 TBs"), HasSubstr("chip.toml:7: "));
    EXPECT_THAT(chip("capacity", "capcity"), HasSubstr("memory.capacity: missing"));
    EXPECT_THAT(chip("year", "yaer"),
                HasSubstr("chip.toml:3: unknown key 'yaer' (nothing reads it). did you mean 'year'?"));
    EXPECT_THAT(chip("[peak]", "[peaks]"), HasSubstr("no peak rate"));
    EXPECT_THAT(chip("hopper", "hoper"), HasSubstr("chip.toml:4: generation: unknown word 'hoper'"));
    EXPECT_THAT(chip("80 GiB", "0 GiB"), HasSubstr("not above zero"));
    EXPECT_THAT(chip("year = 2024", "year = 24"), HasSubstr("year: 24 is out of range (from 1990 to 2100)"));
    EXPECT_THAT(chip("\"Example\"", "7"), HasSubstr("vendor: a whole number where text is due"));
}

TEST(Records, ImpossibleShapesAreRefused) {
    auto const model = [](std::string_view from, std::string_view to) {
        auto const found = refusal([&] { read_model(changed(small_model, from, to), "m.toml"); });
        EXPECT_EQ(found.fault, Fault::usage);
        return found.line;
    };
    EXPECT_EQ(model("layers = 2", "layers = 0"), "m.toml:4: dimensions.layers: 0 is out of range (from 1 to 10000)");
    EXPECT_THAT(model("heads = 4", "heads = 4\nkv_heads = 3"), HasSubstr("kv_heads: 3 do not divide 4 heads"));
    EXPECT_THAT(model("heads = 4", "heads = 5"), HasSubstr("heads: 5 do not divide hidden 64"));
    EXPECT_THAT(model("hidden = 64", "hidden = 6.4"), HasSubstr("a number where a whole number is due"));
    EXPECT_THAT(model("vocab = 1000", "vocab = 99999999999999"), HasSubstr("out of range"));
    EXPECT_THAT(model("vocab = 1000\n", ""), HasSubstr("dimensions.vocab: missing"));
    EXPECT_THAT(model("vocab = 1000", "vocab = 1000\n[moe]\nexperts = 2\ntop_k = 3"),
                HasSubstr("top_k: 3 of 2 experts"));
}

TEST(Records, MixersPlaceTheLayersThatSeeEverything) {
    auto const text = changed(small_model, "layers = 2", "layers = 22") +
                      "max_positions = 1024\n[layers]\nwindow = 128\nmixers = \"AWW\"\n";
    auto const kinds = block_kinds(read_model(text, "m.toml"));
    // Expectation: layers 0, 3 ... 21 of ModernBERT-base, the first one among them.
    EXPECT_EQ(std::ranges::count(kinds, 0, &BlockKind::window), 8);
    EXPECT_EQ(kinds.front().window, 0);
    EXPECT_EQ(kinds.at(1).window, 128);
}

/// The small model with further sections.
std::string model_with(std::string_view sections) { return small_model + std::string{sections}; }

std::string model_fault(std::string const& text) {
    auto const found = refusal([&] { read_model(text, "m.toml"); });
    EXPECT_EQ(found.fault, Fault::usage) << text;
    return found.line;
}

TEST(Records, EveryPartOfAModelIsRead) {
    Model const model = read_model(model_with("max_positions = 512\n"
                                              "[architecture]\nqk_norm = true\nsinks = true\ncausal = false\n"
                                              "other_parameters = 7\nhead_share = 0.15\nmemory_tokens = 9\n"
                                              "[layers]\nwindow = 128\nchunked = true\nfull_every = 2\nprediction = 1\n"
                                              "[moe]\nexperts = 8\ntop_k = 2\nexpert_ffn = 32\n"
                                              "shared_experts = 1\nshared_ffn = 48\nfirst_dense = 1\nevery = 1\n"
                                              "group_limit = 4\nlatent = 16\nrouter_bias = true\n"
                                              "[latent_attention]\nq_rank = 24\nkv_rank = 12\nnope_dim = 8\n"
                                              "rope_dim = 4\nvalue_dim = 8\n"
                                              "[workload]\nlength = 384\nbatch = 16\n"),
                                   "m.toml");
    EXPECT_TRUE(model.qk_norm && model.sinks && model.chunked && !model.causal && model.moe.router_bias);
    EXPECT_EQ(model.other_parameters, 7.0);
    EXPECT_EQ(model.head_share, 0.15);
    EXPECT_EQ(model.memory_tokens, 9);
    EXPECT_EQ(std::vector({model.window, model.full_every, model.prediction_layers}), std::vector({128, 2, 1}));
    auto const& moe = model.moe;
    EXPECT_EQ(std::vector({moe.ffn, moe.shared_ffn, moe.first_dense, moe.every, moe.group_limit, moe.latent}),
              std::vector({32, 48, 1, 1, 4, 16}));
    auto const& latent = model.latent;
    EXPECT_EQ(std::vector({latent.q_rank, latent.kv_rank, latent.nope_dim, latent.rope_dim, latent.value_dim}),
              std::vector({24, 12, 8, 4, 8}));
    EXPECT_EQ(std::vector({model.nominal_length, model.nominal_batch}), std::vector({384, 16}));
}

TEST(Records, HybridsAndPairsOfStacksAreRead) {
    // Expectation: a pattern without dense layers needs no width of them.
    Model const hybrid =
        read_model(changed(small_model, "ffn = 256\n", "") +
                       "[layers]\npattern = \"M*\"\n"
                       "[state_space]\nheads = 8\nhead_dim = 16\ngroups = 2\nstate = 32\nconvolution = 3\n",
                   "m.toml");
    EXPECT_EQ(hybrid.pattern, "M*");
    auto const& scan = hybrid.state_space;
    EXPECT_EQ(std::vector({scan.heads, scan.head_dim, scan.groups, scan.state, scan.convolution}),
              std::vector({8, 16, 2, 32, 3}));
    // Expectation: the letters of the mixers repeat over four layers.
    Model const mixed = read_model(changed(small_model, "layers = 2", "layers = 4") +
                                       "[layers]\nwindow = 8\nmixers = \"WAS\"\n"
                                       "[state_space]\nheads = 8\nhead_dim = 16\nstate = 32\n",
                                   "m.toml");
    auto const kinds = block_kinds(mixed);
    ASSERT_EQ(kinds.size(), 4U);
    EXPECT_EQ(std::vector({kinds[0].window, kinds[1].window, kinds[3].window}), std::vector({8, 0, 8}));
    EXPECT_EQ(kinds[1].mixer, Mixer::attention);
    EXPECT_EQ(kinds[2].mixer, Mixer::state_space);
    EXPECT_THAT(model_fault(model_with("[layers]\nmixers = \"AX\"\n")), HasSubstr("layers.mixers: unknown letter 'X'"));
    Model const pair = read_model(model_with("[layers]\nencoder = 1\ndecoder_length = 0.25\n"), "m.toml");
    EXPECT_EQ(pair.encoder_layers, 1);
    EXPECT_EQ(pair.decoder_length, 0.25);
}

std::string const small_network = R"(name = "network"
[workload]
length = 1
[[operator]]
name = "stem"
kind = "convolution"
in = 3
out = 64
kernel = 7
height = 112
bias = true
[[operator]]
kind = "linear"
in = 64
out = 10
)";

TEST(Records, AListOfOperatorsNeedsNoDimensions) {
    Model const network = read_model(small_network, "n.toml");
    ASSERT_EQ(network.operators.size(), 2U);
    EXPECT_EQ(network.operators[0].name, "stem");
    EXPECT_EQ(network.operators[0].height, 112);
    // Expectation: 7 x 7 x 3 x 64 weights and 64 biases, then 64 x 10 weights.
    EXPECT_DOUBLE_EQ(count_parameters(network).total, 7 * 7 * 3 * 64 + 64 + 640);
    EXPECT_EQ(read_model("name = \"x\"\noperator = [{kind = \"embedding\", in = 5, out = 2}]", "n").operators.size(),
              1U);
    EXPECT_THAT(model_fault(changed(small_network, "in = 3", "in = 3\ngroups = 2")),
                HasSubstr("operator.groups: 2 do not divide 3 channels of 'in'"));
    EXPECT_THAT(model_fault(changed(small_network, "in = 3\n", "")), HasSubstr("operator.in: missing"));
    EXPECT_THAT(model_fault(changed(small_network, "linear", "linaer")), HasSubstr("did you mean 'linear'?"));
    EXPECT_THAT(model_fault(changed(small_network, "kernel = 7", "kernel = 70000")), HasSubstr("out of range"));
    EXPECT_THAT(model_fault(changed(small_network, "in = 64", "in = 64\ngroups = 2")),
                HasSubstr("2 of no convolution"));
    EXPECT_THAT(model_fault("name = \"x\"\noperator = 3"), HasSubstr("a list of tables"));
}

TEST(Records, ContradictionsInModelsAreNamedByTheirKey) {
    std::string const scan = "[state_space]\nheads = 8\nhead_dim = 16\nstate = 32\n";
    std::string const experts = "[moe]\nexperts = 8\ntop_k = 2\n";
    auto const fault = [](std::string const& sections) { return model_fault(model_with(sections)); };
    EXPECT_EQ(fault("max_positions = 64\n[layers]\nwindow = 65\n"),
              "m.toml:11: layers.window: 65 of 64 positions (a window is not longer than the longest sequence)");
    EXPECT_THAT(fault("[layers]\nfull_every = 2\n"), HasSubstr("layers.full_every: 2 without window"));
    EXPECT_THAT(fault("[layers]\npattern = \"M*x\"\n" + scan), HasSubstr("layers.pattern: unknown letter 'x'"));
    EXPECT_THAT(fault("[layers]\npattern = \"M-\"\n"), HasSubstr("M without [state_space]"));
    EXPECT_THAT(fault("[layers]\npattern = \"*E-\"\n"), HasSubstr("E without [moe]"));
    EXPECT_THAT(fault("[layers]\npattern = \"*-\"\n" + experts), HasSubstr("no E with [moe]"));
    EXPECT_THAT(fault("[layers]\npattern = \"*-\"\nwindow = 8\n"), HasSubstr("of its four kinds"));
    EXPECT_THAT(fault(scan), HasSubstr("state_space.heads: without a layer that scans"));
    EXPECT_THAT(fault("[layers]\npattern = \"M-\"\n" + scan + "groups = 3\n"), HasSubstr("3 do not divide 8 heads"));
    EXPECT_THAT(fault("[latent_attention]\nkv_rank = 4\n"), HasSubstr("latent_attention.nope_dim: missing"));
    EXPECT_THAT(fault(experts + "first_dense = 3\n"), HasSubstr("moe.first_dense: 3 of 2 layers"));
    EXPECT_THAT(fault("[layers]\ndecoder_length = 0.5\n"), HasSubstr("decoder_length: without encoder"));
    EXPECT_THAT(fault("[layers]\nencoder = 2\n"), HasSubstr("layers.encoder: 2 of 2 layers"));
    EXPECT_THAT(fault("[architecture]\nhead_share = 0\n"), HasSubstr("architecture.head_share: 0 (above 0"));
    EXPECT_THAT(fault("[architecture]\nhead_share = 1.5\n"), HasSubstr("head_share: 1.5 is out of range"));
    EXPECT_THAT(fault("[moe]\nexperts = 99999999\ntop_k = 2\n"), HasSubstr("out of range"));
}

TEST(Records, APublishedCountSaysWhereItIsPrinted) {
    EXPECT_THAT(model_fault("published_total = 5\n" + small_model), HasSubstr("without published_source"));
    EXPECT_THAT(model_fault("published_active = 5\n" + small_model), HasSubstr("without published_total"));
    EXPECT_THAT(model_fault("published_total = 5\npublished_active = 6\npublished_source = \"x\"\n" + small_model),
                HasSubstr("more than published_total"));
    EXPECT_NO_THROW(read_model("published_total = 5.5e9\npublished_source = \"x\"\n" + small_model, "m"));
}

TEST(Records, BrokenTomlIsUnreadable) {
    for (std::string const& text :
         {std::string{"name = "}, std::string{"name = \"a\"\nname = \"b\""}, std::string{"\xff\xfe"},
          std::string{"a = "} + std::string(100, '['), std::string{"a = '''"}, std::string{"[[[1]]]"},
          std::string{"[ =]"}, std::string{"\t["}, std::string{"gr\xC3\xB6\xC3\x9F\x65 = 1"},
          std::string{"a = [[]}[]]"}, std::string{"\xEF\xBB\xBF[$]"}, std::string{"a = 2b\"\"\"c"},
          "[" + std::string(200'000, 'a') + "]\n[a" + std::string(50, '.') + "]"}) {
        EXPECT_EQ(refusal([&] { read_model(text, "m.toml"); }).fault, Fault::unreadable);
    }
    std::string deep = "a";
    for (int i = 0; i < 100'000; ++i) { deep += ".a"; }
    EXPECT_THAT(refusal([&] { read_model(deep + " = 1", "m.toml"); }).line,
                HasSubstr("m.toml:1: a key of too many parts"));
    EXPECT_EQ(refusal([&] { read_model(std::string(5u << 20, '#'), "m.toml"); }).fault, Fault::unreadable);
}

TEST(Records, FrameworkKeysAreOptional) {
    Framework const plain = read_framework("name = \"mine\"", "f.toml");
    EXPECT_EQ(plain.title, "mine");
    EXPECT_EQ(plain.attention, Framework{}.attention);
    Framework const full = read_framework("name = \"mine\"\n[kernels]\nattention = \"flash3\"\n[defaults]\n"
                                          "recompute = \"least\"\nprecision = \"mxfp8\"\n",
                                          "f.toml");
    EXPECT_EQ(full.attention, AttentionKernel::flash3);
    EXPECT_FALSE(full.recompute);
    EXPECT_EQ(full.precision, Precision::mxfp8);
    EXPECT_EQ(read_framework("name = \"x\"\n[defaults]\nrecompute = \"none\"", "f").recompute, Recompute::none);
    EXPECT_THAT(refusal([] { read_framework("name = \"x\"\n[kernels]\nattention = \"flash9\"", "f"); }).line,
                HasSubstr("known: unfused, flash1, flash2, flash3 or fused"));
}

// ---- calibration files ---------------------------------------------------------------------------------------------

CalibrationSet some_calibration() {
    CalibrationSet set;
    set.name = "with \"quotes\" and \\";
    set.bands = {{Extrapolation::seen, {0.8, 1.25, 0.9, 123, 4}},
                 {Extrapolation::unseen_hardware, {0.7, 1.75, 0.9, 45, 3}}};
    set.seen = {.dense = {.hardware = {Generation::ampere, Generation::blackwell_ultra}, .frameworks = {"a", "b"}},
                .mixtures = {.hardware = {Generation::hopper}, .frameworks = {}}};
    double value = 0.1;
    for (auto& constant : set.constant) {
        constant = {value, value / 3, value * 3, value + 1e-9, 0.2, Provenance::fitted, "A, B \"quoted\"\n", 4};
        value *= 1.1;
    }
    return set;
}

TEST(CalibrationFile, ReadsBackBitForBit) {
    CalibrationSet const set = some_calibration();
    std::string const text = write_calibration(set, {"made by a test", ""});
    EXPECT_TRUE(text.starts_with("# made by a test\n#\n"));
    CalibrationSet const again = read_calibration(text, "c.toml");
    EXPECT_EQ(again.name, set.name);
    EXPECT_EQ(again.bands, set.bands);
    EXPECT_EQ(again.seen, set.seen);
    for (std::size_t i = 0; i < set.constant.size(); ++i) {
        EXPECT_EQ(again.constant[i].value, set.constant[i].value);
        EXPECT_EQ(again.constant[i].low, set.constant[i].low);
        EXPECT_EQ(again.constant[i].high, set.constant[i].high);
        EXPECT_EQ(again.constant[i].independent, set.constant[i].independent);
        EXPECT_EQ(again.constant[i].provenance, Provenance::fitted);
        EXPECT_EQ(again.constant[i].source, set.constant[i].source);
        EXPECT_EQ(again.constant[i].sources, 4);
    }
    EXPECT_EQ(write_calibration(again, {"made by a test", ""}), text);
}

TEST(CalibrationFile, BandsOfStatedAndAssumedAloneTellNoOtherKinds) {
    std::string const head = "name = \"x\"\npartial = true\n";
    CalibrationSet const below = some_calibration();
    CalibrationSet const old = read_calibration(
        head + "[bands.stated]\nlow = 0.9\nhigh = 1.1\n[bands.assumed]\nlow = 0.8\nhigh = 1.3\n", "c.toml", below);
    EXPECT_FALSE(old.seen);
    EXPECT_EQ(old.bands.size(), 2u);
    EXPECT_EQ(old.bands.at(Extrapolation::seen).high, 1.1);
    EXPECT_EQ(old.bands.at(Extrapolation::assumed).low, 0.8);
    // Expectation: a file without bands keeps those below it.
    CalibrationSet const none = read_calibration(head, "c.toml", below);
    EXPECT_EQ(none.bands, below.bands);
    EXPECT_EQ(none.seen, below.seen);
    EXPECT_THAT(refusal([&] { read_calibration(head + "[seen.dense]\nhardware = [\"abacus\"]\n", "c.toml"); }).line,
                HasSubstr("unknown generation 'abacus'"));
}

TEST(CalibrationFile, EveryConstantIsDueUnlessPartial) {
    EXPECT_THAT(refusal([] { read_calibration("name = \"x\"", "c.toml"); }).line, HasSubstr("missing"));
    CalibrationSet const partial =
        read_calibration("name = \"x\"\npartial = true\n[constants.gemm_hopper]\nvalue = 0.7\n", "c.toml");
    EXPECT_EQ(partial.constant[static_cast<std::size_t>(Constant::gemm_hopper)].value, 0.7);
    EXPECT_THAT(
        refusal([] { read_calibration("partial = true\n[constants.gemm_hoper]\nvalue = 0.7\n", "c.toml"); }).line,
        HasSubstr("did you mean 'gemm_hopper'?"));
    EXPECT_THAT(
        refusal([] { read_calibration("partial = true\n[constants.gemm_hopper]\nvalue = nan\n", "c.toml"); }).line,
        HasSubstr("not a finite number"));
}

TEST(CalibrationFile, OnlyFiniteNumbersAreWritten) {
    CalibrationSet set = some_calibration();
    set.constant[0].value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(write_calibration(set, {}), ContractError);
}

constexpr std::string_view any_partial = "name = \"x\"\npartial = true\n";

TEST(CalibrationFile, PacesReadBackBitForBit) {
    CalibrationSet set = some_calibration();
    set.pace = {{"mxnet-horovod", {.factor = 1.0 / 3.0, .rows = 7, .sources = 2}},
                {"a \"name\" of their own.2", {.factor = 2.5, .rows = 1, .sources = 1}}};
    auto const text = write_calibration(set, {});
    auto const again = read_calibration(text, "c.toml");
    ASSERT_EQ(again.pace.size(), 2u);
    for (auto const& [framework, pace] : set.pace) {
        EXPECT_EQ(again.pace.at(framework).factor, pace.factor) << framework;
        EXPECT_EQ(again.pace.at(framework).rows, pace.rows) << framework;
        EXPECT_EQ(again.pace.at(framework).sources, pace.sources) << framework;
    }
    EXPECT_EQ(write_calibration(again, {}), text);
    EXPECT_TRUE(read_calibration(any_partial, "c.toml").pace.empty());
}

TEST(CalibrationFile, APaceThatIsNoneIsOneError) {
    auto const line = [](std::string const& pace) {
        return refusal([&] { read_calibration(std::string{any_partial} + "[pace.stack]\n" + pace, "c.toml"); }).line;
    };
    for (auto const* factor : {"-1", "0", "1e9", "nan", "inf", "\"fast\"", "true", "[1]"}) {
        auto const said = line(std::string{"factor = "} + factor + "\n");
        EXPECT_THAT(said, HasSubstr("factor")) << factor;
        EXPECT_EQ(said.find('\n'), std::string::npos) << factor;
    }
    EXPECT_THAT(line("rows = 3\n"), HasSubstr("factor"));
    EXPECT_THAT(line("factor = 1\nfactors = 2\n"), HasSubstr("did you mean"));
    EXPECT_THAT(line("factor = 1\nrows = -3\n"), HasSubstr("rows"));
    EXPECT_THAT(refusal([] { read_calibration(std::string{any_partial} + "[pace]\nstack = 1.5\n", "c.toml"); }).line,
                HasSubstr("stack"));
}

TEST(FoldsFile, ReadsBackBitForBit) {
    Folds folds;
    double value = 0.1;
    for (auto const* source : {"one", "a \"second\" source"}) {
        auto& calibration = folds.without[source];
        for (auto const& info : constants()) { calibration[info.id] = value *= 1.01; }
        folds.pace[source]["mxnet-horovod"].factor = value / 7;
        folds.pace[source]["oneflow"].factor = value / 3;
    }
    folds.without["of no paced stack"] = folds.without["one"];
    folds.pace["of no paced stack"] = {};
    auto const text = write_folds(folds, {"made by a test"});
    auto const again = read_folds(text, "folds.toml");
    ASSERT_EQ(again.without.size(), 3u);
    for (auto const& [source, values] : folds.without) {
        for (auto const& info : constants()) { EXPECT_EQ(again.without.at(source)[info.id], values[info.id]); }
    }
    ASSERT_EQ(again.pace.size(), 2u); // a source without a pace is not written
    for (auto const* source : {"one", "a \"second\" source"}) {
        for (auto const& [framework, pace] : folds.pace[source]) {
            EXPECT_EQ(again.pace.at(source).at(framework).factor, pace.factor) << source << " " << framework;
        }
    }
    EXPECT_EQ(write_folds(again, {"made by a test"}), text);
}

TEST(FoldsFile, BadInputIsOneError) {
    auto const line = [](std::string const& text) { return refusal([&] { read_folds(text, "folds.toml"); }).line; };
    EXPECT_THAT(line("[pace_without.one]\nstack = -1\n"), HasSubstr("stack"));
    EXPECT_THAT(line("[pace_without.one]\nstack = nan\n"), HasSubstr("stack"));
    EXPECT_THAT(line("[pace_without]\none = 1\n"), HasSubstr("one"));
    EXPECT_THAT(line("[without.one]\ngemm_hopper = 0.7\n"), HasSubstr("missing"));
    EXPECT_THAT(line("[pace_withot.one]\nstack = 1\n"), HasSubstr("pace_without"));
    EXPECT_NO_THROW(read_folds("", "folds.toml"));
}

// ---- files of users ------------------------------------------------------------------------------------------------

TEST_F(CatalogFiles, AClusterFileChangesANode) {
    auto const path = write("mine.toml", "node = \"dgx-h100\"\nname = \"ours\"\nnics = 4\nprice = \"2.95 $/h\"\n");
    Cluster const cluster = load_cluster(embedded(), path.string());
    EXPECT_EQ(cluster.name, "ours");
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::GB / units::s), 25.0);
    EXPECT_DOUBLE_EQ(cluster.scale_up.bandwidth.in(units::GB / units::s), 450.0);
    EXPECT_DOUBLE_EQ(cluster.price.value().in(units::dollar / units::hour), 2.95);
    EXPECT_EQ(cluster.price_origin, path.string());
}

TEST_F(CatalogFiles, FewerAcceleratorsShrinkTheDomainOfABox) {
    auto const path = write("mine.toml", "node = \"dgx-h100\"\naccelerators = 4\n");
    EXPECT_EQ(load_cluster(embedded(), path.string()).domain, 4);
    auto const rack = write("rack.toml", "node = \"gb200-nvl72\"\naccelerators = 2\n");
    EXPECT_EQ(load_cluster(embedded(), rack.string()).domain, 72);
}

TEST_F(CatalogFiles, AClusterFileDescribesEverythingItself) {
    auto const path = write("own.toml", "accelerators = 16\nscale_up_domain = 32\n"
                                        "[scale_up]\nbandwidth = \"500 GB/s\"\nlatency = \"2 us\"\n"
                                        "[scale_out]\nbandwidth = \"20 GB/s\"\nlatency = \"5 us\"\n"
                                        "[accelerator]\nname = \"chip\"\ngeneration = \"hopper\"\n"
                                        "[accelerator.memory]\ncapacity = \"80 GiB\"\nbandwidth = \"2 TB/s\"\n"
                                        "[accelerator.peak]\nbf16 = \"300 TFLOP/s\"\n");
    Cluster const cluster = load_cluster(embedded(), path.string());
    EXPECT_EQ(cluster.name, "own");
    EXPECT_EQ(cluster.accelerator.name, "chip");
    EXPECT_EQ(cluster.accelerators_per_node, 16);
    EXPECT_EQ(cluster.domain, 32);
    EXPECT_DOUBLE_EQ(cluster.scale_up.bandwidth.in(units::GB / units::s), 500.0);
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::GB / units::s), 20.0);
    EXPECT_FALSE(cluster.price);
}

TEST_F(CatalogFiles, ClusterFilesByNamesOfTheCatalog) {
    auto const path =
        write("own.toml", "accelerator = \"A100\"\naccelerators = 4\nnics = 1\nnic_rate = \"100 Gbit/s\"\n"
                          "scale_out = \"infiniband-edr\"\n");
    Cluster const cluster = load_cluster(embedded(), path.string());
    EXPECT_EQ(cluster.scale_up_name, "nvlink3");
    EXPECT_EQ(cluster.domain, 4);
    EXPECT_DOUBLE_EQ(cluster.scale_out.bandwidth.in(units::GB / units::s), 3.125);
}

TEST_F(CatalogFiles, MistakesInClusterFilesAreNamed) {
    auto const line = [&](std::string_view text) {
        auto const path = write("bad.toml", text);
        return refusal([&] { load_cluster(embedded(), path.string()); }).line;
    };
    EXPECT_THAT(line("node = \"dgx-h100\"\nnic = 4\n"), HasSubstr("bad.toml:2: unknown key 'nic'"));
    EXPECT_THAT(line("node = \"dgx-h10\"\n"), HasSubstr("did you mean 'dgx-h100'?"));
    EXPECT_THAT(line("node = \"dgx-h100\"\nnic_rate = 400\n"), HasSubstr("bad.toml:2: nic_rate: a bare number 400"));
    EXPECT_THAT(line("node = \"dgx-h100\"\nprice = \"2.95\"\n"), HasSubstr("bad.toml:2"));
    EXPECT_THAT(line("accelerators = 8\n"), HasSubstr("accelerator: missing"));
    EXPECT_THAT(
        line("accelerator = \"l4\"\naccelerators = 8\nnics = 1\nnic_rate = \"100 Gbit/s\"\nscale_out = \"100gbe\"\n"),
        HasSubstr("scale_up: missing"));
    EXPECT_THAT(line("node = \"dgx-h100\"\nnics = 2\n[scale_out]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n"),
                HasSubstr("keep one of the two"));
    EXPECT_EQ(refusal([&] { load_cluster(embedded(), (folder_ / "missing.toml").string()); }).fault, Fault::unreadable);
}

TEST_F(CatalogFiles, ModelsComeFromFilesFoldersAndTheHubCache) {
    std::string const config = read_file(fs::path{HEADROOM_SOURCE_DIR} / "tests/data/configs/llama-3-70b/config.json");
    auto const check = [&](std::string const& what, std::string const& name) {
        std::vector<std::string> notes;
        Model const model = load_model(embedded(), what, &notes);
        EXPECT_EQ(model.name, name);
        EXPECT_DOUBLE_EQ(count_parameters(model).total, 70553706496.0);
        EXPECT_THAT(notes, ::testing::Contains(HasSubstr("used ")));
        EXPECT_THAT(notes, ::testing::Contains(HasSubstr("ignored ")));
    };
    write("big/config.json", config);
    check((folder_ / "big").string(), "big");
    check((folder_ / "big/config.json").string(), "big");
    check(write("another.json", config).string(), "another");
    EXPECT_EQ(load_model(embedded(), write("small.toml", small_model).string(), nullptr).layers, 2);

    write("hub/models--acme--Large-2/snapshots/0123abc/config.json", config);
    ::setenv("HF_HOME", folder_.c_str(), 1);
    ::unsetenv("HF_HUB_CACHE");
    check("acme/Large-2", "acme/Large-2");
    EXPECT_THROW(load_model(embedded(), "../Large-2", nullptr), InputError);
    EXPECT_THROW(load_model(embedded(), "acme/Other", nullptr), InputError);
    ::unsetenv("HF_HOME");

    EXPECT_EQ(refusal([&] { load_model(embedded(), (folder_ / "none.json").string(), nullptr); }).fault,
              Fault::unreadable);
    EXPECT_THAT(refusal([&] { load_model(embedded(), folder_.string(), nullptr); }).line, HasSubstr("no config.json"));
    EXPECT_EQ(load_model(embedded(), "llama-3-8b", nullptr).layers, 32);
}

} // namespace
} // namespace headroom::io
