#pragma once

#include "launch/launch_formats.hpp"

#include "headroom/io/launch_file.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io::launch {

/// The format whose signs are among the keys; none where there is none.
Format const* format_among(std::span<Format const> formats, std::vector<Entry> const& entries);

/// The format of a program that a command runs; none where there is none.
Format const* format_of_programs(std::span<Format const> formats, std::vector<std::string> const& programs);

/// Takes out keys that are stated again behind; notes on those whose value is another there.
std::vector<std::string> keep_last(std::vector<Entry>& entries);

/// Puts values in that others name by their keys: "${variables.max_seq_len}".
void put_in_references(std::vector<Entry>& entries);

/// "zero_optimization.stage" as "stage".
std::string last_part(std::string_view key);

/// Turns keys of a file into options.
class Mapping {
public:
    explicit Mapping(std::string_view path, int workers = 0) : workers_{workers} { file_.path = path; }
    void take(std::vector<Entry> const& entries, Format const& format);
    /// The options, and the defaults of a format where no key says otherwise.
    LaunchFile result(Format const& format, bool is_partial = false);
    void note(std::string text) { file_.contradictions.push_back(std::move(text)); }

private:
    void take(Entry const& entry);
    void set(Entry const& entry, std::string const& name, std::string const& value);
    void give(Entry const& entry, std::string const& option, std::string const& given);
    void ignore(Entry const& entry, std::string note);
    void suppress(Entry const& entry, std::string const& name, std::string note);
    void elsewhere(Entry const& entry, std::string const& name);
    void add_node_size();
    void add_defaults_of_megatron();
    void resolve_shard();
    void resolve_tables();
    void drop(std::string_view option, std::string_view note);
    std::string method();
    [[nodiscard]] std::string own_name(std::string const& key) const;
    static std::string option_of(std::string const& name);
    static bool is_switch(std::string const& name);
    static bool holds_options(std::string const& value);
    std::string* find(std::string_view option);

    Format const* format_ = nullptr;
    LaunchFile file_;
    int workers_ = 0; ///< stated elsewhere; 0: not known
    std::map<std::string, std::string> by_;
};

} // namespace headroom::io::launch
