#include "traces/trace_formats.hpp"

#include "unread_bytes.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

namespace {

/// A database is known by its first bytes and JSON by its keys: what asks for more comes first.
constexpr std::array rows{
    TraceFormat{"nsys", looks_like_nsys, read_nsys},
    TraceFormat{"execution", looks_like_execution_json, read_execution_json, true},
    TraceFormat{"chrome", looks_like_chrome, read_chrome},
    TraceFormat{"chakra", looks_like_chakra, read_chakra, true},
    TraceFormat{"ncu", looks_like_ncu, read_ncu},
    TraceFormat{"key_averages", looks_like_key_averages, read_key_averages},
};

struct OtherFile {
    std::string_view magic, suffix, why, hint;
};
constexpr std::string_view unpack = "unpack it first; gzip and zstd are read as they are";
constexpr std::string_view export_nsys = "export the report: nsys export --type sqlite FILE";
constexpr std::string_view trace_rocm =
    "write a trace: rocprofv3 --sys-trace --output-format pftrace, then traceconv json FILE";
constexpr std::array others{
    OtherFile{"Time (%),", "", "it is a table of nsys stats", export_nsys},
    OtherFile{"Start (ns),", "", "it is a table of nsys stats", export_nsys},
    OtherFile{"\"Name\",\"Calls\",\"TotalDurationNs\"", "", "it is a table of rocprof", trace_rocm},
    OtherFile{"\"Kind\",\"Agent_Id\"", "", "it is a table of rocprofv3", trace_rocm},
    OtherFile{"", ".xplane.pb", "it is XLA's own format", "name the trace.json.gz next to it"},
    OtherFile{"", ".pftrace", "it is Perfetto's own format", "convert it: traceconv json FILE"},
    OtherFile{"\xfd\x37zXZ", "", "it is compressed by xz", unpack},
    OtherFile{"BZh", "", "it is compressed by bzip2", unpack},
    OtherFile{"PK\x03\x04", "", "it is a zip archive", unpack},
    OtherFile{"\x04\x22\x4d\x18", "", "it is compressed by lz4", unpack},
    OtherFile{"", ".nsys-rep", "it is a report of Nsight Systems", "export it: nsys export --type sqlite FILE"},
    OtherFile{"", ".qdrep", "it is a report of Nsight Systems", "export it: nsys export --type sqlite FILE"},
    OtherFile{"", ".ncu-rep", "it is a report of Nsight Compute", "export it: ncu --import FILE --csv --page raw"},
    OtherFile{"", ".tar", "it is an archive", "unpack it first"},
};

} // namespace

std::span<TraceFormat const> trace_formats() { return rows; }

TraceFormat const* format_of(std::string_view head) {
    if (repeats_one_byte(head)) { return nullptr; }
    auto const formats = trace_formats();
    auto const found =
        std::find_if(formats.begin(), formats.end(), [&](TraceFormat const& row) { return row.sniff(head); });
    return found == formats.end() ? nullptr : &*found;
}

NoTrace what_else(std::string_view head, std::string_view name) {
    if (head.empty()) { return {"it is empty", ""}; }
    if (repeats_one_byte(head)) { return {repeated_byte_words(head), "restore it from where it was written"}; }
    if (head.size() > 262 && head.substr(257, 5) == "ustar") { return {"it is an archive", "unpack it first"}; }
    for (OtherFile const& other : others) {
        bool const fits = other.magic.empty() ? name.ends_with(other.suffix) : head.starts_with(other.magic);
        if (fits) { return {std::string{other.why}, std::string{other.hint}}; }
    }
    bool const nsys = head.find("Total Time (ns)") != std::string_view::npos; // printed between other lines
    if (nsys) { return {"it is a table of nsys stats", std::string{export_nsys}}; }
    return {"not a trace that headroom can read: PyTorch or Chrome JSON, Nsight SQLite, ...", ""};
}

} // namespace headroom::io
