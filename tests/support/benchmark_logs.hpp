#pragma once

#include "headroom/error.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace headroom::test {

inline std::filesystem::path log_folder() {
    return std::filesystem::path{HEADROOM_SOURCE_DIR} / "tests" / "data" / "logs";
}

/// A log of tests/data/logs, under its own name.
inline io::BenchmarkLog sample_log(std::string const& name, io::LogQuestion const& question = {}) {
    return io::read_benchmark_log(io::read_file(log_folder() / name), name, question);
}

/// Number of lines left out for a reason.
inline std::size_t left_out(io::BenchmarkLog const& log, std::string_view kind) {
    for (auto const& trouble : log.issues) {
        if (trouble.kind == kind) { return trouble.count; }
    }
    return 0;
}

/// Error for a text; empty when it is read.
inline std::string error_of_log(std::string_view text, io::LogQuestion const& question = {}) {
    try {
        (void)io::read_benchmark_log(text, "log.txt", question);
    } catch (InputError const& error) { return error.what(); }
    return "";
}

} // namespace headroom::test
