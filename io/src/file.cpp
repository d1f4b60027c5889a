#include "headroom/io/file.hpp"

#include "records/record.hpp"
#include "unread_bytes.hpp"

#include "headroom/io/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace headroom::io {

namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::error_code{error, std::generic_category()}.message(); }

/// An open file that closes itself.
class Descriptor {
public:
    explicit Descriptor(int number) : number_{number} {}
    ~Descriptor() {
        if (number_ >= 0) { ::close(number_); }
    }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }

private:
    int number_;
};

constexpr std::uintmax_t device_limit = 64U << 20;
constexpr int patience_milliseconds = 3000; ///< with a named pipe that nobody has opened for writing

/// Waits for something to read, or for an end; false when neither comes. Without a limit where `milliseconds` is -1.
bool comes(int descriptor, int milliseconds) {
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    int ready = -1;
    while ((ready = ::poll(&waiting, 1, milliseconds)) < 0 && errno == EINTR) {}
    return ready != 0;
}

/// The next bytes, waited for where the file has none yet; 0 at its end.
std::size_t read_some(int descriptor, std::vector<char>& buffer, std::string const& where) {
    for (;;) {
        ssize_t const got = ::read(descriptor, buffer.data(), buffer.size());
        if (got >= 0) { return static_cast<std::size_t>(got); }
        if (errno != EINTR && errno != EAGAIN) { unreadable_error(where, "cannot be read", reason(errno)); }
        if (errno == EAGAIN) { comes(descriptor, -1); }
    }
}

/// False, with the reason in errno, when not everything could be written.
bool write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        ssize_t const written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) { return false; }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

[[noreturn]] void not_written(fs::path const& path, int error) {
    std::error_code ignored;
    fs::path const folder = path.has_parent_path() ? path.parent_path() : fs::path{"."};
    if (error == ENOENT || (error == ENOTDIR && !fs::is_directory(folder, ignored))) {
        refuse(path.string(), "cannot be written", fmt::format("there is no folder '{}'", folder.string()),
               "create the folder first");
    }
    if (error == EACCES || error == EPERM || error == EROFS) {
        refuse(path.string(), "cannot be written", reason(error), "choose a folder that you may write to");
    }
    refuse(path.string(), "cannot be written", reason(error));
}

