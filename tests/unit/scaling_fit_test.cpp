#include "headroom/fit/scaling_fit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
namespace headroom::fit {
TEST(X, Y) {
    ScalingData d{.samples = {{1, 20},
                              {4, 78},
                              {8, 130},
                              {12, 170},
                              {16, 190},
                              {20, 200},
                              {24, 210},
                              {28, 230},
                              {32, 260},
                              {48, 280},
                              {64, 310}},
                  .measured = Measured::throughput};
    ScalingData six = d;
    six.samples.resize(6);
    ScalingData sp{
        .samples = {{1, 64.9}, {18, 995.9}, {36, 1652.4}, {72, 1853.2}, {108, 1828.9}, {144, 1775}, {216, 1702.2}},
        .measured = Measured::throughput};
    for (auto const& one : {d, six, sp}) {
        FitQuestion q;
        q.coverage = 0.95;
        auto r = fit_scaling(one, q);
        for (auto const& f : r.fits) {
            std::printf("%s rss %.10g se %.6g aicc %g llo %g peak %g ceil %g val %g lim %g\n", f.law->name, f.rss,
                        f.residual_standard_error.value_or(-1), f.aicc.value_or(-1),
                        f.leave_last_out_error.value_or(-1), f.peak_workers.value_or(-1), f.ceiling.value_or(-1),
                        f.ceiling_value.value_or(-1), f.limit_value.value_or(-1));
            for (auto const& c : f.coefficients)
                std::printf("   %s %.10g [%g %g] se %.6g %d\n", c.name.c_str(), c.value, c.low.value_or(-9),
                            c.high.value_or(-9), c.standard_error.value_or(-9), c.at_bound);
        }
        std::printf("best %s because %s\n", r.fits[r.best].law->name, r.chosen_because.c_str());
        for (auto const& p : r.predictions)
            std::printf("  %g %g [%g %g] [%g %g]\n", p.workers, p.value, p.curve_low.value_or(-1),
                        p.curve_high.value_or(-1), p.low.value_or(-1), p.high.value_or(-1));
        if (r.next_measurement) std::printf("%s\n", r.next_measurement->why.c_str());
        if (r.karp_flatt) std::printf("%s\n", r.karp_flatt->verdict.c_str());
        for (auto const& f : r.findings) std::printf("finding %s\n", f.text.c_str());
    }
    auto t0 = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) fit_law(*scaling_law("usl"), d, {});
    auto t1 = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) fit_scaling(d, {});
    auto t2 = std::chrono::steady_clock::now();
    std::printf("usl %g ms all %g ms\n", std::chrono::duration<double>(t1 - t0).count() * 10,
                std::chrono::duration<double>(t2 - t1).count() * 50);
}
} // namespace headroom::fit
