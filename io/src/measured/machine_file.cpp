#include "headroom/error.hpp"
#include "headroom/io/processor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

/// A string of TOML: control characters cannot stand in one.
std::string quoted_toml(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') { out += '\\'; }
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + '"';
}

std::string with_unit(double base, double unit, char const* name) {
    return fmt::format("\"{} {}\"", base / unit, name);
}
std::string bandwidth_text(double base) { return with_unit(base, 1e9, "GB/s"); }
std::string rate_text(double base) { return with_unit(base, 1e9, "GFLOP/s"); }
std::string size_text(double base) { return with_unit(base, 1024.0, "KiB"); }

void add_level(std::string& out, MeasuredFigure const& level) {
    out += "name      = " + quoted_toml(level.of("level")) + '\n';
    out += "bandwidth = " + bandwidth_text(level.summary.median) + '\n';
    if (double const capacity = level.number("capacity"); capacity > 0.0) {
        out += "capacity  = " + size_text(capacity) + '\n';
    }
}

/// Formats of machine files; whole numbers have no place there.
bool has_place(std::string const& precision) { return number_format_from(precision).has_value(); }

void add_peaks(std::string& out, MeasuredRooflineAnswer const& answer) {
    out += "\n[peak] # medians of the fastest instructions, or of a faster product\n";
    for (MeasuredPeak const& peak : answer.roofline.peaks) {
        if (peak.threads != answer.cores()) { continue; }
        std::string const line = peak.precision + " = " + rate_text(peak.roof->summary.median);
        out += has_place(peak.precision) ? line + '\n' : "# " + line + ", which machine files have no key for\n";
    }
}

void add_products(std::string& out, MeasuredRooflineAnswer const& answer) {
    std::string lines;
    for (MeasuredPeak const& peak : answer.roofline.peaks) {
        if (peak.threads != answer.cores() || peak.product == nullptr || !has_place(peak.precision)) { continue; }
        lines += peak.precision + " = " + rate_text(peak.product->summary.median) + " # " +
                 peak.product->of("library") + ", order " + peak.product->of("order") + '\n';
    }
    if (!lines.empty()) { out += "\n[measured] # the fastest product of matrices\n" + lines; }
}

/// Bytes of the widest register that a chain used.
double register_bytes(MeasuredRooflineAnswer const& answer) {
    for (MeasuredFigure const* one : answer.roofline.of_quantity("peak")) {
        std::string const set = one->of("instruction_set");
        if (set.starts_with("AVX3") || set.starts_with("AVX512")) { return 64.0; }
    }
    for (MeasuredFigure const* one : answer.roofline.of_quantity("peak")) {
        if (one->of("instruction_set") == "AVX2") { return 32.0; }
    }
    return 16.0;
}

} // namespace

std::string machine_file(MeasuredRooflineAnswer const& answer, std::string_view program) {
    auto levels = answer.roofline.levels(answer.cores());
    bool const peaks = std::ranges::any_of(answer.roofline.peaks, [&](MeasuredPeak const& one) {
        return one.threads == answer.cores() && has_place(one.precision);
    });
    if (levels.empty() || levels.back()->of("level") != "memory" || !peaks) {
        too_little("--save", "no roofline of " + cores_words(answer.cores()) + " to save",
                   "a machine file needs a peak and the bandwidth of main memory",
                   "let the measurement run to its end");
    }
    std::string out = "# Measured by " + std::string{program} + " on " + cores_words(answer.cores()) + ".\n";
    out += "name = " + quoted_toml(answer.processor() + ", " + cores_words(answer.cores()) + ", measured") +
           "\n\n[memory]\n";
    add_level(out, *levels.back());
    for (MeasuredFigure const* latency : answer.roofline.of_quantity("latency")) {
        if (latency->of("level") == "memory") {
            out += "latency   = " + with_unit(latency->summary.median, 1e-9, "ns") + '\n';
        }
    }
    double slower = levels.back()->summary.median;
    levels.pop_back();
    std::ranges::reverse(levels);
    for (MeasuredFigure const* level : levels) {
        if (level->summary.median < slower) { // on a disturbed machine; a roofline cannot be made of it
            out += "\n# " + level->of("level") + " is left out: " + bandwidth_text(level->summary.median) +
                   " was measured, less than of a level behind it\n";
            continue;
        }
        slower = level->summary.median;
        out += "\n[[level]]\n";
        add_level(out, *level);
    }
    add_peaks(out, answer);
    out += "\n[compute]\nsimd_width = " + with_unit(8.0 * register_bytes(answer), 1.0, "bit") +
           "\nfma        = true\ncores      = " + std::to_string(answer.cores()) + '\n';
    add_products(out, answer);
    return out;
}

} // namespace headroom::io
