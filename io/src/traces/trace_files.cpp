// Folders to files: everything below that is a trace, each file once, in the order of names.

#include "records/record.hpp"
#include "traces/head_source.hpp"
#include "traces/natural_order.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"
#include "headroom/io/trace.hpp"

#include <algorithm>
#include <set>
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
    explicit FolderWalk(std::vector<std::string>& left_out) : left_out_{left_out} {}

    /// Nothing where the path was met before.
    bool is_new(fs::path const& path, struct stat& status);
    std::vector<Found> below(fs::path const& folder);
    /// Number of paths that were met before.
    [[nodiscard]] std::size_t again() const { return again_; }

private:
    std::vector<std::string>& left_out_;
    std::set<FileIdentity> met_;
    std::size_t again_ = 0;

    void leave_out(fs::path const& path, std::string const& why) { left_out_.push_back(path.string() + ": " + why); }
    std::vector<fs::path> entries(fs::path const& folder);
    void look_at(fs::path const& file, std::vector<Found>& found);
};

bool FolderWalk::is_new(fs::path const& path, struct stat& status) {
    if (::stat(path.c_str(), &status) != 0) {
        leave_out(path, "cannot be read (" + std::error_code{errno, std::generic_category()}.message() + ")");
        return false;
    }
    bool const is_new = met_.emplace(status.st_dev, status.st_ino).second;
    again_ += is_new ? 0 : 1;
    return is_new;
}

std::vector<fs::path> FolderWalk::entries(fs::path const& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
        if (!entry->path().filename().string().starts_with('.')) { paths.push_back(entry->path()); }
    }
    if (error) { leave_out(folder, "cannot be read (" + error.message() + ")"); }
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
            leave_out(file,
                      "no trace (" + (damage.empty() ? what_else(source.head(), file.native()).why : damage) + ")");
        }
    } catch (InputError const& error) { left_out_.emplace_back(error.what()); }
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
    bool const is_new = walk.is_new(path, identity);
    if (!fs::is_directory(status)) {
        if (is_new) { files.files.push_back(path); }
        return;
    }
    if (!is_new) { return; }
    std::size_t const left_out_before = files.left_out.size(), again_before = walk.again();
    std::vector<Found> found = walk.below(path);
    if (found.empty() && walk.again() == again_before) { no_traces(name, files.left_out.size() - left_out_before); }
    leave_plans_out(found, files.left_out);
    for (Found& file : found) { files.files.push_back(std::move(file.path)); }
}

} // namespace

TraceFiles trace_files(std::vector<std::string> const& paths) {
    TraceFiles files;
    FolderWalk walk{files.left_out};
    // Files that are named come first, so that a folder around them does not judge them.
    std::vector<std::string> in_order = paths;
    std::stable_partition(in_order.begin(), in_order.end(), [](std::string const& path) {
        std::error_code error;
        return !fs::is_directory(path, error);
    });
    for (std::string const& path : in_order) { add_path(path, walk, files); }
    std::sort(files.files.begin(), files.files.end(),
              [](fs::path const& left, fs::path const& right) { return natural_less(left.native(), right.native()); });
    std::sort(files.left_out.begin(), files.left_out.end(), natural_less);
    return files;
}

} // namespace headroom::io
