#include "tables/run_cells.hpp"

#include "records/record.hpp"
#include "records/record_words.hpp"
#include "tables/cell_text.hpp"
#include "tables/phrases.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace headroom::io {

using namespace headroom::training;

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool digit(char c) { return c >= '0' && c <= '9'; }

} // namespace

std::string_view RunCells::text(std::string_view column) const {
    int const index = table_.column(column);
    if (index < 0) { return {}; }
    return record_.cells[static_cast<std::size_t>(index)];
}

std::optional<double> RunCells::number(std::string_view column) const {
    auto const cell = text(column);
    if (says_nothing(cell)) { return std::nullopt; }
    double value = 0.0;
    auto const [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value) || value <= 0.0) {
        throw InputError{Fault::unreadable,
                         {.where = std::string{where_} + ":" + std::to_string(record_.line),
                          .problem = std::string{column} + " is " + quoted(cell) + ", not a number above zero"}};
    }
    return value;
}

std::optional<int> RunCells::integer(std::string_view column) const {
    auto const value = number(column);
    if (!value) { return std::nullopt; }
    constexpr double largest = 2e9;
    if (*value != std::floor(*value) || *value > largest) {
        throw InputError{Fault::unreadable,
                         {.where = std::string{where_} + ":" + std::to_string(record_.line),
                          .problem = std::string{column} + " is " + quoted(text(column)) + ", not a whole number"}};
    }
    return static_cast<int>(*value);
}

std::optional<int> RunCells::year() const {
    auto const source = text("source_repo_or_paper");
    // "2021-04-09", "Shoeybi et al. 2019", not "arXiv 2004.08900"
    for (std::size_t i = 0; i + 4 <= source.size(); ++i) {
        bool const starts = source[i] == '2' && source[i + 1] == '0' &&
                            (i == 0 || std::isalpha(static_cast<unsigned char>(source[i - 1])) == 0) &&
                            (i == 0 || (!digit(source[i - 1]) && source[i - 1] != '.'));
        char const after = i + 4 < source.size() ? source[i + 4] : ' ';
        bool const ends = !digit(after) && after != '.' && std::isalpha(static_cast<unsigned char>(after)) == 0;
        if (starts && ends && digit(source[i + 2]) && digit(source[i + 3])) {
            return 2000 + 10 * (source[i + 2] - '0') + (source[i + 3] - '0');
        }
    }
    return std::nullopt;
}

bool RunCells::mentions(std::string_view word) const {
    return contains(text("model_name"), word) || contains(text("notes"), word);
}

namespace {

bool spaced(char c) { return c == ' '; }

/// Text in quotes behind `from`; `from` moves past it.
std::string_view quoted_text(std::string_view text, std::size_t& from) {
    auto const open = text.find('"', from);
    auto const close = open == std::string_view::npos ? open : text.find('"', open + 1);
    if (close == std::string_view::npos) { return {}; }
    from = close + 1;
    return text.substr(open + 1, close - open - 1);
}

/// "128 and 256", "16 , 8", "5120/2560": one value for each precision.
std::vector<std::string> alternatives(std::string_view text) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const word = text.substr(i).starts_with(" and ");
        if (word || text[i] == ',' || text[i] == '/' || text[i] == ':') {
            parts.emplace_back();
            i += word ? 4 : 0;
        } else if (!spaced(text[i])) {
            parts.back() += text[i];
        }
    }
    return parts;
}

std::optional<int> whole(std::vector<std::string> const& parts, std::size_t index) {
    if (parts.empty() || parts.front().empty()) { return std::nullopt; }
    return stated_count(parts[std::min(index, parts.size() - 1)], "");
}

/// Index of the value of a precision among several: in the order of the names in the header, else next to the values.
/// 16 bits are called mixed and AMP too. Without names the wider precision has the smaller value.
std::size_t place_of(bool narrow, std::string_view header, std::string_view printed,
                     std::vector<std::string> const& sizes) {
    auto const first = [](std::string_view text, std::initializer_list<std::string_view> words) {
        std::size_t at = std::string_view::npos;
        for (auto const word : words) { at = std::min(at, text.find(word)); }
        return at;
    };
    for (auto const text : {header, printed}) {
        auto const wide = first(text, {"fp32", "tf32"}), half = first(text, {"mixed", "amp", "fp16", "bf16"});
        if (wide != half) { return narrow == (half < wide) ? 0 : 1; }
    }
    bool const rising = whole(sizes, 0) <= whole(sizes, 1);
    return narrow == rising ? 1 : 0;
}

/// Sequences of an ordinary length that a part of 80 GB does not hold at once: a batch beyond counts accumulation too.
constexpr int largest_noted_batch = 1024;

} // namespace

NotedBatch noted_batch(std::string_view notes, std::string_view precision) {
    auto from = notes.find("batch column ");
    if (from == std::string_view::npos) { return {}; }
    auto const header = in_lower_case(quoted_text(notes, from));
    auto const printed = quoted_text(notes, from);
    auto const sizes = alternatives(printed);
    std::vector<std::string> steps;
    if (auto at = notes.find("accumulation ", from); at != std::string_view::npos) {
        steps = alternatives(quoted_text(notes, at));
    }
    auto const index = place_of(contains(in_lower_case(precision), "16"), header, in_lower_case(printed), sizes);
    NotedBatch noted{.micro_batch = whole(sizes, index), .accumulation = whole(steps, index)};
    noted.tf32 = contains(header, "tf32") && !contains(header, "fp32");
    if (noted.micro_batch && noted.accumulation && *noted.micro_batch > largest_noted_batch) {
        noted.micro_batch = std::max(1, *noted.micro_batch / *noted.accumulation);
    }
    return noted;
}

std::optional<int> noted_length(std::string_view notes) { return stated_count(notes, "sequence length "); }

