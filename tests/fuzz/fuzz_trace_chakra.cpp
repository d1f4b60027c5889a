#include "trace_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    return headroom::test::fuzz_trace(headroom::io::read_chakra, data, size);
}
