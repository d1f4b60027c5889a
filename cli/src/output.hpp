#pragma once

#include "arguments.hpp"
#include "gate.hpp"
#include "verb.hpp"

#include "headroom/document/document.hpp"
#include "headroom/document/fields.hpp"
#include "headroom/document/json.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {
class Catalog;
}

namespace headroom::cli {

/// The options that say where a result goes and how it looks; every verb has them.
std::span<Option const> output_options();

/// Length of a result for people: one line, one screen, or all.
enum class Length { brief, screen, full };

/// --full and --brief, of verbs whose results are longer than a screen.
std::span<Option const> length_options();
/// Lines that a result has by default.
inline constexpr std::size_t screen_lines = 25;

/// Wall time since construction.
class Stopwatch {
public:
    [[nodiscard]] double seconds() const;

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Output {
    Stopwatch since = {}; ///< the call began
    std::string format = "table";
    std::string file = "-";
    std::string html; ///< empty: no page
    bool quiet = false;
    bool colour = false;
    bool unicode = false;
    bool stats = false;
    Length length = Length::full;
    ScreenSize screen = {}; ///< its width is that of the terminal
};
/// `lines` of the first screen of a verb that has --full and --brief; 0: results are printed whole. Markdown is whole unless --brief is given.
/// Errors: InputError{usage}.
Output read_output(Arguments const& arguments, std::size_t lines = 0);

/// A result in every shape; only what is asked for is made.
struct Result {
    std::function<Document()> document; ///< the whole of it
    std::function<Json()> json;
    std::function<Sheet()> sheet;
    std::function<Document()> page = {};             ///< of --html; empty: the document
    std::function<std::vector<Issue>()> issues = {}; ///< of an answer that a sheet does not hold whole
    std::function<Document()> screen = {};           ///< of a verb that chooses itself; empty: made from the document
    std::function<std::string()> line = {};          ///< of --brief; empty: the document's answer
    std::shared_ptr<void const> answer =
        {}; ///< owner of all that the functions refer to; empty: they refer to the call
};

/// A result that is made in its shapes when they are asked for, after its call has ended.
struct KeptResult {
    Output output;
    Result result;
};
/// The result as text: table, json, csv or html.
std::string text_of(KeptResult const& kept, std::string_view form);

/// Fields that precede those of an answer.
struct ResultHead {
    std::string schema; ///< "headroom.predict/1"
    std::string version;
    std::string catalog_hash;
    std::optional<std::string> calibration;
};
FieldTable const& field_table_of(ResultHead const*);
ResultHead head_of(std::string_view verb, io::Catalog const& catalog, std::string_view calibration);

/// Time and memory of a call.
struct CallStats {
    double wall_seconds = 0.0, peak_memory_bytes = 0.0;
    std::optional<double> search_seconds = {}, evaluations_per_second = {};                          ///< of a search
    std::optional<double> read_seconds = {}, text_bytes_per_second = {}, read_bytes_per_second = {}; ///< of traces
};
FieldTable const& field_table_of(CallStats const*);

/// Fields that follow those of an answer.
struct ResultTail {
    std::vector<GateOutcome> gates = {};
    std::optional<CallStats> stats = {}; ///< of --stats
};
FieldTable const& field_table_of(ResultTail const*);

/// An answer in all shapes but the document, by its field table. `csv` makes the sheet; empty: every value of the answer.
/// `answer` and what `csv` refers to live as long as the result.
template <class Answer>
Result result_of(ResultHead head, Answer const& answer, std::function<Document()> document, ResultTail tail = {},
                 std::function<Sheet()> csv = {}) {
    FieldTable const& table = field_table_of(&answer);
    if (!csv) {
        csv = [&table, &answer] { return leaf_sheet(table, &answer); };
    }
    return {.document = std::move(document),
            .json = [head = std::move(head), tail = std::move(tail), &table,
                     &answer] { return answer_json(head, table, &answer, tail); },
            .sheet = std::move(csv),
            .issues = [&table, &answer] { return document::issues_of_fields(table, &answer); }};
}
/// A result that may be kept (`Capture::keeps`). `document` and `csv` refer only to what `answer` owns.
template <class Answer>
Result kept_result_of(ResultHead head, std::shared_ptr<Answer const> answer, std::function<Document()> document,
                      ResultTail tail = {}, std::function<Sheet()> csv = {}) {
    Result result = result_of(std::move(head), *answer, std::move(document), std::move(tail), std::move(csv));
    result.answer = std::move(answer);
    return result;
}
Json answer_json(ResultHead const& head, FieldTable const& table, void const* answer, ResultTail const& tail);

/// Whether two names mean one file, whatever they are written like; never true of devices.
bool same_file(std::string const& left, std::string const& right);
/// False where `write_result` would refuse, so that nothing else is written before it does.
bool result_has_place(Output const& output);

/// --timeline FILE, where a verb has it; empty when it is not given.
/// Errors: InputError{usage} for no name, and for where the result or its page goes.
std::optional<std::string> timeline_file(Arguments const& arguments, Output const& output,
                                         char const* option = "--timeline");

/// Writes the result where it was asked for, whole or not at all; a captured one is kept where it can be.
void write_result(Output const& output, Result const& result);

/// A line on standard error, wrapped to a terminal.
void say(std::string_view line);
/// A line on standard error as `say` writes it, unless --quiet.
void note(Output const& output, std::string_view text);

/// The line of an answer that is "no": on standard error, also with --quiet. `what` may be a sentence.
void refusal(std::string_view where, std::string what);

Paragraph call_paragraph(CallStats const& stats);
/// The stats of --stats, taken now; empty without the option.
std::optional<CallStats> stats_of(Output const& output);

/// Version, catalog and calibration, for people.
std::string footer(io::Catalog const& catalog, std::string_view calibration);

/// The chart library that this program was built with.
ChartLibrary chart_library();

} // namespace headroom::cli
