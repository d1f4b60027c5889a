// The answer of headroom-gpu is read whole, or refused in one line.

#include "headroom/error.hpp"
#include "headroom/io/gpu_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace headroom::io {

using namespace headroom::measure;

namespace {

TEST(GpuAnswers, NoDeviceIsAnAnswer) {
    auto const answer = read_gpu_answer(R"({"device": null, "why": "no driver", "facts": {}, "points": []})", "gpu");
    EXPECT_TRUE(answer.device.empty());
    EXPECT_EQ(answer.why, "no driver");
    EXPECT_TRUE(answer.points.empty());
}

TEST(GpuAnswers, PointsKeepTheirParts) {
    auto const answer = read_gpu_answer(R"({"device": "A GPU", "why": "", "facts": {"gpu devices": "2"}, "points": [
        {"label": "gpu copy", "unit": "bytes/second", "parameters": {"quantity": "gpu"}, "samples": [1e12, 2e12]},
        {"label": "gpu product", "unit": "flops/second", "parameters": {"failed": "refused"}, "samples": []}]})",
                                        "gpu");
    EXPECT_EQ(answer.device, "A GPU");
    ASSERT_EQ(answer.points.size(), 2U);
    EXPECT_EQ(answer.points[0].point, (MeasuredPoint{"gpu copy", {{"quantity", "gpu"}}, "bytes/second"}));
    EXPECT_EQ(answer.points[0].samples, (std::vector<double>{1e12, 2e12}));
    EXPECT_TRUE(answer.points[1].samples.empty());
    EXPECT_EQ(fact(answer.facts, "gpu devices"), "2");
}

TEST(GpuAnswers, RefusesWhatIsNone) {
    std::string const good_head = R"({"device": "x", "why": "", "facts": {}, "points": )";
    for (std::string const& text :
         {std::string{}, std::string{"[]"}, std::string{"{"}, std::string{R"({"why": ""})"}, good_head + "3}",
          good_head + R"([{"label": "l", "unit": "miles", "parameters": {}, "samples": []}]})",
          good_head + R"([{"label": "l", "unit": "seconds", "parameters": {}, "samples": [-1]}]})",
          good_head + R"([{"label": "l", "unit": "seconds", "parameters": {}, "samples": ["1"]}]})",
          good_head + R"([{"label": "l", "unit": "seconds", "parameters": {"a": 1}, "samples": [1]}]})",
          good_head + std::string(1000, '[') + std::string(1000, ']') + "}"}) {
        try {
            read_gpu_answer(text, "gpu");
            ADD_FAILURE() << text;
        } catch (InputError const& error) {
            EXPECT_EQ(error.fault(), Fault::unreadable) << text;
            EXPECT_EQ(std::string{error.what()}.find("gpu: "), 0U) << error.what();
        }
    }
}

} // namespace
} // namespace headroom::io
