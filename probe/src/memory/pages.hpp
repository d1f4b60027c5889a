#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace headroom::probe {

/// Memory straight from the system, in huge pages where it gives them. A page comes from the memory of the core that
/// first writes to it.
class Pages {
public:
    Pages() = default;
    /// Errors:     std::runtime_error where the system refuses.
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(Pages&& other) noexcept { *this = std::move(other); }
    Pages& operator=(Pages&& other) noexcept {
        std::swap(begin_, other.begin_), std::swap(bytes_, other.bytes_), std::swap(data_, other.data_);
        return *this;
    }

    /// At the beginning of a huge page.
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return bytes_ == 0 ? 0 : bytes_ - huge_page; }

private:
    static constexpr std::size_t huge_page = std::size_t{1} << 21U;
    void* begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::byte* data_ = nullptr;
};

/// Bytes of this process that lie in huge pages; 0 where the system does not say.
std::uint64_t bytes_in_huge_pages();

} // namespace headroom::probe
