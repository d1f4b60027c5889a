#include "logs/log_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace headroom::io {

using namespace headroom::network;

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

template <std::size_t N> bool is_one_of(std::string_view word, std::array<std::string_view, N> const& words) {
    return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 8> rank_words{"np",     "ranks",     "nranks", "procs",
                                                     "nprocs", "processes", "ntasks", "tasks"};
constexpr std::array<std::string_view, 2> node_words{"nodes", "nnodes"};

/// A run of letters or of digits of a file's name, in lower case.
struct Part {
    std::string text;
    bool joined = false; ///< nothing stands between it and the one before
};

std::vector<Part> parts_of(std::string_view path) {
    constexpr std::size_t longest = 1024;
    std::string_view name = path.substr(path.find_last_of('/') + 1);
    name = name.substr(0, std::min(name.size(), longest));
    std::vector<Part> parts;
    char before = '\0';
    for (char const c : name) {
        bool const digit = is_digit(c);
        if (digit || is_letter(c)) {
            bool const goes_on = !parts.empty() && (digit ? is_digit(before) : is_letter(before));
            if (!goes_on) { parts.push_back({"", is_digit(before) || is_letter(before)}); }
            parts.back().text += lowered(c);
        }
        before = c;
    }
    return parts;
}

/// The number that belongs to one of the words: joined to it, else alone next to it ("ranks-64", not "2-ranks-4").
template <std::size_t N>
int number_beside(std::vector<Part> const& parts, std::array<std::string_view, N> const& words) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!is_one_of(parts[i].text, words)) { continue; }
        bool const more = i + 1 < parts.size();
        int const previous = i > 0 ? printed_count(parts[i - 1].text).value_or(0) : 0;
        int const next = more ? printed_count(parts[i + 1].text).value_or(0) : 0;
        if (previous > 0 && parts[i].joined) { return previous; }
        if (next > 0 && parts[i + 1].joined) { return next; }
        if (previous == 0 || next == 0) { return previous + next; }
    }
    return 0;
}

/// The value of an option: "-np 4", "--ntasks=4".
int option_value(std::string_view line, std::string_view option) {
    while (!line.empty()) {
        std::string_view const word = next_word(line);
        if (word == option) {
            std::string_view rest = line;
            return printed_count(next_word(rest)).value_or(0);
        }
        bool const joined = word.starts_with(option) && word.size() > option.size() && word[option.size()] == '=';
        if (joined) { return printed_count(word.substr(option.size() + 1)).value_or(0); }
        bool const letter = option.size() == 2 && word.starts_with(option) && word.size() > 2; // "-n16"
        if (auto const count = letter ? printed_count(word.substr(2)) : std::nullopt) { return *count; }
    }
    return 0;
}

int first_of(std::string_view line, std::initializer_list<std::string_view> options) {
    for (std::string_view const option : options) {
        if (int const value = option_value(line, option)) { return value; }
    }
    return 0;
}

/// Nodes by a list of hosts: "-H node1:8,node2:8", "--host n1,n2", where each name stands once; 0 without one.
int listed_hosts(std::string_view line) {
    while (!line.empty()) {
        std::string_view const word = next_word(line);
        if (word != "-H" && word != "--host" && word != "-host" && word != "--hosts" && word != "-hosts") { continue; }
        std::string_view list = line;
        list = next_word(list);
        std::set<std::string_view> names;
        while (!list.empty()) {
            std::size_t const end = std::min(list.find(','), list.size());
            std::string_view const one = list.substr(0, end);
            names.insert(one.substr(0, one.find(':')));
            list.remove_prefix(std::min(end + 1, list.size()));
        }
        return static_cast<int>(names.size());
    }
    return 0;
}

/// Ranks of one node: "-ppn 8", "-npernode 8", "--map-by ppr:8:node", "--ntasks-per-node=8"; 0 where none is stated.
int ranks_per_node(std::string_view line, bool slurm) {
    if (int const stated = first_of(line, {"-ppn", "--ppn", "-npernode", "--npernode", "-perhost", "--perhost",
                                           "--ntasks-per-node", "--tasks-per-node"})) {
        return stated;
    }
    if (int const stated = slurm ? 0 : first_of(line, {"-N"})) { return stated; } // of Open MPI and aprun
    auto const map = line.find("ppr:");
    std::string_view rest = line.substr(map == std::string_view::npos ? line.size() : map + 4);
    rest = next_word(rest);
    auto const colon = rest.find(':');
    bool const node = colon != std::string_view::npos && rest.substr(colon + 1).starts_with("node");
    return node ? printed_count(rest.substr(0, colon)).value_or(0) : 0;
}

