#include "headroom/io/processor.hpp"

#include "records/records.hpp"

#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr Range years{1990, 2100};
constexpr Range unit_counts{0, 1'000'000};
constexpr Range lane_counts{0, 1024};
constexpr std::size_t most_levels = 8;
constexpr Bytes widest_vector{8192.0};
// beyond them a number is a slip of the pen
constexpr BytesPerSecond slowest_memory{1.0}, fastest_memory{1e21};
constexpr FlopsPerSecond slowest_unit{1.0}, fastest_unit{1e24};
constexpr double slowest_narrow = 64.0; ///< fp32 over fp16 on graphics cards without fast half precision

/// Reads a machine file key by key.
class ProcessorFile {
public:
    ProcessorFile(std::string_view text, std::string path)
        : path_{std::move(path)}, record_{text, path_}, root_{record_.root()} {}

    Processor read() {
        read_head();
        read_memory();
        read_levels();
        read_rates();
        read_units();
        root_.section("power").skip({"tdp"});
        root_.section("scale_up").skip({"link", "bandwidth", "domain", "peer_to_peer", "point_to_point"});
        record_.refuse_the_rest();
        if (accelerator_) {
            accelerator_->name = processor_.name;
            processor_.accelerator = *accelerator_;
        }
        return std::move(processor_);
    }

private:
    void read_head() {
        processor_.name = std::filesystem::path{path_}.stem().string();
        root_.read("name", processor_.name);
        int year = 0;
        root_.read("year", year, years);
        root_.skip({"vendor", "confidence"});
        skip_provenance(root_);
        std::string word;
        if (!root_.read("generation", word)) { return; }
        auto const generation = generation_from(word);
        if (!generation) {
            std::vector<std::string> known;
            for (int i = 0; i < generation_count; ++i) { known.emplace_back(name_of(static_cast<Generation>(i))); }
            root_.fail("generation", fmt::format("unknown word {}", headroom::quoted(word)),
                       "constants are kept per generation", did_you_mean(word, known));
        }
        accelerator_.emplace();
        accelerator_->generation = *generation;
        accelerator_->year = year;
    }

    void read_memory() {
        Section memory = root_.section("memory");
        MemoryLevel main{"memory", {}, {}};
        memory.read("name", main.name);
        read_bandwidth(memory, main.bandwidth);
        memory.read("capacity", main.capacity);
        memory.read("latency", processor_.memory_latency);
        memory.read("in_flight", processor_.in_flight);
        memory.skip({"capacity_basis"});
        processor_.levels.push_back(std::move(main));
    }

    void read_levels() {
        for (Section& section : levels()) {
            MemoryLevel level;
            section.read("name", level.name, Presence::required);
            read_bandwidth(section, level.bandwidth);
            section.read("capacity", level.capacity);
            for (MemoryLevel const& other : processor_.levels) {
                if (normalised(other.name) == normalised(level.name)) {
                    section.fail("name", fmt::format("{} twice", headroom::quoted(level.name)),
                                 "a kernel names its levels", "give it a name of its own");
                }
            }
            if (level.bandwidth < processor_.levels.back().bandwidth) {
                section.fail("bandwidth", "below that of the level before",
                             "levels are listed from main memory towards the units", "list the slower one first");
            }
            processor_.levels.push_back(std::move(level));
        }
    }

    std::vector<Section> levels() {
        std::vector<Section> found = root_.sections("level");
        if (found.size() > most_levels) {
            root_.fail("level", fmt::format("{} levels", found.size()), fmt::format("at most {}", most_levels));
        }
        return found;
    }

    static void read_bandwidth(Section& section, BytesPerSecond& bandwidth) {
        section.read("bandwidth", bandwidth, Presence::required);
        if (bandwidth < slowest_memory || bandwidth > fastest_memory) {
            section.fail("bandwidth", format(bandwidth) + " is out of range", "from 1 B/s to 1e21 B/s");
        }
    }

    static bool read_formats(Section& section, FormatRates& rates) {
        bool any = false;
        for (NumberFormat const format : number_formats) {
            FlopsPerSecond rate;
            section.read(name_of(format), rate);
            if (rate.base() > 0.0 && (rate < slowest_unit || rate > fastest_unit)) {
                section.fail(name_of(format), headroom::format(rate) + " is out of range",
                             "from 1 FLOP/s to 1e24 FLOP/s");
            }
            rates[format] = rate;
            any = any || rate.base() > 0.0;
        }
        return any;
    }

    void read_rates() {
        Section peak = root_.section("peak");
        bool const any = read_formats(peak, processor_.peak);
        if (!any) { peak.fail("fp32", "missing", "no peak rate of any number format is given"); }
        FlopsPerSecond const single = processor_.peak[NumberFormat::fp32];
        for (NumberFormat const format : number_formats) {
            FlopsPerSecond const rate = processor_.peak[format];
            if (bytes_of(format) < bytes_of(NumberFormat::fp32) && rate.base() > 0.0 &&
                rate * slowest_narrow < single) {
                peak.fail(name_of(format),
                          headroom::format(rate) + " is far below the peak of fp32, " + headroom::format(single),
                          "the slowest narrow formats have 1/64 of it", "are both units right?");
            }
        }
        Section vector = peak.section("vector");
        read_formats(vector, processor_.vector);
        for (NumberFormat const format : number_formats) {
            if (processor_.vector[format] > processor_.peak[format]) {
                vector.fail(name_of(format), "above the peak of its format", "tensor units are the faster ones");
            }
        }
        Section measured = root_.section("measured");
        read_formats(measured, processor_.measured);
        FlopsPerSecond product;
        if (measured.read("gemm_bf16", product)) { processor_.measured[NumberFormat::bf16] = product; }
        measured.read("memory", processor_.measured_memory);
    }

