// Bytes out of files, memory and decompressors: whole, damaged, and more than there should be.

#include "support/compressed.hpp"
#include "traces/byte_source.hpp"
#include "traces/decompressors.hpp"

#include "headroom/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <zstd.h>

namespace {

using namespace headroom;
namespace fs = std::filesystem;
using test::gzip_of;
using test::sample_text;
using test::zstd_of;

struct Drained {
    std::string text, damage;
    std::uint64_t bytes_read = 0;
};

Drained drain(io::ByteSource& source, std::size_t block) {
    Drained drained;
    std::string buffer(block, '\0');
    std::size_t got = block;
    while (got == block) {
        got = source.read(buffer.data(), block);
        drained.text.append(buffer, 0, got);
    }
    EXPECT_EQ(source.read(buffer.data(), block), 0U) << "more came after the end";
    drained.damage = source.damage();
    drained.bytes_read = source.bytes_read();
    return drained;
}

Drained drain(std::string const& bytes, std::size_t block = 65536, io::SourceLimits const& limits = {}) {
    return drain(*io::open_source(bytes, "bytes", limits), block);
}

fs::path scratch_file(std::string const& content) {
    static int number = 0;
    fs::path const path =
        fs::temp_directory_path() / ("headroom-source-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    std::ofstream{path, std::ios::binary} << content;
    return path;
}

TEST(TraceSource, GivesWhatWasCompressedWhateverTheBlock) {
    std::string const text = sample_text(300'000);
    for (std::string const& bytes : {text, gzip_of(text), gzip_of(text, 2 | 4 | 8 | 16), zstd_of(text)}) {
        for (std::size_t const block : {std::size_t{1} << 10, std::size_t{77'777}, std::size_t{1} << 20}) {
            Drained const drained = drain(bytes, block);
            EXPECT_TRUE(drained.text == text);
            EXPECT_EQ(drained.damage, "");
            EXPECT_EQ(drained.bytes_read, bytes.size());
        }
    }
    EXPECT_EQ(drain(gzip_of(sample_text(2000)), 1).text, sample_text(2000));
    EXPECT_EQ(drain(zstd_of(sample_text(2000)), 1).text, sample_text(2000));
}

TEST(TraceSource, MembersAndFramesFollowEachOther) {
    std::string const a = sample_text(100'000), b = "second", c = sample_text(5);
    EXPECT_EQ(drain(gzip_of(a) + gzip_of(b, 8) + gzip_of("") + gzip_of(c)).text, a + b + c);
    EXPECT_EQ(drain(zstd_of(a) + test::zstd_skippable("seek table") + zstd_of(b) + zstd_of(c)).text, a + b + c);
    EXPECT_EQ(drain(test::zstd_skippable("first") + zstd_of(b)).text, b);
    EXPECT_EQ(drain(gzip_of("")).damage, "");
}

TEST(TraceSource, ManySmallMembersWhoseEndsMeetTheEndsOfWindows) {
    // bgzip and logs that are appended to: the trailer of a member may lie across two windows of the file.
    std::string bytes, text;
    for (std::size_t i = 0; bytes.size() < 600'000; ++i) {
        std::string const piece = sample_text(i % 3000);
        bytes += gzip_of(piece);
        text += piece;
    }
    fs::path const path = scratch_file(bytes);
    Drained const drained = drain(*io::open_source(path, {}), 1 << 16);
    EXPECT_TRUE(drained.text == text);
    EXPECT_EQ(drained.damage, "");
    EXPECT_EQ(drained.bytes_read, bytes.size());
    fs::remove(path);
}

TEST(TraceSource, CutAtEveryByteIsToldAndWhatCameBeforeIsKept) {
    std::string const text = sample_text(3000);
    for (std::string const& bytes : {gzip_of(text, 2 | 4 | 8 | 16), zstd_of(text)}) {
        std::size_t longest = 0;
        for (std::size_t cut = 4; cut < bytes.size(); ++cut) {
            Drained const drained = drain(bytes.substr(0, cut));
            ASSERT_EQ(drained.damage, "cut short") << cut;
            ASSERT_TRUE(text.starts_with(drained.text)) << cut;
            longest = std::max(longest, drained.text.size());
        }
        // A frame of zstd this small is one block, which comes as a whole or not at all.
        EXPECT_EQ(longest, io::begins_as_zstd(bytes) ? 0 : text.size());
    }
}

TEST(TraceSource, ACutGzipGivesWhatItsLastBlocksHold) {
    std::string const text = sample_text(4'000'000), bytes = gzip_of(text);
    Drained const half = drain(bytes.substr(0, bytes.size() / 2));
    EXPECT_EQ(half.damage, "cut short");
    EXPECT_TRUE(text.starts_with(half.text));
    EXPECT_GT(half.text.size(), text.size() * 2 / 5);
}

TEST(TraceSource, EveryByteThatIsFlippedIsToldOrChangesNothing) {
    std::string const text = sample_text(2000), bytes = gzip_of(text);
    int told = 0;
    for (std::size_t i = 3; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x10);
        Drained const drained = drain(changed);
        // Time, flags of the compressor and system (bytes 4 to 9) mean nothing here.
        ASSERT_TRUE(!drained.damage.empty() || drained.text == text) << i;
        told += drained.damage.empty() ? 0 : 1;
    }
    EXPECT_GE(told, static_cast<int>(bytes.size()) - 12);
}

TEST(TraceSource, CorruptDataThatReachBehindTheEndStayInside) {
    // A block of run lengths whose codes go on behind the last byte.
    std::string const bytes{"\x1f\x8b\x08\0\0\0\0\0\0\0\x03\xed\xc0\x21\x01\0\0\0\0\x03\xed\xc0\x21\x01\x1f\0", 26};
    Drained const drained = drain(bytes);
    EXPECT_EQ(drained.damage, "corrupt");
    EXPECT_LE(drained.bytes_read, bytes.size());
}

TEST(TraceSource, ABadChecksumOrLengthIsCorruptAndTheTextIsKept) {
    std::string const text = sample_text(2000);
    for (std::size_t const behind : {1U, 5U}) {
        std::string bytes = gzip_of(text);
        bytes[bytes.size() - behind] = static_cast<char>(bytes[bytes.size() - behind] ^ 1);
        EXPECT_EQ(drain(bytes).damage, "corrupt");
        EXPECT_EQ(drain(bytes).text, text);
        EXPECT_EQ(drain(bytes + gzip_of("next")).text, text + "next");
        EXPECT_EQ(drain(bytes + gzip_of("next")).damage, "corrupt");
    }
}

TEST(TraceSource, WhatFollowsTheEndIsToldUnlessItIsPadding) {
    std::string const text = sample_text(2000);
    for (std::string const& bytes : {gzip_of(text), zstd_of(text)}) {
        EXPECT_EQ(drain(bytes + "garbage").damage, "followed by other bytes");
        EXPECT_EQ(drain(bytes + "g").damage, "followed by other bytes");
        EXPECT_EQ(drain(bytes + std::string(512, '\0')).damage, "");
        EXPECT_EQ(drain(bytes + std::string(1, '\0')).damage, "");
        EXPECT_EQ(drain(bytes + std::string(512, '\0') + "g").damage, "followed by other bytes");
        EXPECT_EQ(drain(bytes + "garbage").text, text);
    }
}

TEST(TraceSource, BombsEndAtTheLimit) {
    std::string const zeros(std::size_t{40} << 20, '\0');
    std::string const gzip = gzip_of(zeros), zstd = zstd_of(zeros);
    EXPECT_EQ(drain(gzip, 1 << 20, {0, 1100.0}).damage, "") << "deflate cannot reach this ratio";
    for (std::string const& bytes : {gzip, zstd}) {
        Drained const by_size = drain(bytes, 1 << 20, {1'000'000, 0.0});
        EXPECT_EQ(by_size.damage, "larger than the limit");
        EXPECT_LE(by_size.text.size(), 1'000'000U + (1U << 20));
        Drained const by_ratio = drain(bytes, 1 << 20, {0, 20.0});
        EXPECT_EQ(by_ratio.damage, "larger than the limit");
        EXPECT_LE(by_ratio.text.size(), std::size_t{18} << 20) << "told soon after the first 16 MiB";
    }
    EXPECT_EQ(drain(zstd, 1 << 20, {0, 1100.0}).damage, "larger than the limit");
    EXPECT_EQ(drain(gzip_of(std::string(std::size_t{1} << 20, '\0')), 1 << 16, {0, 20.0}).damage, "")
        << "a little text is no bomb, whatever its ratio";
}

TEST(TraceSource, AWindowLargerThanAnyMachineShouldGiveIsRefused) {
    // A frame that asks for a window of 2 GiB: descriptor 0, window byte (21 << 3), one empty last block.
    std::string const bytes{"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9};
    EXPECT_EQ(drain(bytes).damage, "larger than the limit");
}

TEST(TraceSource, FilesAreKnownByTheirBytesNotByTheirNames) {
    std::string const text = sample_text(700'000);
    for (std::string const& bytes : {text, gzip_of(text), zstd_of(text)}) {
        fs::path const path = scratch_file(bytes);
        auto const source = io::open_source(path, {});
        EXPECT_EQ(source->plain_file() >= 0, bytes == text);
        EXPECT_EQ(source->size(), bytes == text ? text.size() : 0U);
        Drained const drained = drain(*source, 100'000);
        EXPECT_TRUE(drained.text == text);
        EXPECT_EQ(drained.bytes_read, bytes.size());
        fs::remove(path);
    }
    EXPECT_EQ(io::open_source("plain", "bytes", {})->in_memory(), "plain");
    EXPECT_EQ(drain("").text, "");
    EXPECT_EQ(drain("\x1f\x8b").damage, "cut short");
    EXPECT_EQ(drain("\x1f\x8b\x07 another method").damage, "corrupt");
}

TEST(TraceSource, APipeIsReadToItsEnd) {
    std::string const text = sample_text(700'000);
    for (std::string const& bytes : {text, gzip_of(text), zstd_of(text)}) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        std::thread writer{[&bytes, end = ends[1]] {
            std::size_t done = 0;
            while (done < bytes.size()) {
                ssize_t const count = ::write(end, bytes.data() + done, bytes.size() - done);
                if (count <= 0) { break; }
                done += static_cast<std::size_t>(count);
            }
            ::close(end);
        }};
        EXPECT_TRUE(drain(*io::open_source(fs::path{"/dev/fd/" + std::to_string(ends[0])}, {}), 1 << 16).text == text);
        writer.join();
        ::close(ends[0]);
    }
    EXPECT_EQ(drain(*io::open_source(fs::path{"/dev/zero"}, {.text = 1 << 20, .ratio = 0}), 1 << 16).damage,
              "larger than the limit");
}

TEST(TraceSource, WhatCannotBeOpenedIsAnError) {
    for (fs::path const& path : {fs::path{"/nowhere/at/all"}, fs::temp_directory_path()}) {
        try {
            io::open_source(path, {});
            FAIL() << path;
        } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::unreadable); }
    }
}

} // namespace
