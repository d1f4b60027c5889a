#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace headroom::network {

/// Method of compressing gradients: the data sent in place of the gradients of all parameters.
enum class Compression {
    none,      ///< the gradients as they are
    low_rank,  ///< two thin factors of every matrix
    quantised, ///< few bits an element
    top_k,     ///< the largest elements and their places
    one_bit,   ///< signs and a scale, after a warm-up
};
inline constexpr std::array compressions{Compression::none, Compression::low_rank, Compression::quantised,
                                         Compression::top_k, Compression::one_bit};
std::string_view name_of(Compression compression);
/// Reads such a name, however it is spelled (`normalised`); "quantized" too.
std::optional<Compression> compression_from(std::string_view name);

/// A way to send less; each kind reads the fields that belong to it.
struct GradientCompression {
    Compression kind = Compression::none;
    int rank = 4;              ///< low_rank: columns of a factor
    double minimum_rate = 2.0; ///< low_rank: a matrix whose n m / (r (n + m)) is below it is sent as it is
    double bits = 8.0;         ///< quantised: of one element
    double share = 0.01;       ///< top_k: of the elements that are sent
    double warm_up = 0.15;     ///< one_bit: share of the steps that send everything
    bool operator==(GradientCompression const&) const = default;
};

} // namespace headroom::network
