// Laws of the step model on every framework of the catalog, with several models and machines.

#include "support/random_questions.hpp"
#include "support/term_formula.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

using training::for_every_question;
using training::name_of;
using training::Priced;

double relative(double a, double b) { return std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-300}); }

// ---- one priced question: pricing and its terms take longer than what is checked of them, so they are made once ----

void expect_positive_parts_that_sum_to_the_step(Priced const& priced) {
    double sum = 0.0;
    for (auto const part : training::parts_of(priced.time)) {
        EXPECT_GE(part, Seconds{});
        EXPECT_TRUE(std::isfinite(part.base()));
        sum += part.base();
    }
    EXPECT_LT(relative(priced.time.total().base(), sum), 1e-12);
}

void expect_terms_to_be_their_formulas(Priced const& priced, std::vector<Term> const& terms) {
    ASSERT_FALSE(terms.empty());
    for (auto const& term : terms) {
        if (term.kind != TermKind::formula) { continue; }
        EXPECT_LT(relative(test::evaluate(term.formula, term.inputs), term.value), 1e-9)
            << term.name << " = " << term.formula;
    }
    EXPECT_EQ(terms.back().name, "step_seconds");
    EXPECT_LT(relative(terms.back().value, priced.time.total().base()), 1e-12);
}

void expect_terms_of_the_breakdown(StepTime const& time, std::vector<Term> const& terms) {
    auto const expect = [&](char const* name, Seconds part) {
        for (auto const& term : terms) {
            if (term.name == name) {
                EXPECT_EQ(term.value, part.base()) << name;
                EXPECT_EQ(term.unit, "s");
                return;
            }
        }
        EXPECT_EQ(part, Seconds{}) << "no term " << name;
    };
    expect("compute_seconds", time.compute);
    expect("host_seconds", time.host);
    expect("tensor_seconds", time.tensor_communication);
    expect("context_seconds", time.context_communication);
    expect("expert_seconds", time.expert_communication);
    expect("pipeline_seconds", time.pipeline_communication);
    expect("data_seconds", time.data_communication);
    expect("pipeline_bubble_seconds", time.pipeline_bubble);
    expect("optimizer_seconds", time.optimizer);
    expect("offload_seconds", time.offload);
    expect("imbalance_seconds", time.imbalance);
    expect("stragglers_seconds", time.stragglers);
    expect("overhead_seconds", time.overhead);
}

void expect_inputs_to_be_numbers_or_earlier_terms(std::vector<Term> const& terms) {
    std::map<std::string, double> known;
    for (auto const& term : terms) {
        for (auto const& [name, value] : term.inputs) {
            auto const [at, fresh] = known.emplace(name, value);
            EXPECT_EQ(at->second, value) << name << " has two values";
        }
        EXPECT_TRUE(known.emplace(term.name, term.value).second) << "the term " << term.name << " comes twice";
    }
}

void expect_rows_to_expose_what_the_step_exposes(StepTime const& time, std::vector<CommunicationRow> const& rows) {
    std::map<std::string, double> exposed;
    double data = 0.0; // collectives that share a NIC with those of gradients wait for them
    for (auto const& row : rows) { data += row.dimension.ends_with("data") ? row.seconds.base() : 0.0; }
    for (auto const& row : rows) {
        exposed[row.dimension == "expert data" ? "data" : row.dimension] += row.exposed.base();
        EXPECT_GT(row.bytes.base(), 0.0) << row.dimension;
        EXPECT_GT(row.operations, 0) << row.dimension;
        EXPECT_GE(row.seconds.base() + data, row.exposed.base() * (1.0 - 1e-6)) << row.dimension;
        EXPECT_FALSE(row.algorithm.empty());
        EXPECT_FALSE(row.why.empty());
    }
    auto const expect = [&](char const* dimension, Seconds part) {
        constexpr double ticks = 1e-9; // a part is a sum of whole ticks
        EXPECT_LT(std::abs(exposed[dimension] - part.base()), ticks * time.total().base()) << dimension;
    };
    expect("tensor", time.tensor_communication);
    expect("context", time.context_communication);
    expect("experts", time.expert_communication);
    expect("pipeline", time.pipeline_communication);
    expect("data", time.data_communication);
}

