#pragma once

#include "store/store_database.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::io {

/// Errors: InputError{usage}: there is no campaign of this number.
[[noreturn]] void refuse_campaign(StoreDatabase const& database, std::int64_t campaign);
void require_campaign(StoreDatabase const& database, std::int64_t campaign);

std::int64_t insert_campaign(StoreDatabase const& database, Campaign const& campaign);
/// `first`: how many there are already.
void insert_points(StoreDatabase const& database, std::int64_t campaign, std::size_t first,
                   std::vector<MeasuredPoint> const& points);
/// False where one of this point and repetition is there.
bool insert_sample(StoreDatabase const& database, std::int64_t campaign, Sample const& sample);

std::size_t point_count(StoreDatabase const& database, std::int64_t campaign);
/// With settings and machine, without points and samples.
std::vector<Campaign> read_heads(StoreDatabase const& database, std::string const& kind);
Campaign read_head(StoreDatabase const& database, std::int64_t campaign);
void read_points(StoreDatabase const& database, Campaign& campaign);
void read_samples(StoreDatabase const& database, Campaign& campaign);

} // namespace headroom::io
