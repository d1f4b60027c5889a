// Any bytes as a record: a value or one InputError. A calibration that reads is written and read back the same.
// The first byte chooses the reader.

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/configuration.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void read_back(std::string_view text) {
    auto const set = headroom::io::read_calibration(text, "record.toml");
    auto const first = headroom::io::write_calibration(set, {"fuzz"});
    auto const again = headroom::io::read_calibration(first, "record.toml");
    if (headroom::io::write_calibration(again, {"fuzz"}) != first) std::abort();
}

void read_one(std::uint8_t reader, std::string_view text) {
    static headroom::io::Catalog const catalog;
    switch (static_cast<std::uint8_t>(reader - '0') % 8) { // seeds begin with a readable digit
    case 0: headroom::io::read_accelerator(text, "record.toml"); return;
    case 1: headroom::io::read_model(text, "record.toml"); return;
    case 2: headroom::io::read_framework(text, "record.toml"); return;
    case 3: read_back(text); return;
    case 4: headroom::io::read_cluster(catalog, text, "record.toml"); return;
    case 5: headroom::io::read_configuration(text, "record.toml"); return;
    case 6: headroom::io::read_folds(text, "record.toml"); return;
    default: headroom::io::read_strategy(text, "record.toml"); return;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        read_one(data[0], {reinterpret_cast<char const*>(data) + 1, size - 1});
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
