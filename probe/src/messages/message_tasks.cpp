#include "headroom/error.hpp"
#include "headroom/measure/pair_rounds.hpp"
#include "headroom/probe/comm.hpp"
#include "headroom/probe/machine_facts.hpp"
#include "headroom/text.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace headroom::probe {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

using text::join;

constexpr std::uint64_t small_pair = 8, large_pair = std::uint64_t{1} << 20;
constexpr std::uint64_t largest_train = 32 << 10; ///< above, senders of most libraries wait for their receivers
constexpr int messages_of_train = 16;
constexpr std::uint64_t largest_sum = 1 << 20;
constexpr int most_pair_ranks = 128; ///< 8128 pairs; more would take the time of everything else

/// Messages in one repetition, of which the mean: enough that the clock does not count, and of hot ones that a processor
/// which has waited is awake. Few where ranks share cores: there each may take a time slice.
int in_a_row(std::uint64_t bytes, bool few) {
    constexpr std::uint64_t smallest = 512, small = 4 << 10, middle = 64 << 10, large = 1 << 20;
    if (few) { return bytes <= small ? 10 : bytes <= middle ? 3 : 2; }
    return bytes <= smallest ? 128 : bytes <= small ? 64 : bytes <= middle ? 32 : bytes <= large ? 8 : 2;
}

/// Messages up to this size are sent while the private cache of a core still holds them: half of it. Larger ones come from
/// memory, for a training step touches far more between two uses of a buffer. See docs/guide/measure-comm.md.
std::uint64_t largest_hot() {
    constexpr std::uint64_t usual = 512 << 10;
    std::uint64_t bytes = 0;
    for (CacheLevel const& cache : machine_shape().caches) {
        if (cache.cores <= 1) { bytes = std::max(bytes, cache.bytes / 2); }
    }
    return bytes > 0 ? bytes : usual;
}

/// Collects tasks; every point of its own label once.
class Tasks {
public:
    Tasks(CommQuestion const& question, CommWorld const& world) : question_{question}, world_{world} {}

    CommTasks all() {
        for (auto const& peer : {world_.near_peer(), world_.far_peer()}) {
            if (peer) { add_messages(*peer); }
        }
        if (question_.wants(CommPart::messages)) { add_all_ranks(); }
        if (question_.wants(CommPart::collectives)) { add_collectives(); }
        if (question_.wants(CommPart::pairs)) { add_pairs(); }
        return std::move(tasks_);
    }

private:
    std::uint32_t add_point(std::string label, Facts parameters) {
        tasks_.points.push_back({std::move(label), std::move(parameters), "seconds"});
        return static_cast<std::uint32_t>(tasks_.points.size() - 1);
    }

    /// A point for each state of the buffers that is asked for.
    void add_states(CommRequest request, std::string const& label, Facts const& more) {
        for (CommBuffers const state : question_.buffers) {
            request.cold = state == CommBuffers::cold ? 1 : 0;
            request.in_a_row = in_a_row(request.bytes, state == CommBuffers::cold || world_.crowded());
            Facts all = more;
            all.emplace_back("buffers", comm_buffers_names[static_cast<std::size_t>(state)]);
            add_alone(request, label + (request.cold != 0 ? ", cold" : ""), std::move(all));
        }
    }

    std::size_t add_task(CommRequest const& request, std::string label, Facts more) {
        if (!labels_.insert(label).second) { return tasks_.tasks.size() - 1; } // two sizes that round to one
        Facts parameters{{"pattern", std::string{name_of(request.pattern)}}, {"bytes", std::to_string(request.bytes)}};
        parameters.insert(parameters.end(), more.begin(), more.end());
        tasks_.tasks.push_back({request, {add_point(std::move(label), std::move(parameters))}});
        return tasks_.tasks.size() - 1;
    }

    void add_alone(CommRequest const& request, std::string label, Facts more) {
        std::size_t const before = tasks_.tasks.size();
        add_task(request, std::move(label), std::move(more));
        if (tasks_.tasks.size() > before) { tasks_.groups.push_back({before}); }
    }

    void add_between(CommPattern pattern, int peer, std::uint64_t bytes) {
        CommRequest const request{.pattern = pattern, .peer = peer, .in_a_row = in_a_row(bytes, true), .bytes = bytes};
        std::string const label =
            std::string{name_of(pattern)} + " of " + std::to_string(bytes) + " B, ranks 0 and " + std::to_string(peer);
        Facts const more{{"peer", std::to_string(peer)}, {"link", world_.link_to(peer)}};
        bool const states = pattern == CommPattern::one_way || pattern == CommPattern::both_ways;
        states ? add_states(request, label, more) : add_alone(request, label, more);
    }

