#include "measure/campaign_lock.hpp"

#include "arguments.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace headroom::cli {
namespace {

constexpr std::uint64_t most_places = 1ULL << 60U; ///< bytes of a file that need not be there to be locked

void mix(std::uint64_t& hash, std::string_view text) {
    for (char const c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL; }
    hash = (hash ^ 0x1FFU) * 0x100000001B3ULL; // between two texts
}

/// One byte a campaign, by its kind and settings.
off_t place_of(std::string const& kind, Facts const& settings) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    mix(hash, kind);
    for (auto const& [name, value] : settings) {
        mix(hash, name);
        mix(hash, value);
    }
    return static_cast<off_t>(hash % most_places);
}

struct flock lock_of(off_t start, off_t length) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = length;
    return lock;
}

} // namespace

CampaignLock::CampaignLock(std::filesystem::path const& store, std::string const& kind, Facts const& settings) {
    if (store.empty()) { return; }
    std::error_code ignored;
    if (store.has_parent_path()) { std::filesystem::create_directories(store.parent_path(), ignored); }
    file_ = ::open((store.string() + "-measuring").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) { return; } // the store itself says what is wrong there
    struct flock own = lock_of(place_of(kind, settings), 1);
    if (::fcntl(file_, F_OFD_SETLK, &own) != 0 && (errno == EAGAIN || errno == EACCES)) {
        ::close(file_);
        refuse("measure " + kind, "the same is being measured by another process",
               "both would take turns in one campaign", "wait for it, or keep this one elsewhere: --store FILE");
    }
    struct flock any = lock_of(0, 0); // to the end of any file
    others_ = ::fcntl(file_, F_OFD_GETLK, &any) == 0 && any.l_type != F_UNLCK;
}

CampaignLock::~CampaignLock() {
    if (file_ >= 0) { ::close(file_); }
}

} // namespace headroom::cli
