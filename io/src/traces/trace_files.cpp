// Folders to files: everything below that is a trace, each file once, in the order of names.

#include "records/record.hpp"
#include "traces/head_source.hpp"
#include "traces/natural_order.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <algorithm>
#include <map>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace headroom::io {

namespace {

namespace fs = std::filesystem;

/// Identity of the file behind a path: two links to one file are one file.
using FileIdentity = std::pair<dev_t, ino_t>;

struct Found {
    fs::path path;
    bool is_plan = false;
};

/// Walks folders without end: deep ones, and those that links lead into circles.
class FolderWalk {
public:
    explicit FolderWalk(TraceFiles& files) : files_{files} {}

    /// Begins with the next of the paths that were given.
    void next_path() { ++path_; }
    /// Nothing where the path was met before.
    bool is_new(fs::path const& path, struct stat& status);
    std::vector<Found> below(fs::path const& folder);
    /// Files below the last folder that hold nothing, or nothing that can be decompressed: unread where they are named like
    /// one of the traces, which are ranks; else left out, as marks and locks are.
    void judge_empty(std::vector<Found> const& traces);
    /// Number of files and folders that were met again, where an earlier argument had led to them.
    [[nodiscard]] std::size_t met_before() const { return met_before_; }

private:
    TraceFiles& files_;
    std::vector<std::pair<fs::path, std::string>> empty_; ///< with the reason
    std::map<FileIdentity, int> met_;                     ///< with the number of the path that led there
    int path_ = 0;
    std::size_t met_before_ = 0;

    void leave_out(fs::path const& path, std::string const& why) {
        files_.left_out.push_back(path.string() + ": " + why);
    }
    /// Nothing lies at the end of a link that leads nowhere; anything else that cannot be read may be a trace.
    void not_read(fs::path const& path, std::error_code error) {
        bool const nothing_there =
            error == std::errc::no_such_file_or_directory || error == std::errc::too_many_symbolic_link_levels;
        auto& list = nothing_there ? files_.left_out : files_.unread;
        list.push_back(path.string() + ": cannot be read (" + error.message() + ")");
    }
    std::vector<fs::path> entries(fs::path const& folder);
    void look_at(fs::path const& file, std::vector<Found>& found);
};

bool FolderWalk::is_new(fs::path const& path, struct stat& status) {
    if (::stat(path.c_str(), &status) != 0) {
        not_read(path, {errno, std::generic_category()});
        return false;
    }
    auto const [at, is_new] = met_.try_emplace({status.st_dev, status.st_ino}, path_);
    met_before_ += at->second == path_ ? 0 : 1;
    return is_new;
}

std::vector<fs::path> FolderWalk::entries(fs::path const& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
        if (!entry->path().filename().string().starts_with('.')) { paths.push_back(entry->path()); }
    }
    if (error) { not_read(folder, error); }
    std::sort(paths.begin(), paths.end(),
              [](fs::path const& left, fs::path const& right) { return natural_less(left.native(), right.native()); });
    return paths;
}

void FolderWalk::look_at(fs::path const& file, std::vector<Found>& found) {
    try {
        HeadSource const source{open_source(file, {}), sniffed_bytes};
        TraceFormat const* const format = format_of(source.head());
        if (format != nullptr || looks_like_trace_part(source.head())) {
            found.push_back({file, format != nullptr && format->is_plan});
        } else {
            std::string const damage{source.damage()};
            std::string const why = damage.empty() ? std::string{what_else(source.head(), file.native()).why} : damage;
            bool const nothing = source.head().find_first_not_of(" \t\r\n") == std::string_view::npos;
            if (nothing) {
                empty_.emplace_back(file, why);
            } else {
                leave_out(file, "no trace (" + why + ")");
            }
        }
    } catch (InputError const& error) { files_.unread.emplace_back(error.what()); }
}

