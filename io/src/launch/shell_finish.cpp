#include "launch/launch_finish.hpp"
#include "launch/slurm_variables.hpp"

#include "headroom/io/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace headroom::io::launch {

namespace {

bool is_digits(std::string_view text) {
    return !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Name of an option of Slurm, wherever it stands; empty for another key.
std::string_view slurm_name(Entry const& entry) {
    for (std::string_view const prefix : {"#SBATCH ", "srun ", "sbatch ", "salloc "}) {
        if (entry.key.starts_with(prefix)) { return std::string_view{entry.key}.substr(prefix.size()); }
    }
    return {};
}

/// The last entry of Slurm with one of the names; none where there is none.
Entry* last_of(std::vector<Entry>& entries, std::initializer_list<std::string_view> names) {
    Entry* last = nullptr;
    for (Entry& entry : entries) {
        if (std::ranges::find(names, slurm_name(entry)) != names.end()) { last = &entry; }
    }
    return last;
}

int number(Entry const* entry, int otherwise) {
    return entry != nullptr && is_digits(entry->value) ? std::atoi(entry->value.c_str()) : otherwise;
}

/// GPUs of a node by Slurm; false where it states none.
bool add_gpus(std::vector<Entry>& entries, int nodes) {
    Entry* gpus = last_of(entries, {"--gpus-per-node"});
    for (Entry& entry : entries) {
        if (slurm_name(entry) == "--gres" && !slurm_gpus(entry.value, true).empty()) { gpus = &entry; }
    }
    if (gpus != nullptr) {
        gpus->value = slurm_gpus(gpus->value, slurm_name(*gpus) == "--gres");
        gpus->to = "--accelerators-per-node";
        return true;
    }
    Entry* all = last_of(entries, {"--gpus", "-G"});
    if (all == nullptr) { return false; }
    all->value = slurm_gpus(all->value, false);
    int const count = number(all, 0);
    bool const even = nodes > 0 && count > 0 && count % nodes == 0;
    all->to = even ? "--accelerators-per-node" : "--workers";
    if (even) { all->value = std::to_string(count / nodes); }
    return true;
}

/// Tasks, each of which has a GPU, or as many as it says.
void add_tasks(std::vector<Entry>& entries, int nodes) {
    Entry* of_node = last_of(entries, {"--ntasks-per-node", "--tasks-per-node"});
    Entry* all = last_of(entries, {"--ntasks", "-n"});
    int const each = number(last_of(entries, {"--gpus-per-task"}), 1);
    bool const several = of_node != nullptr && number(of_node, 1) * each > 1;
    if (several) {
        of_node->value = std::to_string(number(of_node, 1) * each);
        of_node->to = "--accelerators-per-node";
    }
    int const workers = number(all, 0) * each;
    if (workers <= 1 || (nodes > 0 && several)) { return; }
    bool const even = nodes > 0 && workers % nodes == 0;
    all->to = even ? "--accelerators-per-node" : "--workers";
    all->value = std::to_string(even ? workers / nodes : workers);
}

/// GPUs that deepspeed starts on each node; without nodes and a file of hosts there is one node.
void finish_deepspeed(std::vector<Entry>& entries) {
    bool const several = std::ranges::any_of(entries, [](Entry const& entry) {
        return entry.key == "--num_nodes" || entry.key == "--hostfile" || entry.key == "-H";
    });
    for (Entry& entry : entries) {
        if (entry.key == "deepspeed --num_gpus" && !several) { entry.to = "--workers"; }
        if (entry.key != "deepspeed --include") { continue; }
        auto const colon = entry.value.find(':');
        bool const one_host = entry.value.find('@') == std::string::npos && colon != std::string::npos;
        entry.to = "--workers";
        if (one_host) { entry.value = std::to_string(words::split(entry.value.substr(colon + 1), ',').size()); }
        if (!one_host) { entry.doubt = "accelerators of several hosts: give --workers"; }
    }
}

/// Nodes of one "srun -N 1", which starts torchrun on each node in a loop: torchrun states those of the run.
void drop_nodes_of_steps(std::vector<Entry>& entries) {
    bool const torchrun = std::ranges::any_of(
        entries, [](Entry const& entry) { return entry.key == "--nnodes" && is_digits(entry.value); });
    if (!torchrun) { return; }
    for (Entry& entry : entries) {
        bool const of_step = entry.to == "--nodes" && entry.key.starts_with("srun ");
        if (!of_step) { continue; }
        entry.doubt = "torchrun states the nodes of the run";
        entry.is_null = true;
    }
}

} // namespace

void finish_shell(std::vector<Entry>& entries) {
    finish_deepspeed(entries);
    int nodes = 0;
    for (Entry& entry : entries) {
        std::string_view const name = slurm_name(entry);
        bool const torchrun = entry.key == "--nnodes";
        auto const mark = entry.value.find_first_of(":-");
        bool const one_number =
            mark != std::string::npos && entry.value.substr(0, mark) == entry.value.substr(mark + 1);
        bool const counts = torchrun || name == "--nodes" || name == "-N";
        if (counts && one_number) { entry.value.resize(mark); } // "2-2"
        if (name == "--nodes" || name == "-N") {
            entry.to = "--nodes";
            nodes = number(&entry, nodes);
        }
        bool const range = (torchrun || entry.to == "--nodes") &&
                           entry.value.find_first_of(":-") != std::string::npos &&
                           entry.value.find('$') == std::string::npos;
        if (range) { entry.doubt = "a range of nodes: give --nodes"; }
    }
    drop_nodes_of_steps(entries);
    bool const counted = std::ranges::any_of(entries, [](Entry const& entry) {
        bool const processes = entry.key == "--nproc_per_node" || entry.key == "--nproc-per-node" ||
                               entry.key.starts_with("deepspeed --") || entry.key.starts_with("mpirun ");
        return processes && is_digits(entry.value);
    });
    if (!counted && !add_gpus(entries, nodes)) { add_tasks(entries, nodes); }
}

} // namespace headroom::io::launch
