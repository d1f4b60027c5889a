#pragma once

#include "records/record.hpp"

#include "headroom/network/measured_network.hpp"

#include <string>

namespace headroom::io {

/// [network] of a calibration file: what was measured of the links of one machine; empty where there is none.
network::MeasuredNetwork read_network(Section section);

/// Section as text; nothing where it is empty.
std::string written_network(network::MeasuredNetwork const& network);

} // namespace headroom::io
