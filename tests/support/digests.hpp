#pragma once

#include "headroom/io/trace.hpp"

#include <cstdint>
#include <string>

namespace headroom::test {

/// A digest with something in every field, the same for the same seed.
trace::RankDigest random_digest(std::uint64_t seed, std::string source);

} // namespace headroom::test
