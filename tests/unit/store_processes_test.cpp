#include "support/random.hpp"

#include "headroom/error.hpp"
#include "headroom/io/store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headroom {
namespace {

namespace fs = std::filesystem;
using Access = io::Store::Access;

/// A child that runs `work` and ends with 0, or with 1 where it throws.
pid_t start(std::function<void()> const& work) {
    pid_t const child = fork();
    if (child != 0) { return child; }
    try {
        work();
        _exit(0);
    } catch (...) { _exit(1); }
}

int status_of(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

Campaign some_campaign(std::string const& name) {
    Campaign campaign;
    campaign.kind = "scaling";
    campaign.name = name;
    campaign.settings = {{"command", name}};
    campaign.began_ns = 1;
    campaign.points = {{"p", {}, "seconds"}};
    return campaign;
}

Sample sample_of(std::uint32_t repetition) {
    Sample sample;
    sample.repetition = repetition;
    sample.value = 0.5 + repetition;
    sample.began_ns = repetition;
    return sample;
}

class StoreProcessesTest : public ::testing::Test {
protected:
    StoreProcessesTest() {
        std::string const name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::path const memory = "/dev/shm"; // waits for no disk, where there is one
        folder_ = (fs::is_directory(memory) ? memory : fs::path{::testing::TempDir()}) /
                  ("headroom-processes-" + std::to_string(getpid()) + "-" + name);
        fs::create_directories(folder_);
    }
    ~StoreProcessesTest() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    [[nodiscard]] fs::path file() const { return folder_ / "measurements.sqlite"; }
    [[nodiscard]] std::string integrity() const {
        sqlite3* database = nullptr;
        sqlite3_open(file().c_str(), &database);
        std::string answer;
        sqlite3_exec(
            database, "PRAGMA integrity_check",
            [](void* into, int, char** values, char**) {
                *static_cast<std::string*>(into) += values[0];
                return 0;
            },
            &answer, nullptr);
        sqlite3_close(database);
        return answer;
    }

    fs::path folder_;
};

TEST_F(StoreProcessesTest, EightWritersLoseNothing) {
    // Also the file is made by eight at a time.
    constexpr int writers = 8;
    constexpr std::uint32_t samples = 200;
    std::vector<pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        children.push_back(start([&] {
            io::Store store{file(), Access::write, 60};
            std::int64_t const id = store.begin(some_campaign(std::to_string(writer)));
            for (std::uint32_t i = 0; i < samples; ++i) {
                if (!store.add(id, sample_of(i))) { throw std::runtime_error{"it is there already"}; }
            }
            store.finish(id, CampaignState::done, 2);
        }));
    }
    for (pid_t const child : children) { EXPECT_EQ(status_of(child), 0); }
    io::Store const store{file(), Access::read};
    std::set<std::string> names;
    for (Campaign const& head : store.list()) {
        names.insert(head.name);
        Campaign const campaign = store.load(head.id);
        ASSERT_EQ(campaign.samples.size(), samples);
        for (std::uint32_t i = 0; i < samples; ++i) { EXPECT_EQ(campaign.samples[i], sample_of(i)); }
        EXPECT_EQ(campaign.state, CampaignState::done);
    }
    EXPECT_EQ(names.size(), std::size_t{writers});
    EXPECT_EQ(integrity(), "ok");
}

TEST_F(StoreProcessesTest, WritersOfOneCampaignKeepEachRepetitionOnce) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("shared"));
    std::vector<pid_t> children;
    for (int writer = 0; writer < 4; ++writer) {
        children.push_back(start([&] {
            io::Store store{file(), Access::write, 60};
            for (std::uint32_t i = 0; i < 100; ++i) { store.add(id, sample_of(i)); }
        }));
    }
    for (pid_t const child : children) { EXPECT_EQ(status_of(child), 0); }
    Campaign const campaign = io::Store{file(), Access::read}.load(id);
    ASSERT_EQ(campaign.samples.size(), 100U);
    std::set<std::uint32_t> repetitions;
    for (Sample const& sample : campaign.samples) { repetitions.insert(sample.repetition); }
    EXPECT_EQ(repetitions.size(), 100U);
}

/// A child that writes samples without an end and says into a pipe which are kept.
struct Writer {
    pid_t child = 0;
    int from = -1;
    /// How many it said were kept, up to its end.
    [[nodiscard]] std::uint32_t said() const {
        std::uint32_t count = 0;
        char byte = 0;
        while (read(from, &byte, 1) == 1) { ++count; }
        close(from);
        return count;
    }
};

Writer start_writer(fs::path const& file, std::int64_t id, std::uint32_t first) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) { return {}; }
    pid_t const child = start([&] {
        close(ends[0]);
        io::Store store{file, Access::write, 60};
        store.take(id);
        for (std::uint32_t i = first;; ++i) {
            store.add(id, sample_of(i));
            if (write(ends[1], "x", 1) != 1) { return; }
        }
    });
    close(ends[1]);
    return {child, ends[0]};
}

