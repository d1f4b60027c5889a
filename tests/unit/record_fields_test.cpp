#include "headroom/document/fields.hpp"
#include "headroom/probe/record_fields.hpp"
#include "headroom/probe/report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace headroom::probe {
namespace {

/// JSON without blanks outside its texts.
std::string packed(std::string const& json) {
    std::string text;
    bool inside = false;
    for (char const c : json) {
        if (c == '"') { inside = !inside; }
        if (inside || (c != ' ' && c != '\n')) { text += c; }
    }
    return text;
}

TEST(RecordFields, AreWhatTheRecorderWrites) {
    Study study{.name = "sum", .problem = "a sum of 8 numbers", .serial_seconds = 0.5};
    study.record = {.work_seconds = 4.0,
                    .span_seconds = 1.5,
                    .burdened_span_seconds = 2.25,
                    .elapsed_seconds = 4.5,
                    .spawns = 3,
                    .syncs = 2,
                    .burden_seconds = 1e-6,
                    .running_share = 0.75};
    study.costs = {1e-8, 2e-8, 3e-8, 4e-8, 5e-8};
    study.timings = {{.workers = 1, .seconds = 4.0, .median_seconds = 4.25, .repeats = 5},
                     {.workers = 2, .seconds = 2.5, .median_seconds = 2.75, .repeats = 5}};
    for (Study const& one : {study, Study{.name = "nothing"}}) {
        std::ostringstream written;
        write_json(written, one);
        EXPECT_EQ(packed(document::to_json(one).text()), packed(written.str()));
    }
}

} // namespace
} // namespace headroom::probe
