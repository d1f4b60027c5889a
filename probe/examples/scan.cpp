// Running sums in two passes over a tree of pieces: up, what each piece adds up to; down, what comes before it.
// Twice the additions of the serial program, in exchange for a span of log N. After Blelloch.

#include "example.hpp"

#include <numeric>

namespace {

using Numbers = std::span<std::uint64_t>;

/// A piece and what its left half adds up to; children of node i are 2i and 2i + 1.
struct Tree {
    std::size_t grain = 1;
    std::vector<std::uint64_t> left_sum;
};

std::size_t nodes(std::size_t size, std::size_t grain) {
    if (size <= grain) { return 2; }
    return 2 * nodes(size - size / 2, grain); // the right half is never the smaller
}

template <class Scope> std::uint64_t up(Tree& tree, std::size_t node, Numbers numbers) {
    if (numbers.size() <= tree.grain) { return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); }
    std::size_t const half = numbers.size() / 2;
    std::uint64_t left = 0;
    Scope scope;
    scope.spawn([&] { left = up<Scope>(tree, 2 * node, numbers.first(half)); });
    std::uint64_t const right = up<Scope>(tree, 2 * node + 1, numbers.subspan(half));
    scope.sync();
    tree.left_sum[node] = left;
    return left + right;
}

template <class Scope> void down(Tree const& tree, std::size_t node, Numbers numbers, std::uint64_t before) {
    if (numbers.size() <= tree.grain) {
        for (std::uint64_t& number : numbers) { number = before += number; }
        return;
    }
    std::size_t const half = numbers.size() / 2;
    Scope scope;
    scope.spawn([&] { down<Scope>(tree, 2 * node, numbers.first(half), before); });
    down<Scope>(tree, 2 * node + 1, numbers.subspan(half), before + tree.left_sum[node]);
    scope.sync();
}

struct Scan {
    explicit Scan(example::Options const& options)
        : given{example::numbers(options.size)},
          right(options.size),
          answer(options.size),
          tree{.grain = options.grain, .left_sum = std::vector<std::uint64_t>(nodes(options.size, options.grain))} {}
    [[nodiscard]] static std::string remark() { return ""; }

    void prepare() { answer = given; }
    void serial() {
        right = answer;
        std::partial_sum(right.begin(), right.end(), right.begin());
    }
    template <class Scope> void parallel() {
        up<Scope>(tree, 1, answer);
        down<Scope>(tree, 1, answer, 0);
    }
    [[nodiscard]] bool correct() const { return answer == right; }

    std::vector<std::uint64_t> given, right, answer;
    Tree tree;
};

} // namespace

int main(int count, char** arguments) {
    return example::run<Scan>("scan", {arguments, static_cast<std::size_t>(count)},
                              {.size = std::size_t{1} << 22U, .grain = std::size_t{1} << 14U});
}