void FolderWalk::judge_empty(std::vector<Found> const& traces) {
    for (auto const& [path, why] : empty_) {
        fs::path const extension = path.extension();
        bool const of_rank =
            std::ranges::any_of(traces, [&](Found const& trace) { return trace.path.extension() == extension; });
        if (of_rank) {
            files_.unread.push_back(path.string() + ": holds nothing (" + why + ")");
        } else {
            leave_out(path, "no trace (" + why + ")");
        }
    }
    empty_.clear();
}

std::vector<Found> FolderWalk::below(fs::path const& folder) {
    std::vector<Found> found;
    std::vector<fs::path> waiting{folder};
    while (!waiting.empty()) {
        fs::path const next = std::move(waiting.back());
        waiting.pop_back();
        for (fs::path const& entry : entries(next)) {
            struct stat status {};
            if (!is_new(entry, status)) { continue; }
            if (S_ISDIR(status.st_mode)) {
                waiting.push_back(entry);
            } else if (S_ISREG(status.st_mode)) {
                look_at(entry, found);
            } else {
                leave_out(entry, "no regular file");
            }
        }
    }
    return found;
}

/// Plans of what was traced lie next to the traces of some tools: they would be ranks of their own.
void leave_plans_out(std::vector<Found>& found, std::vector<std::string>& left_out) {
    auto const is_plan = [](Found const& file) { return file.is_plan; };
    if (std::all_of(found.begin(), found.end(), is_plan)) { return; }
    for (Found const& file : found) {
        if (file.is_plan) { left_out.push_back(file.path.string() + ": an execution graph among timelines"); }
    }
    found.erase(std::remove_if(found.begin(), found.end(), is_plan), found.end());
}

[[noreturn]] void no_traces(std::string const& folder, std::size_t looked_at) {
    std::string why = "it holds no file";
    if (looked_at == 1) { why = "its file is of no known format"; }
    if (looked_at > 1) { why = "none of its " + std::to_string(looked_at) + " files is of a known format"; }
    throw InputError{Fault::insufficient, {folder, "no traces in this folder", why, "name the files to see why"}};
}

void add_path(std::string const& name, FolderWalk& walk, TraceFiles& files) {
    fs::path const path{name == "-" ? "/dev/stdin" : name};
    std::error_code error;
    fs::file_status const status = fs::status(path, error);
    if (!fs::exists(status)) {
        unreadable_error(name, "no such file or folder",
                         error && error != std::errc::no_such_file_or_directory ? error.message() : std::string{});
    }
    struct stat identity {};
    walk.next_path();
    bool const is_new = walk.is_new(path, identity);
    if (!fs::is_directory(status)) {
        if (is_new) { files.files.push_back(path); }
        return;
    }
    if (!is_new) { return; }
    std::size_t const left_out = files.left_out.size(), others = walk.met_before() + files.unread.size();
    std::vector<Found> found = walk.below(path);
    walk.judge_empty(found);
    bool const holds_others = walk.met_before() + files.unread.size() > others;
    if (found.empty() && !holds_others) { no_traces(name, files.left_out.size() - left_out); }
    leave_plans_out(found, files.left_out);
    for (Found& file : found) { files.files.push_back(std::move(file.path)); }
}

} // namespace

TraceFiles trace_files(std::vector<std::string> const& paths) {
    TraceFiles files;
    FolderWalk walk{files};
    // Files that are named come first, so that a folder around them does not judge them.
    std::vector<std::string> in_order = paths;
    std::stable_partition(in_order.begin(), in_order.end(), [](std::string const& path) {
        std::error_code error;
        return !fs::is_directory(path, error);
    });
    for (std::string const& path : in_order) { add_path(path, walk, files); }
    if (files.files.empty() && files.unread.empty() && !in_order.empty()) { // it was there a moment before
        unreadable_error(in_order.front(), "no such file or folder", "it vanished while it was looked at");
    }
    std::sort(files.files.begin(), files.files.end(),
              [](fs::path const& left, fs::path const& right) { return natural_less(left.native(), right.native()); });
    std::sort(files.left_out.begin(), files.left_out.end(), natural_less);
    std::sort(files.unread.begin(), files.unread.end(), natural_less);
    return files;
}

} // namespace headroom::io
