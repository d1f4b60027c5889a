#include "support/random.hpp"
#include "support/scratch_folder.hpp"
#include "support/without_rights.hpp"

#include "headroom/error.hpp"
#include "headroom/io/store.hpp"

#include <gmock/gmock.h>
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

using namespace headroom::measure;

namespace {

namespace fs = std::filesystem;
using Access = io::Store::Access;
using ::testing::HasSubstr;

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

    test::ScratchFolder scratch_ = test::ScratchFolder::in_memory();
    fs::path folder_ = scratch_.path();
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
class Writer {
public:
    Writer(pid_t child, int from) : child_{child}, from_{from} {}
    /// Waits until one more is kept; false where the writer has ended.
    bool next() {
        char byte = 0;
        bool const more = read(from_, &byte, 1) == 1;
        said_ += more ? 1 : 0;
        return more;
    }
    /// Ends it, wherever it is; the number of samples that it reported as kept.
    std::uint32_t killed() {
        kill(child_, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(status_of(child_)));
        while (next()) {}
        close(from_);
        return said_;
    }

private:
    pid_t child_;
    int from_;
    std::uint32_t said_ = 0;
};

Writer start_writer(fs::path const& file, std::int64_t id, std::uint32_t first) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) { throw std::runtime_error{"no pipe"}; }
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
    std::size_t kept = 0, grew = 0;
    for (int round = 0; round < 50; ++round) {
        // While it starts where nothing is waited for, else after some samples; and then at any moment of a sample.
        Writer writer = start_writer(file(), id, static_cast<std::uint32_t>(kept));
        for (std::uint64_t left = random.below(5); left > 0; --left) { ASSERT_TRUE(writer.next()); }
        std::this_thread::sleep_for(std::chrono::microseconds{random.below(500)});
        std::size_t const said = writer.killed();
        io::Store const store{file(), Access::read};
        std::size_t const found = store.load(id).samples.size();
        EXPECT_GE(found, kept + said) << "round " << round;
        EXPECT_LE(found, kept + said + 1) << "round " << round;
        grew += found > kept ? 1 : 0;
        kept = found;
        EXPECT_FALSE(store.in_other_hands(id)); // its hold ended with it
        EXPECT_EQ(store.unfinished("scaling", some_campaign("killed").settings), id);
    }
    EXPECT_GT(grew, 25U) << "four of five writers are waited for";
    EXPECT_EQ(integrity(), "ok");
    Campaign const campaign = io::Store{file(), Access::read}.load(id);
    for (std::uint32_t i = 0; i < campaign.samples.size(); ++i) { EXPECT_EQ(campaign.samples[i], sample_of(i)); }
}

TEST_F(StoreProcessesTest, WhileItIsMeasuredItIsInItsHands) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("held"));
    Writer writer = start_writer(file(), id, 0);
    ASSERT_TRUE(writer.next());
    {
        io::Store store{file(), Access::write, 60};
        EXPECT_TRUE(store.in_other_hands(id));
        EXPECT_EQ(store.unfinished("scaling", some_campaign("held").settings), std::nullopt);
        EXPECT_THROW(store.remove(id), InputError);
    }
    writer.killed();
    io::Store store{file(), Access::write};
    EXPECT_TRUE(store.take(id));
    EXPECT_NO_THROW(store.remove(id));
}

TEST_F(StoreProcessesTest, ReadersSeeWholeCampaignsWhileOthersWrite) {
    std::int64_t const id = io::Store{file(), Access::write}.begin(some_campaign("read"));
    Writer writer = start_writer(file(), id, 0);
    ASSERT_TRUE(writer.next());
    std::size_t before = 0;
    for (int round = 0; round < 100; ++round) {
        Campaign const campaign = io::Store{file(), Access::read, 60}.load(id);
        EXPECT_GE(campaign.samples.size(), before);
        before = campaign.samples.size();
        for (std::uint32_t i = 0; i < before; ++i) { ASSERT_EQ(campaign.samples[i].repetition, i); }
    }
    writer.killed();
    EXPECT_GT(before, 0U);
}

std::string line_of(std::function<void()> const& work) {
    try {
        work();
    } catch (InputError const& error) { return error.fault() == Fault::unreadable ? error.what() : ""; }
    return "";
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
    test::without_rights([&] {
        EXPECT_EQ((io::Store{file(), Access::read}.load(id).samples.size()), 1U);
        EXPECT_THAT(line_of([&] { io::Store{file(), Access::write}; }), HasSubstr("may not be written"));
        fs::path const fresh = folder_ / "new.sqlite", deeper = folder_ / "sub" / "new.sqlite";
        EXPECT_THAT(line_of([&] { io::Store{fresh, Access::write}; }), HasSubstr("may not be written"));
        EXPECT_THAT(line_of([&] { io::Store{deeper, Access::write}; }), HasSubstr("cannot be made"));
    });
    // The file may be written and its folder may not: a journal cannot be made in it.
    fs::permissions(folder_, fs::perms{0755});
    fs::remove(file().string() + "-journal");
    fs::permissions(file(), fs::perms{0666});
    fs::permissions(folder_, fs::perms{0555});
    test::without_rights([&] {
        io::Store store{file(), Access::write};
        EXPECT_NE(line_of([&] { store.add(id, sample_of(1)); }), "");
        EXPECT_EQ(store.sample_count(id), 1U);
    });
    fs::permissions(folder_, fs::perms{0000});
    test::without_rights([&] { EXPECT_NE(line_of([&] { io::Store{file(), Access::read}; }), ""); });
    fs::permissions(folder_, fs::perms{0755});
}

} // namespace
} // namespace headroom
