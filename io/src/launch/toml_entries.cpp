#include "launch/launch_entries.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cstdlib>

namespace headroom::io::launch {

namespace {

/// Line of a key: the end of its place, "path:line".
int line_of(Section const& section, std::string const& key) {
    std::string const place = section.place(key);
    auto const colon = place.rfind(':');
    return colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1);
}

/// A value in words; of a date, or a list of tables, nobody asks.
std::string value_of(Section& section, std::string const& key) {
    std::vector<std::string> words;
    bool is_switch = false;
    try {
        section.read_words(key, words, is_switch);
    } catch (InputError const&) { return "$"; } // set elsewhere
    std::string joined;
    for (std::string const& word : words) { joined += (joined.empty() ? "" : ",") + word; }
    return joined;
}

void add_table(Section section, std::string const& path, std::vector<Entry>& entries) {
    for (std::string const& key : section.keys()) {
        std::string const name = path.empty() ? key : path + "." + key;
        if (section.is_table(key)) {
            add_table(section.section(key), name, entries);
        } else if (entries.size() < most_entries) {
            entries.push_back({name, value_of(section, key), line_of(section, key)});
        }
    }
}

} // namespace

std::vector<Entry> toml_entries(std::string_view text, std::string_view where) {
    Record record{text, where};
    std::vector<Entry> entries;
    add_table(record.root(), {}, entries);
    std::stable_sort(entries.begin(), entries.end(), [](Entry const& a, Entry const& b) { return a.line < b.line; });
    return entries;
}

} // namespace headroom::io::launch
