#include "launch/slurm_variables.hpp"

#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace headroom::io::launch {

namespace {

bool is_slurm_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace

std::string slurm_gpus(std::string_view value, bool is_gres) {
    for (std::string const& item : words::split(value, ',')) {
        if (is_gres && !item.starts_with("gpu")) { continue; }
        auto const colon = item.rfind(':');
        std::string const count = colon == std::string::npos ? item : item.substr(colon + 1);
        return is_slurm_number(count) && count.size() < 7 ? count : is_gres ? "1" : std::string{};
    }
    return {};
}

std::vector<std::string> notes_on_late(std::vector<Entry> const& headers) {
    std::vector<std::string> notes;
    for (Entry const& header : headers) {
        notes.push_back(fmt::format("{} {} (line {}) stands behind the first command, where Slurm does not read it",
                                    header.key, header.value, header.line));
    }
    return notes;
}

void set_slurm_variables(std::vector<Entry> const& headers, Expansion& expand) {
    for (Entry const& header : headers) {
        std::string const name = header.key.substr(std::string_view{"#SBATCH "}.size());
        bool const gres = name == "--gres", each = name == "--gpus-per-node";
        std::string const digits = gres || each ? slurm_gpus(header.value, gres) : header.value;
        if (!is_slurm_number(digits)) { continue; }
        auto const set = [&](std::initializer_list<char const*> names) {
            for (char const* one : names) { expand.set_text(one, digits, header.line); }
        };
        if (name == "--nodes" || name == "-N") { set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}); }
        if (name == "--ntasks" || name == "-n") { set({"SLURM_NTASKS", "SLURM_NPROCS"}); }
        if (name == "--ntasks-per-node") { set({"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}); }
        if (gres || each) { set({"SLURM_GPUS_ON_NODE"}); }
        if (each && header.value == digits) { set({"SLURM_GPUS_PER_NODE"}); }
    }
    auto const tasks = expand.integer("SLURM_NNODES * SLURM_NTASKS_PER_NODE", 0);
    if (!tasks || expand.variables.contains("SLURM_NTASKS")) { return; }
    for (char const* name : {"SLURM_NTASKS", "SLURM_NPROCS"}) { expand.set_text(name, *tasks, 0); }
}

} // namespace headroom::io::launch
