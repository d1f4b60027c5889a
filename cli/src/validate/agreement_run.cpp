#include "validate/agreement_run.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace headroom::cli {

std::vector<AgreementRow> run_agreement(PlanMenu const& menu, CalibrationSet const& calibration, std::uint64_t seed,
                                        int count, Executor const& run, std::stop_token const& stop) {
    std::vector<std::optional<AgreementRow>> finished(static_cast<std::size_t>(count));
    auto const task = [&](int index) {
        if (stop.stop_requested()) { return; }
        auto const at = static_cast<std::uint64_t>(index);
        finished[at] = agreement_row(agreement_of(random_plan(menu, seed, at), calibration), at);
    };
    if (run) {
        run(count, task);
    } else {
        for (int index = 0; index < count; ++index) { task(index); }
    }
    auto const reached = std::ranges::find_if(finished, [](auto const& row) { return !row; });
    std::vector<AgreementRow> rows;
    std::transform(finished.begin(), reached, std::back_inserter(rows), [](auto& row) { return std::move(*row); });
    return rows;
}

} // namespace headroom::cli
