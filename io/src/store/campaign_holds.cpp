#include "store/campaign_holds.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom::io {

namespace {

struct flock byte_of(std::int64_t campaign) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = campaign;
    range.l_len = 1;
    return range;
}

} // namespace

CampaignHolds::CampaignHolds(std::filesystem::path store) : store_{std::move(store)}, path_{store_} {
    path_ += "-held";
}

CampaignHolds::~CampaignHolds() {
    if (descriptor_ >= 0) { ::close(descriptor_); }
}

bool CampaignHolds::take(std::int64_t campaign) {
    if (descriptor_ < 0) { // whoever may write the store may hold its campaigns
        struct stat store {};
        bool const there = ::stat(store_.c_str(), &store) == 0;
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, there ? store.st_mode & 0666U : 0600U);
    }
    if (descriptor_ < 0) { return true; }
    struct flock range = byte_of(campaign);
    return ::fcntl(descriptor_, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// Asked through `descriptor_` where there is one: what this object has is its own.
bool CampaignHolds::others_have(std::int64_t campaign) const {
    int const asked = descriptor_ >= 0 ? descriptor_ : ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (asked < 0) { return false; }
    struct flock range = byte_of(campaign);
    bool const locked = ::fcntl(asked, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    if (descriptor_ < 0) { ::close(asked); }
    return locked;
}

} // namespace headroom::io
