#pragma once

#include "asking.hpp"
#include "request_words.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::serve {

/// Address and limits of the server, and the files that it shows.
struct Settings {
    std::string host = "127.0.0.1";   ///< address that is listened on
    int port = 0;                     ///< 0: any that is free
    std::vector<std::string> names;   ///< of this server in the header Host, further to its address
    std::vector<ShownFolder> folders; ///< that questions may read
    std::filesystem::path scratch;    ///< for uploads; empty, of this server alone
    int at_once = 1;
    std::chrono::milliseconds limit{60'000}; ///< of one question
};

/// The server: pages, and answers to questions in their forms.
class HttpServer {
public:
    explicit HttpServer(Settings settings);
    ~HttpServer();
    HttpServer(HttpServer const&) = delete;
    HttpServer& operator=(HttpServer const&) = delete;

    /// Takes the port. Errors: InputError{usage} where it is not to be had.
    int bind();
    /// Answers until `stop`.
    void listen();
    /// Answers the page's first question before anyone asks it.
    void warm();
    /// Answers a request that has come as these bytes: no socket is needed.
    std::string reply_to(std::string_view request);
    /// From any thread.
    void stop();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace headroom::serve