std::string place_of(RunCells const& row) {
    std::string place{row.text("source_path_or_table")};
    if (auto const line = place.find(" line "); line != std::string::npos) {
        auto const end = place.find(' ', line + 6);
        place.erase(line, end == std::string::npos ? std::string::npos : end - line);
    }
    return place;
}

std::optional<int> noted_chunks(std::string_view notes) {
    bool const plain = contains(notes, "1f1b");
    bool const from_a_script = contains(notes, "virtual stage") && contains(notes, "taken from");
    return plain || from_a_script ? std::optional{1} : std::nullopt;
}

std::string_view heading_size(std::string_view table) {
    auto const open = table.find("(\"");
    auto const end = open == std::string_view::npos ? open : table.find(" model\"", open);
    if (end == std::string_view::npos) { return {}; }
    auto const size = table.substr(open + 2, end - open - 2);
    return contains(size, " ") || contains(size, "\"") ? std::string_view{} : size;
}

bool fine_tunes(std::string_view table) { return contains(in_lower_case(table), "fine-tuning"); }

std::vector<FrameworkRecogniser> recognisers(Catalog const& catalog) {
    std::vector<FrameworkRecogniser> table;
    for (auto const& name : catalog.names(RecordKind::framework)) {
        auto const& text = catalog.text(RecordKind::framework, name);
        Record record{text.content, text.origin};
        Section root = record.root();
        FrameworkRecogniser row{name, 0, {}, {}};
        root.read("year", row.year, {0, 3000});
        root.read("vendors", row.vendors);
        root.read("recognise", row.words);
        for (auto& word : row.words) { word = in_lower_case(word); }
        table.push_back(std::move(row));
    }
    return table;
}

namespace {

/// Words of a record that a row has; `length` is zero where one of "here & there" is not where it belongs: the first part in the
/// source's name, the others in its table, next to the model's name, or in the cells of sharding and overlap.
struct MatchedWords {
    std::size_t length = 0;
    bool of_owner = false; ///< one part, all of it before the "/" of "owner/repository"
};

MatchedWords matched(std::string_view source, std::string_view table, std::string_view words) {
    MatchedWords found;
    std::string_view place = source;
    while (!words.empty()) {
        auto const end = std::min(words.find(" & "), words.size());
        auto const part = words.substr(0, end);
        auto const at = part.empty() ? part.npos : find_phrase(place, part);
        if (at == part.npos) { return {}; }
        bool const alone = found.length == 0 && end == words.size();
        found.of_owner = alone && find_phrase(place, part, place.find('/')) == part.npos &&
                         place.find('/') != part.npos && place.find('/') >= at + part.size();
        found.length += part.size();
        words.remove_prefix(std::min(words.size(), end + 3));
        place = table;
    }
    return found;
}

/// Software whose owner has repositories of many kinds: "huggingface/nanotron", "Lightning-AI/litgpt".
bool is_general(std::string_view framework) { return framework.starts_with("hf-trainer") || framework == "lightning"; }

} // namespace

RecognisedFramework recognised(std::vector<FrameworkRecogniser> const& table, RunCells const& row,
                               std::string_view vendor) {
    auto const source = in_lower_case(row.text("source_repo_or_paper"));
    auto const place =
        in_lower_case(fmt::format("{} | {} | {} | {}", row.text("source_path_or_table"), row.text("model_name"),
                                  row.text("zero_stage_or_fsdp"), row.text("overlap_flags")));
    auto const year = row.year();
    FrameworkRecogniser const* best = nullptr;
    std::pair<bool, std::size_t> best_rank; // an owner of many repositories last, then the longer words
    auto const fits_year = [year](FrameworkRecogniser const& one) { return !year || one.year <= *year; };
    for (auto const& candidate : table) {
        for (auto const& word : candidate.words) {
            MatchedWords const found = matched(source, place, word);
            if (found.length == 0) { continue; }
            std::pair const rank{!found.of_owner || !is_general(candidate.framework), found.length};
            bool const longer = best == nullptr || rank > best_rank;
            bool const same = best != nullptr && rank == best_rank;
            bool const later = same && fits_year(candidate) && (!fits_year(*best) || candidate.year > best->year);
            bool const earlier = same && !fits_year(candidate) && !fits_year(*best) && candidate.year < best->year;
            if (longer || later || earlier) {
                best = &candidate;
                best_rank = rank;
            }
        }
    }
    if (best == nullptr) { return {}; }
    bool const runs =
        best->vendors.empty() || vendor.empty() || std::ranges::find(best->vendors, vendor) != best->vendors.end();
    return {best->framework, best_rank.first && runs};
}

std::string framework_of(Catalog const& catalog, std::vector<FrameworkRecogniser> const& table, RunCells const& row,
                         std::string_view vendor) {
    auto const own = framework_in_words(catalog, row.text("framework"));
    if (own) { return *own; }
    auto const by_source = recognised(table, row, vendor);
    if (by_source.sure) { return by_source.name; }
    std::vector<std::string> clauses{std::string{row.text("zero_stage_or_fsdp")}};
    if (is_general(by_source.name)) { clauses.push_back(by_source.name); }
    std::ranges::copy(words::split(row.text("source_path_or_table"), '/'), std::back_inserter(clauses));
    for (std::string const& clause : clauses_of(row.text("notes"))) {
        for (auto const& part : words::split(clause, ',')) { clauses.push_back(part.substr(0, part.find('('))); }
    }
    std::string const stated = framework_in_clauses(catalog, clauses);
    // an engine alone: around it is most often Hugging Face's model
    if (stated == "deepspeed-zero") { return "hf-deepspeed"; }
    return stated.empty() ? by_source.name : stated;
}

} // namespace headroom::io
