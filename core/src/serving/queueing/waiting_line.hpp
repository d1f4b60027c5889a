#pragma once

#include <cstddef>
#include <vector>

namespace headroom::serving::queueing {

/// First in, first out, in one block of memory that doubles when it is full.
template <class Item> class WaitingLine {
public:
    [[nodiscard]] bool empty() const { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    void put(Item const& item) {
        if (size() == items_.size()) { grow(); }
        items_[end_++ & (items_.size() - 1)] = item;
    }
    Item take() { return items_[begin_++ & (items_.size() - 1)]; }

private:
    void grow() {
        std::vector<Item> larger(items_.empty() ? 8 : 2 * items_.size());
        std::size_t const count = size();
        for (std::size_t i = 0; i < count; ++i) { larger[i] = take(); }
        items_.swap(larger);
        begin_ = 0;
        end_ = count;
    }

    std::vector<Item> items_; ///< a power of two of them
    std::size_t begin_ = 0, end_ = 0;
};

} // namespace headroom::serving::queueing
