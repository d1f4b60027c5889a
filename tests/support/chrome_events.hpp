#pragma once

// Timelines as Chrome's viewer reads them, written an event a call.

#include "headroom/io/trace.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

/// Events of a trace, in the order in which they are given.
class Events {
public:
    Events& process(std::string_view pid, std::string_view name) {
        return add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", pid, name));
    }
    Events& thread(std::string_view pid, std::string_view tid, std::string_view name) {
        return add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", pid,
                               tid, name));
    }
    Events& span(std::string_view pid, std::string_view tid, std::string_view name, int begin, int length,
                 std::string_view more = "") {
        return add(fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}{}}})", name, pid, tid,
                               begin, length, more));
    }
    /// `more`: keys of the file, each with a comma behind it.
    [[nodiscard]] std::vector<trace::RankTrace> read(std::string const& more = "") const {
        return io::read_traces("{" + more + "\"traceEvents\": [" + text_ + "]}", "trace.json");
    }
    Events& launch(std::string_view tid, int begin, int correlation) {
        return span("900", tid, "cudaLaunchKernel", begin, 3,
                    fmt::format(R"(,"cat":"cuda_runtime","args":{{"correlation":{}}})", correlation));
    }
    Events& kernel(int device, int begin, int length, int correlation = 0) {
        return span(
            std::to_string(device), "7", "gemm", begin, length,
            fmt::format(R"(,"cat":"kernel","args":{{"device":{},"stream":7,"correlation":{}}})", device, correlation));
    }

private:
    Events& add(std::string const& event) {
        text_ += (text_.empty() ? "" : ",") + event;
        return *this;
    }
    std::string text_;
};

} // namespace headroom::test
