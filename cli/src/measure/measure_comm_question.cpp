#include "measure/measure.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr char const* what = "Messages";
constexpr char const* effort = "Effort";

constexpr std::array options{
    Option{"--sizes", "SIZES", "8B,1KiB,64KiB or 8B..16MiB (times 8; 8B..16MiB:4 times 4); up to 1 GiB", what},
    Option{"--collectives", "NAMES",
           "several with commas: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, barrier "
           "(default: all)",
           what},
    Option{"--algorithms", "NAMES", "library (as it chooses; default), all, or names of the library's: ring,bruck",
           what},
    Option{"--buffers", "NAMES", "hot, cold: the same ones each time, or from memory (default: both)", what},
    Option{"--parts", "NAMES", "messages,collectives,pairs,load,loggp (default: all)", what},
    Option{"--time", "TIME", "to be spent on it (default: 60s); every point is timed once, whatever it takes", effort},
    Option{"--quick", "", "fewer sizes, 10 s", effort, Takes::nothing},
    Option{"--seed", "N", "of the order in which points are timed (default: 1)", effort},
    Option{"--patience", "TIME", "for one repetition, before the job is given up (default: 60s)", effort},
    Option{"--save", "FILE", "the times as a table (CSV), for headroom comm --fit", "Output"},
};

constexpr std::uint64_t largest = std::uint64_t{1} << 30;
constexpr std::array timed_collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                       Collective::broadcast,  Collective::reduce,     Collective::all_to_all,
                                       Collective::barrier};

constexpr std::array all_parts{probe::CommPart::messages, probe::CommPart::collectives, probe::CommPart::pairs,
                               probe::CommPart::load, probe::CommPart::loggp};

constexpr std::array all_buffers{probe::CommBuffers::hot, probe::CommBuffers::cold};

std::uint64_t size_of(std::string_view text) {
    double const bytes = parse<Bytes>(text, "--sizes").base();
    if (bytes < 1.0 || bytes > static_cast<double>(largest) || bytes != std::floor(bytes)) {
        refuse("--sizes", headroom::quoted(text) + " is no size of a message", "1 B to 1 GiB, whole bytes", "");
    }
    return static_cast<std::uint64_t>(bytes);
}

/// "8B..16MiB" or "8B..16MiB:4".
std::vector<std::uint64_t> range_of(std::string const& text, std::size_t dots) {
    std::size_t const colon = text.find(':', dots);
    int factor = 8;
    if (colon != std::string::npos) { factor = parse_whole(text.substr(colon + 1), "--sizes"); }
    if (factor < 2) { refuse("--sizes", "a range grows by a factor of 2 or more", "", "for example 8B..16MiB:4"); }
    std::uint64_t const last = size_of(text.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2));
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = size_of(text.substr(0, dots)); size <= last; size *= static_cast<std::uint64_t>(factor)) {
        sizes.push_back(size);
    }
    if (sizes.empty()) { refuse("--sizes", headroom::quoted(text) + " is empty", "it ends before it begins", ""); }
    return sizes;
}

std::vector<std::uint64_t> sizes_of(std::string const& text) {
    std::vector<std::uint64_t> sizes;
    for (std::string const& part : split(text, ',')) {
        std::size_t const dots = part.find("..");
        std::vector<std::uint64_t> const more =
            dots == std::string::npos ? std::vector{size_of(part)} : range_of(part, dots);
        sizes.insert(sizes.end(), more.begin(), more.end());
    }
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

/// The values whose names an option gives, in their order; all of them without it.
template <class Values, class Names>
auto chosen(Arguments const& arguments, char const* option, Values const& values, Names const& names) {
    std::vector<typename Values::value_type> found;
    auto const wanted = read_names(arguments, option, {names.begin(), names.end()});
    for (std::size_t i = 0; i < values.size(); ++i) {
        bool const named = std::ranges::find(wanted, names[i]) != wanted.end();
        if (named || wanted.empty()) { found.push_back(values[i]); }
    }
    return found;
}

} // namespace

std::span<Option const> comm_measure_options() { return options; }

probe::CommQuestion read_comm_measure_question(Arguments const& arguments) {
    bool const quick = arguments.has("--quick");
    probe::CommQuestion question;
    question.sizes = sizes_of(arguments.text("--sizes").value_or(quick ? "8B..1MiB:32" : "8B..16MiB"));
    std::vector<std::string> names;
    for (Collective const one : timed_collectives) { names.emplace_back(name_of(one)); }
    question.collectives = chosen(arguments, "--collectives", timed_collectives, names);
    question.algorithms = split(arguments.text("--algorithms").value_or("library"), ',');
    question.buffers = chosen(arguments, "--buffers", all_buffers, probe::comm_buffers_names);
    question.parts = chosen(arguments, "--parts", all_parts, probe::comm_part_names);
    question.budget_seconds = read_seconds(arguments, "--time").value_or(quick ? 10.0 : 60.0);
    question.patience_seconds = read_seconds(arguments, "--patience").value_or(60.0);
    question.rounds = quick ? 3 : 5;
    if (auto const seed = arguments.text("--seed")) {
        question.seed = static_cast<std::uint64_t>(parse_whole(*seed, "--seed"));
    }
    return question;
}

} // namespace headroom::cli
