#pragma once

#include "descriptor.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::cluster {

/// One emulated host: a network namespace without a name, and the TAP device that is its only way out. Both vanish with
/// the last process that holds them open, however that process ends.
struct Host {
    Descriptor network; ///< the namespace
    Descriptor device;  ///< frames that the host sends are read here, frames written here it receives
};

/// Header before each frame of such a device: a virtio_net_hdr, whose own header is no C++.
struct FrameHeader {
    std::uint8_t flags, segmentation; ///< segmentation 0: one segment
    std::uint16_t header_length, segment_size, checksum_start, checksum_offset;
};
static_assert(sizeof(FrameHeader) == 10);

inline constexpr int most_hosts = 64;
inline constexpr int frame_limit = 9000; ///< MTU

/// The address of a host; hosts are counted from 1.
std::string address_of(int host);
/// Ethernet addresses carry the host's number in their last byte.
std::array<std::uint8_t, 6> hardware_address_of(int host);

/// Makes hosts 1 to `count` in fresh network namespaces, each with eth0 up and every other host in its table of
/// neighbours, so that no address has to be asked for. The caller stays in the namespace it was in.
/// Errors: std::system_error where the machine does not allow it: not root, no TAP devices, no namespaces.
std::vector<Host> make_hosts(int count);

} // namespace headroom::cluster
