#include "machine/system_files.hpp"

#include "headroom/quantity.hpp"

#include <array>
#include <charconv>
#include <sstream>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

constexpr std::string_view not_said = "not said";

using Fields = std::map<std::string, std::string>;

std::string value_of(Fields const& fields, std::string const& name) {
    auto const found = fields.find(name);
    return found == fields.end() ? std::string{} : found->second;
}

void add(Facts& facts, std::string name, std::optional<std::string> value) {
    facts.emplace_back(std::move(name), value && !value->empty() ? *std::move(value) : std::string{not_said});
}

/// "AMD EPYC (family 25, model 17, stepping 1)": makers call several processors by one name.
std::string processor(Fields const& cpu) {
    std::string name = value_of(cpu, "model name");
    if (name.empty()) { name = value_of(cpu, "Processor"); }
    std::string parts;
    for (auto const& [field, word] : {std::pair{"cpu family", "family"}, std::pair{"model", "model"},
                                      std::pair{"stepping", "stepping"}, std::pair{"CPU implementer", "implementer"},
                                      std::pair{"CPU part", "part"}, std::pair{"CPU variant", "variant"}}) {
        auto const value = value_of(cpu, field);
        if (!value.empty()) { parts += (parts.empty() ? "" : ", ") + std::string{word} + ' ' + value; }
    }
    if (name.empty()) { return parts; }
    return parts.empty() ? name : name + " (" + parts + ')';
}

/// Instruction sets of the CPU that decide about rates of arithmetic and memory.
std::string instruction_sets(Fields const& cpu) {
    constexpr std::array<std::string_view, 13> beginnings{"sse",  "ssse", "avx", "fma",   "f16c", "bmi", "amx",
                                                          "erms", "fsrm", "sve", "asimd", "sme2", "bf16"};
    std::string const flags = value_of(cpu, cpu.contains("flags") ? "flags" : "Features");
    std::istringstream words{flags};
    std::string sets;
    for (std::string word; words >> word;) {
        for (auto const beginning : beginnings) {
            if (word.starts_with(beginning)) {
                sets += (sets.empty() ? "" : " ") + word;
                break;
            }
        }
    }
    return sets;
}

/// Hertz from a number in `unit` hertz; empty where there is none.
std::optional<std::string> clock_said(std::optional<std::string> const& said, double unit) {
    if (!said) { return std::nullopt; }
    double value = 0.0;
    auto const [end, error] = std::from_chars(said->data(), said->data() + said->size(), value);
    if (error != std::errc{} || !(value > 0.0)) { return std::nullopt; }
    return clock_text(value * unit);
}

void add_clocks(Facts& facts, SystemFiles const& files, Fields const& cpu, int core) {
    std::string const folder = "sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/";
    auto now = clock_said(files.line(folder + "scaling_cur_freq"), 1e3);
    if (!now) { now = clock_said(value_of(cpu, "cpu MHz"), 1e6); }
    add(facts, "clock as reported", now);
    add(facts, "highest clock as reported", clock_said(files.line(folder + "cpuinfo_max_freq"), 1e3));
    add(facts, "governor", files.line(folder + "scaling_governor"));
    add(facts, "frequency driver", files.line(folder + "scaling_driver"));
    auto boost = files.line("sys/devices/system/cpu/cpufreq/boost");
    if (auto const none = files.line("sys/devices/system/cpu/intel_pstate/no_turbo")) {
        boost = *none == "0" ? "1" : "0";
    }
    add(facts, "boost", !boost ? boost : std::optional<std::string>{*boost == "0" ? "off" : "on"});
    add(facts, "clock source", files.line("sys/devices/system/clocksource/clocksource0/current_clocksource"));
}

/// Word in brackets of "always [madvise] never".
std::optional<std::string> chosen(std::optional<std::string> const& line) {
    if (!line) { return line; }
    auto const from = line->find('['), to = line->find(']');
    return from < to && to != std::string::npos ? line->substr(from + 1, to - from - 1) : *line;
}

std::optional<std::string> kibibytes(Fields const& memory, std::string const& name) {
    std::string const said = value_of(memory, name);
    auto const number = whole_number(std::string_view{said}.substr(0, std::min(said.find(' '), said.size())));
    if (!number) { return std::nullopt; }
    return format_binary(Bytes{static_cast<double>(*number) * 1024.0});
}

void add_limits(Facts& facts, SystemFiles const& files) {
    auto const limits = container_limits(files);
    facts.emplace_back("limit of processors", limits.cpus ? format_count(*limits.cpus) : "none");
    facts.emplace_back("limit of memory", limits.memory_bytes
                                              ? format_binary(Bytes{static_cast<double>(*limits.memory_bytes)})
                                              : std::string{"none"});
}

std::string container(SystemFiles const& files) {
    if (files.exists(".dockerenv")) { return "docker"; }
    if (files.exists("run/.containerenv")) { return "podman"; }
    return files.line("run/systemd/container").value_or("none seen");
}

} // namespace

std::string clock_text(double hertz) { return format_count(hertz / 1e9, 4) + " GHz"; }

Facts system_facts(SystemFiles const& files, int core) {
    Facts facts;
    auto const cpu = fields_of(files.text("proc/cpuinfo").value_or(""), ':');
    auto const memory = fields_of(files.text("proc/meminfo").value_or(""), ':');
    auto const release = fields_of(files.text("etc/os-release").value_or(""), '=');
    add(facts, "processor", processor(cpu));
    add(facts, "microcode", value_of(cpu, "microcode"));
    add(facts, "instruction sets", instruction_sets(cpu));
    add_clocks(facts, files, cpu, core);
    add(facts, "memory available", kibibytes(memory, "MemAvailable"));
    std::string const pages = "sys/kernel/mm/transparent_hugepage/";
    add(facts, "transparent huge pages", chosen(files.line(pages + "enabled")));
    add(facts, "huge pages set aside", value_of(memory, "HugePages_Total"));
    add(facts, "balancing of memory nodes", files.line("proc/sys/kernel/numa_balancing"));
    add_limits(facts, files);
    facts.emplace_back("container", container(files));
    add(facts, "hardware", files.line("sys/class/dmi/id/product_name"));
    add(facts, "system", value_of(release, "PRETTY_NAME"));
    return facts;
}

} // namespace headroom::probe
