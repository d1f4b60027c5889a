#include "support/scratch_folder.hpp"
#include "support/without_rights.hpp"

#include "headroom/error.hpp"
#include "headroom/io/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace headroom::io {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
protected:
    [[nodiscard]] int entries() const {
        return static_cast<int>(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
    }
    test::ScratchFolder scratch_;
    fs::path folder_ = scratch_.path();
};

template <class Work> std::string refused(Work work, Fault fault) {
    try {
        work();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST_F(Files, WritesAndReadsBackEveryByte) {
    std::string content(100'000, 'x');
    for (std::size_t i = 0; i < content.size(); ++i) { content[i] = static_cast<char>(i * 7); }
    write_file(folder_ / "f", content);
    EXPECT_TRUE(read_file(folder_ / "f") == content);
    write_file(folder_ / "f", "");
    EXPECT_EQ(read_file(folder_ / "f"), "");
    EXPECT_EQ(entries(), 1) << "no temporary is left behind";
}

TEST_F(Files, KeepsTheModeAndTheLink) {
    write_file(folder_ / "f", "old");
    fs::permissions(folder_ / "f", fs::perms{0640});
    fs::create_symlink("f", folder_ / "link");
    write_file(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_file(folder_ / "f"), "new");
    EXPECT_EQ(fs::status(folder_ / "f").permissions(), fs::perms{0640});
}

TEST_F(Files, SaysWhatCannotBeWritten) {
    EXPECT_THAT(refused([&] { write_file(folder_ / "none" / "f", "x"); }, Fault::usage),
                HasSubstr("create the folder first"));
    EXPECT_THAT(refused([&] { write_file(folder_, "x"); }, Fault::usage), HasSubstr("it is a folder"));
    EXPECT_THAT(refused([&] { write_file("", "x"); }, Fault::usage), HasSubstr("names no file"));
    write_file(folder_ / "f", "x");
    EXPECT_THAT(refused([&] { write_file(folder_ / "f" / "g", "x"); }, Fault::usage), HasSubstr("cannot be written"));
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    test::without_rights([&] {
        EXPECT_THAT(refused([&] { write_file(folder_ / "g", "x"); }, Fault::usage), HasSubstr("choose a folder"));
    });
}

TEST_F(Files, DevicesAreWrittenInPlace) {
    write_file("/dev/null", "gone");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, SaysWhatCannotBeRead) {
    EXPECT_THAT(refused([&] { read_file(folder_ / "none"); }, Fault::unreadable), HasSubstr("none: no such file"));
    EXPECT_THAT(refused([&] { read_file(folder_); }, Fault::unreadable), HasSubstr("it is a folder"));
    write_file(folder_ / "f", "0123456789");
    EXPECT_EQ(read_file(folder_ / "f", 10).size(), 10U);
    EXPECT_THAT(refused([&] { read_file(folder_ / "f", 9); }, Fault::unreadable),
                HasSubstr("too large (at most 9 bytes"));
    EXPECT_THAT(refused([] { read_file("/dev/urandom", 1ULL << 40); }, Fault::unreadable),
                HasSubstr("too large (at most 67108864 bytes"));
    EXPECT_THAT(refused([] { read_file("/dev/zero", 1ULL << 40); }, Fault::unreadable),
                HasSubstr("holds no data (it is the byte 0x00 over and over"));
}

TEST_F(Files, APipeIsReadToItsEndAndNotWaitedForWithoutAWriter) {
    fs::path const pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refused([&] { read_file(pipe); }, Fault::unreadable), HasSubstr("nothing is written into this pipe"));

    std::string const content = "first " + std::string(299'994, 'x'); // more than a pipe holds
    std::thread writer{[&] {
        int end = -1; // a pipe without a reader cannot be opened so: the reader is there before the writer
        while ((end = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) < 0) { std::this_thread::yield(); }
        ::fcntl(end, F_SETFL, 0);
        for (std::size_t at = 0; at < content.size(); at += 100'000) {
            EXPECT_EQ(::write(end, content.data() + at, 100'000), 100'000);
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
        ::close(end);
    }};
    EXPECT_TRUE(read_file(pipe) == content);
    writer.join();
}

} // namespace
} // namespace headroom::io