void expect_one_rank_to_send_nothing(Priced const& priced, std::vector<CommunicationRow> const& rows) {
    if (priced.question.strategy.workers() > 1) { return; }
    EXPECT_EQ(priced.time.exposed_communication(), Seconds{});
    EXPECT_EQ(priced.time.pipeline_bubble, Seconds{});
    EXPECT_TRUE(rows.empty());
}

/// Operations divided by the peak of all accelerators bound every step from below.
void expect_no_step_to_beat_the_arithmetic(Priced const& priced) {
    auto const& question = priced.question;
    auto const work = forward_flops(question.model, question.workload.sequence_length, AttentionConvention::causal);
    double const layers = question.model.layers;
    double const passes = question.strategy.trained == Trained::lora ? 2.0
                          : question.strategy.trained == Trained::last_layers
                              ? 1.0 + 2.0 * question.strategy.trained_layers / layers
                              : 3.0;
    Flops const least = passes * work.total() * question.workload.global_batch;
    Seconds const bound = least / (peak_rate(question.cluster.accelerator, question.strategy.precision) *
                                   static_cast<double>(question.strategy.workers()));
    EXPECT_GT(priced.time.total(), bound);
}

TEST(StepProperty, PartsTermsAndRowsOfAStepFitTogether) {
    for_every_question([](Question const& question) {
        SCOPED_TRACE(name_of(question));
        Priced const priced{question};
        auto const terms = priced.terms();
        auto const rows = priced.rows();
        expect_positive_parts_that_sum_to_the_step(priced);
        expect_terms_to_be_their_formulas(priced, terms);
        expect_terms_of_the_breakdown(priced.time, terms);
        expect_inputs_to_be_numbers_or_earlier_terms(terms);
        expect_rows_to_expose_what_the_step_exposes(priced.time, rows);
        expect_one_rank_to_send_nothing(priced, rows);
        expect_no_step_to_beat_the_arithmetic(priced);
    });
}

// ---- a question and changes of it: the step before is priced once ----

/// Largest share by which a step may be longer although none of its parts is.
///
/// Windows: gradients, weights and copies to the host overlap with a pass, b of a block's f + b. Where the CPU or an
/// exposed exchange sets the pace T, a shorter backward pass leaves T unchanged and takes a smaller share of it: R -
/// b/(f + b) T grows as b falls. Largest seen: 0.31 %; with copies, each of which must fit its own pass, 1.27 % (not
/// tested). Uneven stages: see `has_uneven_stages`.
double slack_of(Question const& question, bool moves_windows) {
    bool const copies = question.strategy.offload != Offload::none;
    bool const hides = !(question.strategy.overlap == Overlap::off) && (question.strategy.data_ranks() > 1 || copies);
    double const windows = !moves_windows || !hides ? 0.0 : copies ? 0.013 : 0.0032;
    return 1e-12 + windows + (training::has_uneven_stages(question) ? training::uneven_stages_slack : 0.0);
}

void expect_more_of_a_resource_to_be_no_slower(Question const& question, Seconds before) {
    auto const expect_no_slower = [&](char const* what, auto change, bool moves_windows) {
        Question changed = question;
        change(changed.cluster);
        EXPECT_LE(training::step(changed), before * (1.0 + slack_of(question, moves_windows))) << what;
    };
    expect_no_slower(
        "scale-out bandwidth", [](Cluster& cluster) { cluster.scale_out.bandwidth *= 2.0; }, false);
    expect_no_slower(
        "scale-up bandwidth", [](Cluster& cluster) { cluster.scale_up.bandwidth *= 2.0; }, true);
    expect_no_slower(
        "scale-out latency", [](Cluster& cluster) { cluster.scale_out.latency *= 0.5; }, false);
    expect_no_slower(
        "memory bandwidth", [](Cluster& cluster) { cluster.accelerator.memory_bandwidth *= 2.0; }, true);
    expect_no_slower(
        "host link", [](Cluster& cluster) { cluster.host.bandwidth *= 2.0; }, false);
    auto const faster_arithmetic = [](Cluster& cluster) {
        auto& chip = cluster.accelerator;
        for (auto* peak : {&chip.peak.bf16, &chip.peak.fp16, &chip.peak.fp32, &chip.peak.tf32, &chip.peak.fp8}) {
            *peak *= 2.0; // all: power for each operation of one format bounds the others
        }
        chip.measured_gemm *= 2.0; // of the same chip: it bounds products
    };
    expect_no_slower("arithmetic", faster_arithmetic, true);
}

