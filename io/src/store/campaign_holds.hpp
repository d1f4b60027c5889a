#pragma once

#include <cstdint>
#include <filesystem>

namespace headroom::io {

/// Campaigns that processes are measuring right now. Each is a lock of one byte in a file next to the store, which ends
/// with its process, however that ends. Never in the store's own file: a process that closes a file gives up every lock
/// that SQLite has on it.
class CampaignHolds {
public:
    explicit CampaignHolds(std::filesystem::path store);
    ~CampaignHolds();
    CampaignHolds(CampaignHolds const&) = delete;
    CampaignHolds& operator=(CampaignHolds const&) = delete;

    /// False where another has it. Where the file system knows no locks nobody has anything.
    bool take(std::int64_t campaign);
    [[nodiscard]] bool others_have(std::int64_t campaign) const;

private:
    std::filesystem::path store_, path_;
    int descriptor_ = -1; ///< open from the first `take` on
};

} // namespace headroom::io
