#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace headroom::trace::path {

/// Sorts what consists of sorted runs, two by two; of equals those of the earlier run come first. `runs`: the first of
/// each, and the end. O(n log runs).
template <class Item, class Earlier>
void merge_runs(std::vector<Item>& items, std::vector<std::size_t> runs, Earlier earlier) {
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end()); // empty ones
    if (runs.size() <= 2) { return; }
    std::vector<Item> other(items.size());
    auto const at = [](std::vector<Item>& all, std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    while (runs.size() > 2) {
        std::vector<std::size_t> joined{0};
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            std::size_t const last = runs[std::min(i + 2, runs.size() - 1)];
            std::merge(at(items, runs[i]), at(items, runs[i + 1]), at(items, runs[i + 1]), at(items, last),
                       at(other, runs[i]), earlier);
            joined.push_back(last);
        }
        items.swap(other);
        runs = std::move(joined);
    }
}

} // namespace headroom::trace::path
