// Sorts two halves side by side and merges them. Merged by one strand the last merge alone is N long, and the
// parallelism is log N / 2 at best; merged by halving the longer side and finding its middle in the other, it is
// N / log^2 N.

#include "example.hpp"

namespace {

using Numbers = std::span<std::uint64_t>;

struct Merging {
    std::size_t grain = 1;
    bool serial = false;
};

template <class Scope> void merge(Numbers left, Numbers right, Numbers into, Merging how) {
    if (left.size() < right.size()) { std::swap(left, right); }
    if (how.serial || into.size() <= how.grain || right.empty()) {
        std::merge(left.begin(), left.end(), right.begin(), right.end(), into.begin());
        return;
    }
    std::size_t const half = left.size() / 2;
    auto const cut = std::lower_bound(right.begin(), right.end(), left[half]) - right.begin();
    auto const below = static_cast<std::size_t>(cut);
    Scope scope;
    scope.spawn([=] { merge<Scope>(left.first(half), right.first(below), into.first(half + below), how); });
    merge<Scope>(left.subspan(half), right.subspan(below), into.subspan(half + below), how);
    scope.sync();
}

/// Leaves `numbers` sorted, in `space` where that is asked for.
template <class Scope> void sort(Numbers numbers, Numbers space, bool into_space, Merging how) {
    if (numbers.size() <= how.grain) {
        std::sort(numbers.begin(), numbers.end());
        if (into_space) { std::copy(numbers.begin(), numbers.end(), space.begin()); }
        return;
    }
    std::size_t const half = numbers.size() / 2;
    Scope scope;
    scope.spawn([=] { sort<Scope>(numbers.first(half), space.first(half), !into_space, how); });
    sort<Scope>(numbers.subspan(half), space.subspan(half), !into_space, how);
    scope.sync();
    Numbers const from = into_space ? numbers : space;
    merge<Scope>(from.first(half), from.subspan(half), into_space ? space : numbers, how);
}

struct MergeSort {
    explicit MergeSort(example::Options const& options)
        : given{example::numbers(options.size)},
          right(options.size),
          answer(options.size),
          space(options.size),
          how{.grain = options.grain, .serial = options.serial_merge} {}
    [[nodiscard]] std::string remark() const { return how.serial ? ", merged by one strand" : ""; }

    void prepare() { answer = given; }
    void serial() {
        std::sort(answer.begin(), answer.end());
        right = answer;
    }
    template <class Scope> void parallel() { sort<Scope>(answer, space, false, how); }
    [[nodiscard]] bool correct() const { return answer == right; }

    std::vector<std::uint64_t> given, right, answer, space;
    Merging how;
};

} // namespace

int main(int count, char** arguments) {
    return example::run<MergeSort>("merge_sort", {arguments, static_cast<std::size_t>(count)},
                                   {.size = std::size_t{1} << 18U, .grain = std::size_t{1} << 12U});
}
