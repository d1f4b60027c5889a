#pragma once

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/latency_samples.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::test {

inline io::LatencySamples read_latencies(std::string_view text, io::LatencyQuestion const& question = {}) {
    return io::read_latency_text(text, "samples", question);
}

/// A file of tests/data/latencies.
inline io::LatencySamples latency_file(std::string const& name, io::LatencyQuestion const& question = {}) {
    return io::read_latency_samples(std::string{HEADROOM_SOURCE_DIR} + "/tests/data/latencies/" + name, question);
}

/// Number of lines with a kind of dirt, and the first of them; zeros where there is none.
struct DirtSeen {
    std::uint64_t count = 0, line = 0;
    bool operator==(DirtSeen const&) const = default;
};
inline DirtSeen dirt_of(io::LatencySamples const& samples, std::string_view words) {
    for (Issue const& dirt : samples.issues) {
        if (dirt.kind.find(words) != std::string::npos) { return {dirt.count, dirt.line}; }
    }
    return {};
}

inline bool notes_say(io::LatencySamples const& samples, std::string_view words) {
    for (std::string const& note : samples.notes) {
        if (note.find(words) != std::string::npos) { return true; }
    }
    return false;
}

/// The kind and the line of the error that reading ends in.
inline void expect_refused(std::string_view text, Fault fault, std::string_view words,
                           io::LatencyQuestion const& question = {}) {
    try {
        static_cast<void>(read_latencies(text, question));
        ADD_FAILURE() << "read without an error: " << text.substr(0, 80);
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        EXPECT_NE(std::string_view{error.what()}.find(words), std::string_view::npos) << error.what();
    }
}

} // namespace headroom::test