TEST_F(StoreProcessesTest, AKilledWriterLosesTheSampleInFlightAtMost) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("killed"));
    test::CounterRandom random{21};
    std::size_t kept = 0, cut_short = 0;
    for (int round = 0; round < 50; ++round) {
        Writer const writer = start_writer(file(), id, static_cast<std::uint32_t>(kept));
        std::this_thread::sleep_for(std::chrono::microseconds{500 + random.below(12'000)});
        kill(writer.child, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(status_of(writer.child)));
        std::size_t const said = writer.said();
        io::Store const store{file(), Access::read};
        std::size_t const found = store.load(id).samples.size();
        EXPECT_GE(found, kept + said) << "round " << round;
        EXPECT_LE(found, kept + said + 1) << "round " << round;
        cut_short += fs::exists(file()) && found > kept ? 1 : 0;
        kept = found;
        EXPECT_FALSE(store.in_other_hands(id)); // its hold ended with it
        EXPECT_EQ(store.unfinished("scaling", some_campaign("killed").settings), id);
    }
    EXPECT_GT(cut_short, 10U) << "hardly a writer was killed while it wrote";
    EXPECT_EQ(integrity(), "ok");
    Campaign const campaign = io::Store{file(), Access::read}.load(id);
    for (std::uint32_t i = 0; i < campaign.samples.size(); ++i) { EXPECT_EQ(campaign.samples[i], sample_of(i)); }
}

TEST_F(StoreProcessesTest, WhileItIsMeasuredItIsInItsHands) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("held"));
    Writer const writer = start_writer(file(), id, 0);
    char byte = 0;
    ASSERT_EQ(read(writer.from, &byte, 1), 1);
    {
        io::Store store{file(), Access::write, 60};
        EXPECT_TRUE(store.in_other_hands(id));
        EXPECT_EQ(store.unfinished("scaling", some_campaign("held").settings), std::nullopt);
        EXPECT_THROW(store.remove(id), InputError);
    }
    kill(writer.child, SIGKILL);
    status_of(writer.child);
    close(writer.from);
    io::Store store{file(), Access::write};
    EXPECT_TRUE(store.take(id));
    EXPECT_NO_THROW(store.remove(id));
}

TEST_F(StoreProcessesTest, ReadersSeeWholeCampaignsWhileOthersWrite) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("read"));
    Writer const writer = start_writer(file(), id, 0);
    std::size_t before = 0;
    for (int round = 0; round < 100; ++round) {
        Campaign const campaign = io::Store{file(), Access::read, 60}.load(id);
        EXPECT_GE(campaign.samples.size(), before);
        before = campaign.samples.size();
        for (std::uint32_t i = 0; i < before; ++i) { ASSERT_EQ(campaign.samples[i].repetition, i); }
    }
    kill(writer.child, SIGKILL);
    status_of(writer.child);
    close(writer.from);
    EXPECT_GT(before, 0U);
}

/// As a user without rights; root may write everywhere.
int as_nobody(std::function<void()> const& work) {
    return status_of(start([&] {
        if (geteuid() == 0 && (setgid(65'534) != 0 || setuid(65'534) != 0)) { throw std::runtime_error{"still root"}; }
        work();
    }));
}

std::string line_of(std::function<void()> const& work) {
    try {
        work();
    } catch (InputError const& error) { return error.fault() == Fault::unreadable ? error.what() : ""; }
    return "";
}

void require(bool true_one) {
    if (!true_one) { throw std::runtime_error{"not so"}; }
}

TEST_F(StoreProcessesTest, WithoutPermissionItIsReadAndNotWritten) {
    std::int64_t id = 0;
    {
        io::Store store{file(), Access::write};
        id = store.begin(some_campaign("kept"));
        store.add(id, sample_of(0));
    }
    for (fs::path const& path : {file(), fs::path{file().string() + "-journal"}, fs::path{file().string() + "-held"}}) {
        fs::permissions(path, fs::perms{0444});
    }
    fs::permissions(folder_, fs::perms{0555});
    EXPECT_EQ(as_nobody([&] { require(io::Store{file(), Access::read}.load(id).samples.size() == 1); }), 0);
    EXPECT_EQ(
        as_nobody([&] {
            require(line_of([&] { io::Store{file(), Access::write}; }).find("may not be written") != std::string::npos);
        }),
        0);
    EXPECT_EQ(as_nobody([&] {
                  require(line_of([&] {
                              io::Store{folder_ / "new.sqlite", Access::write};
                          }).find("may not be written") != std::string::npos);
              }),
              0);
    EXPECT_EQ(as_nobody([&] {
                  require(line_of([&] {
                              io::Store{folder_ / "sub" / "new.sqlite", Access::write};
                          }).find("cannot be made") != std::string::npos);
              }),
              0);
    // The file may be written and its folder may not: a journal cannot be made beside it.
    fs::permissions(folder_, fs::perms{0755});
    fs::remove(file().string() + "-journal");
    fs::permissions(file(), fs::perms{0666});
    fs::permissions(folder_, fs::perms{0555});
    EXPECT_EQ(as_nobody([&] {
                  io::Store store{file(), Access::write};
                  require(!line_of([&] { store.add(id, sample_of(1)); }).empty());
                  require(store.sample_count(id) == 1);
              }),
              0);
    fs::permissions(folder_, fs::perms{0000});
    EXPECT_EQ(as_nobody([&] { require(!line_of([&] { io::Store{file(), Access::read}; }).empty()); }), 0);
    fs::permissions(folder_, fs::perms{0755});
}

} // namespace
} // namespace headroom
