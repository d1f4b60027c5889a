#include "measure/measure.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/measure/campaign_comparison.hpp"
#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::array options{
    Option{"--store", "FILE|none",
           "where measurements are kept; measurements.sqlite below $XDG_DATA_HOME/headroom by default", "Store"},
    Option{"--name", "NAME", "what to call these measurements in the history", "Store"},
    Option{"--fresh", "", "begin anew, also where unfinished measurements of the same could go on", "Store",
           Takes::nothing},
};

/// Whether the points of one are the first of the other: then a point's number means the same in both.
bool agree(std::vector<MeasuredPoint> const& left, std::vector<MeasuredPoint> const& right) {
    auto const [end, other_end] = std::ranges::mismatch(left, right);
    return end == left.end() || other_end == right.end();
}

} // namespace

std::span<Option const> store_options() { return options; }

std::filesystem::path store_path(Arguments const& arguments) {
    auto const given = arguments.text("--store");
    if (!given) { return io::Store::default_path(); }
    if (given->empty()) { refuse("--store", "a name is missing", "", "give a file, or none to keep nothing"); }
    return *given == "none" ? std::filesystem::path{} : std::filesystem::path{*given};
}

std::vector<std::string> read_names(Arguments const& arguments, std::string const& option,
                                    std::vector<std::string> const& known) {
    auto const given = arguments.text(option);
    if (!given) { return {}; }
    std::vector<std::string> wanted, found;
    for (std::string const& part : split(*given, ',')) { wanted.push_back(parse_choice(part, known, option)); }
    std::ranges::copy_if(known, std::back_inserter(found),
                         [&](std::string const& one) { return std::ranges::find(wanted, one) != wanted.end(); });
    return found;
}

std::optional<double> read_seconds(Arguments const& arguments, std::string const& option, double least) {
    auto const given = arguments.quantity<Seconds>(option);
    if (!given) { return std::nullopt; }
    constexpr double day = 86400.0;
    if (!(given->base() > 0.0) || given->base() < least || given->base() > day) {
        refuse(option, format(*given) + " is out of range",
               least > 0.0 ? "from 1 s to a day are possible" : "it is above zero and at most a day",
               "for example " + option + " 60s");
    }
    return given->base();
}

std::string read_save(Arguments const& arguments, Output const& output) {
    auto const file = arguments.text("--save");
    if (!file) { return {}; }
    if (file->empty() || file == "-") { refuse("--save", "names no file", "", "say which"); }
    if (same_file(*file, output.file) || (!output.html.empty() && same_file(*file, output.html))) {
        refuse("--save", headroom::quoted(*file) + " is where the result goes too", "they would run into each other",
               "give one of them another file");
    }
    io::require_place(*file);
    return *file;
}

std::optional<Campaign> unfinished_campaign(Arguments const& arguments, std::string const& kind,
                                            Facts const& settings) {
    auto const path = store_path(arguments);
    std::error_code error;
    if (path.empty() || arguments.has("--fresh") || !std::filesystem::exists(path, error)) { return {}; }
    io::Store const store{path, io::Store::Access::read};
    auto const id = store.unfinished(kind, settings);
    return id ? std::optional{store.load(*id)} : std::nullopt;
}

Recorder::Recorder(Arguments const& arguments, Campaign head) {
    if (auto const name = arguments.text("--name")) { head.name = *name; }
    if (head.began_ns == 0) { head.began_ns = probe::now_ns(); }
    head.state = CampaignState::running;
    head.samples.clear();
    if (auto const path = store_path(arguments); !path.empty()) {
        store_.emplace(path, io::Store::Access::write);
        if (!arguments.has("--fresh") && resume(head)) { return; }
        head.id = store_->begin(head);
    }
    campaign_ = std::move(head);
}

/// A name that was given and is not the unfinished one's asks for something else; so do other points. Samples of two
/// machines, or of one under another setting of its environment, are never one campaign.
bool Recorder::resume(Campaign const& head) {
    auto const id = store_->unfinished(head.kind, head.settings);
    if (!id) { return false; }
    Campaign const found = store_->load(*id);
    bool const same_name = head.name.empty() || head.name == found.name;
    if (!same_name || !agree(found.points, head.points) || !same_machine(found.machine, head.machine)) { return false; }
    if (!store_->take(*id)) { return false; }
    campaign_ = store_->load(*id); // as it is now that nobody else adds to it
    resumed_ = campaign_.samples.size();
    finish(CampaignState::running);
    if (head.points.size() > campaign_.points.size()) {
        auto const known = static_cast<std::ptrdiff_t>(campaign_.points.size());
        add_points({head.points.begin() + known, head.points.end()});
    }
    return true;
}

void Recorder::add(Sample sample) {
    if (store_ && !store_->add(campaign_.id, sample)) { return; }
    campaign_.samples.push_back(std::move(sample));
}

void Recorder::add_points(std::vector<MeasuredPoint> const& points) {
    if (store_) { store_->add_points(campaign_.id, points); }
    campaign_.points.insert(campaign_.points.end(), points.begin(), points.end());
}

void Recorder::finish(CampaignState state) {
    campaign_.state = state;
    campaign_.ended_ns = state == CampaignState::running ? 0 : probe::now_ns();
    if (store_) { store_->finish(campaign_.id, state, campaign_.ended_ns); }
}

} // namespace headroom::cli
