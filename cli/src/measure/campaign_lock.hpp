#pragma once

#include "headroom/measurement.hpp"

#include <filesystem>

namespace headroom::cli {

/// Held while a campaign is measured, beside its store: two processes never measure the same campaign, and each knows of
/// the other where they measure different ones. The operating system lets go of it however the process ends.
class CampaignLock {
public:
    /// An empty path: no store, nothing to hold. Errors: InputError{usage} where this campaign is being measured.
    CampaignLock(std::filesystem::path const& store, std::string const& kind, Facts const& settings);
    ~CampaignLock();
    CampaignLock(CampaignLock const&) = delete;
    CampaignLock& operator=(CampaignLock const&) = delete;

    /// Whether another campaign is being measured into the same store: both are slower for it.
    [[nodiscard]] bool others() const { return others_; }

private:
    int file_ = -1;
    bool others_ = false;
};

} // namespace headroom::cli
