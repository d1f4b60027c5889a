#include "headroom/io/configuration.hpp"

#include "records/record.hpp"
#include "records/toml_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace headroom::io {
namespace {

void add_entries(Section section, std::string const& table, std::vector<ConfigurationEntry>& entries) {
    for (auto const& key : section.keys()) {
        if (table.empty() && section.is_table(key)) { continue; }
        ConfigurationEntry entry{
            .table = table, .key = key, .values = {}, .is_switch = false, .place = section.place(key)};
        section.read_words(key, entry.values, entry.is_switch);
        bool const twice = std::ranges::any_of(entries, [&](ConfigurationEntry const& other) {
            return other.table == table && normalised(other.key) == normalised(key);
        });
        if (twice) { section.fail(key, "the same option twice", "one of the two would be ignored", "remove one"); }
        entries.push_back(std::move(entry));
    }
}

bool is_file(std::filesystem::path const& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

} // namespace

std::string found_configuration() {
    namespace fs = std::filesystem;
    constexpr char const* name = "headroom.toml";
    if (is_file(name)) { return std::string{"./"} + name; }
    fs::path folder;
    if (char const* xdg = std::getenv("XDG_CONFIG_HOME"); xdg != nullptr && *xdg != '\0') {
        folder = xdg;
    } else if (char const* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
        folder = fs::path{home} / ".config";
    }
    fs::path const file = folder / "headroom" / name;
    return !folder.empty() && is_file(file) ? file.string() : std::string{};
}

std::string written_configuration(std::vector<ConfigurationEntry> const& entries, std::string_view table) {
    std::string const name = table.find(' ') == std::string_view::npos ? std::string{table} : toml_string(table);
    std::string text = "[" + name + "]\n";
    for (ConfigurationEntry const& entry : entries) {
        text += entry.key + " = ";
        if (entry.is_switch) {
            text += entry.values.front();
        } else if (entry.values.size() == 1) {
            text += toml_string(entry.values.front());
        } else {
            std::string list;
            for (std::string const& value : entry.values) { list += (list.empty() ? "" : ", ") + toml_string(value); }
            text += "[" + list + "]";
        }
        text += '\n';
    }
    return text;
}

std::vector<ConfigurationEntry> read_configuration(std::string_view text, std::string_view where) {
    Record record{text, where};
    Section root = record.root();
    std::vector<ConfigurationEntry> entries;
    add_entries(root, "", entries);
    for (auto const& name : root.keys()) {
        if (root.is_table(name)) { add_entries(root.section(name), name, entries); }
    }
    return entries;
}

} // namespace headroom::io