    void add_messages(int peer) {
        for (std::uint64_t const bytes : question_.sizes) {
            if (question_.wants(CommPart::messages)) {
                add_between(CommPattern::one_way, peer, bytes);
                add_between(CommPattern::both_ways, peer, bytes);
            }
        }
        if (question_.wants(CommPart::load)) { add_load(peer); }
        if (question_.wants(CommPart::loggp)) { add_trains(peer); }
    }

    void add_load(int peer) {
        for (std::uint64_t const bytes : {small_pair, large_pair}) {
            add_between(CommPattern::one_way, peer, bytes); // to compare with
            if (world_.ranks() >= 4) { add_between(CommPattern::loaded, peer, bytes); }
            add_between(CommPattern::computing, peer, bytes);
        }
        if (world_.ranks() < 4) { note("load of other transfers: not measured (it takes 4 ranks)"); }
    }

    void add_trains(int peer) {
        std::vector<std::uint64_t> sizes{1, 64, 1024, 8192, largest_train};
        for (std::uint64_t const bytes : sizes) {
            std::vector<std::size_t> group;
            for (int const kind : {0, 1, 2}) { // alone, one after the other, with pauses
                CommRequest const request{.pattern = CommPattern::train,
                                          .peer = peer,
                                          .messages = kind == 0 ? 1 : messages_of_train,
                                          .bytes = bytes};
                std::string const words = kind == 0   ? "one message"
                                          : kind == 1 ? "16 messages"
                                                      : "16 messages with pauses";
                group.push_back(add_task(request,
                                         "train of " + words + " of " + std::to_string(bytes) + " B, ranks 0 and " +
                                             std::to_string(peer),
                                         {{"peer", std::to_string(peer)},
                                          {"link", world_.link_to(peer)},
                                          {"messages", std::to_string(request.messages)},
                                          {"paced", kind == 2 ? "yes" : "no"}}));
            }
            tasks_.tasks[group[2]].paused_by = static_cast<int>(group[0]);
            tasks_.groups.push_back(std::move(group));
        }
    }

    void add_over_all(CommPattern pattern, std::uint64_t asked) {
        std::uint64_t const bytes = actual_bytes(pattern, Collective::all_to_all, asked, world_.ranks());
        CommRequest const request{.pattern = pattern, .bytes = bytes};
        std::string const label = std::string{name_of(pattern)} + " of " + std::to_string(bytes) + " B";
        pattern == CommPattern::adding ? add_alone(request, label, {}) : add_states(request, label, {});
    }

    void add_all_ranks() {
        for (std::uint64_t const bytes : question_.sizes) {
            add_over_all(CommPattern::shifted, bytes);
            if (world_.ranks() > 2) { add_over_all(CommPattern::all_at_once, bytes); }
        }
        add_over_all(CommPattern::adding, std::min(question_.sizes.back(), largest_sum));
    }

    void add_collective(Collective collective, int number, std::string const& algorithm) {
        for (std::uint64_t const asked : question_.sizes) {
            std::uint64_t const bytes = actual_bytes(CommPattern::collective, collective, asked, world_.ranks());
            CommRequest const request{
                .pattern = CommPattern::collective, .collective = collective, .algorithm = number, .bytes = bytes};
            std::string label{name_of(collective)};
            if (number != 0) { label += " by " + algorithm; }
            if (collective != Collective::barrier) { label += " of " + std::to_string(request.bytes) + " B"; }
            Facts const more{{"collective", std::string{name_of(collective)}},
                             {"algorithm", number == 0 ? "library" : algorithm}};
            add_states(request, label, more);
        }
    }

    void add_collectives() {
        auto const& wanted = question_.algorithms;
        bool const all = std::ranges::find(wanted, "all") != wanted.end();
        std::set<std::string> known{"library", "all"}, used;
        for (auto const& one : world_.algorithms) { known.insert(one.name); }
        bool const any_forced = all || std::ranges::any_of(wanted, [](auto const& name) { return name != "library"; });
        if (any_forced && world_.algorithms.empty()) {
            note("no algorithm was forced: " + world_.no_algorithms +
                 ". force one for the whole job by the launcher, and measure once a choice");
        }
        for (std::string const& name : wanted) {
            if (known.contains(name) || world_.algorithms.empty()) { continue; }
            std::vector<std::string> const names(known.begin(), known.end());
            refuse("--algorithms", quoted(name) + " is none of the library's", world_.implementation,
                   "choose from " + join(names, ", "));
        }
        for (Collective const collective : question_.collectives) {
            if (all || std::ranges::find(wanted, "library") != wanted.end() || world_.algorithms.empty()) {
                add_collective(collective, 0, "");
            }
            for (auto const& one : world_.algorithms) {
                bool const named = std::ranges::find(wanted, one.name) != wanted.end();
                if (one.collective == collective && (all || named)) {
                    add_collective(collective, one.number, one.name);
                }
            }
        }
    }

