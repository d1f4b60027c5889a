#include "headroom/probe/gemm_library.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace headroom::probe {
namespace {

// Whole numbers of at most two bits: their products are exact in every precision, also added up.
int left_at(std::size_t row, std::size_t column) { return static_cast<int>((3 * row + 5 * column) % 4); }
int right_at(std::size_t row, std::size_t column) { return static_cast<int>((7 * row + 2 * column) % 5) - 2; }

template <class T> void put(std::vector<unsigned char>& to, std::size_t index, T value) {
    std::memcpy(to.data() + index * sizeof(T), &value, sizeof(T));
}

std::uint16_t bf16_of(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }

std::size_t factor_bytes(std::string const& precision) {
    if (precision == "fp64") { return 8; }
    if (precision == "fp32") { return 4; }
    return precision == "bf16" ? 2 : 1;
}

/// `byte`: of int8, whose left factor is unsigned.
void put_number(std::vector<unsigned char>& to, std::size_t index, int value, std::string const& precision) {
    if (precision == "fp64") {
        put(to, index, static_cast<double>(value));
    } else if (precision == "fp32") {
        put(to, index, static_cast<float>(value));
    } else if (precision == "bf16") {
        put(to, index, bf16_of(static_cast<float>(value)));
    } else {
        put(to, index, static_cast<std::int8_t>(value));
    }
}

} // namespace

ProductSpace::ProductSpace(std::string precision, std::size_t n) : precision_{std::move(precision)}, n_{n} {
    std::size_t const bytes = factor_bytes(precision_);
    a_.resize(n * n * bytes);
    b_.resize(n * n * bytes);
    c_.resize(n * n * std::max<std::size_t>(bytes, 4));
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t column = 0; column < n; ++column) {
            put_number(a_, row * n + column, left_at(row, column), precision_);
            put_number(b_, row * n + column, right_at(row, column), precision_);
        }
    }
}

double ProductSpace::result(std::size_t row, std::size_t column) const {
    auto const read = [&]<class T>(T value) {
        std::memcpy(&value, c_.data() + (row * n_ + column) * sizeof(T), sizeof(T));
        return static_cast<double>(value);
    };
    if (precision_ == "fp64") { return read(0.0); }
    return precision_ == "int8" ? read(std::int32_t{0}) : read(0.0F);
}

double ProductSpace::error() const {
    double most = 0.0;
    for (std::size_t row = 0; row < n_; ++row) {
        for (std::size_t column = 0; column < n_; ++column) {
            double exact = 0.0;
            for (std::size_t k = 0; k < n_; ++k) { exact += left_at(row, k) * right_at(k, column); }
            double const off = std::abs(result(row, column) - exact);
            if (!(off <= most)) { most = off; } // also where it is not a number
        }
    }
    return most;
}

} // namespace headroom::probe
