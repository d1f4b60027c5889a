// seed_tests READER FOLDER: what a fuzzer tries, tried with each file of FOLDER. A reader that finds a fault ends the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define HEADROOM_READER(name) extern "C" int name(std::uint8_t const* data, std::size_t size);
#include "readers.inc"
#undef HEADROOM_READER

namespace {

struct Reader {
    std::string name;
    int (*read)(std::uint8_t const*, std::size_t);
};

std::vector<Reader> readers() {
#define HEADROOM_READER(name) {#name, name},
    return {
#include "readers.inc"
    };
#undef HEADROOM_READER
}

std::vector<std::filesystem::path> files_of(std::string const& folder) {
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::recursive_directory_iterator{folder}) {
        if (entry.is_regular_file()) { files.push_back(entry.path()); }
    }
    std::ranges::sort(files);
    return files;
}

} // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("usage: seed_tests READER FOLDER\n", stderr);
        return 2;
    }
    std::vector<Reader> const known = readers();
    auto const reader = std::ranges::find(known, words[1], &Reader::name);
    std::vector<std::filesystem::path> const files = files_of(words[2]);
    if (reader == known.end() || files.empty()) {
        std::fprintf(stderr, "seed_tests: no reader %s, or no seeds in %s\n", words[1], words[2]);
        return 2;
    }
    for (auto const& path : files) {
        std::fprintf(stderr, "%s\n", path.c_str()); // the last line names the seed that failed
        std::ifstream file{path, std::ios::binary};
        std::string const bytes{std::istreambuf_iterator<char>{file}, {}};
        reader->read(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
    }
}
