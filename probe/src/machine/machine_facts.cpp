#include "headroom/probe/machine_facts.hpp"

#include "machine/system_files.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <hwloc.h>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace headroom::probe {

using namespace headroom::measure;

namespace {

std::string caches_text(std::vector<CacheLevel> const& caches) {
    std::string text;
    for (CacheLevel const& cache : caches) {
        text += (text.empty() ? "L" : ", L") + std::to_string(cache.level) + ' ' +
                format_binary(Bytes{static_cast<double>(cache.bytes)}) + " of " + std::to_string(cache.cores) +
                (cache.cores == 1 ? " core" : " cores");
    }
    return text.empty() ? "not said" : text;
}

std::string ids_text(std::vector<int> const& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t last = i;
        while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) { ++last; }
        text += (text.empty() ? "" : ",") + std::to_string(ids[i]);
        if (last > i) { text += '-' + std::to_string(ids[last]); }
        i = last + 1;
    }
    return text;
}

void add_shape(Facts& facts, MachineShape const& shape) {
    facts.emplace_back("cores", std::to_string(shape.cores));
    facts.emplace_back("core numbers", ids_text(shape.core_ids));
    facts.emplace_back("packages", std::to_string(shape.packages));
    facts.emplace_back("memory nodes", std::to_string(shape.memory_nodes));
    facts.emplace_back("threads a core", std::to_string(shape.threads_a_core));
    facts.emplace_back("caches", caches_text(shape.caches));
    auto const memory = static_cast<double>(shape.memory_bytes);
    facts.emplace_back("memory", memory > 0.0 ? format_binary(Bytes{memory}) : "not said");
}

/// Hypervisor beneath this machine; "none" if there is none. Under one, caches, clocks and cores are those that it
/// presents.
std::string hypervisor() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & (1U << 31U)) == 0) { return "none"; }
    __cpuid(0x40000000U, a, b, c, d);
    std::string name;
    for (unsigned const part : {b, c, d}) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            char const letter = static_cast<char>(part >> shift & 0xFFU);
            if (letter > ' ' && letter <= '~') { name += letter; }
        }
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known{{{"KVMKVMKVM", "KVM"},
                                                                                  {"MicrosoftHv", "Hyper-V"},
                                                                                  {"VMwareVMware", "VMware"},
                                                                                  {"XenVMMXenVMM", "Xen"},
                                                                                  {"TCGTCGTCGTCG", "QEMU, emulated"},
                                                                                  {"bhyvebhyve", "bhyve"}}};
    for (auto const& [signature, owner] : known) {
        if (name == signature) { return std::string{owner}; }
    }
    return name.empty() ? "yes, unnamed" : name;
#else
    return SystemFiles{}.line("sys/hypervisor/type").value_or("not said");
#endif
}

void add_software(Facts& facts) {
    utsname kernel{};
    if (::uname(&kernel) == 0) {
        facts.emplace_back("host", kernel.nodename);
        facts.emplace_back("kernel", std::string{kernel.sysname} + ' ' + kernel.release + ' ' + kernel.machine);
    }
#if defined(__clang__)
    facts.emplace_back("compiler", "clang " + std::to_string(__clang_major__) + '.' + std::to_string(__clang_minor__) +
                                       '.' + std::to_string(__clang_patchlevel__));
#else
    facts.emplace_back("compiler", "g++ " __VERSION__);
#endif
#if defined(__GLIBC__)
    std::array<char, 64> library{};
    if (::confstr(_CS_GNU_LIBC_VERSION, library.data(), library.size()) > 0) {
        facts.emplace_back("C library", library.data());
    }
#endif
    unsigned const hwloc = ::hwloc_get_api_version();
    facts.emplace_back("hwloc interface", std::to_string(hwloc >> 16U) + '.' + std::to_string(hwloc >> 8U & 0xFFU) +
                                              '.' + std::to_string(hwloc & 0xFFU));
}

/// Variables by which people and batch systems change how fast libraries are, or where threads run.
void add_environment(Facts& facts) {
    constexpr std::array<std::string_view, 14> beginnings{
        "OPENBLAS_", "OMP_",    "MKL_",     "GOTO_",  "KMP_",           "GOMP_",   "BLIS_",
        "ATLAS_",    "VECLIB_", "NUMEXPR_", "HWLOC_", "GLIBC_TUNABLES", "MALLOC_", "LD_PRELOAD"};
    std::vector<std::string> set;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view const variable{*entry};
        for (auto const beginning : beginnings) {
            if (variable.starts_with(beginning)) {
                set.emplace_back(variable);
                break;
            }
        }
    }
    std::ranges::sort(set);
    for (auto const& variable : set) {
        auto const cut = std::min(variable.find('='), variable.size());
        facts.emplace_back("environment " + variable.substr(0, cut),
                           variable.substr(std::min(cut + 1, variable.size())));
    }
    if (set.empty()) { facts.emplace_back("environment", "no variable set that changes speed"); }
}

/// Sixteen additions, each of which needs the one before; registers on both sides, as some processors take additions of
/// small constants out of a chain.
inline void chain(std::uint64_t& x, std::uint64_t y) {
#if defined(__x86_64__)
#define HEADROOM_ADD "add %1, %0\n\t"
    asm volatile(
        HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD
            HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD
        : "+r"(x)
        : "r"(y)
        : "cc");
#undef HEADROOM_ADD
#elif defined(__aarch64__)
#define HEADROOM_ADD "add %0, %0, %1\n\t"
    asm volatile(
        HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD
            HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD HEADROOM_ADD
        : "+r"(x)
        : "r"(y));
#undef HEADROOM_ADD
#else
    x += y;
#endif
}

} // namespace

double clock_seen(int blocks) {
#if defined(__x86_64__) || defined(__aarch64__)
    constexpr int rounds = 20'000;
    double least = 0.0;
    std::uint64_t x = 1;
    for (int block = 0; block < blocks; ++block) {
        auto const began = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) { chain(x, 3); }
        double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        if (took > 0.0 && (least == 0.0 || took < least)) { least = took; }
    }
    return least > 0.0 ? 16.0 * rounds / least : 0.0;
#else
    static_cast<void>(blocks);
    return 0.0;
#endif
}

Facts machine_facts() {
    auto const shape = machine_shape();
    Facts facts = system_facts(SystemFiles{}, shape.core_ids.front());
    add_shape(facts, shape);
    facts.emplace_back("hypervisor", hypervisor());
    add_software(facts);
    double const clock = clock_seen();
    facts.emplace_back("clock as seen", clock > 0.0 ? clock_text(clock) + " (an addition a cycle)" : "not measured");
    auto const load = load_now();
    facts.emplace_back("load", load ? format_count(*load, 3) : "not known");
    add_environment(facts);
    return facts;
}

std::optional<double> load_now() {
    double load = 0.0;
    return ::getloadavg(&load, 1) == 1 ? std::optional{load} : std::nullopt;
}

std::int64_t now_ns() {
    auto const since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

} // namespace headroom::probe
