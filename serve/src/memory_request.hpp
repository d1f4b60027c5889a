#pragma once

#include <algorithm>
#include <httplib.h>
#include <string>
#include <string_view>

namespace headroom::serve {

/// A request in memory, and what was replied.
class MemoryRequest : public httplib::Stream {
public:
    explicit MemoryRequest(std::string_view request) : request_{request} {}
    [[nodiscard]] bool is_readable() const override { return true; }
    [[nodiscard]] bool is_writable() const override { return true; }
    ssize_t read(char* to, size_t size) override {
        auto const part = request_.substr(0, size);
        std::ranges::copy(part, to);
        request_.remove_prefix(part.size());
        return static_cast<ssize_t>(part.size());
    }
    ssize_t write(char const* from, size_t size) override {
        reply_.append(from, size);
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }
    [[nodiscard]] std::string const& reply() const { return reply_; }

private:
    std::string_view request_;
    std::string reply_;
};

/// A server that also answers without a socket.
class Server : public httplib::Server {
public:
    void process(MemoryRequest& request) {
        bool closed = false;
        process_request(request, true, closed, {});
    }
    /// Lets more connections wait to be accepted than the five of the library, beyond which a client tries again after a second.
    void queue_connections() {
        constexpr int most_waiting = 1024;
        ::listen(svr_sock_, most_waiting);
    }
};

} // namespace headroom::serve
