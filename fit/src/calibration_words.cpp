// Words of calibrations: every sentence that says something of their evidence.

#include "headroom/error.hpp"
#include "headroom/fit/calibration_answer.hpp"
#include "headroom/text.hpp"

namespace headroom::fit {

using text::counted;
using text::percent;
using text::significant;

namespace {

std::string more_words(std::size_t count) { return count > 0 ? " and " + std::to_string(count) + " more" : ""; }

/// Names from a place on, and the count of further ones.
std::string list_of(CalibrationNote const& note, std::size_t from) {
    std::vector<std::string> const rest(note.names.begin() + static_cast<std::ptrdiff_t>(from), note.names.end());
    return text::join(rest, ", ") + more_words(note.count);
}

/// Words on what traces and files give; empty for remarks on campaigns.
std::string words_on_files(CalibrationNote const& note) {
    auto const& n = note.names;
    switch (note.remark) {
    case CalibrationRemark::of_reader: return n.at(0);
    case CalibrationRemark::not_used: return "not used: " + n.at(0);
    case CalibrationRemark::old:
        return n.at(0) + " is " + std::to_string(note.count) + " days older than the newest (" + n.at(1) + " and " +
               n.at(2) + "): drivers, libraries and machines change";
    case CalibrationRemark::incomplete:
        return counted(note.count, "collective") +
               " left out: not all ranks of the group were traced, and the last may be missing";
    case CalibrationRemark::unsized:
        return counted(note.count, "collective") + " left out: the traces do not state their size or kind";
    case CalibrationRemark::unmatched:
        return counted(note.count, "run") +
               " of collectives without a partner on another rank: their times hold waiting";
    case CalibrationRemark::products_above:
        return "matrix products reach " + percent(note.value) + " % of the peak of " + n.at(0) +
               ": another accelerator was traced; left out";
    case CalibrationRemark::products_elsewhere: return "matrix products left out: " + n.at(0);
    case CalibrationRemark::part_left_out:
        return n.at(0) + " of an earlier file left out: " + n.at(1) + " states it too, and the two cannot be joined";
    case CalibrationRemark::base_left_out:
        return "bands, pace and likeness of " + n.at(0) + " left out: " + n.at(1) + " states everything too";
    case CalibrationRemark::constant_left_out:
        return n.at(0) + ": " + n.at(1) + " left out for " + n.at(2) + ": " + n.at(3);
    case CalibrationRemark::curve_left_out:
        return n.at(0) + ": the curve of " + n.at(1) + " left out for that of " + n.at(2) + ", whose times are " +
               significant(note.value) + " of it";
    case CalibrationRemark::sources_differ:
        return n.at(0) + ": " + n.at(1) + " takes x" + significant(note.value) + " the time of " + n.at(2) +
               " at the same sizes; the curve runs between them";
    case CalibrationRemark::slowdown_alone:
        return "the slowdown by communication is reported and gives no constant: more than the traffic of data "
               "parallelism may overlap with computation in this plan";
    case CalibrationRemark::link_refused:
        return (note.count > 0 ? "link between nodes: " : "link inside a node: ") + n.at(0);
    case CalibrationRemark::link_elsewhere: return n.at(0) + "; nothing is written of them";
    case CalibrationRemark::group_too_small: return n.at(0) + ": not fitted, " + n.at(1);
    default: return "";
    }
}

std::string words_on_campaigns(CalibrationNote const& note) {
    auto const& n = note.names;
    switch (note.remark) {
    case CalibrationRemark::machines_differ:
        return n.at(0) + " and " + n.at(1) + " were taken on machines that differ in " + list_of(note, 2);
    case CalibrationRemark::unfinished: return n.at(0) + " is not done (" + n.at(1) + "): what it has is used";
    case CalibrationRemark::failed: return n.at(0) + ": " + counted(note.count, "sample") + " failed and left out";
    case CalibrationRemark::unsteady:
        return n.at(0) + ": the machine was not steady, " + list_of(note, 1) + " from first to last sample";
    case CalibrationRemark::whole_command:
        return n.at(0) + " timed whole commands, their start and end included, and that is taken for a step; measure "
                         "scaling --result REGEX reads the step's own time";
    case CalibrationRemark::untrained:
        return n.at(0) + " says how long a command took, not what it trained: --model and --cluster, as for predict, "
                         "make measured steps of it";
    case CalibrationRemark::undescribed:
        return n.at(0) +
               " says how long a step took, not of which model: --model and --cluster, as for predict, make a "
               "measured step of it";
    case CalibrationRemark::point_left_out:
        return n.at(0) + ": " + quoted(n.at(1)) + more_words(note.count) + " left out, " + n.at(2);
    case CalibrationRemark::above_catalog:
        return n.at(0) + ": " + n.at(1) + " reaches " + percent(note.value) + " % of " + n.at(2) +
               ": the catalog's figure is of another machine; left out";
    case CalibrationRemark::no_memory: return n.at(0) + ": main memory was not measured, so memory_fraction stays";
    case CalibrationRemark::no_product: return n.at(0) + ": no product of matrices in bf16, fp16 or fp32 was measured";
    case CalibrationRemark::no_cluster:
        return n.at(0) + " gives a machine file (--save-machine FILE); constants need --cluster, whose peaks they are "
                         "shares of";
    case CalibrationRemark::other_machine:
        return n.at(0) + " was measured on " + (n.at(1).empty() ? "a machine that it does not name" : n.at(1)) +
               ", and not on " + n.at(2) + ": no constants of it (--system " + n.at(2) + " where both are one)";
    case CalibrationRemark::no_sample: return n.at(0) + " gives nothing: it has no sample that counts";
    case CalibrationRemark::no_use:
        return n.at(0) + " gives nothing: campaigns of kind " + quoted(n.at(1)) + " say nothing to models";
    case CalibrationRemark::work_grew:
        return n.at(0) + ": its work grew with the workers, so no one description holds for all: say --workers N and "
                         "the --global-batch of N";
    case CalibrationRemark::other_workers: return n.at(0) + ": no step on " + std::to_string(note.count) + " workers";
    default: return "";
    }
}

} // namespace

std::string words_of(CalibrationNote const& note) {
    std::string words = words_on_files(note);
    return words.empty() ? words_on_campaigns(note) : words;
}

std::vector<std::string> words_of(std::vector<CalibrationNote> const& notes) {
    std::vector<std::string> all;
    for (CalibrationNote const& one : notes) { all.push_back(words_of(one)); }
    return all;
}

} // namespace headroom::fit
