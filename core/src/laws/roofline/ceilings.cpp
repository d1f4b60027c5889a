#include "headroom/laws/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::laws {

std::string_view name_of(CeilingKind kind) {
    switch (kind) {
    case CeilingKind::datasheet: return "datasheet";
    case CeilingKind::lower: return "lower";
    case CeilingKind::calibrated: return "calibrated";
    case CeilingKind::measured: return "measured";
    }
    return "";
}

double divergence_throughput(int ways) { return 1.0 / ways; }

BytesPerSecond occupied_bandwidth(MemoryLevel const& memory, Bytes in_flight, Seconds latency, double occupancy) {
    return std::min(memory.bandwidth, occupancy * in_flight / latency);
}

namespace {

std::string percent_of(double share) {
    double const tenths = std::round(1000.0 * share);
    auto const whole = static_cast<int>(tenths / 10.0);
    auto const rest = static_cast<int>(tenths) % 10;
    return std::to_string(whole) + (rest != 0 ? "." + std::to_string(rest) : "") + " %";
}

/// The lower ceilings of one format, each a share of the rate of its vector units.
class LowerCeilings {
public:
    LowerCeilings(Processor const& processor, NumberFormat format) : processor_{processor}, format_{format} {
        FlopsPerSecond const peak = processor.peak[format];
        vector_ = processor.vector[format];
        if (vector_.base() <= 0.0 && bytes_of(format) <= bytes_of(NumberFormat::fp32)) {
            vector_ = processor.vector[NumberFormat::fp32];
            wider_ = format != NumberFormat::fp32;
        }
        // a processor without tensor units states no other rate than that of its vectors
        if (vector_.base() <= 0.0 && processor.simd_width.base() > 0.0) { vector_ = peak; }
        vector_ = std::min(vector_, peak); // of a wider format, it may be above the roof of this one
        has_tensor_units_ = vector_.base() > 0.0 && vector_ < peak;
    }

    void add_to(std::vector<Ceiling>& all, Conditions const& conditions) const {
        if (vector_.base() <= 0.0) { return; }
        if (has_tensor_units_) {
            add(all, "without tensor units", 1.0,
                wider_ ? "the vector rate in fp32; packed narrow arithmetic may pass it" : "");
        }
        double const unfused = processor_.fuses ? 0.5 : 1.0;
        if (processor_.fuses) { add(all, "without fused multiply-add", unfused, "a multiply and an add, one each"); }
        double const elements = processor_.simd_width.base() / bytes_of(format_);
        if (elements > 1.0) {
            add(all, "without vectors", 1.0 / elements, "one element of a vector register at a time");
            if (processor_.fuses) { add(all, "without vectors and fused multiply-add", unfused / elements, ""); }
        }
        if (conditions.divergence) {
            add(all, std::to_string(*conditions.divergence) + "-way divergence",
                divergence_throughput(*conditions.divergence), "all sides execute with lanes masked");
        }
    }

private:
    void add(std::vector<Ceiling>& all, std::string name, double share, std::string note) const {
        Ceiling ceiling{.name = std::move(name), .kind = CeilingKind::lower, .note = std::move(note)};
        ceiling.format = format_;
        ceiling.rate = vector_ * share;
        ceiling.of_roof = ceiling.rate / processor_.peak[format_];
        all.push_back(std::move(ceiling));
    }

    Processor const& processor_;
    NumberFormat format_;
    FlopsPerSecond vector_;
    bool wider_ = false, has_tensor_units_ = false;
};

Ceiling low_occupancy(Processor const& processor, double occupancy) {
    MemoryLevel const& memory = processor.memory();
    bool const known = processor.in_flight.base() > 0.0 && processor.memory_latency.base() > 0.0;
    Ceiling ceiling{.name = "occupancy of " + percent_of(occupancy), .kind = CeilingKind::lower};
    ceiling.level = 0;
    ceiling.bandwidth = known ? occupied_bandwidth(memory, processor.in_flight, processor.memory_latency, occupancy)
                              : memory.bandwidth * occupancy;
    ceiling.of_roof = ceiling.bandwidth / memory.bandwidth;
    ceiling.note = known ? "bytes in flight over latency (Little's law)"
                         : "in proportion to occupancy: neither latency nor bytes in flight are known";
    return ceiling;
}

Ceiling flat(std::string name, CeilingKind kind, NumberFormat format, FlopsPerSecond rate, FlopsPerSecond roof) {
    Ceiling ceiling{.name = std::move(name), .kind = kind};
    ceiling.format = format;
    ceiling.rate = rate;
    ceiling.of_roof = roof.base() > 0.0 ? rate / roof : 1.0;
    return ceiling;
}

Ceiling sloped(std::string name, CeilingKind kind, std::size_t level, BytesPerSecond bandwidth, BytesPerSecond roof) {
    Ceiling ceiling{.name = std::move(name), .kind = kind};
    ceiling.level = level;
    ceiling.bandwidth = bandwidth;
    ceiling.of_roof = bandwidth / roof;
    return ceiling;
}

} // namespace

std::vector<Ceiling> ceilings_of(Processor const& processor, NumberFormat format, Conditions const& conditions) {
    std::vector<Ceiling> all;
    for (NumberFormat const one : number_formats) {
        FlopsPerSecond const rate = processor.peak[one];
        if (rate.base() <= 0.0) { continue; }
        all.push_back(flat(std::string{name_of(one)} + " peak", CeilingKind::datasheet, one, rate, rate));
    }
    for (std::size_t i = 0; i < processor.levels.size(); ++i) {
        auto const& level = processor.levels[i];
        all.push_back(sloped(level.name, CeilingKind::datasheet, i, level.bandwidth, level.bandwidth));
    }
    LowerCeilings{processor, format}.add_to(all, conditions);
    if (conditions.occupancy) { all.push_back(low_occupancy(processor, *conditions.occupancy)); }
    for (NumberFormat const one : number_formats) {
        FlopsPerSecond const rate = processor.measured[one];
        if (rate.base() <= 0.0) { continue; }
        all.push_back(flat("best measured " + std::string{name_of(one)} + " product", CeilingKind::measured, one, rate,
                           processor.peak[one]));
    }
    if (processor.measured_memory.base() > 0.0) {
        auto const& memory = processor.memory();
        all.push_back(
            sloped("measured " + memory.name, CeilingKind::measured, 0, processor.measured_memory, memory.bandwidth));
    }
    return all;
}

std::vector<Ceiling> calibrated_ceilings(Processor const& processor, NumberFormat format, FlopsPerSecond gemm,
                                         BytesPerSecond sustained) {
    auto const& memory = processor.memory();
    std::vector<Ceiling> all;
    all.push_back(flat("sustained " + std::string{name_of(format)} + " product", CeilingKind::calibrated, format, gemm,
                       processor.peak[format]));
    all.back().note = "what large products of this generation reach in `headroom predict`";
    all.push_back(sloped("sustained " + memory.name, CeilingKind::calibrated, 0, sustained, memory.bandwidth));
    all.back().note = "what element-wise kernels reach there";
    return all;
}

} // namespace headroom::laws
