#include "calibration_evidence.hpp"

#include "headroom/text.hpp"

namespace headroom::fit {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using text::counted;

std::string file_name(std::string const& path) { return path.substr(path.find_last_of('/') + 1); }

/// Bands, pace and likeness of partial files. They cannot be joined: those of the later file hold.
class Rest {
public:
    Rest(std::string const& name, CalibrationAnswer& answer) : name_{name}, answer_{answer} {}

    void take(StatedCalibration const& file) {
        StatedCalibration& all = answer_.rest;
        if (file.bands_alone) {
            if (!all.bands.empty()) { left_out("bands"); }
            all.bands.clear();
            all.seen.reset();
            all.bands_alone = true;
        }
        for (auto const& [kind, band] : file.bands) {
            auto const [at, is_new] = all.bands.try_emplace(kind, band);
            if (!is_new && !(at->second == band)) { left_out("the band of " + std::string{words_of(kind)}); }
            at->second = band;
        }
        one(file.seen, all.seen, "what moved the constants");
        for (auto const& [framework, pace] : file.pace) {
            if (all.pace.contains(framework)) { left_out("the pace of " + framework); }
            all.pace[framework] = pace;
        }
        one(file.dense, all.dense, "likeness of dense steps");
        one(file.mixtures, all.mixtures, "likeness of mixtures");
    }

private:
    template <class Value>
    void one(std::optional<Value> const& from, std::optional<Value>& to, std::string const& what) {
        if (!from) { return; }
        if (to) { left_out(what); }
        to = from;
    }
    void left_out(std::string const& what) {
        answer_.notes.push_back({.remark = CalibrationRemark::part_left_out, .names = {what, name_}});
    }

    std::string const& name_;
    CalibrationAnswer& answer_;
};

/// Contents of a file other than constants, links and steps.
std::vector<std::string> words_of_rest(StatedCalibration const& file) {
    std::vector<std::string> words;
    if (!file.bands.empty()) { words.push_back(counted(file.bands.size(), "band")); }
    if (file.seen) { words.emplace_back("what moved the constants"); }
    if (!file.pace.empty()) { words.push_back("the pace of " + counted(file.pace.size(), "stack")); }
    if (file.dense || file.mixtures) { words.emplace_back("likeness of steps"); }
    return words;
}

/// A file that states everything replaces the catalog's calibration with all of its own.
void take_base(std::string const& name, CalibrationSet whole, CalibrationAnswer& answer) {
    if (answer.base) {
        answer.notes.push_back({.remark = CalibrationRemark::base_left_out, .names = {answer.base->name, name}});
    }
    answer.base = std::move(whole);
    answer.base->network = {}; // it joins those of others
}

void take_links(std::string const& name, MeasuredNetwork const& network, CalibrationAnswer& answer) {
    auto const add = [&](std::optional<MeasuredLink> const& link, bool scale_out) {
        if (link) { answer.link_sources.push_back({scale_out, *link, name}); }
    };
    add(network.scale_up, false);
    add(network.scale_out, true);
    for (MeasuredCurve const& curve : network.curves) { answer.states.network.curves.push_back(curve); }
}

} // namespace

void take_file(FileEvidence given, CalibrationQuestion const& question, CalibrationAnswer& answer) {
    PartialCalibration const& states = given.states.states;
    auto words = words_of_rest(given.states);
    words.insert(words.begin(),
                 {counted(states.constants.size(), "constant"), counted(states.network.curves.size(), "curve"),
                  counted(states.entries.size(), "measured step")});
    Evidence evidence{.name = given.name, .kind = EvidenceKind::calibration, .gives = text::join(words, ", ")};
    evidence.machine = question.system.empty() ? states.network.system : question.system;
    answer.evidence.push_back(std::move(evidence));
    for (auto const& [id, constant] : states.constants) {
        answer.constant_sources.push_back({.id = id, .constant = constant, .evidence = answer.evidence.size() - 1});
    }
    take_links(file_name(given.name), states.network, answer);
    answer.states.entries.insert(answer.states.entries.end(), states.entries.begin(), states.entries.end());
    if (given.whole) {
        take_base(given.name, std::move(*given.whole), answer);
    } else {
        Rest{given.name, answer}.take(given.states);
    }
}

} // namespace headroom::fit
