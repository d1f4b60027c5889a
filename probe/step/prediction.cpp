#include "prediction.hpp"

#include "buckets.hpp"

#include "headroom/bucketed_exchange.hpp"
#include "headroom/collective_algorithm.hpp"
#include "headroom/error.hpp"
#include "headroom/laws.hpp"
#include "headroom/prediction.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

CollectiveAlgorithm const& row_of(std::string const& algorithm, Layout const& layout) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective == Collective::all_reduce && row.name == algorithm && has_closed_form(row, layout)) {
            return row;
        }
    }
    throw InputError{Fault::usage,
                     {.where = "--all-reduce",
                      .problem = "no closed form of " + quoted(algorithm) + " for so many workers",
                      .why = "",
                      .hint = "--all-reduce ring has one for any number"}};
}

BucketedExchange exchange_of(StepProfile const& profile, Division const& division, int workers, double scale) {
    Layout const layout = Layout::uniform(Ranks{workers}, division.link);
    CollectiveAlgorithm const& row = row_of(division.algorithm, layout);
    double const element = static_cast<double>(profile.element_bytes());
    Seconds const computation{profile.backward * scale};
    std::vector<TimedBucket> buckets;
    for (Bucket const bucket :
         buckets_of(profile.shape.parameters(), bucket_elements(division.bucket_bytes, profile.element_bytes()))) {
        CollectiveCall const call{.size = {Bytes{element * static_cast<double>(bucket.last - bucket.first)}},
                                  .layout = layout};
        Seconds const ready = division.overlap ? Seconds{profile.ready(bucket.first) * scale} : computation;
        buckets.push_back({.ready = ready, .exchange = row.time(call).total()});
    }
    return bucketed_exchange(buckets, computation, division.overlap ? division.load : 0.0);
}

} // namespace

std::size_t Division::largest_share(std::size_t workers) const {
    return local ? batch : (batch + workers - 1) / workers;
}

PredictedStep predict_step(StepProfile const& profile, Division const& division, int workers) {
    auto const scale_on = [&](std::size_t count) {
        return static_cast<double>(division.largest_share(count)) / static_cast<double>(profile.batch);
    };
    double const scale = scale_on(static_cast<std::size_t>(workers));
    PredictedStep step{.workers = workers,
                       .share = division.largest_share(static_cast<std::size_t>(workers)),
                       .forward = profile.forward * scale,
                       .backward = profile.backward * scale,
                       .optimizer = profile.optimizer,
                       .ceiling = {}};
    if (workers > 1) {
        BucketedExchange const exchange = exchange_of(profile, division, workers, scale);
        step.all_reduce = exchange.total.base();
        step.exposed = exchange.exposed.base();
        step.slowed = exchange.slowed.base();
    }
    double const divides = step.forward + step.backward, stays = step.exposed + step.slowed + step.optimizer;
    step.step = divides + stays;
    step.gamma = communication_to_computation(Seconds{step.all_reduce}, Seconds{divides + step.optimizer});
    Profile const parts{.compute = Seconds{divides}, .communication = Seconds{stays}, .workers = Ranks{workers}};
    step.serial_share = serial_share_at(parts, Ranks{workers});
    double const alone = (profile.forward + profile.backward) * scale_on(1) + profile.optimizer;
    step.speedup = alone / step.step * (division.local ? workers : 1);
    if (!division.local) { step.ceiling = ceiling_over_one_worker(parts); }
    return step;
}

} // namespace headroom::training
