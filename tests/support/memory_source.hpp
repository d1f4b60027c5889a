#pragma once

// Bytes of a test as a reader of traces gets them, whole or a few at a time.

#include "../io/src/traces/byte_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace headroom::test {

class MemorySource : public io::ByteSource {
public:
    explicit MemorySource(std::string_view bytes, bool whole = true) : bytes_{bytes}, whole_{whole} {}
    std::size_t read(char* into, std::size_t size) override {
        std::size_t const count = std::min(size, bytes_.size() - at_);
        std::copy_n(bytes_.data() + at_, count, into);
        at_ += count;
        return count;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return bytes_.size(); }
    [[nodiscard]] std::string_view in_memory() const override { return whole_ ? bytes_ : std::string_view{}; }
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool whole_;
};

/// Where traces that others recorded lie; empty when they are not there.
inline std::filesystem::path recorded_traces() {
    char const* const shared = std::getenv("HEADROOM_SHARED");
    std::filesystem::path const root =
        std::filesystem::path{shared != nullptr ? shared : HEADROOM_SOURCE_DIR "/../shared"} / "traces";
    return std::filesystem::is_directory(root) ? root : std::filesystem::path{};
}

} // namespace headroom::test
