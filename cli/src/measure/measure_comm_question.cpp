#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::measure;
using namespace headroom::network;

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
    Option{"--parts", "NAMES", "messages,collectives,pairs,load,loggp (default: all)", what},
    Option{"--time", "TIME", "to be spent on it (default: 60s); every point is timed once, whatever it takes", effort},
    Option{"--quick", "", "fewer sizes, 10 s", effort, Takes::nothing},
    Option{"--seed", "N", "of the order in which points are timed (default: 1)", effort},
    Option{"--patience", "TIME", "for one repetition, before the job is given up (default: 60s)", effort},
    Option{"--save", "FILE", "the medians as a table (CSV), for headroom comm --fit", "Output"},
};

constexpr std::uint64_t largest = std::uint64_t{1} << 30;
constexpr std::array names_of_parts{"messages", "collectives", "pairs", "load", "loggp"};
constexpr std::array timed_collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                       Collective::broadcast,  Collective::reduce,     Collective::all_to_all,
                                       Collective::barrier};

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

std::vector<Collective> collectives_of(std::string const& text) {
    std::vector<Collective> found;
    std::vector<std::string> names;
    for (Collective const one : timed_collectives) { names.emplace_back(name_of(one)); }
    for (std::string const& part : split(text, ',')) {
        std::string const name = parse_choice(part, names, "--collectives");
        auto const one = std::ranges::find(timed_collectives, name, [](Collective c) { return name_of(c); });
        if (std::ranges::find(found, *one) == found.end()) { found.push_back(*one); }
    }
    return found;
}

std::vector<CommPart> parts_of(std::string const& text) {
    std::vector<CommPart> found;
    std::vector<std::string> const names(names_of_parts.begin(), names_of_parts.end());
    for (std::string const& part : split(text, ',')) {
        std::string const name = parse_choice(part, names, "--parts");
        auto const at = std::ranges::find(names, name) - names.begin();
        found.push_back(static_cast<CommPart>(at));
    }
    return found;
}

double seconds_of(Arguments const& arguments, std::string const& name, double otherwise) {
    auto const given = arguments.quantity<Seconds>(name);
    if (!given) { return otherwise; }
    constexpr double day = 86400.0;
    if (!(given->base() > 0.0) || given->base() > day) {
        refuse(name, "is not above zero and at most a day", "", "for example " + name + " 60s");
    }
    return given->base();
}

void check_save(CommMeasureQuestion const& question, Output const& output) {
    if (question.save.empty()) { return; }
    if (question.save == "-") { refuse("--save", "names no file", "", "for example --save comm.csv"); }
    if (same_file(question.save, output.file) || (!output.html.empty() && same_file(question.save, output.html))) {
        refuse("--save", headroom::quoted(question.save) + " is where the result goes too",
               "they would run into each other", "give one of them another file");
    }
}

} // namespace

std::span<Option const> comm_measure_options() { return options; }

bool CommMeasureQuestion::wants(CommPart part) const { return std::ranges::find(parts, part) != parts.end(); }

CommMeasureQuestion read_comm_measure_question(Arguments const& arguments, Output const& output) {
    bool const quick = arguments.has("--quick");
    CommMeasureQuestion question;
    question.sizes = sizes_of(arguments.text("--sizes").value_or(quick ? "8B..1MiB:32" : "8B..16MiB"));
    question.collectives.assign(timed_collectives.begin(), timed_collectives.end());
    if (auto const text = arguments.text("--collectives")) { question.collectives = collectives_of(*text); }
    question.algorithms = split(arguments.text("--algorithms").value_or("library"), ',');
    question.parts = {CommPart::messages, CommPart::collectives, CommPart::pairs, CommPart::load, CommPart::loggp};
    if (auto const text = arguments.text("--parts")) { question.parts = parts_of(*text); }
    question.budget_seconds = seconds_of(arguments, "--time", quick ? 10.0 : 60.0);
    question.patience_seconds = seconds_of(arguments, "--patience", 60.0);
    question.rounds = quick ? 3 : 5;
    if (auto const seed = arguments.text("--seed")) {
        question.seed = static_cast<std::uint64_t>(parse_whole(*seed, "--seed"));
    }
    if (auto const file = arguments.text("--save")) {
        if (file->empty()) { refuse("--save", "names no file", "", "for example --save comm.csv"); }
        question.save = *file;
    }
    check_save(question, output);
    return question;
}

Facts settings_of(CommMeasureQuestion const& question, probe::CommWorld const& world) {
    std::vector<std::string> sizes, collectives, parts, hosts = world.hosts;
    for (std::uint64_t const size : question.sizes) { sizes.push_back(std::to_string(size)); }
    for (Collective const one : question.collectives) { collectives.emplace_back(name_of(one)); }
    for (CommPart const one : question.parts) { parts.emplace_back(names_of_parts[static_cast<std::size_t>(one)]); }
    return {{"ranks", std::to_string(world.ranks())},
            {"hosts", join(hosts, ",")},
            {"library", world.implementation},
            {"sizes", join(sizes, ",")},
            {"parts", join(parts, ",")},
            {"collectives", join(collectives, ",")},
            {"algorithms", join(question.algorithms, ",")},
            {"seed", std::to_string(question.seed)}};
}

} // namespace headroom::cli