/// Nothing that overlaps makes a step longer, but what `slowed_drain` and `in_order_slack` say.
void expect_overlap_off_to_be_no_faster(Question const& question, Seconds hidden) {
    if (question.strategy.overlap == Overlap::off) { return; }
    Question exposed = question;
    exposed.strategy.overlap = Overlap::off;
    double const slack = question.strategy.pp > 1 ? training::in_order_slack : 1e-9; // ticks are rounded
    EXPECT_GE(training::step(exposed), hidden * (1.0 - slack));
}

/// Computing again takes time, but what need not be kept need not be sent to the host either, and a longer backward pass
/// hides more.
void expect_recomputation_not_to_be_free(Question const& question, Seconds last) {
    if (question.strategy.recompute != Recompute::none || offloads_activations(question.strategy.offload)) { return; }
    for (auto const recompute : {Recompute::selective, Recompute::full}) {
        Question changed = question;
        changed.strategy.recompute = recompute;
        Seconds const now = training::step(changed);
        EXPECT_GE(now, last * (1.0 - slack_of(question, true)));
        last = now;
    }
}

/// Fixed time of a step is not paid twice; and the work is.
void expect_twice_the_batch_to_take_at_most_twice_the_step(Question const& question, Seconds once) {
    Question twice = question;
    twice.workload.global_batch *= 2;
    double const ratio = training::step(twice) / once;
    EXPECT_LE(ratio, 2.0 + 1e-9);
    EXPECT_GE(ratio, 1.0);
}

TEST(StepProperty, ChangesMoveAStepTheWayTheyMust) {
    for_every_question([](Question const& question) {
        SCOPED_TRACE(name_of(question));
        Seconds const before = training::step(question);
        EXPECT_EQ(training::step(question), before) << "the same question gives the same bits";
        expect_more_of_a_resource_to_be_no_slower(question, before);
        expect_overlap_off_to_be_no_faster(question, before);
        expect_recomputation_not_to_be_free(question, before);
        expect_twice_the_batch_to_take_at_most_twice_the_step(question, before);
    });
}

TEST(StepProperty, MemoryPartsSum) {
    for_every_question([](Question const& question) {
        auto const use = training::memory_of(question);
        double sum = 0.0;
        for (auto const part : training::parts_of(use)) {
            EXPECT_GE(part, Bytes{}) << name_of(question);
            sum += part.base();
        }
        EXPECT_LT(relative(use.total().base(), sum), 1e-12) << name_of(question);
        EXPECT_LT(relative(use.footprint().base(), sum + use.fragmentation.base() + use.runtime.base()), 1e-12)
            << name_of(question);
        EXPECT_GT(use.fragmentation, Bytes{}) << name_of(question);
        EXPECT_GT(use.runtime, Bytes{}) << name_of(question);
        EXPECT_GE(use.stage, 0);
        EXPECT_LT(use.stage, question.strategy.pp);
    });
}

