#pragma once

#include <exception>
#include <stop_token>

namespace headroom {

/// End of long work that was asked to stop: results of parts that were finished before stand.
class Interrupted : public std::exception {
public:
    [[nodiscard]] char const* what() const noexcept override { return "interrupted"; }
};

/// Throws Interrupted once a stop was requested.
inline void keep_on(std::stop_token const& stop) {
    if (stop.stop_requested()) { throw Interrupted{}; }
}

} // namespace headroom
