// Any bytes as samples of latency: values that a histogram takes, quantiles in order, reasons for all that was left out,
// or one InputError.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/io/latency_samples.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::serving;

void check(LatencyDigest const& digest) {
    LatencyHistogram const& values = digest.values();
    if (values.empty()) { return; }
    require(values.least() >= 0.0 && values.least() <= values.quantile(0.5));
    require(values.quantile(0.5) <= values.quantile(0.99) && values.quantile(0.99) <= values.most());
    std::uint64_t in_blocks = 0;
    for (DigestBlock const& block : digest.blocks()) {
        require(block.count > 0 && block.end >= block.start && block.most <= values.most());
        require(block.above <= block.count && std::isfinite(block.mean) && std::isfinite(block.median));
        in_blocks += block.count;
    }
    require(digest.blocks().empty() || in_blocks == values.count());
    require(std::isfinite(digest.duration()) && digest.duration() >= 0.0);
    require(digest.blocks().size() < LatencyDigest::most_blocks);
}

void read_as(std::string_view text, io::LatencyQuestion const& question) {
    try {
        io::LatencySamples const samples = io::read_latency_text(text, "samples", question);
        require(!samples.format.empty() && !samples.unit.empty() && !samples.unit_from.empty());
        require(!samples.digest.values().empty() || !samples.stated.empty());
        require(samples.digest.values().empty() || samples.histogram_error >= 0.0);
        require(samples.bytes <= text.size());
        check(samples.digest);
        double q = -1.0;
        for (io::StatedQuantile const& one : samples.stated) {
            require(one.q > q && one.q <= 1.0 && one.value >= 0.0 && std::isfinite(one.value));
            q = one.q;
        }
        for (auto const& dirt : samples.issues) { require(dirt.count > 0 && !dirt.kind.empty()); }
        for (auto const& note : samples.notes) { require(note.find('\n') == std::string::npos); }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    read_as(text, {});
    read_as(text, {.column = "1", .time_column = "2", .unit = "ms", .keep_failed = true});
    if (size == 0) { return 0; }
    // The first byte chooses a format that would not be sniffed.
    static auto const formats = io::latency_formats();
    read_as(text.substr(1),
            {.time_column = "none", .where = {{"Tag", "A"}}, .format = formats[data[0] % formats.size()]});
    return 0;
}
