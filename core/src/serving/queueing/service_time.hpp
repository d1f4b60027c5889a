#pragma once

namespace headroom::serving::queueing {

/// P(G > x) of a gamma distribution of shape k and scale 1: Q(k, x), by its series below k + 1 and its continued
/// fraction above. Source: [AbramowitzStegun1964] (6.5.29, 6.5.31)
double gamma_above(double shape, double x);

/// Times by mean and squared coefficient of variation: gamma; exponential at 1, always the mean at 0.
class ServiceTime {
public:
    ServiceTime(double mean, double variation) : mean_{mean}, variation_{variation} {}
    [[nodiscard]] double mean() const { return mean_; }
    /// P(S > x).
    [[nodiscard]] double above(double x) const;
    /// P(W + S > x) of a wait W before it.
    [[nodiscard]] double above_after(ServiceTime const& wait, double x) const;

private:
    [[nodiscard]] double above_after_exponential(double wait, double x) const;
    [[nodiscard]] double above_after_gamma(ServiceTime const& wait, double x) const;

    double mean_, variation_;
};

} // namespace headroom::serving::queueing
