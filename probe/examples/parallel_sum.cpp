// Adds numbers: two halves, each the same way, until a piece is small. Work N, span log N.

#include "example.hpp"

#include <numeric>

namespace {

using Numbers = std::span<std::uint64_t const>;

template <class Scope> std::uint64_t sum(Numbers numbers, std::size_t grain) {
    if (numbers.size() <= grain) { return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); }
    std::size_t const half = numbers.size() / 2;
    std::uint64_t left = 0;
    Scope scope;
    scope.spawn([&] { left = sum<Scope>(numbers.first(half), grain); });
    std::uint64_t const right = sum<Scope>(numbers.subspan(half), grain);
    scope.sync();
    return left + right;
}

struct Sum {
    explicit Sum(example::Options const& options) : numbers{example::numbers(options.size)}, grain{options.grain} {}
    [[nodiscard]] static std::string remark() { return ""; }

    void prepare() { answer = 0; }
    void serial() { right = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); }
    template <class Scope> void parallel() { answer = sum<Scope>(numbers, grain); }
    [[nodiscard]] bool correct() const { return answer == right; }

    std::vector<std::uint64_t> numbers;
    std::size_t grain;
    std::uint64_t right = 0;
    std::uint64_t answer = 0;
};

} // namespace

int main(int count, char** arguments) {
    return example::run<Sum>("parallel_sum", {arguments, static_cast<std::size_t>(count)},
                             {.size = std::size_t{1} << 23U, .grain = std::size_t{1} << 14U});
}
