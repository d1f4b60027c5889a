#include "launch/job_description.hpp"

#include "launch/launch_mapping.hpp"
#include "launch/shell_conditions.hpp"

#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

/// Key of a job's machines and its option.
struct MachineRow {
    Text key, option;
};
constexpr std::array machine_rows{
    MachineRow{"num_nodes", "--nodes"}, // SkyPilot
    MachineRow{"resources.accelerators", "--accelerators-per-node"},
    MachineRow{"nodes", "--nodes"}, // dstack
    MachineRow{"resources.gpu", "--accelerators-per-node"},
    MachineRow{"resources.gpu.count", "--accelerators-per-node"},
    MachineRow{"resources.slots_per_trial", "--workers"}, // Determined
    MachineRow{"compute.gpus", "--workers"},              // MosaicML
    MachineRow{"resources.instance_count", "--nodes"},    // Azure
    MachineRow{"distribution.process_count_per_instance", "--accelerators-per-node"},
};

/// Variables that a scheduler sets, by the option that has their value.
constexpr std::array scheduler_variables{
    MachineRow{"SKYPILOT_NUM_NODES", "--nodes"}, MachineRow{"SKYPILOT_NUM_GPUS_PER_NODE", "--accelerators-per-node"},
    MachineRow{"DSTACK_NODES_NUM", "--nodes"},   MachineRow{"DSTACK_GPUS_PER_NODE", "--accelerators-per-node"},
    MachineRow{"PET_NNODES", "--nodes"},         MachineRow{"PET_NPROC_PER_NODE", "--accelerators-per-node"},
};

std::string parent_of(Text key) {
    auto const dot = key.rfind('.');
    return std::string{dot == Text::npos ? Text{} : key.substr(0, dot)};
}

/// Accelerators of "H100:8", "A100:80GB:8", "8"; one where no number stands there.
std::string count_in(Text value) {
    std::string const last = words::split(value, ':').back();
    bool const digits = !last.empty() && last.size() < 7 && last.find_first_not_of("0123456789") == std::string::npos;
    return digits ? last : "1";
}

bool is_gpu(Text key, Text kind) {
    for (Text const name : {"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi"}) {
        if (key.ends_with(std::string{kind} + "." + std::string{name})) { return true; }
    }
    return false;
}

class Job {
public:
    explicit Job(std::vector<Entry> const& entries) : entries_{entries} {
        for (Entry const& entry : entries) { by_key_.emplace(entry.key, &entry); }
    }

    std::optional<JobDescription> read() {
        add_commands();
        if (script_.empty()) { return {}; }
        add_machines();
        add_pods();
        std::string head;
        for (MachineRow const& row : scheduler_variables) {
            for (Entry const& one : machines_) {
                if (one.to == row.option) { head += std::string{row.key} + "=" + one.value + "; "; }
            }
        }
        return JobDescription{.script = head + variables() + script_, .machines = std::move(machines_)};
    }

private:
    [[nodiscard]] Entry const* find(Text key) const {
        auto const found = by_key_.find(key);
        return found != by_key_.end() ? found->second : nullptr;
    }

