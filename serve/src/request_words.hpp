#pragma once

#include "verb.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headroom::serve {

using namespace headroom::cli;

/// Fields of a question in the order of the request: names of options without their hyphens, or of arguments in small
/// letters, and values.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// A folder that the server shows.
struct ShownFolder {
    std::string name;
    std::filesystem::path path;  ///< canonical
    std::filesystem::path alias; ///< a link to it, by which its files are read: a short name that tells nothing
};

/// Files that a request may read.
struct Readable {
    std::map<std::string, std::filesystem::path> uploads; ///< by name, of this request
    std::vector<ShownFolder> const& folders;              ///< of the server
};

/// Verbs that are answered: those that measure this machine or change files of it are not.
std::vector<Verb> answered_verbs();

/// Name of the field of an argument: "[LOG...]" is "log".
std::string field_of(Positional const& positional);

/// Whether the server takes an option: not where it writes a file or sets the format.
bool is_taken(Option const& option);

/// The words of a command line that asks the same. A file is `upload:NAME` or `folder:NAME/PATH`; options that write files
/// or set the format are not taken.
/// Errors: InputError{usage} naming the field.
std::vector<std::string> words_of(Verb const& verb, Fields const& fields, Readable const& readable);

} // namespace headroom::serve
