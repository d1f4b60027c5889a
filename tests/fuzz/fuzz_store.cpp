// Any bytes as the file of a store: campaigns that hold together, or one InputError of one line; also where it is
// written to.

#include "headroom/error.hpp"
#include "headroom/io/store.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace headroom;
using namespace headroom::measure;

/// One file for all inputs, in memory where that is a folder. Its path is as long in every process: what is covered
/// depends on it.
fs::path const& store_file() {
    static fs::path const file = [] {
        fs::path const memory = "/dev/shm";
        fs::path const folder = access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
        std::string const process = std::to_string(getpid());
        return folder /
               ("headroom-fuzz-store-" + std::string(10 - std::min<std::size_t>(process.size(), 10), '0') + process);
    }();
    return file;
}

void put(std::uint8_t const* data, std::size_t size) {
    for (char const* const end : {"", "-journal", "-wal", "-shm", "-held"}) {
        std::error_code ignored;
        fs::remove(fs::path{store_file().string() + end}, ignored);
    }
    int const file = open(store_file().c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) { std::abort(); }
    close(file);
}

bool holds_together(Campaign const& campaign) {
    for (Sample const& sample : campaign.samples) {
        if (sample.point >= campaign.points.size() || !std::isfinite(sample.value)) { return false; }
    }
    return true;
}

void read_all(io::Store const& store) {
    for (Campaign const& head : store.list()) {
        Campaign const whole = store.load(head.id);
        if (!holds_together(whole) || whole.settings != head.settings) { std::abort(); }
        static_cast<void>(store.sample_count(head.id));
    }
}

template <class Work> void refused_in_a_line(Work work) {
    try {
        work();
    } catch (InputError const& error) {
        std::string_view const line{error.what()};
        if (line.find('\n') != std::string_view::npos || !line.starts_with(store_file().string())) { std::abort(); }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    put(data, size);
    refused_in_a_line([] { read_all(io::Store{store_file(), io::Store::Access::read, 0}); });
    refused_in_a_line([] {
        io::Store store{store_file(), io::Store::Access::write, 0};
        Campaign campaign;
        campaign.kind = "comm";
        campaign.settings = {{"a", "b"}};
        campaign.points = {{"p", {{"c", "d"}}, "seconds"}};
        std::int64_t const id = store.begin(campaign);
        Sample sample;
        sample.value = 1.0;
        store.add(id, sample);
        if (store.load(id).samples.empty()) { std::abort(); }
        store.finish(id, CampaignState::done, 1);
        store.remove(id);
        read_all(store);
    });
    return 0;
}
