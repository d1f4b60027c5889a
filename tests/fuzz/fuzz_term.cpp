// Any formula is evaluated or refused with one printable line; never a crash, however deep it is nested.

#include "headroom/error.hpp"
#include "headroom/term.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const formula{reinterpret_cast<char const*>(data), size};
    try {
        (void)headroom::evaluate(formula, {{"p", 8.0}, {"n", 1e9}, {"link.bandwidth", 450e9}, {"x_1", 0.0}});
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) { std::abort(); }
    }
    return 0;
}
