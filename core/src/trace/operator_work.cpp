#include "trace/shaped_kernels.hpp"

#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace headroom::trace {
namespace {

using Shape = std::vector<double>;

constexpr double exact = 9007199254740992.0; ///< whole numbers are exact in a double up to here

/// Reads "[[64, 1024], [1024, 4096], []]": the sizes of each input. A scalar and what is no tensor is "[]".
class ShapeReader {
public:
    explicit ShapeReader(std::string_view text) : text_{text} {}

    /// Empty where the text is something else, or lists of tensors among the inputs.
    std::optional<std::vector<Shape>> shapes() {
        std::vector<Shape> all;
        if (!sign('[')) { return {}; }
        if (sign(']')) { return all; }
        do {
            Shape shape;
            if (!read(shape)) { return {}; }
            all.push_back(std::move(shape));
        } while (sign(','));
        return sign(']') ? std::optional{std::move(all)} : std::nullopt;
    }
    [[nodiscard]] std::string_view rest() const { return text_; }

private:
    std::string_view text_;

    void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
    bool sign(char wanted) {
        skip_spaces();
        bool const there = !text_.empty() && text_.front() == wanted;
        text_.remove_prefix(there ? 1 : 0);
        return there;
    }
    bool read(Shape& shape) {
        if (!sign('[')) { return false; }
        if (sign(']')) { return true; }
        do {
            skip_spaces();
            std::int64_t size = 0;
            auto const [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
            if (error != std::errc{} || size < 0) { return false; }
            text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
            shape.push_back(static_cast<double>(size));
        } while (sign(','));
        return sign(']');
    }
};

double elements(Shape const& shape) {
    double product = 1.0;
    for (double const size : shape) { product *= size; }
    return product;
}

/// The product of two stacks of matrices: m x k by k x n, in `batches`.
struct Product {
    double m = 0, n = 0, k = 0, batches = 1;
    double inputs = 0; ///< elements that are read
};

std::optional<Product> matrices(Shape const& left, Shape const& right, std::size_t rank) {
    if (left.size() != rank || right.size() != rank || left[rank - 1] != right[rank - 2]) { return {}; }
    if (rank == 3 && left[0] != right[0]) { return {}; }
    return Product{left[rank - 2], right[rank - 1], left[rank - 1], rank == 3 ? left[0] : 1.0,
                   elements(left) + elements(right)};
}

std::optional<Product> linear(Shape const& input, Shape const& weight) {
    if (input.empty() || weight.empty() || weight.size() > 2 || input.back() != weight.back()) { return {}; }
    double const k = input.back();
    if (k <= 0.0) { return {}; }
    return Product{elements(input) / k, weight.size() == 2 ? weight[0] : 1.0, k, 1.0,
                   elements(input) + elements(weight)};
}

/// As torch.matmul: vectors are rows on the left and columns on the right, sizes before the last two are broadcast.
std::optional<Product> broadcast(Shape left, Shape right) {
    if (left.empty() || right.empty()) { return {}; }
    double const inputs = elements(left) + elements(right);
    if (left.size() == 1) { left.insert(left.begin(), 1.0); }
    if (right.size() == 1) { right.push_back(1.0); }
    std::size_t const l = left.size(), r = right.size();
    if (left[l - 1] != right[r - 2]) { return {}; }
    double batches = 1.0;
    for (std::size_t i = 3; i <= std::max(l, r); ++i) {
        double const a = i <= l ? left[l - i] : 1.0, b = i <= r ? right[r - i] : 1.0;
        if (a != b && a != 1.0 && b != 1.0) { return {}; }
        batches *= a == 1.0 ? b : a;
    }
    return Product{left[l - 2], right[r - 1], left[l - 1], batches, inputs};
}

std::optional<Product> product_of(std::string_view name, std::vector<Shape> const& shapes) {
    if (name.starts_with("aten::")) { name.remove_prefix(6); }
    std::size_t const count = shapes.size();
    if (name == "mm" && count >= 2) { return matrices(shapes[0], shapes[1], 2); }
    if (name == "bmm" && count >= 2) { return matrices(shapes[0], shapes[1], 3); }
    if (name == "linear" && count >= 2) { return linear(shapes[0], shapes[1]); }
    if (name == "matmul" && count >= 2) { return broadcast(shapes[0], shapes[1]); }
    bool const adds = name == "addmm" || name == "baddbmm";
    if (!adds || count < 3) { return {}; }
    std::optional<Product> product = matrices(shapes[1], shapes[2], name == "addmm" ? 2 : 3);
    if (product) { product->inputs += elements(shapes[0]); }
    return product;
}

/// The first type that is stated: "c10::Half" of `["c10::Half", "c10::Half", "Scalar"]`.
double element_bytes(std::string_view types) {
    constexpr std::string_view between = "[]\"', \t\r\n";
    std::size_t const begin = types.find_first_not_of(between);
    if (begin == std::string_view::npos) { return 0.0; }
    std::size_t const end = std::min(types.find_first_of(between, begin), types.size());
    return static_cast<double>(element_bytes_of(types.substr(begin, end - begin)));
}

} // namespace

std::optional<OperatorWork> operator_work(std::string_view name, std::string_view shapes) {
    ShapeReader reader{shapes};
    auto const inputs = reader.shapes();
    auto const product = inputs ? product_of(name, *inputs) : std::nullopt;
    if (!product) { return {}; }
    OperatorWork const work{2.0 * product->m * product->n * product->k * product->batches,
                            element_bytes(reader.rest()) *
                                (product->inputs + product->m * product->n * product->batches)};
    bool const counted = work.flops > 0.0 && work.flops <= exact && work.bytes <= exact;
    return counted ? std::optional{work} : std::nullopt;
}

} // namespace headroom::trace
