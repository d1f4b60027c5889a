#pragma once

#include "headroom/precision.hpp"
#include "headroom/quantity.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Families of chips that share kernel behaviour, by the vendor's name; constants are kept per generation. The
/// consumer families have slower tensor units and no NVLink.
enum class Generation {
    volta,
    turing,
    ampere,
    ada,
    hopper,
    blackwell,
    blackwell_ultra,
    ada_consumer,
    blackwell_consumer,
    rdna3,
    cdna2,
    cdna3,
    cdna4,
    tpu_v3,
    tpu_v4,
    tpu_v5e,
    tpu_v5p,
    tpu_v6e,
    tpu_v7x,
    trainium1,
    trainium2,
    trainium3,
    gaudi2,
    gaudi3,
};
inline constexpr int generation_count = 24;

/// Its name in the catalog: "blackwell-ultra".
std::string_view name_of(Generation generation);
/// Reads such a name, however it is spelled (`normalised`).
std::optional<Generation> generation_from(std::string_view name);

/// Dense peak rates, one per arithmetic; zero where the chip has none.
struct PeakRates {
    FlopsPerSecond fp32, tf32, fp16, bf16, fp8, fp4;
};

/// One accelerator as the vendor describes it. Peaks are dense, never the sparsity figure.
struct Accelerator {
    std::string name;
    std::string vendor;
    int year = 0;
    Generation generation = Generation::hopper;
    Bytes memory; ///< capacity
    BytesPerSecond memory_bandwidth;
    PeakRates peak;
    FlopsPerSecond measured_gemm;      ///< best measured bf16 matrix product; zero when unknown
    Watts tdp;                         ///< of the board, as sold
    Watts power_limit;                 ///< below `tdp`, as set by the user; zero: none
    int units = 0;                     ///< SMs or CUs; zero when the notion does not apply
    BytesPerSecond scale_up_bandwidth; ///< per direction; zero when there is none
    int scale_up_domain = 1;
    bool peer_to_peer = true; ///< cards on PCIe write to each other's memory
    std::string confidence;   ///< certainty of the figures, in words
};

/// The dense peak of `precision` on this chip; zero when it has no such arithmetic.
/// The 16-bit formats stand in for each other (Volta computes bf16 requests in fp16); tf32 falls back to fp32.
/// The 8- and 4-bit formats have no stand-in: their products would be other work.
FlopsPerSecond peak_rate(Accelerator const& accelerator, Precision precision);

/// A link as one accelerator sees it: bytes per second in one direction, and the time of one hop.
struct Link {
    Seconds latency;
    BytesPerSecond bandwidth;
};

/// Type of wires, as far as communication libraries treat types differently.
enum class Wire {
    unknown,     ///< no library's constants are known for it
    nvlink,      ///< links from chip to chip
    nvswitch,    ///< NVLink through switches
    nvls_switch, ///< NVLink through switches that also add and multiply: NVLS
    mesh,        ///< links from every chip to every other
    pcie,
    network,
};

/// A link as a communication library takes it.
struct LinkService {
    Wire wire = Wire::unknown;
    BytesPerSecond assumed;     ///< rate that the library reckons with; zero: unknown
    Seconds collective_latency; ///< inside a node: of a launch; between nodes: a round trip; zero: unknown
};

/// Equal nodes of equal accelerators behind one fabric.
///
/// `domain` accelerators share the scale-up link (8 in a DGX, 72 in an NVL72 rack); the rest is
/// reached through the scale-out link, whose bandwidth here is the accelerator's own share of its
/// node's NICs.
struct Cluster {
    std::string name;
    Accelerator accelerator;
    int accelerators_per_node = 8;
    int domain = 8;
    Link scale_up;
    Link scale_out;
    BytesPerSecond adapter = {};          ///< of one of a node's NICs; zero: only the share is known
    Link host;                            ///< between an accelerator and its host's memory
    BytesPerSecond host_memory_bandwidth; ///< an accelerator's share of it
    Bytes host_memory;                    ///< of a node; zero: not known
    int host_year = 2019;                 ///< of the processors, which issue kernels
    bool through_host = false;            ///< accelerators of a node reach each other through the host's memory alone
    std::string scale_up_name, scale_out_name;
    LinkService scale_up_service, scale_out_service;
    std::optional<DollarsPerSecond> price; ///< per accelerator; from the catalog or the user
    std::string price_origin;              ///< provenance of `price`, with its range and date
    std::string price_kind;                ///< "on-demand", or "given" by the user
};

} // namespace headroom
