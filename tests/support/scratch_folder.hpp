#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

namespace headroom::test {

/// A new folder that nobody else uses, removed with everything in it.
class ScratchFolder {
public:
    explicit ScratchFolder(std::filesystem::path const& where = std::filesystem::temp_directory_path()) {
        std::string pattern = (where / "headroom-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error{"no folder can be made in " + where.string()};
        }
        path_ = pattern;
    }
    /// In memory where there is such a place: nothing waits for a disk there.
    static ScratchFolder in_memory() {
        bool const there = ::access("/dev/shm", W_OK | X_OK) == 0;
        return ScratchFolder{there ? std::filesystem::path{"/dev/shm"} : std::filesystem::temp_directory_path()};
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(ScratchFolder const&) = delete;
    ScratchFolder& operator=(ScratchFolder const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace headroom::test
