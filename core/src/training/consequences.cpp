#include "headroom/training/consequences.hpp"

#include "stage.hpp"

#include "headroom/training/pipeline.hpp"
#include "headroom/training/placement.hpp"

#include <algorithm>
#include <utility>

namespace headroom::training {

using namespace headroom::network;
using std::to_string;

namespace {

/// "15, 16, 16, 14"; a run of more than two equal stages as "14 x 16".
std::string stages_in_words(Model const& model, int pp) {
    std::vector<std::pair<int, int>> runs; // layers of a stage, stages
    for (int stage = 0; stage < pp; ++stage) {
        int const held = layers_of_stage(model, pp, stage);
        if (runs.empty() || runs.back().first != held) { runs.emplace_back(held, 0); }
        ++runs.back().second;
    }
    std::string words;
    for (auto const& [held, stages] : runs) {
        bool const many = stages > 2;
        for (int i = 0; i < (many ? 1 : stages); ++i) {
            words += (words.empty() ? "" : ", ") + (many ? to_string(stages) + " stages of " : "") + to_string(held);
        }
    }
    return words;
}

void add_experts(std::vector<Assumption>& list, Strategy const& s, Model const& model, Workload const& workload) {
    if (s.ep > 1) {
        list.push_back({"experts", to_string(model.moe.experts / s.ep) + " a rank",
                        to_string(model.moe.experts) + " experts of a layer over ep " + to_string(s.ep) +
                            (s.etp > 1 ? ", each cut over etp " + to_string(s.etp) : ", each whole")});
    }
    if (model.moe.experts > 0 && s.capacity <= 0.0 && workload.expert_skew == 1.0) {
        list.push_back({"expert_skew", "1", "every expert is taken to get the same number of tokens"});
    }
}

/// Adds notes on the costs of a schedule other than time: memory, validation after the update, gradients of older
/// weights.
void add_schedule(std::vector<Assumption>& list, Strategy const& s, Workload const& workload) {
    if (s.pp == 1) { return; }
    auto const& row = schedule_row(s.schedule());
    auto const add = [&](std::string what) { list.push_back({"schedule", std::string{row.name}, std::move(what)}); };
    if (row.asynchronous) {
        auto const shape = pipeline_shape(s, workload);
        add("no flush, and every micro-batch is an update: gradients of the first stage are of weights that " +
            to_string(row.staleness ? row.staleness(shape, 0) : s.pp - 1) + " updates have passed by, and it keeps " +
            to_string(row.versions ? row.versions(shape, 0) : s.pp) + " versions of them");
    }
    if (row.validates_late) {
        add("no stage waits for the others before its update: it is checked afterwards (overflow, gradient norm), and "
            "undone where the check fails");
    }
    if (row.weight_copies > 1.0) {
        add("every stage keeps the weights of two parts of the model: from both ends there is a whole copy");
    }
    if (row.splits_backward) {
        add("the backward pass is split: gradients of weights are computed when nothing else can be, and their inputs "
            "are kept until then");
    }
}

/// Groups that fit a domain but do not divide it: ranks without gaps would begin one here and end it in the next.
void add_gaps(std::vector<Assumption>& list, Strategy const& s, int domain) {
    if (s.workers() <= domain) { return; }
    auto const all = groups_of(s);
    int longest = 0;
    for (DimensionGroups const& groups : {all.tensor, all.context, all.data, all.experts, all.expert_data}) {
        int const block = groups.size > 1 ? groups.size * groups.stride : 1;
        if (block <= domain && domain % block != 0) { longest = std::max(longest, block); }
    }
    if (longest == 0) { return; }
    int const unused = domain % longest;
    list.push_back({"domain", to_string(domain),
                    "groups of " + to_string(longest) + " ranks in domains of " + to_string(domain) +
                        ": priced as placed within a domain, which leaves " + to_string(unused) + " accelerator" +
                        (unused == 1 ? "" : "s") +
                        " of each unused (and out of the cost); ranks without gaps would lie across domains and be "
                        "slower"});
}

} // namespace

std::vector<Assumption> consequences(Strategy const& strategy, Model const& model, Workload const& workload,
                                     int domain) {
    std::vector<Assumption> list;
    int const layers = depth_of(model);
    if (strategy.pp > 1 && layers % strategy.pp != 0) {
        list.push_back({"stages", "uneven",
                        to_string(layers) + " layers over " + to_string(strategy.pp) +
                            " stages: " + stages_in_words(model, strategy.pp)});
    }
    add_schedule(list, strategy, workload);
    if (model.window > 0 && workload.attended() <= model.window) {
        list.push_back({"window", to_string(model.window),
                        workload.documents > 0.0 ? "no document is longer: attention sees all of it"
                                                 : "the sequence of " + to_string(workload.sequence_length) +
                                                       " tokens never fills it: attention sees all of it"});
    }
    add_experts(list, strategy, model, workload);
    add_gaps(list, strategy, domain);
    if (model.prediction_layers > 0) {
        list.push_back({"prediction_layers", to_string(model.prediction_layers),
                        "blocks that predict later tokens are trained, timed and kept; quoted parameters leave them "
                        "out"});
    }
    return list;
}

} // namespace headroom::training