    /// Variables of "envs", "env" and "environment": NAME: value, a list of name and value, or a list of "NAME=value".
    [[nodiscard]] std::string variables() const {
        std::string text;
        auto const add = [&text](std::string const& name, std::string const& value) {
            bool const is_name =
                !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
                                                        "0123456789") == std::string::npos;
            bool const one_line = value.find('\n') == std::string::npos;
            if (is_name && one_line) { text += name + "=" + words::shell_word(value) + "; "; }
        };
        for (Entry const& entry : entries_) {
            std::string const parent = parent_of(entry.key), group = last_part(parent);
            bool const held = is_one_of(group, {"envs", "env", "environment", "environment_variables"});
            if (held) { add(last_part(entry.key), entry.value); }
            Entry const* value = last_part(entry.key) == "name" ? find(parent + ".value") : nullptr;
            bool const listed = value != nullptr && last_part(parent_of(parent)) == "env";
            if (listed) { add(entry.value, value->value); }
            if (!is_one_of(last_part(entry.key), {"env", "environment", "environment_variables"})) { continue; }
            for (std::string const& item : words::split(entry.value, ',')) {
                auto const equals = item.find('=');
                if (equals != std::string::npos) { add(item.substr(0, equals), item.substr(equals + 1)); }
            }
        }
        return text;
    }

    /// Commands in the order of the file, each on its line; the words of "args" stand behind those of "command".
    void add_commands() {
        int line = 1;
        for (Entry const& entry : entries_) {
            std::string const name = last_part(entry.key), parent = parent_of(entry.key);
            std::string const prefix = parent.empty() ? "" : parent + ".";
            bool const command = is_command_key(entry.key) || is_command_list(entry.key);
            bool const behind = name == "args" && find(prefix + "command") != nullptr;
            if (!command || behind || entry.value.empty() || entry.is_null) { continue; }
            for (; line < entry.line; ++line) { script_ += '\n'; }
            std::string text = entry.value;
            Entry const* more = name == "command" ? find(prefix + "args") : nullptr;
            for (int at = entry.line; more != nullptr && at < more->line; ++at) { text += "\\\n"; }
            if (more != nullptr) { text += " " + more->value; }
            line += static_cast<int>(std::ranges::count(text, '\n'));
            script_ += text;
        }
    }

    void add_machines() {
        for (Entry const& entry : entries_) {
            for (MachineRow const& row : machine_rows) {
                bool const by_name =
                    entry.key.starts_with("resources.accelerators.") && row.key == "resources.accelerators";
                if (entry.key != row.key && !by_name) { continue; }
                bool const counts = row.option == "--accelerators-per-node";
                machines_.push_back({entry.key,
                                     counts ? count_in(entry.value) : entry.value,
                                     entry.line,
                                     false,
                                     std::string{row.option},
                                     {}});
            }
            bool const trainer = entry.key.ends_with(".trainer.numNodes") || entry.key == "spec.mlPolicy.numNodes";
            if (trainer) { add("--nodes", entry, entry.value); } // TrainJob of Kubeflow
            bool const digits =
                !entry.value.empty() && entry.value.find_first_not_of("0123456789") == std::string::npos;
            if (entry.key.ends_with(".trainer.numProcPerNode") && digits) {
                add("--accelerators-per-node", entry, entry.value);
            }
            bool const devices =
                entry.key.find(".devices.") != std::string::npos && last_part(entry.key) == "count"; // Docker
            bool const all = devices && entry.value == "all";
            if (devices && !all) { add("--accelerators-per-node", entry, entry.value); }
        }
    }

    void add(Text option, Entry const& entry, std::string value) {
        machines_.push_back({entry.key, std::move(value), entry.line, false, std::string{option}, {}});
    }

    /// Pods of Kubernetes with accelerators, and their copies.
    void add_pods() {
        bool const limits = std::ranges::any_of(entries_, [](Entry const& one) { return is_gpu(one.key, "limits"); });
        long nodes = 0, workers = 0;
        bool even = true;
        Entry const* last = nullptr;
        for (Entry const& entry : entries_) {
            if (!is_gpu(entry.key, limits ? "limits" : "requests")) { continue; }
            even = even && (last == nullptr || last->value == entry.value);
            last = &entry;
            long const copies = copies_of(entry.key);
            nodes += copies;
            workers += copies * std::min(std::atol(entry.value.c_str()), 1000L);
        }
        if (last == nullptr || workers <= 0 || workers > 1'000'000) { return; }
        if (!even) { return add("--workers", *last, std::to_string(workers)); }
        add("--nodes", *last, std::to_string(nodes));
        add("--accelerators-per-node", *last, std::to_string(workers / nodes));
    }

    /// Product of "replicas" and "parallelism" above a key.
    [[nodiscard]] long copies_of(std::string key) const {
        long copies = 1;
        while (!key.empty()) {
            key = parent_of(key);
            for (Text const name : {"replicas", "parallelism"}) {
                Entry const* one = find((key.empty() ? "" : key + ".") + std::string{name});
                long const count = one != nullptr ? std::atol(one->value.substr(0, 6).c_str()) : 1;
                copies = std::min(copies * std::clamp(count, 1L, 100'000L), 1'000'000L);
            }
        }
        return copies;
    }

    std::vector<Entry> const& entries_;
    std::map<Text, Entry const*> by_key_;
    std::string script_;
    std::vector<Entry> machines_;
};

} // namespace

bool is_command_key(Text path) { return is_one_of(last_part(path), {"command", "args", "entrypoint", "run", "cmd"}); }
bool is_command_list(Text path) { return is_one_of(last_part(path), {"commands", "script"}); }

std::optional<JobDescription> job_description(std::vector<Entry> const& entries) { return Job{entries}.read(); }

} // namespace headroom::io::launch