    void read_units() {
        int count = 0;
        root_.read("cores", count, unit_counts);
        Section compute = root_.section("compute");
        int units = 0;
        compute.read("units", units, unit_counts);
        compute.read("cores", count, unit_counts);
        compute.read("fma", processor_.fuses);
        compute.read("lanes", processor_.lanes, lane_counts);
        compute.read("simd_width", processor_.simd_width);
        if (processor_.simd_width > widest_vector) {
            compute.fail("simd_width", "wider than 8192 B", "it is one register", "for example \"512 bit\"");
        }
        if (accelerator_) { complete(units); }
    }

    /// An accelerator whose kernels are calibrated has what the catalog knows of its generation.
    void complete(int units) {
        Accelerator& chip = *accelerator_;
        FormatRates const& peak = processor_.peak;
        chip.memory = processor_.memory().capacity;
        chip.memory_bandwidth = processor_.memory().bandwidth;
        chip.units = units;
        chip.peak = {.fp32 = peak[NumberFormat::fp32],
                     .tf32 = peak[NumberFormat::tf32],
                     .fp16 = peak[NumberFormat::fp16],
                     .bf16 = peak[NumberFormat::bf16],
                     .fp8 = peak[NumberFormat::fp8],
                     .fp4 = peak[NumberFormat::fp4]};
        Processor const usual = processor_of(chip);
        if (processor_.lanes == 0) { processor_.lanes = usual.lanes; }
        auto& vector = processor_.vector[NumberFormat::fp32];
        if (vector.base() <= 0.0) { vector = usual.vector[NumberFormat::fp32]; }
    }

    std::string path_;
    Record record_;
    Section root_;
    Processor processor_;
    std::optional<Accelerator> accelerator_;
};

/// Whether a file describes nodes and links, not one processor.
bool describes_cluster(std::string_view text, std::string_view where) {
    Record record{text, where};
    Section const root = record.root();
    return root.has("node") || root.has("accelerator") || root.has("accelerators") || root.has("scale_out");
}

NamedMachine machine_of(Cluster cluster, std::string origin) {
    Processor processor = processor_of(cluster.accelerator);
    return {std::move(processor), std::move(cluster), std::move(origin)};
}

bool has_host(Catalog const& catalog, std::string const& what) {
    auto const names = catalog.names_and_aliases(RecordKind::host);
    return std::ranges::any_of(names, [&](auto const& name) { return normalised(name) == normalised(what); });
}

} // namespace

Processor read_processor(std::string_view toml, std::string_view where) {
    return ProcessorFile{toml, std::string{where}}.read();
}

std::string traced_elsewhere(Catalog const& catalog, NamedMachine const& machine,
                             std::vector<trace::RankDigest> const& ranks) {
    std::string const ours = machine.cluster ? machine.cluster->accelerator.name : std::string{};
    if (ours.empty() || !catalog.has_accelerator(ours)) { return {}; }
    for (trace::RankDigest const& rank : ranks) {
        std::string const& device = rank.device.name;
        if (!catalog.has_accelerator(device) || catalog.accelerator(device).name == ours) { continue; }
        return fmt::format("the traces are of {}, and not of {}: its roofline is not used", device, ours);
    }
    return {};
}

NamedMachine load_machine(Catalog const& catalog, std::string const& what, std::string_view option) {
    if (what.ends_with(".toml")) {
        std::string const text = read_file(what, record_limit);
        if (describes_cluster(text, what)) { return machine_of(read_cluster(catalog, text, what), what); }
        return {read_processor(text, what), {}, what};
    }
    if (catalog.has_node(what)) { return machine_of(catalog.cluster(what), "catalog node"); }
    if (catalog.has_accelerator(what)) { return machine_of(load_cluster(catalog, what), "catalog accelerator"); }
    if (has_host(catalog, what)) {
        RecordText const& record = catalog.text(RecordKind::host, what);
        return {read_processor(record.content, record.origin), {}, "catalog host"};
    }
    std::vector<std::string> names;
    for (RecordKind const kind : {RecordKind::accelerator, RecordKind::node, RecordKind::host}) {
        std::ranges::copy(catalog.names_and_aliases(kind), std::back_inserter(names));
    }
    std::string const near = did_you_mean(what, names);
    refuse(option, fmt::format("unknown machine {}", headroom::quoted(what)),
           "neither an accelerator, a node, a host nor a .toml file",
           near.empty() ? "`headroom catalog list` shows them; a .toml file describes another" : near);
}

} // namespace headroom::io
