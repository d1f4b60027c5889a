#include "profile.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/laws.hpp"
#include "headroom/network/bucketed_exchange.hpp"
#include "headroom/network/collective_algorithm.hpp"
#include "headroom/training/prediction.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace headroom::step_example {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::training;

namespace {

using Json = nlohmann::json;

/// Takes values out of a profile, by names with slashes.
struct Reader {
    std::string const& name;
    Json const json;

    [[noreturn]] void refuse(std::string problem) const {
        throw InputError{Fault::unreadable,
                         {.where = name,
                          .problem = std::move(problem),
                          .why = {},
                          .hint = "write one with headroom-step --profile FILE"}};
    }
    [[nodiscard]] Json const& at(std::string const& place) const {
        Json::json_pointer const pointer{place};
        if (!json.contains(pointer)) { refuse("no " + place); }
        return json[pointer];
    }
    [[nodiscard]] std::size_t count(std::string const& place, std::size_t least = 1,
                                    std::size_t most = most_side) const {
        Json const& value = at(place);
        if (!value.is_number_unsigned() || value < least || value > most) {
            refuse(place + ": " + value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 40) +
                   " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
        }
        return value.get<std::size_t>();
    }
    [[nodiscard]] double seconds(std::string const& place) const {
        constexpr double longest = 1e6;
        Json const& value = at(place);
        if (!value.is_number() || value < 0.0 || value > longest) { refuse(place + " is no number of seconds"); }
        return value.get<double>();
    }
};

CollectiveAlgorithm const& row_of(std::string const& algorithm, Layout const& layout) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective == Collective::all_reduce && row.name == algorithm && has_closed_form(row, layout)) {
            return row;
        }
    }
    headroom::refuse("--all-reduce", "no closed form of " + headroom::quoted(algorithm) + " for so many workers", {},
                     "--all-reduce ring has one for any number");
}

BucketedExchange exchange_of(StepProfile const& profile, Options const& options, int workers, double scale) {
    Layout const layout =
        Layout::uniform(Ranks{workers}, {Seconds{*options.latency}, BytesPerSecond{*options.bandwidth}});
    CollectiveAlgorithm const& row = row_of(options.algorithm, layout);
    double const element = static_cast<double>(profile.element_bytes());
    Seconds const computation{profile.backward * scale};
    std::vector<TimedBucket> buckets;
    for (Bucket const bucket : buckets_of(profile.shape.parameters(), options.bucket_bytes, profile.element_bytes())) {
        CollectiveCall const call{.size = {Bytes{element * static_cast<double>(bucket.last - bucket.first)}},
                                  .layout = layout};
        Seconds const ready = options.overlap ? Seconds{profile.ready(bucket.first) * scale} : computation;
        buckets.push_back({.ready = ready, .exchange = row.time(call).total()});
    }
    return bucketed_exchange(buckets, computation, options.overlap ? options.load : 0.0);
}

} // namespace

double StepProfile::ready(std::size_t place) const {
    auto const found = std::ranges::find_if(marks, [place](Mark mark) { return mark.place <= place; });
    return found == marks.end() ? backward : found->seconds;
}

StepProfile read_profile(std::string_view text, std::string const& name) {
    Reader const reader{name, Json::parse(text, nullptr, false)};
    if (!reader.json.is_object() || reader.json.value("/kind"_json_pointer, Json{}) != "run" ||
        reader.count("/workers") != 1) {
        reader.refuse("is no run of one worker of headroom-step");
    }
    StepProfile profile{.shape = {.layers = reader.count("/model/layers"),
                                  .hidden = reader.count("/model/hidden"),
                                  .sequence = reader.count("/model/sequence")},
                        .batch = reader.count("/batch"),
                        .is_double = reader.at("/precision") == "double",
                        .forward = reader.seconds("/phases/forward_seconds"),
                        .backward = reader.seconds("/phases/backward_seconds"),
                        .optimizer = reader.seconds("/phases/optimizer_seconds")};
    if (!profile.is_double && reader.at("/precision") != "single") {
        reader.refuse("/precision is neither single nor double");
    }
    std::size_t place = profile.shape.parameters();
    if (place > most_parameters) { reader.refuse("more than 2^30 parameters"); }
    double last = 0.0;
    Json const& finished = reader.at("/finished");
    for (std::size_t i = 0; finished.is_array() && i < finished.size(); ++i) {
        std::string const mark = "/finished/" + std::to_string(i);
        if (place == 0) { break; } // nothing is left to finish
        place = reader.count(mark + "/place", 0, place - 1);
        double const seconds = reader.seconds(mark + "/seconds");
        if (seconds < last) { reader.refuse(mark + " is earlier than the one before"); }
        last = seconds;
        profile.marks.push_back({place, seconds});
    }
    if (place != 0 || profile.marks.size() != finished.size()) { reader.refuse("/finished does not end at place 0"); }
    if (last > profile.backward) { reader.refuse("gradients are finished later than /phases/backward_seconds"); }
    return profile;
}

PredictedStep predict_step(StepProfile const& profile, Options const& options, int workers) {
    auto const scale_on = [&](std::size_t count) {
        return static_cast<double>(options.largest_share(count)) / static_cast<double>(profile.batch);
    };
    double const scale = scale_on(static_cast<std::size_t>(workers));
    PredictedStep step{.workers = workers,
                       .share = options.largest_share(static_cast<std::size_t>(workers)),
                       .forward = profile.forward * scale,
                       .backward = profile.backward * scale,
                       .optimizer = profile.optimizer,
                       .ceiling = {}};
    if (workers > 1) {
        BucketedExchange const exchange = exchange_of(profile, options, workers, scale);
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
    step.speedup = alone / step.step * (options.local_batch ? workers : 1);
    if (!options.local_batch) { step.ceiling = ceiling_over_one_worker(parts); }
    return step;
}

} // namespace headroom::step_example
