#include "http.hpp"
#include "verb.hpp"
#include "watch.hpp"

#include "headroom/io/file.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stop_token>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--port", "N", "port to listen on (default: 8484; 0: any that is free)", "Server"},
    Option{"--address", "ADDRESS", "address to listen on (default: 127.0.0.1, which only this machine reaches)",
           "Server"},
    Option{"--name", "NAME", "another name by which browsers reach this server", "Server", Takes::values},
    Option{"--folder", "DIR", "a folder whose files questions may read, as folder:NAME/FILE", "Server", Takes::values},
    Option{"--at-once", "N", "questions that run at a time (default: all cores)", "Server"},
    Option{"--time-limit", "TIME", "after which a question is given up (default: 60s)", "Server"},
};

constexpr char const* examples = "  headroom serve\n"
                                 "  headroom serve --port 0 --folder ./logs\n"
                                 "  headroom serve --address 0.0.0.0 --name plans.example.org";

/// An empty folder of its own, gone at the end; the process works inside, so that no name of a question finds a file.
class OwnFolder {
public:
    OwnFolder() {
        std::error_code none;
        auto const place = std::filesystem::temp_directory_path(none);
        if (none) {
            refuse("headroom serve", "no folder for uploads: TMPDIR, or /tmp, is none", none.message(), "set TMPDIR");
        }
        std::string path = (place / "headroom-serve-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            refuse("headroom serve", "no folder for uploads can be made in " + place.string(),
                   std::system_category().message(errno), "set TMPDIR");
        }
        path_ = std::filesystem::canonical(path);
        std::filesystem::create_directory(path_ / "empty");
        std::filesystem::current_path(path_ / "empty");
    }
    ~OwnFolder() {
        std::error_code ignored;
        std::filesystem::current_path("/", ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    OwnFolder(OwnFolder const&) = delete;
    OwnFolder& operator=(OwnFolder const&) = delete;

private:
    std::filesystem::path path_;
};

/// Lets the process hold as many connections as it may.
void allow_connections() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) { return; }
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files); // where that is refused, fewer connections wait
}

serve::Settings settings_of(Arguments const& arguments) {
    constexpr int usual_port = 8484, largest_port = 65535;
    serve::Settings settings;
    settings.host = arguments.text("--address").value_or(settings.host);
    settings.port = usual_port;
    if (auto const port = arguments.text("--port")) {
        settings.port = *port == "0" ? 0 : parse_whole(*port, "--port");
        if (settings.port > largest_port) { refuse("--port", *port + " is no port", "they end at 65535", ""); }
    }
    settings.names = arguments.all("--name");
    for (std::string const& folder : arguments.all("--folder")) {
        std::error_code error;
        auto const path = std::filesystem::canonical(folder, error);
        if (error || !std::filesystem::is_directory(path)) {
            refuse("--folder", headroom::quoted(folder) + " is no folder", "", "");
        }
        settings.folders.push_back(
            {path.filename().string(), path, "../shown-" + std::to_string(settings.folders.size())});
    }
    settings.at_once =
        arguments.count("--at-once").value_or(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
    if (auto const limit = arguments.quantity<Seconds>("--time-limit")) {
        if (limit->base() < 0.001 || limit->base() > 86'400.0) {
            refuse("--time-limit", "not from 1 ms to a day", "", "60s");
        }
        settings.limit = std::chrono::milliseconds{static_cast<std::int64_t>(limit->base() * 1e3)};
    }
    return settings;
}

int run(Arguments const& arguments) {
    serve::Settings settings = settings_of(arguments);
    allow_connections();
    OwnFolder const folder;
    for (serve::ShownFolder const& shown : settings.folders) {
        std::filesystem::create_directory_symlink(shown.path, shown.alias);
    }
    settings.scratch = ".."; // of where the process works: a name so short that no sentence cuts it
    std::string const host = settings.host;
    serve::HttpServer server{std::move(settings)};
    std::signal(SIGPIPE, SIG_IGN); // a client that goes away ends no server
    int const port = server.bind();
    Watch const watch{"serving", true};
    std::stop_callback const stopping{watch.token(), [&server] { server.stop(); }};
    io::write_file("-", "headroom: http://" + host + ":" + std::to_string(port) + "/ (Ctrl-C ends it)\n");
    std::jthread const first{[&server] { server.warm(); }};
    server.listen();
    return Exit::done;
}

} // namespace

Verb serve_verb() {
    Verb verb{"serve", "a local page on which questions are asked and answers compared", {}, examples, run};
    verb.options = {options};
    return verb;
}

} // namespace headroom::cli
