// Any bytes as a part of a set of traces: refused with the place, or a set that is written and read back the same.
// The checksum is put right, so that what lies behind it is reached, too.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <isa-l/crc.h>
#include <string>
#include <string_view>

namespace {

using namespace headroom;

void read(std::string_view bytes) {
    try {
        io::TraceSet const set = io::read_trace_part(bytes, "part");
        std::string const again = io::write_trace_part(set);
        require(again == bytes);
        io::TraceSet const merged = io::merge_trace_sets({set});
        require(merged.ranks.size() == set.ranks.size());
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    read(bytes);
    constexpr std::string_view magic = "headroom.trace-part/4\n";
    constexpr std::size_t header = magic.size() + 12;
    if (size > header) {
        std::string mended{bytes};
        mended.replace(0, magic.size(), magic);
        std::uint64_t const length = size - header;
        std::uint32_t const sum = crc32_gzip_refl(0, data + header, length);
        std::memcpy(mended.data() + magic.size(), &length, sizeof length);
        std::memcpy(mended.data() + magic.size() + sizeof length, &sum, sizeof sum);
        read(mended);
    }
    return 0;
}
