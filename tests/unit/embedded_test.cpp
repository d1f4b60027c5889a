#include "headroom/io/embedded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace headroom::io {
namespace {

std::map<std::string, std::string> files_on_disk() {
    std::filesystem::path const root{HEADROOM_SOURCE_DIR};
    std::map<std::string, std::string> files;
    auto const collect = [&](char const* folder, char const* extension) {
        if (!std::filesystem::exists(root / folder)) { return; }
        for (auto const& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
            if (!entry.is_regular_file() || entry.path().extension() != extension) { continue; }
            std::ifstream in{entry.path(), std::ios::binary};
            files.emplace(std::filesystem::relative(entry.path(), root).generic_string(),
                          std::string{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}});
        }
    };
    collect("catalog", ".toml");
    collect("validation", ".csv");
    return files;
}

TEST(Embedded, HoldsEveryDataFileByteForByte) {
    auto const expected = files_on_disk();
    for (auto const& [path, content, hash] : embedded_files()) {
        auto const file = expected.find(std::string{path});
        ASSERT_NE(file, expected.end()) << path << " is embedded but not on disk";
        EXPECT_TRUE(file->second == content) << path << " differs from the file on disk";
        EXPECT_EQ(hash, fnv1a(fnv1a_start, content)) << path;
    }
    EXPECT_EQ(embedded_files().size(), expected.size());
}

TEST(Embedded, IsSortedByPath) { EXPECT_TRUE(std::ranges::is_sorted(embedded_files(), {}, &EmbeddedFile::path)); }

} // namespace
} // namespace headroom::io