TEST(StepProperty, RecomputationSavesMemory) {
    // Expectation: full < selective <= none where a stage holds several layers; a single one is held whole while it is
    // computed again. Memory is that of the stage with the largest footprint: footprints are compared, here and below. A stage of a pipeline with a fraction of a trained block on average is left out.
    for_every_question([](Question const& question) {
        auto const& strategy = question.strategy;
        bool const thin = strategy.pp > 1 && strategy.trained == Trained::last_layers;
        if (strategy.recompute != Recompute::none || thin || !question.model.operators.empty()) { return; }
        int const layers =
            strategy.trained == Trained::last_layers ? strategy.trained_layers : question.model.layers / strategy.pp;
        auto const bytes = [&](Recompute recompute) {
            Question changed = question;
            changed.strategy.recompute = recompute;
            return training::memory_of(changed).footprint();
        };
        EXPECT_LE(bytes(Recompute::selective), bytes(Recompute::none)) << name_of(question);
        // the largest block is recomputed, the mean one kept: blocks of encoder and decoder differ
        double const unlike = question.model.encoder_layers > 0 ? 1e-3 : 0.0;
        EXPECT_LE(bytes(Recompute::full), bytes(Recompute::selective) * (1.0 + unlike)) << name_of(question);
        // the copies of an update may be the peak, whatever the passes keep
        bool const of_passes = layers > 2 && !question.framework.foreach_update && !question.framework.wide_update;
        if (of_passes) { EXPECT_LT(bytes(Recompute::full), bytes(Recompute::selective)) << name_of(question); }
    });
}

TEST(StepProperty, MoreTensorRanksNeedNoMoreMemory) {
    for_every_question([](Question const& question) {
        Question wider = question;
        wider.strategy.tp *= 2;
        if (!illegal_because(wider.strategy, wider.model, wider.workload).empty()) { return; }
        // Expectation: a vocabulary padded for more ranks may add at most what the padding adds.
        if (question.framework.pads_vocabulary) {
            wider.framework.pads_vocabulary = false;
            Question narrow = question;
            narrow.framework.pads_vocabulary = false;
            EXPECT_LE(training::memory_of(wider).footprint(), training::memory_of(narrow).footprint())
                << name_of(question);
            return;
        }
        EXPECT_LE(training::memory_of(wider).footprint(), training::memory_of(question).footprint())
            << name_of(question);
    });
}

TEST(StepProperty, MoreWorkInFlightNeedsNoLessMemory) {
    for_every_question([](Question const& question) {
        Bytes const before = training::memory_of(question).footprint();
        Question larger = question;
        larger.strategy.micro_batch *= 2;
        // one micro-batch has nothing to accumulate: its gradients come as activations go, and are not held whole
        bool const accumulates = micro_batch_count(question.strategy, question.workload) > 1.0;
        if (!accumulates || micro_batch_count(larger.strategy, larger.workload) > 1.0) {
            EXPECT_GE(training::memory_of(larger).footprint(), before) << name_of(question) << ": micro-batch";
        }
        Question longer = question;
        longer.workload.sequence_length *= 2;
        EXPECT_GE(training::memory_of(longer).footprint(), before) << name_of(question) << ": sequence";
        Question more = question;
        more.workload.global_batch *= 2;
        EXPECT_GE(training::memory_of(more).footprint(), before)
            << name_of(question) << ": micro-batches of a pipeline";
    });
}

TEST(StepProperty, MoreShardingNeedsNoMoreMemory) {
    // Expectation: each stage up to 2 splits one more part over the data ranks; stage 3 gathers blocks into buffers,
    // and of what is kept it splits everything.
    for_every_question([](Question const& question) {
        if (question.strategy.zero != 0 || question.strategy.pp > 1) { return; }
        MemoryUse last = training::memory_of(question);
        for (int stage = 1; stage <= 3; ++stage) {
            Question sharded = question;
            sharded.strategy.zero = stage;
            // gradients that take the place of copies of weights, which are buffers: stage 3 makes no such copies
            if (stage == 3 && question.framework.frees_gradients) { return; }
            MemoryUse const use = training::memory_of(sharded);
            EXPECT_LE(use.total() - use.buffers, (last.total() - last.buffers) * (1.0 + 1e-12)) << name_of(sharded);
            last = use;
        }
    });
}

TEST(StepProperty, MoreReplicasNeedNoMoreMemory) {
    for_every_question([](Question const& question) {
        if (question.strategy.data_ranks() == 1) { return; } // the first peer adds a gradient bucket
        Question wider = question;
        wider.strategy.dp *= 2;
        EXPECT_LE(training::memory_of(wider).footprint(), training::memory_of(question).footprint())
            << name_of(question);
    });
}

} // namespace
} // namespace headroom
