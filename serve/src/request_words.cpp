#include "request_words.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::serve {
namespace {

/// Verbs that measure this machine, keep its history or serve.
bool touches_machine(std::string_view name) {
    return name.starts_with("measure") || name == "history" || name == "serve";
}

/// Options that write files, read others in a way of their own, or set what the server sets.
constexpr std::array<std::string_view, 17> not_taken{"--out",
                                                     "--html",
                                                     "--format",
                                                     "--config",
                                                     "--store",
                                                     "--save",
                                                     "--save-calibration",
                                                     "--timeline",
                                                     "--memory-timeline",
                                                     "--quiet",
                                                     "--save-machine",
                                                     "--help",
                                                     "--print-config",
                                                     "--emit",
                                                     "--no-color",
                                                     "--brief",
                                                     "--full"};

std::string lowered(std::string_view text) {
    std::string small{text};
    for (char& c : small) { c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    return small;
}

/// Meaning of a placeholder: whether a file may stand in its place.
enum class Names {
    none,   ///< a quantity, a word
    either, ///< a name, or a file
    file    ///< a file
};

Names names_of(std::string_view placeholder) {
    constexpr std::array<std::string_view, 5> files{"FILE", "FILE.csv", "DIR", "LOG", "PATH"};
    if (std::ranges::count(files, placeholder) > 0) { return Names::file; }
    return placeholder.find("FILE") == std::string_view::npos ? Names::none : Names::either;
}

[[noreturn]] void refuse_field(std::string const& name, std::string problem, std::string why, std::string hint) {
    refuse(name, std::move(problem), std::move(why), std::move(hint));
}

/// A file below a folder that the server shows, wherever its links lead; nothing outside of it.
std::filesystem::path shown_file(std::string const& field, std::string_view rest, Readable const& readable) {
    auto const slash = rest.find('/');
    std::string const folder{rest.substr(0, slash)};
    auto const found = std::ranges::find(readable.folders, folder, &ShownFolder::name);
    if (found == readable.folders.end()) {
        refuse_field(field, "no folder " + headroom::quoted(folder), "the server was not started with it",
                     "headroom serve --folder DIR");
    }
    std::error_code error;
    auto const below =
        slash == std::string_view::npos ? std::filesystem::path{} : std::filesystem::path{rest.substr(slash + 1)};
    auto const whole = std::filesystem::canonical(found->path / below, error);
    auto const [end, rest_of] = std::ranges::mismatch(found->path, whole);
    if (error || end != found->path.end()) {
        refuse_field(field, "no file " + headroom::quoted(std::string{rest}), "nothing of that name is in the folder",
                     "");
    }
    return found->alias / whole.lexically_relative(found->path);
}

std::string value_of(std::string const& field, std::string const& value, Names names, Readable const& readable) {
    constexpr std::string_view uploaded = "upload:", shown = "folder:";
    if (names == Names::none) { return value; }
    if (value.starts_with(uploaded)) {
        auto const found = readable.uploads.find(value.substr(uploaded.size()));
        if (found == readable.uploads.end()) {
            refuse_field(field, headroom::quoted(value) + " is not part of the request", "",
                         "send the file along, as a part of multipart/form-data");
        }
        return found->second.string();
    }
    if (value.starts_with(shown)) {
        return shown_file(field, std::string_view{value}.substr(shown.size()), readable).string();
    }
    if (value.starts_with("store:")) {
        refuse_field(field, "measurements of the server's machine are not read", "", "send the file along");
    }
    bool const path = value.find('/') != std::string::npos || value.find('\\') != std::string::npos || value == "-" ||
                      value == ".." || value == ".";
    if (names == Names::file || path) {
        refuse_field(field, "files of the server are not read", "",
                     "send the file along and name it upload:NAME, or folder:NAME/PATH of a --folder");
    }
    return value;
}

/// Whether a switch is on: "", "on", "true", "1" or "yes".
bool is_on(std::string const& field, std::string const& value) {
    constexpr std::array<std::string_view, 5> on{"", "on", "true", "1", "yes"}, off{"off", "false", "0", "no", "null"};
    if (std::ranges::count(off, value) > 0) { return false; }
    if (std::ranges::count(on, value) == 0) {
        refuse_field(field, headroom::quoted(value) + " is no switch", "", "on or off");
    }
    return true;
}

void add_option(Option const& option, std::string const& value, Readable const& readable,
                std::vector<std::string>& words) {
    if (!is_taken(option)) {
        refuse_field(option.name, "is not taken by the server", "it writes a file, or sets what the address sets",
                     "leave it out");
    }
    if (option.takes == Takes::nothing) {
        if (is_on(option.name, value)) { words.emplace_back(option.name); }
        return;
    }
    if (value.empty()) {
        if (option.takes == Takes::perhaps_value) { words.emplace_back(option.name); }
        return; // a field that was left empty
    }
    words.push_back(option.name + std::string{"="} +
                    value_of(option.name, value, names_of(option.placeholder), readable));
}

} // namespace

std::string field_of(Positional const& positional) {
    std::string name = lowered(positional.name);
    std::erase_if(name, [](char c) { return c == '[' || c == ']' || c == '.'; });
    return name;
}

bool is_taken(Option const& option) {
    bool const writes =
        names_of(option.placeholder) == Names::file && std::string_view{option.help}.starts_with("write ");
    return !writes && std::ranges::count(not_taken, option.name) == 0;
}

std::vector<Verb> answered_verbs() {
    std::vector<Verb> all = verbs();
    std::erase_if(all, [](Verb const& verb) { return touches_machine(verb.name); });
    return all;
}

std::vector<std::string> words_of(Verb const& verb, Fields const& fields, Readable const& readable) {
    std::vector<std::string> words{verb.name}, options;
    for (auto const& [name, value] : fields) {
        auto const positional = std::ranges::find(verb.positionals, lowered(name), field_of);
        if (positional != verb.positionals.end() || name.starts_with('-')) { continue; }
        Option const* const option = verb.option_named("--" + name);
        if (option == nullptr) {
            refuse_field(name, std::string{verb.name} + " has no such field", "",
                         "GET /api lists the fields of every verb");
        }
        add_option(*option, value, readable, options);
    }
    for (Positional const& positional : verb.positionals) {
        for (auto const& [name, value] : fields) {
            if (lowered(name) != field_of(positional) || value.empty()) { continue; }
            std::string const word = value_of(name, value, Names::either, readable);
            if (word.starts_with('-')) { refuse_field(name, "begins with a hyphen", "it would be an option", ""); }
            words.push_back(word);
        }
    }
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

} // namespace headroom::serve
