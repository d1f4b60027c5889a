#include "machine/system_files.hpp"

#include "headroom/probe/machine_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace headroom::probe {

using namespace headroom::measure;

namespace {

using testing::HasSubstr;
using testing::Not;

/// Files of another machine.
class FakeRoot {
public:
    FakeRoot() {
        auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
        root_ = std::filesystem::temp_directory_path() /
                ("headroom-machine-" + std::string{test->name()} + std::to_string(::getpid()));
    }
    ~FakeRoot() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    FakeRoot(FakeRoot const&) = delete;
    FakeRoot& operator=(FakeRoot const&) = delete;

    FakeRoot& file(std::string const& path, std::string const& text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream{root_ / path} << text;
        return *this;
    }
    [[nodiscard]] SystemFiles files() const { return SystemFiles{root_}; }
    [[nodiscard]] std::string said(std::string const& name, int core = 0) const {
        return std::string{fact(system_facts(files(), core), name).value_or("no such fact")};
    }

private:
    std::filesystem::path root_;
};

TEST(SystemFacts, AreReadFromWhatLinuxSays) {
    FakeRoot root;
    root.file("proc/cpuinfo",
              "processor\t: 0\nvendor_id : Any\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: Quick 9\n"
              "stepping\t: 1\nmicrocode\t: 0xa\ncpu MHz\t\t: 2596.128\nflags\t\t: fpu sse2 avx2 smep fma\n\n"
              "processor\t: 1\nmodel name\t: Slow 1\n")
        .file("proc/meminfo", "MemTotal:       2048 kB\nMemAvailable:   1024 kB\nHugePages_Total:       3\n")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .file("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n")
        .file("sys/devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq", "4500000\n")
        .file("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")
        .file("etc/os-release", "NAME=\"A\"\nPRETTY_NAME=\"Any Linux 12\"\n");
    EXPECT_EQ(root.said("processor"), "Quick 9 (family 25, model 17, stepping 1)");
    EXPECT_EQ(root.said("instruction sets"), "sse2 avx2 fma");
    EXPECT_EQ(root.said("clock as reported", 3), "2.596 GHz");
    EXPECT_EQ(root.said("highest clock as reported", 3), "4.5 GHz");
    EXPECT_EQ(root.said("governor", 3), "powersave");
    EXPECT_EQ(root.said("governor", 0), "not said");
    EXPECT_EQ(root.said("boost"), "off");
    EXPECT_EQ(root.said("transparent huge pages"), "madvise");
    EXPECT_EQ(root.said("memory available"), "1 MiB");
    EXPECT_EQ(root.said("huge pages set aside"), "3");
    EXPECT_EQ(root.said("system"), "Any Linux 12");
    EXPECT_EQ(root.said("limit of processors"), "none");
    EXPECT_EQ(memory_total(root.files()), 2048U * 1024U);
}

TEST(SystemFacts, AMachineThatSaysNothingIsNoError) {
    FakeRoot const root;
    for (auto const& [name, said] : system_facts(root.files(), 0)) { EXPECT_FALSE(said.empty()) << name; }
    EXPECT_EQ(root.said("processor"), "not said");
    EXPECT_EQ(memory_total(root.files()), 0U);
}

TEST(ContainerLimits, OfVersionTwoAreTheTightestUpTheTree) {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/batch/job/step\n")
        .file("sys/fs/cgroup/batch/job/step/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/batch/job/cpu.max", "150000 100000\n")
        .file("sys/fs/cgroup/batch/cpu.max", "800000 100000\n")
        .file("sys/fs/cgroup/batch/job/step/memory.max", "max\n")
        .file("sys/fs/cgroup/batch/memory.max", "1073741824\n");
    auto const limits = container_limits(root.files());
    EXPECT_DOUBLE_EQ(limits.cpus.value(), 1.5);
    EXPECT_EQ(limits.memory_bytes, 1073741824U);
    EXPECT_EQ(root.said("limit of processors"), "1.5");
    EXPECT_EQ(root.said("limit of memory"), "1 GiB");
}

TEST(ContainerLimits, OfVersionOneToo) {
    FakeRoot root;
    root.file("proc/self/cgroup", "4:memory:/box\n1:cpu,cpuacct:/box\n0::/\n")
        .file("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "200000\n")
        .file("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    auto const limits = container_limits(root.files());
    EXPECT_DOUBLE_EQ(limits.cpus.value(), 2.0);
    EXPECT_EQ(limits.memory_bytes, 4096U);
}

TEST(ContainerLimits, NonsenseIsNoLimit) {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/a\nnonsense\n:\n::\n7:cpu\n\n")
        .file("sys/fs/cgroup/a/cpu.max", "0 0\n")
        .file("sys/fs/cgroup/cpu.max", "lots\n")
        .file("sys/fs/cgroup/memory.max", "-4\n");
    auto const limits = container_limits(root.files());
    EXPECT_FALSE(limits.cpus);
    EXPECT_FALSE(limits.memory_bytes);
}

TEST(MachineShape, IsSane) {
    auto const shape = machine_shape();
    ASSERT_GE(shape.cores, 1);
    EXPECT_EQ(shape.core_ids.size(), static_cast<std::size_t>(shape.cores));
    EXPECT_GT(shape.memory_bytes, 64U << 20U);
    for (std::size_t i = 0; i < shape.caches.size(); ++i) {
        auto const& cache = shape.caches[i];
        EXPECT_GE(cache.bytes, 4096U);
        EXPECT_GE(cache.cores, 1);
        EXPECT_GE(cache.line_bytes, 16);
        if (i > 0) { EXPECT_GT(cache.level, shape.caches[i - 1].level); }
    }
    EXPECT_GE(shape.threads_a_core, 1);
}

/// Result of `work` in a process of its own: the first thread of a process decides about its cores.
template <class Work> int in_a_process(Work work) {
    ::pid_t const child = ::fork();
    if (child == 0) { ::_exit(work()); }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MachineShape, KeepsToTheCoreThatTasksetLeaves) {
    auto const last = machine_shape().core_ids.back();
    EXPECT_EQ(in_a_process([last] {
                  if (!pin_to(last)) { return 2; }
                  auto const shape = machine_shape();
                  return shape.cores == 1 && shape.core_ids == std::vector<int>{last} ? 7 : 1;
              }),
              7);
}

TEST(MachineShape, AThreadThatWePinnedDoesNotHideTheOtherCores) {
    auto const before = machine_shape();
    int cores = 0;
    std::thread{[&] {
        pin_to(before.core_ids.front());
        cores = machine_shape().cores;
    }}.join();
    EXPECT_EQ(cores, before.cores);
}

TEST(MachineShape, OfManyThreadsACoreTakesOneOfEach) {
    // Four cores of two threads as hwloc reads them; the process itself may only use those numbers that are really
    // here.
    EXPECT_EQ(in_a_process([] {
                  ::setenv("HWLOC_SYNTHETIC", "package:1 l3:1(size=8388608) core:4 pu:2", 1);
                  auto const shape = machine_shape();
                  bool const cache =
                      shape.caches.size() == 1 && shape.caches[0].bytes == 8388608U && shape.caches[0].cores == 4;
                  return cache && shape.threads_a_core == 2 && shape.cores <= 4 ? 7 : 1;
              }),
              7);
}

TEST(PinTo, ACoreThatIsNotThereIsRefused) {
    EXPECT_FALSE(pin_to(-1));
    EXPECT_FALSE(pin_to(1 << 20));
}

TEST(MachineFacts, SayWhatDecidesAboutSpeed) {
    ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    ::setenv("OMP_NUM_THREADS", "3", 1);
    auto const facts = machine_facts();
    ::unsetenv("OPENBLAS_CORETYPE");
    ::unsetenv("OMP_NUM_THREADS");
    for (auto const* name : {"processor", "instruction sets", "clock as reported", "clock as seen", "governor",
                             "caches", "cores", "memory", "kernel", "compiler", "C library", "hypervisor", "load",
                             "transparent huge pages", "limit of processors"}) {
        ASSERT_TRUE(fact(facts, name)) << name;
        EXPECT_FALSE(fact(facts, name)->empty()) << name;
    }
    EXPECT_EQ(fact(facts, "environment OPENBLAS_CORETYPE"), "Haswell");
    EXPECT_EQ(fact(facts, "environment OMP_NUM_THREADS"), "3");
    auto const again = machine_facts();
    EXPECT_FALSE(fact(again, "environment OPENBLAS_CORETYPE"));
    for (auto const& [name, said] : again) {
        EXPECT_EQ(std::ranges::count(again, name, &Facts::value_type::first), 1) << name;
        EXPECT_THAT(said, Not(HasSubstr("\n")));
    }
}

TEST(ClockSeen, IsAClock) {
#if defined(__x86_64__) || defined(__aarch64__)
    EXPECT_GT(clock_seen(), 2e8);
    EXPECT_LT(clock_seen(), 8e9);
#endif
}

} // namespace
} // namespace headroom::probe
