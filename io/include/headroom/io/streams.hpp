#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Text of one call that would go to standard output and standard error, kept for who called; and who may stop it.
struct Capture {
    std::string out = {};
    std::string error = {};
    std::stop_token stop = {};
    std::vector<std::string> forms = {};     ///< in which the result is due as well: table, csv, html
    std::vector<std::string> made = {};      ///< the result in these forms; empty where it has none
    bool keeps = false;                      ///< whether the result may be kept, to be made in all forms later
    std::shared_ptr<void const> result = {}; ///< the result that was kept, in place of `out` and `made`
};

/// While it lives, what this thread writes to standard output ("-" of `write_file`) and standard error goes to `capture`.
class CaptureScope {
public:
    explicit CaptureScope(Capture& capture);
    ~CaptureScope();
    CaptureScope(CaptureScope const&) = delete;
    CaptureScope& operator=(CaptureScope const&) = delete;

private:
    Capture* before_;
};

/// The capture of this thread; null where it writes to the streams of the process.
Capture* captured();

/// Columns of a result that no terminal shows.
inline constexpr std::size_t usual_columns = 80;
/// Columns for the text of a stream of the process, 60 to 160: those of the variable COLUMNS, else of the terminal; nothing where there is neither, and for
/// captured text.
std::optional<std::size_t> columns_of(int stream);

/// A line on standard error; a newline is added where there is none.
void write_error(std::string_view line);

} // namespace headroom::io
