#pragma once

#include "arguments.hpp"
#include "verb.hpp"

#include "headroom/io/store.hpp"
#include "headroom/measurement.hpp"

#include <span>
#include <string>

namespace headroom::cli {

/// --store and --name: of every `headroom measure` and of `headroom history`.
std::span<Option const> store_options();

/// A campaign that is being measured: every sample is in the store when the next one begins. `--store none` keeps it in
/// memory alone.
class Recorder {
public:
    /// Goes on with the unfinished campaign of the same settings where there is one and `--fresh` is not given.
    Recorder(Arguments const& arguments, Campaign head);
    [[nodiscard]] Campaign const& campaign() const { return campaign_; }
    /// What went on rather than began anew: samples that were there.
    [[nodiscard]] std::size_t resumed() const { return resumed_; }
    void add(Sample sample);
    void add_points(std::vector<MeasuredPoint> const& points);
    void finish(CampaignState state);

private:
    std::optional<io::Store> store_;
    Campaign campaign_;
    std::size_t resumed_ = 0;
};

} // namespace headroom::cli
