// Any bytes as recorded requests: arrivals in order from 0 on, whole tokens, rows that add up, or one InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/request_trace.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::serving;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        std::string_view const text{reinterpret_cast<char const*>(data), size};
        io::RequestTraceQuestion question;
        if (size % 2 == 0) { question.time_unit = "ms"; }
        io::RequestTrace const trace = io::read_request_text(text, "t", question);
        require(!trace.requests.empty() && trace.requests.front().arrives == 0.0);
        double before = 0.0;
        for (ServingRequest const& one : trace.requests) {
            require(std::isfinite(one.arrives) && one.arrives >= before);
            require(one.prompt >= 1 && one.output >= 1);
            require(one.prompt <= io::most_recorded_tokens && one.output <= io::most_recorded_tokens);
            before = one.arrives;
        }
        std::uint64_t rows = trace.requests.size();
        for (Issue const& dirt : trace.issues) {
            require(dirt.count > 0);
            rows += dirt.line > 0 ? dirt.count : 0;
        }
        require(rows == trace.rows);
        require(!trace.time_unit.empty() && !trace.unit_from.empty());
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
