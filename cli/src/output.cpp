#include "output.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/allocation.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/streams.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace headroom::cli {
namespace {

constexpr std::array output_option_rows{
    Option{"--format", "FORMAT", "table, json, csv or markdown (default: table)", "Output"},
    Option{"--out", "FILE", "write the result there, whole or not at all; - is standard output", "Output"},
    Option{"--html", "FILE", "also write it as one self-contained page with plots", "Output"},
    Option{"--quiet", "", "no notes and no progress on standard error", "Output", Takes::nothing},
    Option{"--no-color", "", "no colour (so does the variable NO_COLOR)", "Output", Takes::nothing},
    Option{"--stats", "", "add wall time and memory of this call to the result", "Output", Takes::nothing},
    Option{"--config", "FILE",
           "defaults for options not given here (TOML; a table a verb, or plain keys); else ./headroom.toml, else "
           "headroom/headroom.toml in the user's configuration folder; '' for none",
           "Output"},
    Option{"--print-config", "", "print the options of this call as such a file, and exit", "Output", Takes::nothing},
};

constexpr std::array lengths{
    Option{"--full", "", "print everything: all tables, charts, notes and assumptions", "Output", Takes::nothing},
    Option{"--brief", "", "print one line", "Output", Takes::nothing},
};

bool is_set(char const* variable) {
    char const* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool utf8_locale() {
    for (char const* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (!is_set(variable)) { continue; }
        std::string const value = normalised(std::getenv(variable));
        return value.find("utf8") != std::string::npos;
    }
    return false;
}

void check_targets(Arguments const& arguments, Output const& output) {
    for (char const* option : {"--out", "--html"}) {
        if (arguments.has(option) && arguments.text(option)->empty()) { refuse(option, "names no file"); }
    }
    if (output.html == "-" && output.file == "-") {
        refuse("--html", "the page and the result both go to standard output", "they would run into each other",
               "give one of them a file: --out FILE");
    }
    if (!output.html.empty() && same_file(output.html, output.file)) {
        refuse("--html", headroom::quoted(output.html) + " is where the result goes too",
               "one of them would replace the other", "give one of them another file");
    }
    io::require_place(output.file);
    if (!output.html.empty()) { io::require_place(output.html); }
}

Length read_length(Arguments const& arguments, std::string_view format) {
    bool const brief = arguments.has("--brief"), full = arguments.has("--full");
    if (brief && full) { refuse("--brief", "given with --full", "one line or all", "keep one of the two"); }
    if (brief) { return Length::brief; }
    return full || format == "markdown" ? Length::full : Length::screen;
}

/// Whether a file could be there: what `write_file` refuses before it writes anything.
bool has_place(std::string const& file) {
    namespace fs = std::filesystem;
    if (file == "-") { return true; }
    fs::path const folder = fs::path{file}.parent_path();
    std::error_code error;
    return !fs::is_directory(file, error) && (folder.empty() || fs::is_directory(folder, error));
}

} // namespace

std::span<Option const> output_options() { return output_option_rows; }

std::span<Option const> length_options() { return lengths; }

bool same_file(std::string const& left, std::string const& right) {
    namespace fs = std::filesystem;
    if (left == "-" || right == "-") { return left == right; }
    std::error_code error;
    bool const stream = fs::exists(left, error) && !fs::is_regular_file(left, error); // such as /dev/null
    return !stream && fs::weakly_canonical(left, error) == fs::weakly_canonical(right, error);
}

bool result_has_place(Output const& output) {
    return has_place(output.file) && (output.html.empty() || has_place(output.html));
}

Output read_output(Arguments const& arguments, std::size_t lines) {
    Output output;
    output.format = arguments.choice("--format", {"table", "json", "csv", "markdown"}).value_or("table");
    output.file = arguments.text("--out").value_or("-");
    output.html = arguments.text("--html").value_or("");
    check_targets(arguments, output);
    if (lines > 0) { output.length = read_length(arguments, output.format); }
    output.screen = {.lines = lines, .width = io::columns_of(STDOUT_FILENO).value_or(io::usual_columns)};
    output.quiet = arguments.has("--quiet");
    output.stats = arguments.has("--stats");
    // Launchers of jobs give their processes terminals of their own, whatever stands behind them.
    bool const in_job = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMI_SIZE");
    bool const terminal = output.file == "-" && io::captured() == nullptr && isatty(STDOUT_FILENO) == 1 && !in_job;
    bool const dumb = is_set("TERM") && std::string_view{std::getenv("TERM")} == "dumb";
    output.colour = terminal && !dumb && !is_set("NO_COLOR") && !arguments.has("--no-color");
    output.unicode = terminal && utf8_locale();
    return output;
}

std::optional<std::string> timeline_file(Arguments const& arguments, Output const& output, char const* option) {
    auto const file = arguments.text(option);
    if (!file) { return std::nullopt; }
    if (file->empty()) { refuse(option, "names no file", "", ""); }
    if (same_file(*file, output.file) || (!output.html.empty() && same_file(*file, output.html))) {
        refuse(option, headroom::quoted(*file) + " is where the result goes too", "they would run into each other",
               "give one of them another file");
    }
    io::require_place(*file);
    return file;
}

namespace {

double peak_memory_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

Document document_for(Output const& output, Result const& result) {
    if (output.length == Length::full) { return result.document(); }
    return result.screen ? result.screen() : screen_of(result.document(), output.screen);
}

std::string text_of(Output const& output, Result const& result, std::string_view form) {
    if (form == "json") { return result.json().text(); }
    if (form == "csv") { return render_csv(result.sheet()); }
    if (form == "html") { return render_html(result.page ? result.page() : result.document(), chart_library()); }
    if (output.length == Length::brief) {
        return printable(result.line ? result.line() : line_of(result.document())) + "\n";
    }
    if (form == "markdown") { return render_markdown(result.document()); }
    return render_text(document_for(output, result), {output.colour, output.unicode, output.screen.width});
}

} // namespace

std::string text_of(KeptResult const& kept, std::string_view form) { return text_of(kept.output, kept.result, form); }

void write_result(Output const& output, Result const& result) {
    io::Capture* const call = io::captured();
    if (call != nullptr && call->keeps && result.answer && output.file == "-" && output.html.empty()) {
        call->result = std::make_shared<KeptResult const>(KeptResult{output, result});
        return;
    }
    std::string const text = text_of(output, result, output.format);
    if (output.format == "csv") {
        for (Issue const& one : result.issues ? result.issues() : std::vector<Issue>{}) { note(output, words_of(one)); }
    }
    if (call != nullptr) {
        call->made.clear();
        for (std::string const& form : call->forms) { call->made.push_back(text_of(output, result, form)); }
    }
    if (io::allocation_failed()) { throw std::bad_alloc{}; } // something in it may be missing
    // neither is left behind without the other: a result that has no place is refused first
    if (!output.html.empty() && has_place(output.file)) {
        io::write_file(output.html, text_of(output, result, "html"));
    }
    io::write_file(output.file, text);
}

void say(std::string_view line) {
    auto const width = io::columns_of(STDERR_FILENO);
    io::write_error(width ? join(wrap(line, *width), "\n") : std::string{line});
}

void note(Output const& output, std::string_view text) {
    if (!output.quiet) { say(printable(text)); }
}

void refusal(std::string_view where, std::string what) {
    while (what.ends_with('.')) { what.pop_back(); }
    if (what.size() > 1 && what[0] >= 'A' && what[0] <= 'Z' && what[1] >= 'a' && what[1] <= 'z') {
        what[0] = static_cast<char>(what[0] - 'A' + 'a');
    }
    say(error_line({.where = std::string{where}, .problem = std::move(what)}));
}

FieldTable const& field_table_of(ResultHead const*) {
    static constexpr Field rows[] = {
        {"schema", "Name and version of this form of result.", member<&ResultHead::schema>},
        {"version", "Version of the program.", member<&ResultHead::version>},
        {"catalog_hash", "Hash of all records of the catalog, overlays included.", member<&ResultHead::catalog_hash>},
        {"calibration", "Name of the constants; null where none are used.", member<&ResultHead::calibration>},
    };
    static constexpr FieldTable table = field_table<ResultHead>("head", rows);
    return table;
}

FieldTable const& field_table_of(CallStats const*) {
    static constexpr Field rows[] = {
        {"wall_seconds", "Wall time of the call.", member<&CallStats::wall_seconds>},
        {"peak_memory_bytes", "Largest resident memory of the process.", member<&CallStats::peak_memory_bytes>},
        {"search_seconds", "Wall time of the search.", member<&CallStats::search_seconds>, Presence::if_any},
        {"evaluations_per_second", "Evaluations of time and memory in a second of the search.",
         member<&CallStats::evaluations_per_second>, Presence::if_any},
        {"read_seconds", "Wall time in which traces were read.", member<&CallStats::read_seconds>, Presence::if_any},
        {"text_bytes_per_second", "Text of traces, after decompression, that was read in a second.",
         member<&CallStats::text_bytes_per_second>, Presence::if_any},
        {"read_bytes_per_second", "Bytes of trace files that were read in a second.",
         member<&CallStats::read_bytes_per_second>, Presence::if_any},
    };
    static constexpr FieldTable table = field_table<CallStats>("stats", rows);
    return table;
}

FieldTable const& field_table_of(ResultTail const*) {
    static constexpr Field rows[] = {
        {"gates", "Conditions of --require and whether they hold.", member<&ResultTail::gates>, Presence::if_any},
        {"stats", "Time and memory of this call, with --stats.", member<&ResultTail::stats>, Presence::if_any},
    };
    static constexpr FieldTable table = field_table<ResultTail>("tail", rows);
    return table;
}

ResultHead head_of(std::string_view verb, io::Catalog const& catalog, std::string_view calibration) {
    return {.schema = "headroom." + std::string{verb} + "/1",
            .version = HEADROOM_VERSION,
            .catalog_hash = catalog.hash(),
            .calibration = calibration.empty() ? std::nullopt : std::optional{std::string{calibration}}};
}

Json answer_json(ResultHead const& head, FieldTable const& table, void const* answer, ResultTail const& tail) {
    Json json = to_json(head);
    append_fields(json, table, answer);
    append_fields(json, field_table_of(&tail), &tail);
    return json;
}

Paragraph call_paragraph(CallStats const& stats) {
    return {significant(stats.wall_seconds) + " s, " + format_binary(Bytes{stats.peak_memory_bytes}), "this call",
            false, Part::answer};
}

std::optional<CallStats> stats_of(Output const& output) {
    if (!output.stats) { return std::nullopt; }
    return CallStats{.wall_seconds = output.since.seconds(), .peak_memory_bytes = peak_memory_bytes()};
}

std::string footer(io::Catalog const& catalog, std::string_view calibration) {
    std::string const used = calibration.empty() ? "" : ", calibration " + std::string{calibration};
    return "headroom " HEADROOM_VERSION ", catalog " + catalog.hash() + used;
}

double Stopwatch::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::span<io::EmbeddedFile const> page_files(); // generated by the build

ChartLibrary chart_library() {
    ChartLibrary library;
    for (io::EmbeddedFile const& file : page_files()) {
        (file.path == "charts.js" ? library.script : library.hash) = file.content;
    }
    return library;
}

} // namespace headroom::cli
