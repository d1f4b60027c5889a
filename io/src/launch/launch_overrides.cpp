#include "launch/launch_overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace headroom::io::launch {

namespace {

/// "training" of "training.steps"; empty for a key of no section.
std::string_view section_of(std::string_view key) {
    auto const dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

/// An option of the program that a file of settings may have as a key.
bool may_be_key(Entry const& entry) {
    return entry.key.starts_with("--") && entry.to.empty() && entry.doubt.empty() && entry.key != "--config" &&
           entry.key != "--job.config_file";
}

std::string key_of_option(Entry const& entry) {
    std::string key = entry.key.substr(2);
    if (key.find('.') == std::string::npos) { std::ranges::replace(key, '-', '_'); }
    return key;
}

/// Whether a file has the key, or its section; an option without a section has to be a key of the file.
bool belongs(LaunchKey const& one, std::vector<Entry> const& entries, Format const& format) {
    std::string_view const section = section_of(one.key);
    bool const is_option = !one.option.empty() && section.empty();
    bool const has_row = std::ranges::any_of(format.rows, [&](KeyRow const& row) { return row.key == one.key; });
    return (has_row && !is_option) || std::ranges::any_of(entries, [&](Entry const& entry) {
               return entry.key == one.key || (!section.empty() && section_of(entry.key) == section);
           });
}

} // namespace

std::vector<LaunchKey> overrides_of(ShellEntries& script, std::string_view path, std::vector<LaunchKey> const& taken) {
    std::vector<LaunchKey> keys;
    auto const add = [&](Entry const& entry, std::string key, std::string option) {
        bool const known = entry.doubt.empty() && entry.value.find('$') == std::string::npos;
        std::string const value = entry.value.empty() && !entry.is_null ? "true" : entry.value;
        if (known) {
            keys.push_back({std::move(key), value, entry.line, std::move(option), {}, std::string{path}, {}});
        }
    };
    for (Entry const& entry : script.overrides) { add(entry, entry.key, {}); }
    for (Entry const& entry : script.entries) {
        if (may_be_key(entry)) { add(entry, key_of_option(entry), entry.key); }
    }
    auto const is_taken = [&](std::string_view key, int line) {
        return std::ranges::any_of(taken, [&](LaunchKey const& one) { return one.key == key && one.line == line; });
    };
    std::erase_if(script.overrides, [&](Entry const& entry) { return is_taken(entry.key, entry.line); });
    std::erase_if(script.entries,
                  [&](Entry const& entry) { return may_be_key(entry) && is_taken(key_of_option(entry), entry.line); });
    return keys;
}

std::vector<LaunchKey> take_overrides(std::vector<Entry>& entries, std::vector<LaunchKey> const& overrides,
                                      Format const& format) {
    std::vector<LaunchKey> taken;
    if (format.name.starts_with("DeepSpeed")) { return taken; } // which reads its file as it is
    std::vector<Entry> const own = entries;
    for (LaunchKey const& one : overrides) {
        if (!belongs(one, own, format)) { continue; }
        auto const before = std::ranges::find(entries, one.key, &Entry::key);
        std::string const instead =
            before != entries.end() ? fmt::format(", in the place of {} (line {})", before->value, before->line) : "";
        std::erase_if(entries, [&](Entry const& entry) { return entry.key == one.key; });
        entries.push_back({one.key, one.value, 0, one.value.empty()});
        taken.push_back(one);
        taken.back().note = fmt::format("{} is {} by {}:{}{}", one.key, one.value, one.note, one.line, instead);
    }
    return taken;
}

} // namespace headroom::io::launch
