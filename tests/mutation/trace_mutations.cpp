/// Reads damaged traces of every format, as many as are asked for, and says what became of them. Built with the
/// sanitizers it ends at the first fault of memory; an exception that is no answer about the input ends it, too, with
/// the input next to it. Input `i` of a seed is the same wherever it is drawn.

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"
#include "headroom/trace/trace_answer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace headroom;
using namespace headroom::trace;

struct Seed {
    std::string name, bytes;
};

constexpr std::size_t largest_seed = 64U << 10; ///< bytes; of larger files the beginning

std::vector<Seed> seeds_below(std::vector<std::string> const& folders) {
    std::vector<std::filesystem::path> files;
    for (auto const& folder : folders) {
        for (auto const& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file()) { files.push_back(entry.path()); }
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<Seed> seeds;
    for (auto const& file : files) {
        std::ifstream in(file, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(in), {}};
        bytes.resize(std::min(bytes.size(), largest_seed));
        seeds.push_back({file.filename().string(), std::move(bytes)});
    }
    return seeds;
}

/// Numbers of one input, one after the other.
class Draw {
public:
    Draw(std::uint64_t seed, std::uint64_t input) : stream_{seed ^ (input * 0x9e3779b97f4a7c15ULL)} {}
    std::size_t below(std::size_t limit) {
        // splitmix64: what is wanted is variety, and the same on every machine.
        auto word = stream_ += 0x9e3779b97f4a7c15ULL;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
        return limit == 0 ? 0 : (word ^ (word >> 31)) % limit;
    }

private:
    std::uint64_t stream_;
};

void flip_bits(std::string& bytes, Draw& draw) {
    for (auto left = 1 + draw.below(16); left > 0 && !bytes.empty(); --left) {
        bytes[draw.below(bytes.size())] ^= static_cast<char>(1U << draw.below(8));
    }
}
void cut(std::string& bytes, Draw& draw) { bytes.resize(draw.below(bytes.size() + 1)); }
void cut_out(std::string& bytes, Draw& draw) {
    auto const begin = draw.below(bytes.size() + 1);
    bytes.erase(begin, draw.below(bytes.size() - begin + 1));
}
void splice(std::string& bytes, std::string const& other, Draw& draw) {
    auto const begin = draw.below(other.size() + 1);
    bytes.insert(draw.below(bytes.size() + 1), other, begin, draw.below(std::min<std::size_t>(other.size(), 4096)));
}
void nest(std::string& bytes, Draw& draw) {
    auto const deep = draw.below(20'000);
    bytes.insert(draw.below(bytes.size() + 1), std::string(deep, draw.below(2) == 0 ? '[' : '{'));
}
void huge_number(std::string& bytes, Draw& draw) {
    static constexpr char const* numbers[] = {"1e999",
                                              "-1e308",
                                              "99999999999999999999999999",
                                              "-9223372036854775808",
                                              "NaN",
                                              "-inf",
                                              "0x7fffffffffffffff",
                                              "1e-400",
                                              "18446744073709551616",
                                              "-0",
                                              "00012",
                                              "1.5e5e5"};
    auto place = bytes.find_first_of("0123456789", draw.below(bytes.size() + 1));
    place = place == std::string::npos ? 0 : place;
    auto end = bytes.find_first_not_of("0123456789.", place);
    end = end == std::string::npos ? bytes.size() : end;
    bytes.replace(place, end - place, numbers[draw.below(std::size(numbers))]);
}
void long_text(std::string& bytes, Draw& draw) {
    bytes.insert(draw.below(bytes.size() + 1), std::string(draw.below(200'000), static_cast<char>(draw.below(256))));
}

std::string mutated(std::vector<Seed> const& seeds, Draw& draw, std::string& name) {
    auto const& seed = seeds[draw.below(seeds.size())];
    name = seed.name;
    auto bytes = seed.bytes;
    for (auto left = 1 + draw.below(3); left > 0; --left) {
        switch (draw.below(8)) {
        case 0: cut(bytes, draw); break;
        case 1: cut_out(bytes, draw); break;
        case 2: splice(bytes, seeds[draw.below(seeds.size())].bytes, draw); break;
        case 3: nest(bytes, draw); break;
        case 4: huge_number(bytes, draw); break;
        case 5: long_text(bytes, draw); break;
        default: flip_bits(bytes, draw);
        }
    }
    return bytes;
}

std::string outcome_of(std::string const& bytes, std::string const& name) {
    io::TraceReading reading;
    reading.text_limit = 256U << 20;
    try {
        std::vector<RankDigest> digests;
        for (auto const& trace : io::read_traces(bytes, name, reading)) { digests.push_back(digest_of(trace)); }
        auto const answer = trace_answer(std::move(digests));
        return answer.issues.empty() ? "read, nothing to say" : "read, damage counted";
    } catch (InputError const& error) {
        return error.fault() == Fault::insufficient ? "refused: too little" : "refused: unreadable";
    }
}

/// Time of the processor, not of the clock: other work on the machine makes no input slow.
double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto const seconds = [](timeval const& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        std::fputs("usage: trace_mutations COUNT SEED FOLDER...\n", stderr);
        return 2;
    }
    auto const wanted = std::strtoull(arguments[1], nullptr, 10), seed = std::strtoull(arguments[2], nullptr, 10);
    auto const seeds = seeds_below({arguments + 3, arguments + count});
    if (seeds.empty()) {
        std::fputs("no seeds\n", stderr);
        return 2;
    }
    std::map<std::string, std::uint64_t> outcomes;
    double slowest = 0.0;
    for (std::uint64_t input = 0; input < wanted; ++input) {
        Draw draw(seed, input);
        std::string name;
        auto const bytes = mutated(seeds, draw, name);
        double const begin = processor_seconds();
        try {
            ++outcomes[outcome_of(bytes, name)];
        } catch (std::exception const& error) {
            std::ofstream("mutation-" + std::to_string(input), std::ios::binary) << bytes;
            std::fprintf(stderr, "input %llu, from %s: %s\n", static_cast<unsigned long long>(input), name.c_str(),
                         error.what());
            return 1;
        }
        double const taken = processor_seconds() - begin;
        if (taken > slowest) {
            slowest = taken;
            std::printf("slowest so far: input %llu, from %s, %zu bytes, %.3f s\n",
                        static_cast<unsigned long long>(input), name.c_str(), bytes.size(), slowest);
        }
    }
    for (auto const& [what, times] : outcomes) {
        std::printf("%10llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("%llu inputs from %zu seeds, at most %.2f s and %ld MiB\n", static_cast<unsigned long long>(wanted),
                seeds.size(), slowest, used.ru_maxrss / 1024);
    return slowest > 20.0 ? 1 : 0;
}
