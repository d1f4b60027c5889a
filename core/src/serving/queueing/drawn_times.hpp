#pragma once

#include "headroom/counter_random.hpp"
#include "headroom/serving/queue_simulation.hpp"

#include <cstdint>
#include <vector>

namespace headroom::serving::queueing {

/// Draws times, with numbers of whoever asks. Errors: InputError{usage} on a mean that is not above zero, a variation that is
/// negative, samples that are empty or all zero.
class TimeSource {
public:
    TimeSource(DrawnTimes const& times, char const* where);

    double draw(CounterRandom& random) const {
        switch (kind_) {
        case Kind::same: return mean_;
        case Kind::exponential: return mean_ * random.exponential();
        case Kind::gamma: return scale_ * gamma(random);
        case Kind::samples: return scale_ * sample(random);
        }
        return mean_;
    }

private:
    enum class Kind : std::uint8_t { same, exponential, gamma, samples };
    struct Column {
        double share; ///< of the column that is the value's own
        double value, other;
    };

    void prepare(LatencyHistogram const& samples);
    double gamma(CounterRandom& random) const;
    double sample(CounterRandom& random) const;

    Kind kind_;
    double mean_, scale_ = 1.0;
    double shape_ = 1.0, third_ = 0.0, factor_ = 0.0; ///< of the gamma's method
    std::vector<Column> columns_;
};

/// A generator for one purpose, of which each seed has many.
CounterRandom random_for(std::uint64_t seed, std::uint64_t purpose);

} // namespace headroom::serving::queueing