/// The longest name of a collective that a text ends with: "all_gather" of "run_all_gather".
std::string_view collective_at_end(std::string_view text) {
    constexpr std::size_t longest = 24;
    std::size_t begin = text.size();
    std::string_view found;
    while (begin > 0 && text.size() - begin < longest) {
        char const before = text[begin - 1];
        if (!is_letter(before) && before != '_') { break; }
        --begin;
        bool const starts = begin == 0 || !(is_letter(text[begin - 1]) || is_digit(text[begin - 1]));
        if (starts && is_letter(before) && collective_in_log(text.substr(begin))) { found = text.substr(begin); }
    }
    return found;
}

/// A launcher's own words: from its name to the program that it starts; empty when there is none.
std::string_view launcher_part(std::string_view line) {
    std::size_t begin = line.size();
    for (std::string_view const launcher : {"mpirun", "mpiexec", "srun", "aprun"}) {
        begin = std::min(begin, line.find(launcher));
    }
    line.remove_prefix(begin);
    std::size_t end = line.size();
    for (std::string_view const program : {"_perf", "_test", "osu_", "IMB-"}) {
        end = std::min(end, line.find(program));
    }
    return line.substr(0, end);
}

} // namespace

RunHints hints_of_name(std::string_view path) {
    auto const parts = parts_of(path);
    return {.ranks = number_beside(parts, rank_words), .nodes = number_beside(parts, node_words)};
}

RunHints hints_of_command(std::string_view line) {
    constexpr std::size_t longest = 16'384;
    line = launcher_part(line.substr(0, std::min(line.size(), longest)));
    if (line.empty()) { return {}; }
    bool const slurm = line.starts_with("srun");
    RunHints hints{.ranks = first_of(line, {"-np", "-n", "--ntasks", "--np"}), .nodes = 0};
    if (slurm) { hints.nodes = first_of(line, {"-N", "--nodes"}); }
    int const of_node = ranks_per_node(line, slurm);
    if (hints.ranks == 0 && hints.nodes > 0) { hints.ranks = hints.nodes * of_node; }
    if (hints.nodes == 0 && of_node > 0) { hints.nodes = (hints.ranks + of_node - 1) / of_node; }
    if (hints.nodes == 0) { hints.nodes = listed_hosts(line); }
    return hints;
}

std::string_view nccl_program_in(std::string_view text) {
    for (std::string_view const ending : {"_perf", "_test"}) {
        for (auto at = text.rfind(ending); at != std::string_view::npos && at > 0; at = text.rfind(ending, at - 1)) {
            std::string_view const rest = text.substr(at + ending.size());
            bool const goes_on = !rest.empty() && (is_letter(rest.front()) || is_digit(rest.front()));
            std::string_view const name = goes_on ? std::string_view{} : collective_at_end(text.substr(0, at));
            if (!name.empty()) { return name; }
        }
    }
    return {};
}

std::string_view collective_in_name(std::string_view path) {
    std::string_view const name = path.substr(path.find_last_of('/') + 1);
    return collective_at_end(name.substr(0, name.find('.')));
}

std::optional<Collective> collective_in_log(std::string_view name) {
    if (name.ends_with("_perf")) { name.remove_suffix(5); }
    auto const collective = collective_from(name);
    bool const shares_differ = !name.empty() && lowered(name.back()) == 'v';
    return shares_differ ? std::nullopt : collective;
}

RunShape run_shape(RunHints const& stated, LogBuilder& log, int most_of_node) {
    LogQuestion const& asked = log.question();
    RunHints const name = hints_of_name(log.where());
    RunShape shape;
    shape.ranks = stated.ranks > 0 ? stated.ranks : asked.ranks > 0 ? asked.ranks : name.ranks;
    if (stated.ranks > 0 && asked.ranks > 0 && stated.ranks != asked.ranks) {
        log.note(fmt::format("the log shows {} ranks, which holds before the {} that were given", stated.ranks,
                             asked.ranks));
    }
    if (stated.ranks == 0 && asked.ranks == 0 && name.ranks > 0) {
        log.note(fmt::format("{} ranks are taken from the name of the file", name.ranks));
    }
    int const nodes = asked.nodes > 0 ? asked.nodes : stated.nodes > 0 ? stated.nodes : name.nodes;
    log.assume_one_node(nodes == 0, most_of_node);
    if (nodes == 0) { log.note("the nodes are not stated: one is assumed; --nodes changes it"); }
    if (asked.nodes == 0 && stated.nodes == 0 && name.nodes > 0) {
        log.note(fmt::format("{} nodes are taken from the name of the file", name.nodes));
    }
    shape.nodes = std::max(1, nodes);
    return shape;
}

} // namespace headroom::io
