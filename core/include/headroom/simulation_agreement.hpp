#pragma once

#include "headroom/prediction.hpp"
#include "headroom/simulated_step.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

// ---- random plans -------------------------------------------------------------------------------------------------

/// What random plans are drawn from; no list is empty.
struct PlanMenu {
    std::vector<Model> models;
    std::vector<Cluster> clusters;
    std::vector<Framework> frameworks; ///< one that stands there twice is drawn twice as often
};

/// The plan of one index: models take turns, all else is drawn. Half have a pipeline, of which one in five runs another
/// schedule than 1F1B. Every plan is legal (`illegal_because`); whether it fits in memory is not asked. It follows from
/// seed and index alone.
Question random_plan(PlanMenu const& menu, std::uint64_t seed, std::uint64_t index);

// ---- closed form beside simulation --------------------------------------------------------------------------------

/// The difference up to which the closed form agrees; where it claims to hold it claims this.
inline constexpr double agreement_bar = 0.01;

/// One plan by both ways.
struct PlanAgreement {
    Question question;
    StepTime closed;
    std::vector<ClosedFormLimit> limits; ///< none: the closed form claims to hold
    SimulatedStep simulated;
    double difference = 0.0; ///< simulated over closed form - 1; 0 where it was not simulated
    [[nodiscard]] bool claimed() const { return limits.empty(); }
};

/// Prices a plan by the closed form, as `predict` does, and runs it.
PlanAgreement agreement_of(Question const& question, CalibrationSet const& calibration);

/// What a table keeps of a plan.
struct AgreementRow {
    std::uint64_t index = 0;
    std::string model, cluster, framework, strategy; ///< by name
    Workload workload;
    Seconds closed, simulated;
    double difference = 0.0;
    std::vector<ClosedFormLimit> limits;
    std::string refused; ///< why it was not simulated; else empty
    [[nodiscard]] bool claimed() const { return limits.empty(); }
    [[nodiscard]] bool within() const {
        return refused.empty() && difference <= agreement_bar && difference >= -agreement_bar;
    }
};
AgreementRow agreement_row(PlanAgreement const& plan, std::uint64_t index);

/// Absolute differences of some plans that were simulated.
struct DifferenceSpread {
    int plans = 0;
    double median = 0.0, p99 = 0.0, worst = 0.0;
    double within = 0.0; ///< share of them that is at most `agreement_bar`
};
/// The plans of one model.
struct AgreementOfModel {
    std::string name;
    DifferenceSpread all, claimed;
    [[nodiscard]] double claimed_share() const {
        return all.plans > 0 ? static_cast<double>(claimed.plans) / all.plans : 0.0;
    }
};
/// The plans that meet one limit of the closed form, and those that meet no other.
struct AgreementOfLimit {
    std::string name, reason;
    DifferenceSpread met, alone;
};
/// What many plans came to.
struct AgreementTable {
    int refused = 0; ///< not simulated; they count nowhere else
    AgreementOfModel all;
    std::vector<AgreementOfModel> models; ///< in the order of their first plan
    std::vector<AgreementOfLimit> limits; ///< most plans first
};
AgreementTable agreement_table(std::span<AgreementRow const> rows);

} // namespace headroom
