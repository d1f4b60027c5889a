#pragma once

#include "store/store_database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::io {

/// Errors: InputError{usage}: there is no campaign of this number.
[[noreturn]] void refuse_campaign(StoreDatabase const& database, std::int64_t campaign);
void require_campaign(StoreDatabase const& database, std::int64_t campaign);

std::int64_t insert_campaign(StoreDatabase const& database, measure::Campaign const& campaign);
/// `first`: how many there are already.
void insert_points(StoreDatabase const& database, std::int64_t campaign, std::size_t first,
                   std::vector<measure::MeasuredPoint> const& points);
/// False where one of this point and repetition is there.
bool insert_sample(StoreDatabase const& database, std::int64_t campaign, measure::Sample const& sample);

std::size_t point_count(StoreDatabase const& database, std::int64_t campaign);
/// With settings and machine, without points and samples.
std::vector<measure::Campaign> read_heads(StoreDatabase const& database, std::string const& kind);
measure::Campaign read_head(StoreDatabase const& database, std::int64_t campaign);
void read_points(StoreDatabase const& database, measure::Campaign& campaign);
void read_samples(StoreDatabase const& database, measure::Campaign& campaign);

} // namespace headroom::io
