// Any bytes as a table of published runs: questions and reasons, or one InputError.

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/runs.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void read(std::string_view text) {
    static headroom::io::Catalog const catalog;
    for (auto const& run : headroom::io::read_runs(text, "runs.csv", catalog)) {
        if (run.question.has_value() != run.skipped_reason.empty()) std::abort();
        if (!run.question) continue;
        if (!(run.measured > headroom::Seconds{}) || !std::isfinite(run.measured.base())) std::abort();
        if (run.question->strategy.micro_batch < 1 || run.question->strategy.workers() < 1) std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        read({reinterpret_cast<char const*>(data), size});
    } catch (headroom::InputError const& error) {
        if (std::string_view{error.what()}.find('\n') != std::string_view::npos) std::abort();
    }
    return 0;
}
