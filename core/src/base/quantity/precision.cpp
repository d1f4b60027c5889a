#include "headroom/precision.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace headroom {

namespace {

struct Spelling {
    std::string_view word;
    Precision precision;
};

constexpr std::array spellings{
    Spelling{"fp32", Precision::fp32},    Spelling{"float32", Precision::fp32},  Spelling{"f32", Precision::fp32},
    Spelling{"single", Precision::fp32},  Spelling{"tf32", Precision::tf32},     Spelling{"fp16", Precision::fp16},
    Spelling{"float16", Precision::fp16}, Spelling{"f16", Precision::fp16},      Spelling{"half", Precision::fp16},
    Spelling{"bf16", Precision::bf16},    Spelling{"bfloat16", Precision::bf16}, Spelling{"fp8", Precision::fp8},
    Spelling{"float8", Precision::fp8},   Spelling{"e4m3", Precision::fp8},      Spelling{"mxfp8", Precision::mxfp8},
    Spelling{"nvfp4", Precision::nvfp4},  Spelling{"fp4", Precision::nvfp4},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// The narrower of two: "bf16/fp8" computes its products in fp8. Declaration order runs from wide to narrow.
std::optional<Precision> narrower(std::optional<Precision> a, Precision b) { return a && *a > b ? a : b; }

} // namespace

std::string_view name_of(Precision precision) {
    switch (precision) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16: return "fp16";
    case Precision::bf16: return "bf16";
    case Precision::fp8: return "fp8";
    case Precision::mxfp8: return "mxfp8";
    case Precision::nvfp4: return "nvfp4";
    }
    return "";
}

std::optional<Precision> precision_from(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') { c = static_cast<char>(c - 'A' + 'a'); }
    }
    std::optional<Precision> found;
    bool microscaled = false;
    for (std::size_t begin = 0; begin < lower.size();) {
        if (!is_word(lower[begin])) {
            ++begin;
            continue;
        }
        std::size_t end = begin;
        while (end < lower.size() && is_word(lower[end])) { ++end; }
        std::string_view const word{lower.data() + begin, end - begin};
        microscaled = microscaled || word == "mx";
        for (Spelling const& spelling : spellings) {
            if (word == spelling.word) { found = narrower(found, spelling.precision); }
        }
        begin = end;
    }
    return microscaled && found == Precision::fp8 ? Precision::mxfp8 : found;
}

double operand_bytes(Precision precision) {
    switch (precision) {
    case Precision::fp8:
    case Precision::mxfp8: return 1.0;
    case Precision::nvfp4: return 0.5;
    default: return element_bytes(precision);
    }
}

double element_bytes(Precision precision) {
    return precision == Precision::fp32 || precision == Precision::tf32 ? 4.0 : 2.0;
}

} // namespace headroom
