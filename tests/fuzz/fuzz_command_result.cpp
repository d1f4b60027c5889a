// A pattern (the first line) on whatever a command printed (the rest): a finite number above zero or a reason, never
// both, whatever the unit; a pattern that is none is refused with one printable line.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/command_result.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void read_all(std::string_view pattern, std::string_view output) {
    using headroom::measure::ResultUnit;
    for (ResultUnit const unit : {ResultUnit::seconds, ResultUnit::milliseconds, ResultUnit::throughput}) {
        headroom::io::ResultPattern const reader{pattern, unit, "here"};
        headroom::measure::CommandResult const result = reader.read(output);
        require(result.value.has_value() == result.problem.empty());
        require(!result.value || (std::isfinite(*result.value) && *result.value > 0.0));
        require(result.problem.find('\n') == std::string_view::npos);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    auto const end = text.find('\n');
    std::string_view const pattern = text.substr(0, end);
    std::string_view const output = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    try {
        read_all(pattern, output);
    } catch (headroom::InputError const& error) {
        std::string_view const line = error.what();
        require(line.starts_with("here: "));
        require(line.find('\n') == std::string_view::npos);
    }
    return 0;
}