    void add_pairs() {
        if (world_.ranks() < 3) { return; } // one pair has no likes
        if (world_.ranks() > most_pair_ranks) {
            note("pairs: not measured (" + std::to_string(world_.ranks()) + " ranks; up to 128 are)");
            return;
        }
        auto const rounds = pair_rounds(Ranks{world_.ranks()});
        for (std::uint64_t const bytes : {small_pair, large_pair}) {
            for (std::size_t round = 0; round < rounds.size(); ++round) {
                CommTask task{.request = {.pattern = CommPattern::pairs,
                                          .in_a_row = in_a_row(bytes, true),
                                          .round = static_cast<std::int32_t>(round),
                                          .bytes = bytes},
                              .points = {}};
                for (auto const& [first, second] : rounds[round]) {
                    task.points.push_back(add_pair(first, second, bytes));
                }
                tasks_.groups.push_back({tasks_.tasks.size()});
                tasks_.tasks.push_back(std::move(task));
            }
        }
    }

    std::uint32_t add_pair(int first, int second, std::uint64_t bytes) {
        return add_point("pair of ranks " + std::to_string(first) + " and " + std::to_string(second) + ", " +
                             std::to_string(bytes) + " B",
                         {{"pattern", "pairs"},
                          {"bytes", std::to_string(bytes)},
                          {"first", std::to_string(first)},
                          {"second", std::to_string(second)}});
    }

    void note(std::string text) {
        if (std::ranges::find(tasks_.notes, text) == tasks_.notes.end()) { tasks_.notes.push_back(std::move(text)); }
    }

    CommQuestion const& question_;
    CommWorld const& world_;
    CommTasks tasks_;
    std::set<std::string> labels_;
};

} // namespace

CommJob*& comm_job() {
    static CommJob* job = nullptr;
    return job;
}

std::uint64_t actual_bytes(CommPattern pattern, Collective collective, std::uint64_t asked, int ranks) {
    auto const p = static_cast<std::uint64_t>(ranks);
    std::uint64_t const floats = std::max<std::uint64_t>(1, asked / 4);
    bool const shards = collective == Collective::all_gather || collective == Collective::reduce_scatter ||
                        collective == Collective::all_to_all;
    if (pattern == CommPattern::all_at_once || (pattern == CommPattern::collective && shards)) {
        return std::max<std::uint64_t>(1, floats / p) * p * 4;
    }
    if (pattern == CommPattern::collective && collective == Collective::barrier) { return 0; }
    return pattern == CommPattern::collective || pattern == CommPattern::adding ? floats * 4 : asked;
}

bool CommQuestion::wants(CommPart part) const { return std::ranges::find(parts, part) != parts.end(); }

Facts settings_of(CommQuestion const& question, CommWorld const& world) {
    std::vector<std::string> sizes, collectives, parts, buffers;
    for (std::uint64_t const size : question.sizes) { sizes.push_back(std::to_string(size)); }
    for (Collective const one : question.collectives) { collectives.emplace_back(name_of(one)); }
    for (CommPart const one : question.parts) { parts.emplace_back(comm_part_names[static_cast<std::size_t>(one)]); }
    for (CommBuffers const one : question.buffers) {
        buffers.emplace_back(comm_buffers_names[static_cast<std::size_t>(one)]);
    }
    return {{"ranks", std::to_string(world.ranks())},
            {"hosts", join(world.hosts, ",")},
            {"library", world.implementation},
            {"sizes", join(sizes, ",")},
            {"parts", join(parts, ",")},
            {"collectives", join(collectives, ",")},
            {"algorithms", join(question.algorithms, ",")},
            {"buffers", join(buffers, ",")},
            {"seed", std::to_string(question.seed)}};
}

Facts job_facts(CommWorld const& world) {
    Facts facts = machine_facts();
    facts.emplace_back("mpi", world.implementation);
    facts.emplace_back("ranks", std::to_string(world.ranks()));
    facts.emplace_back("nodes", std::to_string(world.nodes()));
    facts.emplace_back("largest hot message", std::to_string(largest_hot()));
    constexpr std::array<std::string_view, 6> prefixes{"OMPI_MCA_btl",  "OMPI_MCA_coll", "OMPI_MCA_pml",
                                                       "OMPI_MCA_mpi_", "UCX_",          "MPIR_CVAR_"};
    for (char** variable = environ; *variable != nullptr; ++variable) {
        std::string const text = *variable;
        std::size_t const equal = text.find('=');
        bool const ours = std::ranges::any_of(prefixes, [&](auto prefix) { return text.starts_with(prefix); });
        if (ours && equal != std::string::npos) { facts.emplace_back(text.substr(0, equal), text.substr(equal + 1)); }
    }
    return facts;
}

CommTasks comm_tasks(CommQuestion const& question, CommWorld const& world) {
    CommTasks tasks = Tasks{question, world}.all();
    if (tasks.tasks.empty()) {
        refuse("--parts", "nothing is left to be measured", "pairs take three ranks", "leave --parts out");
    }
    return tasks;
}

} // namespace headroom::probe