/// Neither a regular file nor absent: a pipe or a device, which is written in place.
bool is_stream(fs::file_status status) {
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Opens a pipe or a device for writing; a pipe that nobody reads is waited for as long as one that nobody writes.
int open_stream(fs::path const& path) {
    constexpr int pause_milliseconds = 20;
    for (int waited = 0;; waited += pause_milliseconds) {
        int const number = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (number >= 0 || errno != ENXIO || waited >= patience_milliseconds) { return number; }
        ::poll(nullptr, 0, pause_milliseconds);
    }
}

void write_in_place(fs::path const& path, std::string_view content) {
    Descriptor const file{open_stream(path)};
    if (!file.open() && errno == ENXIO) {
        refuse(path.string(), "nothing reads from this pipe", "it was waited for 3 seconds",
               "start first what reads from it");
    }
    // a pipe that is full is waited for: it has a reader
    bool const done =
        file.open() && ::fcntl(file.number(), F_SETFL, O_WRONLY) == 0 && write_all(file.number(), content);
    if (!done) { not_written(path, errno); }
}

/// The file that `path` means: what its symbolic links lead to, there or not.
fs::path behind_links(fs::path const& path) {
    constexpr int most_links = 40; // as the kernel follows
    fs::path target = path;
    std::error_code error;
    for (int followed = 0; fs::is_symlink(fs::symlink_status(target, error)); ++followed) {
        if (followed == most_links) { not_written(path, ELOOP); }
        fs::path const next = fs::read_symlink(target, error);
        if (error) { not_written(path, error.value()); }
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target;
}

/// Holds back the signals that end a program, so that none finds a file half made.
class SignalsHeld {
public:
    SignalsHeld() {
        sigset_t ending;
        sigemptyset(&ending);
        for (int const one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) { sigaddset(&ending, one); }
        ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
    }
    ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(SignalsHeld const&) = delete;
    SignalsHeld& operator=(SignalsHeld const&) = delete;

private:
    sigset_t before_{};
};

/// A new file next to `path`; its name is written to `temporary`.
int open_temporary(fs::path const& path, std::string& temporary) {
    temporary = path.string() + ".XXXXXX";
    return ::mkostemp(temporary.data(), O_CLOEXEC);
}

mode_t usual_mode() {
    mode_t const mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

} // namespace

bool is_there(fs::path const& path) {
    std::error_code error;
    return fs::exists(path, error);
}

std::string read_file(fs::path const& path, std::uintmax_t limit) {
    std::string const where = path.string();
    // Opening a named pipe would wait for somebody to write into it, perhaps for ever.
    Descriptor const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file.open()) {
        if (errno == ENOENT || errno == ENOTDIR) { unreadable_error(where, "no such file"); }
        unreadable_error(where, "cannot be read", reason(errno));
    }
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) { unreadable_error(where, "cannot be read", reason(errno)); }
    if (S_ISDIR(status.st_mode)) { unreadable_error(where, "cannot be read", "it is a folder", "name a file in it"); }
    bool const silent = S_ISFIFO(status.st_mode) && !comes(file.number(), patience_milliseconds);
    // A device has no known end.
    if (S_ISCHR(status.st_mode)) { limit = std::min(limit, device_limit); }

    std::string content;
    if (S_ISREG(status.st_mode)) {
        content.reserve(std::min<std::uintmax_t>(limit, static_cast<std::uintmax_t>(status.st_size)));
    }
    std::vector<char> buffer(1U << 16);
    while (std::size_t const got = read_some(file.number(), buffer, where)) {
        if (content.size() + got > limit) {
            unreadable_error(where, "too large", fmt::format("at most {} bytes are read", limit));
        }
        content.append(buffer.data(), got);
        if (content.size() == got && got == buffer.size()) { refuse_repeated_byte(content, where); }
    }
    if (content.size() < buffer.size()) { refuse_repeated_byte(content, where); }
    if (silent && content.empty()) {
        unreadable_error(where, "nothing is written into this pipe", "it was waited for 3 seconds",
                         "start first what writes into it");
    }
    return content;
}

std::vector<std::string> files_in(fs::path const& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
        std::error_code unknown; // a file that goes away meanwhile
        bool const hidden = entry->path().filename().string().starts_with('.');
        if (!hidden && entry->is_regular_file(unknown)) { files.push_back(entry->path().string()); }
    }
    if (error || files.empty()) {
        unreadable_error(folder.string(), "no file in this folder", error ? error.message() : "");
    }
    std::ranges::sort(files);
    return files;
}

void require_place(fs::path const& path) {
    if (path == "-") { return; }
    std::error_code error;
    if (fs::is_directory(path, error)) {
        refuse(path.string(), "cannot be written", "it is a folder", "name a file in it");
    }
    if (path.empty() || !path.has_filename()) { refuse(path.string(), "cannot be written", "it names no file"); }
    fs::path const folder = path.parent_path();
    if (!folder.empty() && !fs::is_directory(folder, error)) { not_written(path, ENOENT); }
}

void write_file(fs::path const& path, std::string_view content) {
    if (path == "-") {
        if (Capture* const kept = captured()) {
            kept->out.append(content);
            return;
        }
        if (!write_all(STDOUT_FILENO, content)) { not_written("standard output", errno); }
        return;
    }
    require_place(path);
    std::error_code error;
    fs::file_status status = fs::status(path, error);
    error.clear(); // an absent file is no error here: it is made
    if (is_stream(status)) { return write_in_place(path, content); }

    // Behind a symbolic link lies the file that is meant: it is written, the link stays.
    fs::path const target = behind_links(path);
    if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) { not_written(path, errno); }

    SignalsHeld const held;
    std::string temporary;
    Descriptor const file{open_temporary(target, temporary)};
    if (!file.open()) { not_written(path, errno); }
    mode_t const mode = fs::exists(status) ? static_cast<mode_t>(status.permissions()) & 07777 : usual_mode();
    bool const done = write_all(file.number(), content) && ::fchmod(file.number(), mode) == 0 &&
                      ::fsync(file.number()) == 0 && ::rename(temporary.c_str(), target.c_str()) == 0;
    if (!done) {
        int const cause = errno;
        ::unlink(temporary.c_str());
        not_written(path, cause);
    }
}

} // namespace headroom::io
