#pragma once

// Words and numbers of a text about a network, with the meaning of each word.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Meaning of a word in a text about a network.
enum class NetworkRole {
    unknown,
    filler,      ///< says nothing of rate, count or family: "bandwidth", "per", "fabric"
    times,       ///< "x", "*": a count stands before or after it
    count,       ///< a number in letters: "dual", "four"
    unit,        ///< of a rate: "Gb", "Gbps", "GbE", "G"
    generation,  ///< names a family and the rate of one NIC: "HDR", "Slingshot"
    family,      ///< "InfiniBand", "RoCE", "EFA"
    nic_model,   ///< "ConnectX", "BlueField": a version follows
    nic,         ///< counted things: "NICs", "HCAs", "links"
    port,        ///< "port": NICs may have several
    inside,      ///< links inside a node: "NVLink", "PCIe"
    versioned,   ///< a version follows: "v", "Gen"
    per,         ///< "per", "each"
    node,        ///< "node", "host"
    accelerator, ///< "GPU", "chip"
    total,       ///< "total", "aggregate"
    compute,     ///< the network between accelerators: "compute", "EW"
    other,       ///< another network of the same machine: "storage", "management"
};

/// Row of the vocabulary.
struct NetworkMeaning {
    NetworkRole role = NetworkRole::unknown;
    double value = 0.0;           ///< Gbit/s of a generation's NIC, Gbit/s of one unit, or the number that a word names
    std::string_view family = {}; ///< "infiniband", "ethernet" (RoCE too), "efa", "slingshot", "omni-path"
    bool rdma = false;            ///< NICs for the accelerators, not one for the host
};

/// A number, a word in lower case, or a mark.
struct NetworkToken {
    std::string text = {};
    std::size_t at = 0; ///< offset in the text
    double value = 0.0; ///< of a number
    bool number = false;
    bool glued = false;      ///< nothing stands between it and the token before
    bool bracketed = false;  ///< inside parentheses: a remark
    bool upper_case = false; ///< its first letter, or of a unit its B, is a capital
    bool used = false;
    NetworkMeaning meaning = {};
    [[nodiscard]] bool is(NetworkRole role) const { return !number && meaning.role == role; }
    [[nodiscard]] bool mark(char c) const { return !number && text.size() == 1 && text[0] == c; }
};

/// "4x100GbE" is 4, x, 100, gbe. Signs of multiplication are "x"; of "1,600" the comma is a mark of groups.
std::vector<NetworkToken> network_tokens(std::string_view text);

/// Whether a NIC is sold with this rate, Gbit/s.
bool is_nic_rate(double gigabits);

} // namespace headroom::io
