#pragma once

#include "headroom/fit/communication_fit.hpp"
#include "headroom/network/message_cost.hpp"
#include "headroom/quantity.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom::fit {

/// One timed train: a rank sends so many messages of one size, and the other answers the last of them by one of the same
/// size. Parametrised round trip PRTT(messages, pause, size).
struct MessageTrain {
    Bytes size;
    int messages = 1;
    bool paced = false; ///< each message but the first after a pause that is longer than the last one needed to leave
    Seconds time;       ///< until the answer is there; of a paced train, less its pauses
};

/// A kind of train, as measured and as the fit has it.
struct LogGpResidual {
    Bytes size;
    int messages = 1;
    bool paced = false;
    std::size_t repeats = 0;
    Seconds measured; ///< median
    Seconds predicted;
    double relative_error = 0.0; ///< predicted / measured - 1
};

/// LogGP's constants, each with its 90 % interval.
struct LogGpFit {
    Fitted latency_seconds;           ///< L
    Fitted overhead_seconds;          ///< o, of a message of one byte
    Fitted overhead_seconds_per_byte; ///< O
    Fitted gap_seconds;               ///< g, of messages of one byte
    Fitted gap_seconds_per_byte;      ///< G
    std::vector<LogGpResidual> residuals;
    double median_relative_error = 0.0; ///< absolute, over kinds of trains
    std::vector<std::string> notes;
    [[nodiscard]] network::LogGp model() const;
};

struct LogGpSettings {
    int resamples = 400; ///< of the bootstrap
    std::uint64_t seed = 1;
};

/// LogGP from trains of messages, without clocks that agree and without a flood of messages.
///
///     PRTT(1, 0, s)     = 2 (L + 2 o(s) + (s-1) G)
///     PRTT(n, 0, s)     = PRTT(1, 0, s) + (n-1) (g + (s-1) G)
///     PRTT(n, d, s)     = PRTT(1, 0, s) + (n-1) (o(s) + d),       d >= g + (s-1) G
///
/// g and G are the line through the second over s, o and O that through the third (o(s) = o + s O), both by least squares of
/// errors relative to the trains' own times, none below zero; L is half of the smallest round trip less 2 o. Medians of the
/// repeats go in. Intervals: repeats drawn anew (bootstrap), so they hold what repeats differ by, and not that the network
/// may be none of LogGP: that is in the residuals.
/// Assumes:    repeats are independent; sizes below the one from which on a sender waits for its receiver.
/// Errors:     InputError{insufficient} with fewer than two sizes that have all three kinds of trains.
/// Source:     [HoeflerLichei2007], [Alexandrov1995]
LogGpFit fit_loggp(std::span<MessageTrain const> trains, LogGpSettings const& settings = {});

} // namespace headroom::fit
