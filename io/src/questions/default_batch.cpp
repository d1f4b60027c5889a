#include "questions/default_batch.hpp"

#include "headroom/error.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr int usual_batch = 1024, usual_lora_batch = 16;

/// Factor that every count of workers shares out but no power of two divides, as a multiple of some power of two so that
/// micro-batches stay free; 1 for powers of two, and where counts have little in common. `most`: a quarter of the batch, by which it may be raised.
int uneven_share(std::vector<int> const& workers, int most) {
    int odd = 1;
    for (int const count : workers) {
        int const part = count / (count & -count);
        if (part > most) { return 1; }
        odd = std::lcm(odd, part);
        if (odd > most) { return 1; }
    }
    int share = odd;
    while (odd > 1 && 2 * share <= most) { share *= 2; }
    return share;
}

/// "24 accelerators", "24, 48 accelerators", "5 sizes".
std::string sizes_in_words(std::vector<int> const& sizes) {
    constexpr std::size_t most_named = 3;
    return sizes.size() > most_named ? std::to_string(sizes.size()) + " sizes"
                                     : fmt::format("{} accelerators", fmt::join(sizes, ", "));
}

/// A batch raised to what uneven sizes share out evenly, unless a size that shares out the usual one would not share out the raised one.
DefaultBatch shared_batch(std::vector<int> const& workers, int pieces, int usual) {
    std::vector<int> uneven;
    std::ranges::copy_if(workers, std::back_inserter(uneven), [](int count) { return count != (count & -count); });
    int const plain = multiple_of(pieces, usual);
    auto const share = std::lcm<std::int64_t>(pieces, uneven_share(workers, usual / 4));
    int const raised = share <= largest_batch ? multiple_of(static_cast<int>(share), usual) : plain;
    bool const one_loses =
        std::ranges::any_of(workers, [&](int count) { return plain % count == 0 && raised % count != 0; });
    if (raised != plain && !one_loses) {
        return {raised, fmt::format("raised from {} for {}", plain, sizes_in_words(uneven))};
    }
    std::erase_if(uneven, [&](int count) { return plain % count == 0; });
    return {plain, uneven.empty() ? "" : "no multiple of " + sizes_in_words(uneven)};
}

/// Replicas that are stated, or follow from one count of workers and the degrees that share it.
std::optional<int> replicas_of(TrainingSetting const& setting) {
    PartialStrategy const& given = setting.given;
    bool const follows = !given.dp && setting.workers.size() == 1 && given.tp && given.pp;
    if (!follows) { return given.dp; }
    double const ranks = 1.0 * *given.tp * *given.pp * given.cp.value_or(1);
    double const dp = setting.workers.front() / ranks;
    return dp >= 1.0 && dp == std::floor(dp) ? std::optional{static_cast<int>(dp)} : std::nullopt;
}

} // namespace

int multiple_of(int pieces, int batch) { return ((batch - 1) / pieces + 1) * pieces; }

int usual_batch_of(TrainingSetting const& setting) {
    if (setting.given.trained != Trained::lora) { return usual_batch; }
    auto const& counts = setting.workers;
    int const smallest = counts.empty() ? 1 : *std::ranges::min_element(counts);
    return multiple_of(smallest, usual_lora_batch);
}

DefaultBatch default_batch(TrainingSetting const& setting) {
    PartialStrategy const& given = setting.given;
    bool const whole = given.micro_batch && given.grad_accum; // they and the replicas make the batch
    std::optional<int> const dp = whole ? replicas_of(setting) : given.dp;
    double const pieces =
        static_cast<double>(dp.value_or(1)) * given.micro_batch.value_or(1) * given.grad_accum.value_or(1);
    if (pieces > largest_batch) {
        refuse("--global-batch", "more than " + std::to_string(largest_batch) + " sequences a step",
               "dp x micro-batch x accumulation make " + format_count(pieces), "give smaller ones");
    }
    if (dp && whole) { return {static_cast<int>(pieces)}; }
    return shared_batch(given.dp ? std::vector<int>{} : setting.workers, static_cast<int>(pieces),
                        usual_batch_of(setting));
}

} // namespace headroom::io
