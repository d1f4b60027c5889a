#include "records/catalog_layer.hpp"
#include "records/record.hpp"
#include "records/toml_text.hpp"

#include "headroom/io/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::training;

namespace {

constexpr std::string_view evidence_record = "evidence";
constexpr Range counts{0, 1e9};
constexpr std::array trained_words{Choice<Trained>{"all", Trained::all}, Choice<Trained>{"lora", Trained::lora},
                                   Choice<Trained>{"last", Trained::last_layers}};

RunGroup read_group(Section section) {
    RunGroup group;
    std::string generation, precision;
    section.read("generation", generation, Presence::required);
    auto const chip = generation_from(generation);
    if (!chip) { section.fail("generation", "unknown generation " + headroom::quoted(generation)); }
    group.generation = *chip;
    section.read("framework", group.framework);
    section.read("mixture", group.mixture);
    section.read("train", group.trained, std::span<Choice<Trained> const>{trained_words});
    section.read("precision", precision, Presence::required);
    auto const format = precision_from(precision);
    if (!format) { section.fail("precision", "unknown precision " + headroom::quoted(precision)); }
    group.precision = *format;
    section.read("runs", group.runs, counts, Presence::required);
    section.read("least_workers", group.least_workers, counts, Presence::required);
    section.read("most_workers", group.most_workers, counts, Presence::required);
    return group;
}

} // namespace

std::vector<RunGroup> read_run_groups(std::string_view toml, std::string_view where) {
    Record record{toml, where};
    Section root = record.root();
    root.skip({"name", "date", "notes"});
    std::vector<RunGroup> groups;
    for (Section const& section : root.sections("runs")) { groups.push_back(read_group(section)); }
    record.refuse_the_rest();
    return groups;
}

std::vector<RunGroup> run_groups(Catalog const& catalog) {
    auto const known = catalog.names(RecordKind::calibration);
    if (std::ranges::find(known, evidence_record) == known.end()) { return {}; }
    RecordText const& record = catalog.text(RecordKind::calibration, evidence_record);
    return read_once(record, read_run_groups);
}

std::string write_run_groups(std::vector<RunGroup> const& groups, std::vector<std::string> const& header) {
    std::string text;
    for (auto const& line : header) { text += toml_comment(line); }
    text += fmt::format("\nname = \"{}\"\n", evidence_record);
    for (RunGroup const& group : groups) {
        auto const trained = std::ranges::find(trained_words, group.trained, &Choice<Trained>::second);
        text += fmt::format("\n[[runs]]\ngeneration = {}\nframework = {}\nmixture = {}\ntrain = {}\nprecision = {}\n"
                            "runs = {}\nleast_workers = {}\nmost_workers = {}\n",
                            toml_string(name_of(group.generation)), toml_string(group.framework), group.mixture,
                            toml_string(trained->first), toml_string(name_of(group.precision)), group.runs,
                            group.least_workers, group.most_workers);
    }
    return text;
}

} // namespace headroom::io
