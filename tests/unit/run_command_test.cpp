// Commands that hang, flood, fail, die, stop writing, leave children behind: each ends, is distinguished, and leaves
// nothing.

#include "support/scratch_folder.hpp"

#include "headroom/probe/run_command.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using headroom::probe::CommandEnd;
using headroom::probe::CommandQuestion;
using headroom::probe::CommandRun;

CommandQuestion shell(std::string const& text) { return {.words = {"/bin/sh", "-c", text}}; }

CommandRun run(std::string const& text) { return headroom::probe::run_command(shell(text)); }

/// A file that a process writes its number into, and whether that process is still there.
class PidFile {
    headroom::test::ScratchFolder folder_;

public:
    std::string const path = (folder_.path() / "pid").string();
    [[nodiscard]] pid_t pid() const {
        pid_t found = 0;
        std::ifstream{path} >> found;
        return found;
    }
    /// Gone, or a zombie that nobody has looked at yet.
    [[nodiscard]] bool alive() const {
        std::ifstream file{"/proc/" + std::to_string(pid()) + "/stat"};
        std::string const text{std::istreambuf_iterator<char>{file}, {}};
        auto const name_end = text.rfind(')');
        return name_end != std::string::npos && text.at(name_end + 2) != 'Z';
    }
};

/// A command that is ended after `seconds`, after twice as long where it had not come to writing its file, and so on.
CommandRun timed_out(CommandQuestion question, PidFile const& written, double seconds = 0.2) {
    CommandRun run;
    while (written.pid() == 0 && seconds < 600.0) {
        question.timeout_seconds = seconds;
        run = headroom::probe::run_command(question);
        EXPECT_EQ(run.end, CommandEnd::timed_out);
        EXPECT_GE(run.seconds, seconds);
        seconds *= 2.0;
    }
    EXPECT_NE(written.pid(), 0);
    return run;
}

TEST(RunCommand, TellsOutputErrorsStatusAndTime) {
    auto const result = run("echo out; echo err >&2; sleep 0.05; exit 3");
    EXPECT_EQ(result.end, CommandEnd::exited);
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.errors, "err\n");
    EXPECT_GE(result.seconds, 0.05);
    EXPECT_LT(result.seconds, 60.0);
    EXPECT_GT(result.peak_memory_bytes, 0U);
    EXPECT_EQ(result.left_behind, 0);
}

TEST(RunCommand, WordsReachTheProgramAsTheyAre) {
    auto const result = headroom::probe::run_command({.words = {"printf", "%s|", "a b", "$HOME", "*", ""}});
    EXPECT_EQ(result.output, "a b|$HOME|*||");
}

TEST(RunCommand, VariablesAreItsOwn) {
    auto question = shell("echo $HEADROOM_TEST_VARIABLE $HOME");
    question.variables = {{"HEADROOM_TEST_VARIABLE", "7"}, {"HOME", "/nowhere"}};
    EXPECT_EQ(headroom::probe::run_command(question).output, "7 /nowhere\n");
}

TEST(RunCommand, ReadsNothing) { EXPECT_EQ(run("cat; echo end").output, "end\n"); }

TEST(RunCommand, ProcessorTimeIsCounted) {
    auto const result = run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    EXPECT_GT(result.user_seconds + result.system_seconds, 0.001);
}

TEST(RunCommand, AHangIsEndedWithItsGroup) {
    PidFile const file;
    auto const result = timed_out(shell("sleep 1000 & echo $! > " + file.path + "; wait"), file);
    EXPECT_LT(result.seconds, 600.0);
    EXPECT_FALSE(file.alive());
}

TEST(RunCommand, WhatDoesNotListenIsKilled) {
    PidFile const file;
    auto question = shell("trap '' TERM; echo $$ > " + file.path + "; while :; do sleep 0.05; done");
    question.grace_seconds = 0.2;
    auto const result = timed_out(question, file);
    EXPECT_GE(result.seconds, 0.4);
    EXPECT_LT(result.seconds, 600.0);
    EXPECT_FALSE(file.alive());
}

TEST(RunCommand, AStoppedProcessIsEndedToo) {
    PidFile const file;
    auto question = shell("echo $$ > " + file.path + "; kill -STOP $$");
    question.grace_seconds = 600.0;
    auto const result = timed_out(question, file);
    EXPECT_LT(result.seconds, question.grace_seconds) << "it is woken to hear that it shall end";
}

