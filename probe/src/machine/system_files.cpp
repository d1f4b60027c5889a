#include "machine/system_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <vector>

namespace headroom::probe {
namespace {

constexpr std::size_t largest_file = 1U << 20U;

std::string_view without_ends(std::string_view text, std::string_view ends) {
    auto const first = text.find_first_not_of(ends);
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(ends) - first + 1);
}

std::string_view next_line(std::string_view& rest) {
    auto const end = std::min(rest.find('\n'), rest.size());
    auto const line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

/// Folders of a control group, from its own up to the root of what is mounted.
std::vector<std::string> folders_of(std::string const& mount, std::string path) {
    std::vector<std::string> folders;
    while (path.size() > 1) {
        folders.push_back(mount + path);
        path.erase(std::min(path.rfind('/'), path.size()));
    }
    folders.push_back(mount);
    return folders;
}

template <class Value> void tighten(std::optional<Value>& limit, Value value) {
    limit = limit ? std::min(*limit, value) : value;
}

/// "quota period" of version 2, where "max" is no limit.
void read_cpu_max(SystemFiles const& files, std::string const& folder, ContainerLimits& limits) {
    auto const said = files.line(folder + "/cpu.max");
    if (!said) { return; }
    auto const gap = std::min(said->find(' '), said->size());
    auto const quota = whole_number(std::string_view{*said}.substr(0, gap));
    auto const period = whole_number(without_ends(std::string_view{*said}.substr(gap), " "));
    if (quota && *quota > 0 && period && *period > 0) {
        tighten(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
    }
}

void read_cpu_quota(SystemFiles const& files, std::string const& folder, ContainerLimits& limits) {
    auto const quota = whole_number(files.line(folder + "/cpu.cfs_quota_us").value_or("-1"));
    auto const period = whole_number(files.line(folder + "/cpu.cfs_period_us").value_or("0"));
    if (quota && *quota > 0 && period && *period > 0) {
        tighten(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
    }
}

void read_memory_limit(SystemFiles const& files, std::string const& file, ContainerLimits& limits) {
    auto const bytes = whole_number(files.line(file).value_or(""));
    // version 1 says "no limit" as the largest multiple of a page
    if (bytes && *bytes > 0 && *bytes < (std::uint64_t{1} << 62U)) { tighten(limits.memory_bytes, *bytes); }
}

bool names(std::string_view controllers, std::string_view wanted) {
    while (!controllers.empty()) {
        auto const end = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, end) == wanted) { return true; }
        controllers.remove_prefix(std::min(end + 1, controllers.size()));
    }
    return false;
}

/// One line of /proc/self/cgroup: `number:controllers:path`; version 2 names no controllers.
void read_group(SystemFiles const& files, std::string_view line, ContainerLimits& limits) {
    auto const first = line.find(':');
    auto const second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) { return; }
    auto const controllers = line.substr(first + 1, second - first - 1);
    std::string const path{line.substr(second + 1)};
    if (controllers.empty()) {
        for (std::string const mount : {"sys/fs/cgroup", "sys/fs/cgroup/unified"}) {
            for (auto const& folder : folders_of(mount, path)) {
                read_cpu_max(files, folder, limits);
                read_memory_limit(files, folder + "/memory.max", limits);
            }
        }
        return;
    }
    bool const cpu = names(controllers, "cpu"), memory = names(controllers, "memory");
    if (!cpu && !memory) { return; }
    for (auto const& folder : folders_of("sys/fs/cgroup/" + std::string{cpu ? "cpu" : "memory"}, path)) {
        if (cpu) { read_cpu_quota(files, folder, limits); }
        if (memory) { read_memory_limit(files, folder + "/memory.limit_in_bytes", limits); }
    }
}

} // namespace

std::optional<std::string> SystemFiles::text(std::string const& path) const {
    std::ifstream file{root_ / path, std::ios::binary};
    if (!file) { return std::nullopt; }
    std::string all;
    for (char c = '\0'; all.size() < largest_file && file.get(c);) { all.push_back(c); }
    return all;
}

std::optional<std::string> SystemFiles::line(std::string const& path) const {
    auto const all = text(path);
    if (!all) { return std::nullopt; }
    std::string_view rest = *all;
    auto const first = without_ends(next_line(rest), " \t\r\n");
    return first.empty() ? std::nullopt : std::optional<std::string>{first};
}

bool SystemFiles::exists(std::string const& path) const {
    std::error_code ignored;
    return std::filesystem::exists(root_ / path, ignored);
}

std::map<std::string, std::string> fields_of(std::string_view text, char separator) {
    std::map<std::string, std::string> fields;
    while (!text.empty()) {
        auto const line = next_line(text);
        auto const cut = line.find(separator);
        if (cut == std::string_view::npos) { continue; }
        auto const value = without_ends(line.substr(cut + 1), " \t\r\"'");
        fields.try_emplace(std::string{without_ends(line.substr(0, cut), " \t")}, value);
    }
    return fields;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

std::uint64_t memory_total(SystemFiles const& files) {
    auto const said = fields_of(files.text("proc/meminfo").value_or(""), ':')["MemTotal"]; // "24684084 kB"
    return whole_number(std::string_view{said}.substr(0, std::min(said.find(' '), said.size()))).value_or(0) * 1024;
}

ContainerLimits container_limits(SystemFiles const& files) {
    ContainerLimits limits;
    auto const groups = files.text("proc/self/cgroup").value_or("");
    for (std::string_view rest = groups; !rest.empty();) { read_group(files, next_line(rest), limits); }
    return limits;
}

} // namespace headroom::probe
