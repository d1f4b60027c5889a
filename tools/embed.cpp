// embed ROOT LIST OUTPUT NAMESPACE FUNCTION: writes a C++ source that holds the files named in LIST (one path per
// line, relative to ROOT, sorted) byte for byte, as NAMESPACE::FUNCTION().

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t longest_literal = 60'000;

std::string read_file(std::string const& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) throw std::runtime_error{path + ": cannot be read"};
    return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

/// FNV-1a, as `headroom::io::fnv1a`: the program need not pass over what it holds.
std::uint64_t hash_of(std::string_view content) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (char const c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

/// A raw string delimiter whose closing sequence does not occur in `content`.
std::string delimiter_for(std::string_view content) {
    std::string delimiter = "embed";
    for (int n = 0; content.find(")" + delimiter + "\"") != std::string_view::npos; ++n)
        delimiter = "embed" + std::to_string(n);
    return delimiter;
}

/// A raw literal keeps every byte except a carriage return (a line end in the eyes of a compiler)
/// and NUL, so those two travel as ordinary escapes.
void write_literals(std::ostream& out, std::string_view content) {
    std::string const delimiter = delimiter_for(content);
    std::size_t at = 0;
    while (at < content.size()) {
        char const c = content[at];
        if (c == '\r' || c == '\0') {
            out << (c == '\r' ? "        \"\\r\"\n" : "        \"\\000\"\n");
            ++at;
            continue;
        }
        std::size_t end = content.find_first_of(std::string_view{"\r\0", 2}, at);
        if (end == std::string_view::npos) end = content.size();
        if (end - at > longest_literal) {
            end = at + longest_literal;
            while (end > at + 1 && (static_cast<unsigned char>(content[end]) & 0xC0U) == 0x80U) --end; // whole UTF-8
        }
        out << "        R\"" << delimiter << '(' << content.substr(at, end - at) << ')' << delimiter << "\"\n";
        at = end;
    }
    if (content.empty()) out << "        \"\"\n";
}

void write_source(std::ostream& out, std::string const& root, std::vector<std::string> const& paths,
                  std::string const& space, std::string const& function) {
    out << "// Generated. Do not edit.\n"
           "#include \"headroom/io/embedded.hpp\"\n\n#include <array>\n\nnamespace "
        << space << " {\nnamespace {\n\n"
        << "constexpr std::array<headroom::io::EmbeddedFile, " << paths.size() << "> files{{\n";
    for (auto const& path : paths) {
        std::string const content = read_file(root + "/" + path);
        out << "    {\"" << path << "\", std::string_view{\n";
        write_literals(out, content);
        out << "        , " << content.size() << "}, " << hash_of(content) << "ULL},\n";
    }
    out << "}};\n\n}  // namespace\n\nstd::span<headroom::io::EmbeddedFile const> " << function
        << "() { return files; }\n\n}  // namespace " << space << "\n";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::cerr << "usage: embed ROOT LIST OUTPUT NAMESPACE FUNCTION\n";
        return 2;
    }
    try {
        std::vector<std::string> paths;
        std::ifstream list{argv[2]};
        for (std::string line; std::getline(list, line);)
            if (!line.empty()) paths.push_back(line);

        std::ofstream out{argv[3], std::ios::binary};
        write_source(out, argv[1], paths, argv[4], argv[5]);
        out.close();
        if (!out) throw std::runtime_error{std::string{argv[3]} + ": cannot be written"};
    } catch (std::exception const& error) {
        std::cerr << "embed: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
