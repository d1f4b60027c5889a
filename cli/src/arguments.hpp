#pragma once

#include "rooms.hpp"

#include "headroom/io/arguments.hpp"

namespace headroom::cli {

using io::Arguments;
using io::did_you_mean;
using io::did_you_mean_one_of;
using io::Option;
using io::parse_choice;
using io::parse_counts;
using io::parse_dollars;
using io::parse_pairs;
using io::parse_price;
using io::parse_whole;
using io::Takes;

} // namespace headroom::cli
