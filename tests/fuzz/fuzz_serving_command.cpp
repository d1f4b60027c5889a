// Any bytes behind the name of a serving engine: options that name a value each, every key accounted for, or one InputError of
// one line.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/launch_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace {

void read(std::string const& text) {
    try {
        headroom::io::LaunchFile const file = headroom::io::read_launch_file(text, "serve.sh");
        require(!file.format.empty());
        std::set<std::string> names;
        for (auto const& [option, value] : file.options) { require(!value.empty() && names.insert(option).second); }
        for (auto const& key : file.read) { require(names.contains(key.option) && !key.setting.empty()); }
        for (auto const& key : file.ignored) { require(key.option.empty() && !key.note.empty()); }
    } catch (headroom::InputError const& error) {
        require(std::string_view{error.what()}.find('\n') == std::string_view::npos);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const text{reinterpret_cast<char const*>(data), size};
    for (char const* start : {"vllm serve ", "python -m sglang.launch_server ", "trtllm-serve "}) {
        read(start + text);
    }
    return 0;
}
