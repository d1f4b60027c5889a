#pragma once

#include <cstdlib>
#include <filesystem>

namespace headroom::test {

/// Where traces that others recorded lie; empty when they are not there.
inline std::filesystem::path recorded_traces() {
    char const* const shared = std::getenv("HEADROOM_SHARED");
    std::filesystem::path const root =
        std::filesystem::path{shared != nullptr ? shared : HEADROOM_SOURCE_DIR "/../shared"} / "traces";
    return std::filesystem::is_directory(root) ? root : std::filesystem::path{};
}

} // namespace headroom::test