TEST(RunCommand, GrandchildrenThatHoldThePipeAreNotWaitedForAndNotLeft) {
    PidFile const file;
    auto const result = run("sleep 1000 & echo $! > " + file.path + "; echo done");
    EXPECT_EQ(result.end, CommandEnd::exited);
    EXPECT_EQ(result.output, "done\n");
    EXPECT_LT(result.seconds, 600.0);
    EXPECT_EQ(result.left_behind, 1);
    EXPECT_FALSE(file.alive());
}

TEST(RunCommand, GrandchildrenThatLeaveTheGroupAreFound) {
    PidFile const file;
    auto const result = run("setsid sh -c 'echo $$ > " + file.path + "; exec sleep 1000' & until [ -s " + file.path +
                            " ]; do sleep 0.01; done");
    ASSERT_GT(file.pid(), 0);
    EXPECT_GE(result.left_behind, 1);
    EXPECT_FALSE(file.alive());
}

TEST(RunCommand, AFloodIsReadAndItsEndKept) {
    auto question = shell("head -c 100000000 /dev/zero; echo; echo value 5");
    question.keep_bytes = 1000;
    auto const result = headroom::probe::run_command(question);
    EXPECT_EQ(result.end, CommandEnd::exited);
    EXPECT_EQ(result.output_bytes, 100'000'009U);
    EXPECT_EQ(result.output.size(), 1000U);
    EXPECT_TRUE(result.output.ends_with("\nvalue 5\n"));
}

TEST(RunCommand, AFloodWithoutEndIsEnded) {
    auto question = shell("yes");
    question.timeout_seconds = 0.3;
    auto const result = headroom::probe::run_command(question);
    EXPECT_EQ(result.end, CommandEnd::timed_out);
    EXPECT_LT(result.seconds, 600.0);
    EXPECT_LE(result.output.size(), question.keep_bytes);
}

TEST(RunCommand, ClosedOutputIsNoEnd) {
    auto const result = run("exec >&- 2>&-; sleep 0.2; exit 4");
    EXPECT_EQ(result.status, 4);
    EXPECT_GE(result.seconds, 0.2);
}

TEST(RunCommand, SignalsAreNamed) {
    auto const question = shell("kill -SEGV $$");
    auto const result = headroom::probe::run_command(question);
    EXPECT_EQ(result.end, CommandEnd::signalled);
    EXPECT_EQ(result.signal, SIGSEGV);
    EXPECT_EQ(headroom::probe::end_words(result, question), "signal 11 (Segmentation fault)");
}

TEST(RunCommand, SignalsAreAsAShellLeavesThem) {
    std::signal(SIGPIPE, SIG_IGN);
    auto const result = run("kill -PIPE $$; echo alive");
    std::signal(SIGPIPE, SIG_DFL);
    EXPECT_EQ(result.signal, SIGPIPE);
}

TEST(RunCommand, WhatCannotBeStartedSaysWhy) {
    EXPECT_EQ(headroom::probe::run_command({.words = {"no-such-program-anywhere"}}).message, "not found in PATH");
    EXPECT_EQ(headroom::probe::run_command({.words = {"/no/such/program"}}).message, "there is no such file");
    EXPECT_EQ(headroom::probe::run_command({.words = {"/tmp"}}).message, "a folder");
    EXPECT_EQ(headroom::probe::run_command({.words = {"/etc/passwd"}}).message, "no permission to run it");
    PidFile const script;
    std::ofstream{script.path} << "echo no first line\n";
    std::filesystem::permissions(script.path, std::filesystem::perms::owner_all);
    auto const result = headroom::probe::run_command({.words = {script.path}});
    EXPECT_EQ(result.end, CommandEnd::not_started);
    EXPECT_NE(result.message.find("is no program"), std::string::npos) << result.message;
}

TEST(RunCommand, AStopReachesTheGroupAsCtrlC) {
    PidFile const file;
    std::stop_source stop;
    auto question = shell("trap 'echo heard; exit 0' INT; echo $$ > " + file.path + "; while :; do sleep 0.02; done");
    question.stop = stop.get_token();
    std::jthread const asks{[&] {
        while (file.pid() == 0) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
        stop.request_stop();
    }};
    auto const result = headroom::probe::run_command(question);
    EXPECT_EQ(result.end, CommandEnd::stopped);
    EXPECT_EQ(result.output, "heard\n");
}

TEST(RunCommand, ChildrenOfBeforeAreLeftAlone) {
    pid_t const own = ::fork();
    if (own == 0) {
        ::execlp("sleep", "sleep", "1000", nullptr);
        ::_exit(1);
    }
    run("sleep 1000 & true");
    EXPECT_EQ(::waitpid(own, nullptr, WNOHANG), 0) << "it runs";
    ::kill(own, SIGKILL);
    ::waitpid(own, nullptr, 0);
}

} // namespace
