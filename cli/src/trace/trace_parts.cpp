#include "trace/trace_parts.hpp"

namespace headroom::cli {

TraceSetReader& trace_set_reader() {
    static TraceSetReader reader = io::read_trace_set;
    return reader;
}

} // namespace headroom::cli
