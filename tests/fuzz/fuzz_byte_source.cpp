// Any bytes as compressed text: what comes out does not depend on how it is asked for, stays within the limits and ends.

#include "fuzz/require.hpp"
#include "traces/byte_source.hpp"
#include "traces/decompressors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace headroom;

constexpr io::SourceLimits limits{.text = 1 << 20, .ratio = 200.0};

struct Drained {
    std::string text, damage;
};

Drained drain(std::string_view bytes, std::size_t block) {
    auto const source = io::open_source(bytes, "fuzz", limits);
    bool const plain = !io::begins_as_gzip(bytes) && !io::begins_as_zstd(bytes);
    Drained drained;
    std::string buffer(block, '\0');
    std::size_t got = block;
    while (got == block) {
        got = source->read(buffer.data(), block);
        require(got <= block && source->bytes_read() <= bytes.size());
        drained.text.append(buffer, 0, got);
        require(plain || drained.text.size() <= limits.text + std::max<std::size_t>(2 * block, 1 << 18));
    }
    require(source->read(buffer.data(), block) == 0);
    drained.damage = source->damage();
    require(!plain || (drained.damage.empty() && drained.text == bytes));
    return drained;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    Drained const large = drain(bytes, 1 << 18), small = drain(bytes, 997);
    // Where damage stops a decompressor in the middle of a block, one that was asked for less may have given more of it.
    if (large.damage.empty()) { require(large.text == small.text && small.damage.empty()); }
    std::size_t const both = std::min(large.text.size(), small.text.size());
    require(large.text.compare(0, both, small.text, 0, both) == 0);
    return 0;
}
