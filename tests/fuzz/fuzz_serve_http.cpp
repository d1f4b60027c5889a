// Any bytes as a request to `headroom serve`: one reply or none, never one without a body for a person to read, and no file
// that stays. Verbs are stand-ins, so that it is the edge which is tried: HTTP, JSON of figures, forms, files, words of a question.

#include "fuzz/require.hpp"
#include "http.hpp"
#include "openapi.hpp"
#include "output.hpp"
#include "program.hpp"
#include "verb_table.hpp"

#include "headroom/io/embedded.hpp"
#include "headroom/io/file.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

/// A folder that goes with the process.
struct OwnFolder {
    std::filesystem::path path;
    OwnFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "fuzz-serve-XXXXXX").string();
        require(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~OwnFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    OwnFolder(OwnFolder const&) = delete;
    OwnFolder& operator=(OwnFolder const&) = delete;
};

} // namespace

namespace headroom::cli {

namespace {

constexpr std::array options{
    Option{"--cluster", "NAME|FILE", "a machine", "Question"},
    Option{"--log", "FILE", "a log", "Question", Takes::values},
    Option{"--overlap", "on|off", "a switch", "Question", Takes::perhaps_value},
    Option{"--dry-run", "", "a flag", "Question", Takes::nothing},
    Option{"--schedule", "FILE", "write a file", "Output"},
    Option{"--emit", "NAME", "a launch file", "Output"},
    Option{"--format", "FORMAT", "form", "Output"},
    Option{"--html", "FILE", "page", "Output"},
    Option{"--quiet", "", "no notes", "Output", Takes::nothing},
};
constexpr std::array positionals{Positional{"MODEL", "a model"}, Positional{"[LOG...]", "more", true}};

Verb asked_verb() { return {"predict", "a stand-in", positionals, "", nullptr, {options}}; }

} // namespace

std::vector<Verb> verbs() { return {asked_verb()}; }

int exit_code(Fault fault) { return fault == Fault::usage ? Exit::usage : Exit::unreadable; }

/// Answers the words of the question; every file that they name is one of the request.
int run_words(std::vector<std::string> words, ErrorText* error) {
    require(!words.empty() && words.front() == "predict");
    std::string text;
    for (std::string const& word : words) {
        require(!word.starts_with("--schedule") && !word.starts_with("--out"));
        if (word.starts_with("--log=")) { require(std::filesystem::exists(word.substr(6))); }
        if (word == "--log=" || word.ends_with("refused")) {
            *error = {.where = "--log", .problem = "refused"};
            return Exit::usage;
        }
        text += word + "\n";
    }
    if (words.size() >= 3 && words[words.size() - 3] == "--html") {
        io::write_file(words[words.size() - 2], "<p class=\"strong\">" + text + "</p>");
    }
    io::write_file("-", "{}\n");
    return Exit::done;
}

document::Json verb_table() { return document::Json::array(); }
document::ChartLibrary chart_library() { return {}; }

} // namespace headroom::cli

namespace headroom::serve {

std::string openapi() { return "{}"; }

std::span<io::EmbeddedFile const> served_files() {
    static std::array<io::EmbeddedFile, 2> const files{
        {{"index.html", "<!DOCTYPE html>"}, {"first.txt", "predict?model=a\n"}}};
    return files;
}

} // namespace headroom::serve

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using headroom::serve::HttpServer;
    static OwnFolder const own;
    std::filesystem::path const& folder = own.path;
    static HttpServer server{{.names = {}, .folders = {}, .scratch = folder, .limit = std::chrono::hours{1}}};
    std::string const reply = server.reply_to({reinterpret_cast<char const*>(data), size});
    require(reply.empty() || reply.starts_with("HTTP/1."));
    require(reply.find("\r\n\r\n") != std::string::npos || reply.empty());
    require(!reply.starts_with("HTTP/1.1 500"));
    require(reply.find(folder.string()) == std::string::npos);
    require(std::filesystem::is_empty(folder));
    return 0;
}
