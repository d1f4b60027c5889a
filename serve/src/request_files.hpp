#pragma once

#include <filesystem>
#include <string>

namespace headroom::serve {

/// A folder for the files of one request, gone at its end.
class Scratch {
public:
    explicit Scratch(std::filesystem::path const& below);
    ~Scratch();
    Scratch(Scratch const&) = delete;
    Scratch& operator=(Scratch const&) = delete;
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// The last part of a file's name, of plain characters: "../a b.csv" -> "a_b.csv".
std::string plain_name(std::string const& name);

/// Takes the scratch folder, with the number of an upload, out of a text that a reader sees.
std::string without_folder(std::string text, std::filesystem::path const& folder);

} // namespace headroom::serve
