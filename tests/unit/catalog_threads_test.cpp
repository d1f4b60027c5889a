#include "headroom/io/catalog.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace headroom::io {
namespace {

TEST(Catalog, ThreadsReadTheSameRecordsAtOnce) {
    std::array<std::string, 8> read;
    {
        std::vector<std::jthread> threads;
        for (std::string& text : read) {
            threads.emplace_back([&text] {
                Catalog const catalog;
                text = write_calibration(catalog.calibration("training"), {}) + catalog.model("gpt3-175b").name +
                       catalog.cluster("dgx-a100").name;
            });
        }
    }
    for (std::string const& text : read) { EXPECT_EQ(text, read.front()); }
    EXPECT_TRUE(read.front().ends_with("gpt3-175bdgx-a100"));
}

} // namespace
} // namespace headroom::io
