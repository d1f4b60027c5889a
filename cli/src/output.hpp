#pragma once

#include "arguments.hpp"
#include "document/document.hpp"
#include "document/json.hpp"
#include "verb.hpp"

#include "headroom/io/catalog.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// The options that say where a result goes and how it looks; every verb has them.
std::span<Option const> output_options();

struct Output {
    std::string format = "table";
    std::string file = "-";
    std::string html; ///< empty: no page
    bool quiet = false;
    bool colour = false;
    bool unicode = false;
    bool stats = false;
};
Output read_output(Arguments const& arguments);

/// A result in every shape; only what is asked for is made.
struct Result {
    std::function<Document()> document;
    std::function<Json()> json;
    std::function<Sheet()> sheet;
    std::function<Document()> page = {}; ///< of --html; empty: the document
};

/// Whether two names mean one file, whatever they are written like; never true of devices.
bool same_file(std::string const& left, std::string const& right);
/// False where `write_result` would refuse, so that nothing else is written before it does.
bool result_has_place(Output const& output);

/// --timeline FILE, where a verb has it; empty when it is not given.
/// Errors: InputError{usage} for no name, and for where the result or its page goes.
std::optional<std::string> timeline_file(Arguments const& arguments, Output const& output);

/// Writes the result where it was asked for, whole or not at all.
void write_result(Output const& output, Result const& result);

/// A line on standard error, unless --quiet.
void note(Output const& output, std::string_view text);

/// The line of an answer that is "no": on standard error, also with --quiet. `what` may be a sentence.
void refusal(std::string_view where, std::string what);

/// {schema, version, catalog_hash, calibration}: how every result begins.
Json result_head(std::string_view verb, io::Catalog const& catalog, std::string_view calibration);
/// The same for people.
std::string footer(io::Catalog const& catalog, std::string_view calibration);

/// Wall time since construction and peak memory, for --stats.
class Stopwatch {
public:
    Stopwatch();
    [[nodiscard]] double seconds() const;

private:
    long long begin_;
};
double peak_memory_bytes();
/// The `stats` of a call: what --stats adds, and the only part of a result that varies.
Json stats_json(double wall_seconds);

} // namespace headroom::cli
