#include "request_files.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <system_error>

namespace headroom::serve {

Scratch::Scratch(std::filesystem::path const& below) {
    static std::atomic<std::uint64_t> next{0};
    path_ = below / std::to_string(next++);
    std::filesystem::create_directory(path_);
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string plain_name(std::string const& name) {
    constexpr std::size_t longest = 100;
    std::string plain = name.substr(name.find_last_of("/\\") + 1);
    for (char& c : plain) {
        bool const kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
        c = kept ? c : '_';
    }
    plain = plain.substr(0, longest);
    return plain.find_first_not_of('.') == std::string::npos ? "file" : plain;
}

std::string without_folder(std::string text, std::filesystem::path const& folder) {
    std::string const part = folder.string() + "/";
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
        auto const number = std::min(text.find_first_not_of("0123456789", at + part.size()), text.size());
        bool const numbered = number > at + part.size() && number < text.size() && text[number] == '/';
        text.erase(at, (numbered ? number + 1 : at + part.size()) - at);
    }
    return text;
}

} // namespace headroom::serve
