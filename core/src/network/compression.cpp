#include "headroom/network/compression.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::network {

namespace {

constexpr double place_bytes = 4.0, scale_bytes = 4.0, sign_bytes = 0.125;

/// Symbols of the formulas: N, w and p.
struct Gradients {
    double elements, width, ranks;
    [[nodiscard]] TotalBytes of(double count, double bytes) const { return {Bytes{count * bytes}}; }
    [[nodiscard]] TotalBytes whole() const { return of(elements, width); }
};

double elements_of(std::span<GradientMatrix const> matrices) {
    double sum = 0.0;
    for (GradientMatrix const& matrix : matrices) { sum += matrix.rows * matrix.columns * matrix.count; }
    return sum;
}

/// Bytes of an all-reduce that load a rank as much: both halves of it send once what it sends twice.
double load_of(SentCollective const& sent) {
    double const halves = sent.collective == Collective::all_reduce ? 2.0 : 1.0;
    return 0.5 * halves * sent.steps * sent.bytes.size.base();
}

/// Rounds and ratio follow from what is sent.
CompressedGradients summed(CompressedGradients result, Gradients const& gradients) {
    double load = 0.0;
    for (SentCollective const& sent : result.sent) {
        load += load_of(sent);
        result.rounds += sent.steps;
    }
    double const whole = gradients.whole().size.base();
    result.byte_ratio = whole > 0.0 ? load / whole : 1.0;
    return result;
}

/// Elements of the two factors of all matrices worth factoring, and of the matrices sent whole.
struct Factors {
    double left = 0.0, right = 0.0, factored = 0.0, whole = 0.0, products = 0.0;
};

Factors factors_of(GradientCompression const& compression, std::span<GradientMatrix const> matrices) {
    Factors factors;
    for (GradientMatrix const& matrix : matrices) {
        double const n = matrix.rows, m = matrix.columns, elements = n * m * matrix.count;
        double const rank = std::min({static_cast<double>(compression.rank), n, m});
        if (n * m < compression.minimum_rate * rank * (n + m)) {
            factors.whole += elements;
            continue;
        }
        factors.left += n * rank * matrix.count;
        factors.right += m * rank * matrix.count;
        factors.factored += elements;
        factors.products += 3.0 * 2.0 * rank * elements; // both factors and the matrix rebuilt of them
    }
    return factors;
}

CompressedGradients low_rank(GradientCompression const& compression, std::span<GradientMatrix const> matrices,
                             Gradients const& gradients) {
    Factors const factors = factors_of(compression, matrices);
    CompressedGradients result;
    for (double const elements : {factors.whole, factors.left, factors.right}) {
        if (elements > 0.0) {
            result.sent.push_back({Collective::all_reduce, gradients.of(elements, gradients.width)});
        }
    }
    double const share = gradients.elements > 0.0 ? factors.factored / gradients.elements : 0.0;
    result.touched_per_parameter = 9.0 * gradients.width * share;
    result.kept_per_parameter = gradients.width * share;
    result.products = Flops{factors.products};
    return result;
}

CompressedGradients quantised(GradientCompression const& compression, Gradients const& gradients) {
    double const coded = compression.bits / 8.0;
    TotalBytes const bytes = gradients.of(gradients.elements, coded);
    CompressedGradients result;
    result.sent = {{Collective::all_to_all, bytes}, {Collective::all_gather, bytes}};
    result.touched_per_parameter = 2.0 * gradients.width + 4.0 * coded + coded / gradients.ranks;
    return result;
}

CompressedGradients top_k(GradientCompression const& compression, Gradients const& gradients) {
    double const pair = compression.share * (gradients.width + place_bytes);
    CompressedGradients result;
    result.sent = {{Collective::all_gather, gradients.of(gradients.elements * gradients.ranks, pair)}};
    result.touched_per_parameter = 7.0 * gradients.width + (gradients.ranks + 1.0) * pair;
    result.kept_per_parameter = 2.0 * gradients.width;
    return result;
}

CompressedGradients one_bit(GradientCompression const& compression, Gradients const& gradients) {
    double const warm = compression.warm_up, cold = 1.0 - warm;
    TotalBytes const signs{gradients.of(gradients.elements, sign_bytes).size +
                           gradients.of(gradients.ranks, scale_bytes).size};
    CompressedGradients result;
    result.sent = {{Collective::all_reduce, gradients.whole(), warm},
                   {Collective::all_to_all, signs, cold},
                   {Collective::all_gather, signs, cold}};
    result.touched_per_parameter = cold * (4.0 * gradients.width + 3.0 * sign_bytes);
    result.kept_per_parameter = gradients.width * (1.0 + 1.0 / gradients.ranks);
    return result;
}

} // namespace

std::string_view name_of(Compression compression) {
    switch (compression) {
    case Compression::none: return "none";
    case Compression::low_rank: return "low_rank";
    case Compression::quantised: return "quantised";
    case Compression::top_k: return "top_k";
    case Compression::one_bit: return "one_bit";
    }
    return "";
}

std::optional<Compression> compression_from(std::string_view name) {
    std::string const wanted = normalised(name);
    if (wanted == "quantized") { return Compression::quantised; }
    for (Compression const compression : compressions) {
        if (normalised(name_of(compression)) == wanted) { return compression; }
    }
    return std::nullopt;
}

CompressedGradients compressed_gradients(GradientCompression const& compression,
                                         std::span<GradientMatrix const> matrices, double bytes_per_element, Ranks p) {
    Gradients const gradients{elements_of(matrices), bytes_per_element, static_cast<double>(p.count())};
    switch (compression.kind) {
    case Compression::none: break;
    case Compression::low_rank: return summed(low_rank(compression, matrices, gradients), gradients);
    case Compression::quantised: return summed(quantised(compression, gradients), gradients);
    case Compression::top_k: return summed(top_k(compression, gradients), gradients);
    case Compression::one_bit: return summed(one_bit(compression, gradients), gradients);
    }
    CompressedGradients plain;
    plain.sent = {{Collective::all_reduce, gradients.whole()}};
    return summed(std::move(plain), gradients);
}

CompressedGradients compressed_gradients(GradientCompression const& compression, double elements,
                                         double bytes_per_element, Ranks p) {
    double const side = std::sqrt(elements);
    GradientMatrix const square{.rows = side, .columns = side};
    return compressed_gradients(compression, std::span{&square, 1}, bytes_per_element, p);
}

CollectiveTime compressed_time(CompressedGradients const& gradients, Group group, Fabric fabric) {
    CollectiveTime sum;
    for (SentCollective const& sent : gradients.sent) {
        CollectiveTime const time = fastest(sent.collective, sent.bytes, group, fabric).time;
        sum.latency += sent.steps * time.latency;
        sum.bandwidth += sent.steps * time.bandwidth;
    }
    return sum;
}

} // namespace headroom::network
