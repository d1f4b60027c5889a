// The sum of `parallel_sum` with task groups and threads of oneTBB.

#include "example.hpp"

#include "headroom/probe/tbb_task_group.hpp"

#include <numeric>

namespace {

using Numbers = std::span<std::uint64_t const>;

template <class TaskGroup> std::uint64_t sum(Numbers numbers, std::size_t grain) {
    if (numbers.size() <= grain) { return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); }
    std::size_t const half = numbers.size() / 2;
    std::uint64_t left = 0;
    TaskGroup group;
    group.run([&] { left = sum<TaskGroup>(numbers.first(half), grain); });
    std::uint64_t const right = sum<TaskGroup>(numbers.subspan(half), grain);
    group.wait();
    return left + right;
}

struct Sum {
    explicit Sum(example::Options const& options) : numbers{example::numbers(options.size)}, grain{options.grain} {}
    [[nodiscard]] static std::string remark() { return ", oneTBB"; }

    void prepare() { answer = 0; }
    void serial() { right = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}); }
    template <class TaskGroup> void parallel() { answer = sum<TaskGroup>(numbers, grain); }
    [[nodiscard]] bool correct() const { return answer == right; }

    std::vector<std::uint64_t> numbers;
    std::size_t grain;
    std::uint64_t right = 0;
    std::uint64_t answer = 0;
};

template <class SomeClock> struct TbbWorkers {
    using Clock = SomeClock;
    using Recorded = headroom::probe::BasicTaskGroup<headroom::probe::Recording<Clock>>;
    using Plain = headroom::probe::PlainTaskGroup;
    using Arena = headroom::probe::TaskArena;
};

} // namespace

int main(int count, char** arguments) {
    return example::run<Sum, TbbWorkers>("parallel_sum_tbb", {arguments, static_cast<std::size_t>(count)},
                                         {.size = std::size_t{1} << 23U, .grain = std::size_t{1} << 14U});
}
