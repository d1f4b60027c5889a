#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/training/prediction.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headroom::io {

/// Statements of a user about a training run; what is empty is assumed. Errors name the options of the command line.
struct TrainingRequest {
    std::string model;                       ///< catalog name, config.json or .toml file
    std::string cluster;                     ///< catalog name or .toml file
    std::optional<Cluster> machine = {};     ///< a cluster that was read already, in the place of `cluster`
    std::string network = {};                ///< between nodes, as people write it; empty: the cluster's
    std::vector<int> workers = {};           ///< accelerators
    std::vector<int> nodes = {};             ///< nodes of the cluster instead; where both are given they agree
    training::PartialStrategy strategy = {}; ///< fields that were stated
    std::string strategy_record = {};        ///< strategy of the catalog for fields that were not; empty without one
    std::string framework = {};              ///< empty: by the machine
    std::optional<int> global_batch = {}, sequence_length = {}, documents = {}, layers = {};
    std::string layers_per_stage = {};             ///< of a pipeline, "9,10,10,9"; empty: shared out evenly
    std::optional<double> batch_tokens = {};       ///< the batch in tokens, instead of sequences
    bool batch_rounded = false;                    ///< in millions: "4M" may stand for 4 x 2^20
    std::optional<int> accelerators_per_node = {}; ///< used of each node
    std::optional<int> layers_per_chunk = {};      ///< of an interleaved pipeline, instead of chunks a stage
    std::optional<double> fill = {}, expert_skew = {}, tokens = {};
    std::optional<double> steps = {};           ///< of the whole run, instead of its tokens
    std::vector<std::string> notes = {};        ///< readings of texts, which the answer reports
    std::optional<double> memory_risk = {};     ///< largest probability that a chosen strategy does not fit
    std::optional<DollarsPerSecond> price = {}; ///< of one accelerator
    std::optional<Watts> power_limit = {};      ///< of one accelerator
    std::optional<Bytes> host_memory = {};      ///< of one machine
};

/// A request with every name looked up and every default filled in.
struct TrainingSetting {
    training::Model model;
    Cluster cluster;
    training::Framework framework;
    training::CalibrationSet calibration;
    training::Workload workload;
    training::PartialStrategy given;               ///< fields that the user or the strategy record stated
    std::string strategy_record;                   ///< of the catalog; empty without one
    std::vector<training::Assumption> assumptions; ///< defaults taken here
    std::vector<std::string> notes;                ///< keys of a model file that were used and ignored
    std::optional<double> tokens;
    std::optional<double> steps = {}; ///< of the run, where they were stated: `tokens` follow from them
    std::vector<int> workers;         ///< empty where nobody stated them
    bool batch_assumed = false;
    std::string batch_note = {}; ///< effect of uneven sizes on a default batch: "raised from 1024 for 24 accelerators"
    double memory_risk = training::usual_memory_risk;
};

/// Looks up and fills in. Errors: InputError{usage} with the option at fault; those of the readers of files.
TrainingSetting training_setting(TrainingRequest const& request, Catalog const& catalog,
                                 training::CalibrationSet calibration);

/// Makes a batch that nobody stated equal to dp x micro-batch x accumulation steps where the last two are stated, else a
/// multiple of dp x micro-batch; returns whether it changed.
bool fit_assumed_batch(TrainingSetting& setting, training::Strategy const& strategy);

/// Number of accelerators of one configuration: stated, or the product of the stated degrees.
/// Errors: InputError{usage} for several counts, or none.
int one_worker_count(TrainingSetting const& setting);

/// One configuration, complete and legal, with every assumption: fields that nobody stated are those that `plan` chooses for
/// this size under the stated ones. A batch that nobody stated becomes one that the replicas can share.
/// Errors: InputError{usage} where it cannot run, with the batches that would.
training::Question training_question(TrainingSetting& setting, training::Disturbance const& disturbance = {});

/// Records of `folder` (empty: none), of ./headroom/catalog and of the user's configuration folder over the built-in ones.
Catalog open_catalog(std::optional<std::filesystem::path> const& folder);

/// Constants of a file, completed by the catalog's; without a file the catalog's.
training::CalibrationSet open_calibration(std::optional<std::string> const& file, Catalog const& catalog);

/// Adds assumptions on fields that have none yet.
void add_assumptions(std::vector<training::Assumption>& all, std::vector<training::Assumption> const& more);

} // namespace headroom::io
