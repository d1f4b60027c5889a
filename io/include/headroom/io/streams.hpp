#pragma once

#include <stop_token>
#include <string>
#include <string_view>

namespace headroom::io {

/// Text of one call that would go to standard output and standard error, kept for who called; and who may stop it.
struct Capture {
    std::string out = {};
    std::string error = {};
    std::stop_token stop = {};
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

/// A line on standard error; a newline is added where there is none.
void write_error(std::string_view line);

} // namespace headroom::io
