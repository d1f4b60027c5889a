#include "measure/others_measuring.hpp"

#include "headroom/io/store.hpp"

namespace headroom::cli {

using namespace headroom::measure;

std::vector<Campaign> others_measuring(std::filesystem::path const& store) {
    std::error_code error;
    if (store.empty() || !std::filesystem::exists(store, error)) { return {}; }
    io::Store const open{store, io::Store::Access::read};
    std::vector<Campaign> found = open.list();
    std::erase_if(found, [&open](Campaign const& one) {
        return one.state != CampaignState::running || !open.in_other_hands(one.id);
    });
    return found;
}

} // namespace headroom::cli
