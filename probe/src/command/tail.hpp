#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::probe {

/// The last bytes of a stream of any length, in memory of at most twice as many.
class Tail {
public:
    explicit Tail(std::size_t keep) : keep_{keep} {}

    void add(std::string_view bytes) {
        total_ += bytes.size();
        if (bytes.size() > keep_) { bytes.remove_prefix(bytes.size() - keep_); }
        kept_ += bytes;
        if (kept_.size() > 2 * keep_) { cut(); }
    }
    [[nodiscard]] std::uint64_t total() const { return total_; }
    std::string take() {
        cut();
        return std::move(kept_);
    }

private:
    void cut() {
        if (kept_.size() > keep_) { kept_.erase(0, kept_.size() - keep_); }
    }

    std::size_t keep_;
    std::string kept_;
    std::uint64_t total_ = 0;
};

} // namespace headroom::probe
