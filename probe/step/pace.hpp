#pragma once

namespace headroom::training {

/// Seconds on a clock that never steps back.
double seconds_now();

/// Sleeps that end when they should: what this machine oversleeps is measured first and taken off.
class Sleeper {
public:
    Sleeper();
    /// Until that instant of `seconds_now`.
    void until(double instant) const;
    /// The median by which a sleep of a millisecond ended late; what is taken off.
    [[nodiscard]] double overshoot() const { return overshoot_; }

private:
    double overshoot_ = 0.0;
};

} // namespace headroom::training
