#include "headroom/io/configuration.hpp"

#include "records/record.hpp"

#include <algorithm>

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

} // namespace

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
