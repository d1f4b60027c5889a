// Bytes on the wire are those of the formula sheet: tensor, context, expert, pipeline and data parallelism, on random
// models of every family.

#include "../../core/src/training/traffic.hpp"
#include "support/closed_form.hpp"
#include "support/counting.hpp"
#include "support/random_questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

using counting::over_blocks;
using counting::sent_share;
using counting::wire_bytes;
using training::for_random_questions;
using training::name_of;
using training::Priced;

constexpr int draws = 4200; ///< 600 of each family

/// Sizes of one rank that the formulas are written in.
struct Sizes {
    explicit Sizes(Question const& question)
        : q{question},
          m{q.model},
          t{static_cast<double>(q.strategy.tp)},
          c{static_cast<double>(q.strategy.cp)},
          tokens{q.strategy.micro_batch * q.workload.tokens() / c},
          element{element_bytes(q.strategy.precision)} {}

    [[nodiscard]] double own(closed_form::Layer const& layer) const {
        return tokens * (layer.decoder ? m.decoder_length : 1.0);
    }
    [[nodiscard]] double query() const {
        auto const& l = m.latent;
        return l.used() ? m.heads * (l.nope_dim + l.rope_dim) / t : m.heads * static_cast<double>(m.head_dim) / t;
    }
    [[nodiscard]] double key() const { return m.latent.used() ? query() : std::max(1.0, m.kv_heads / t) * m.head_dim; }
    [[nodiscard]] double value() const { return m.latent.used() ? m.heads * m.latent.value_dim / t : key(); }
    [[nodiscard]] double output() const { return m.latent.used() ? value() : query(); }

    Question const& q;
    Model const& m;
    double t, c, tokens, element;
};

/// All layers, one micro-batch, forward and backward of weights that are trained, or have LoRA adapters.
template <class Formula> double over_layers(Sizes const& of, Formula formula) {
    double sum = 0.0;
    for (int i = 0; i < of.m.layers; ++i) { sum += formula(closed_form::layer_at(of.m, i)); }
    return sum;
}

bool is_plain(Question const& q) {
    return q.model.operators.empty() && q.strategy.recompute == Recompute::none &&
           q.strategy.trained != Trained::last_layers;
}

double counted(Question const& q, Traffic traffic, int ranks) {
    auto const program = step_program(q.model, shape_of(q.strategy, q.workload), q.framework);
    return over_blocks(program, [&](LayerProgram const& one) {
        return wire_bytes(one, Phase::forward, traffic, Ranks{ranks}) +
               wire_bytes(one, Phase::backward, traffic, Ranks{ranks});
    });
}

void expect_near(double value, double expected, Question const& q, char const* what) {
    EXPECT_NEAR(value, expected, 1e-11 * std::max(1.0, expected)) << name_of(q) << ": " << what;
}

// ---- inside a layer -----------------------------------------------------------------------------------------------

/// 4 (t-1)/t s b h w for each pair of a column- and a row-parallel product, 8 for a dense layer. Sequence parallelism
/// gathers the kept input of such a pair once more for its weight gradient: 5. Experts that are cut gather their tokens and
/// add up their outputs; tokens that were sent in slices are put together once a pass.
double tensor_bytes(Sizes const& of, closed_form::Layer const& layer) {
    auto const& s = of.q.strategy;
    double const vector = of.own(layer) * of.m.hidden * of.element;
    bool const shared = layer.experts && of.m.moe.shared_experts > 0;
    double const pairs =
        (layer.mixer != ' ' ? 1.0 : 0.0) + (layer.decoder ? 1.0 : 0.0) + (layer.dense || shared ? 1.0 : 0.0);
    double const halves = s.sequence_parallel && s.trained != Trained::lora ? 5.0 : 4.0;
    double sum = halves * pairs * vector;
    if (layer.experts && s.etp > 1) {
        double const copies = s.ep > 1 ? of.m.moe.top_k * expert_load(s, of.q.workload) : 1.0;
        sum += 4.0 * of.own(layer) * copies * closed_form::expert_width(of.m) * of.element; // T / t of etp = t ranks
    }
    bool const in_slices = s.etp == 1 || s.ep > 1; // else the sum of cut experts reaches every rank
    if (layer.experts && in_slices && !s.sequence_parallel) { sum += 2.0 * vector; }
    return (of.t - 1.0) / of.t * sum;
}

TEST(Bytes, OfTensorParallelismAreTheFormulas) {
    for_random_questions(draws, [](Question const& q) {
        if (!is_plain(q) || q.strategy.tp == 1) { return; }
        Sizes const of{q};
        double const expected = over_layers(of, [&](auto const& layer) { return tensor_bytes(of, layer); });
        expect_near(counted(q, Traffic::tensor, q.strategy.tp), expected, q, "tensor");
    });
}

/// Keys and values of the other c - 1 ranks forward, those and their gradients backward; or all-to-alls of queries, keys,
/// values and outputs, each way.
double context_bytes(Sizes const& of, closed_form::Layer const& layer) {
    double const own = of.own(layer) * of.element, encoder = of.tokens * of.element;
    bool const by_head = of.q.strategy.exchange == ContextExchange::all_to_all;
    double const there_and_back = 2.0 * (of.c - 1.0) / of.c;
    double sum = 0.0;
    if (layer.mixer == 'M') { // channels for tokens and back, whatever the exchange of attention
        auto const& scan = of.m.state_space;
        double const inner = static_cast<double>(scan.heads) * scan.head_dim;
        sum += there_and_back * own * (3.0 * inner + 2.0 * scan.groups * scan.state + scan.heads) / of.t;
    }
    if (layer.mixer == 'A' || layer.mixer == 'L') {
        sum += by_head ? there_and_back * own * (of.query() + of.key() + of.value() + of.output())
                       : 3.0 * (of.c - 1.0) * own * (of.key() + of.value());
    }
    if (layer.decoder) {
        sum += by_head ? there_and_back * (own * 2.0 * of.query() + encoder * 2.0 * of.key())
                       : 3.0 * (of.c - 1.0) * encoder * 2.0 * of.key();
    }
    return sum;
}

TEST(Bytes, OfContextParallelismAreTheFormulas) {
    for_random_questions(draws, [](Question const& q) {
        if (!is_plain(q) || q.strategy.cp == 1) { return; }
        Sizes const of{q};
        double const expected = over_layers(of, [&](auto const& layer) { return context_bytes(of, layer); });
        expect_near(counted(q, Traffic::context, q.strategy.cp), expected, q, "context");
    });
}

TEST(Bytes, OfExpertParallelismAreFourAllToAlls) {
    // Expectation: there and back, forward and backward: 4 k T h w (E_p - 1)/E_p for the T tokens of a rank, skewed or
    // padded ones counted as often as they travel.
    for_random_questions(draws, [](Question const& q) {
        if (!is_plain(q) || q.strategy.ep == 1) { return; }
        Sizes const of{q};
        double const ranks = q.strategy.ep, copies = of.m.moe.top_k * expert_load(q.strategy, q.workload);
        double const expected = over_layers(of, [&](auto const& layer) {
            if (!layer.experts) { return 0.0; }
            return 4.0 * copies * of.tokens / of.t * closed_form::expert_width(of.m) * of.element * (ranks - 1.0) /
                   ranks;
        });
        expect_near(counted(q, Traffic::experts, q.strategy.ep), expected, q, "experts");
    });
}

TEST(Bytes, FullRecomputationSendsTheForwardPassAgain) {
    for_random_questions(draws, [](Question q) {
        if (!is_plain(q)) { return; }
        q.strategy.recompute = Recompute::full;
        auto const program = step_program(q.model, shape_of(q.strategy, q.workload), q.framework);
        for (auto const traffic : {Traffic::tensor, Traffic::context, Traffic::experts}) {
            auto const sent = [&](Phase phase) {
                return over_blocks(program,
                                   [&](LayerProgram const& one) { return wire_bytes(one, phase, traffic, Ranks{2}); });
            };
            EXPECT_EQ(sent(Phase::recompute), sent(Phase::forward)) << name_of(q);
        }
    });
}

// ---- what the rows say --------------------------------------------------------------------------------------------

CommunicationRow const* row_of(std::vector<CommunicationRow> const& rows, std::string const& dimension) {
    auto const found = std::ranges::find(rows, dimension, &CommunicationRow::dimension);
    return found == rows.end() ? nullptr : &*found;
}

/// Total bytes and operations of a program's traffic of one kind, all phases.
struct Sent {
    double bytes = 0.0, operations = 0.0;
};
Sent sent_by(LayerProgram const& program, Traffic traffic) {
    Sent sum;
    for (auto const& o : program.operations()) {
        if (o.traffic != traffic) { continue; }
        bool const exchange = o.kind == OperationKind::exchange;
        sum.bytes += o.bytes.base() * (exchange ? o.m * o.n : o.times);
        sum.operations += exchange ? 1.0 : o.times;
    }
    return sum;
}

/// Traffic of one micro-batch on a stage of a model with one kind of block.
Sent sent_by_stage(Question const& q, int stage, Traffic traffic) {
    auto const program = step_program(q.model, shape_of(q.strategy, q.workload), q.framework);
    int const stages = q.strategy.pp;
    auto const place = stages == 1           ? StagePlace::whole
                       : stage == 0          ? StagePlace::first
                       : stage == stages - 1 ? StagePlace::last
                                             : StagePlace::middle;
    Sent sum;
    auto const add = [&](LayerProgram const& one, double times) {
        Sent const sent = sent_by(one, traffic);
        sum.bytes += times * sent.bytes;
        sum.operations += times * sent.operations;
    };
    add(program.blocks.front().program, stage_layers(depth_of(q.model), stages, place));
    if (stage == stages - 1) {
        add(program.head, program.heads_run);
        for (auto const& run : program.prediction) { add(run.program, run.count); }
    }
    if (stage == 0) { add(program.embedding, 1.0); }
    return sum;
}

TEST(Rows, SayWhatTheSlowestStageSends) {
    // Expectation: every collective of the program of the stage that works longest, once for each micro-batch.
    for_random_questions(draws, [](Question const& q) {
        auto const kinds = step_program(q.model, shape_of(q.strategy, q.workload), q.framework).blocks.size();
        bool const loop = q.strategy.pp == 1 || schedule_row(q.strategy.schedule()).layout == ChunkLayout::loop;
        if (kinds != 1 || !loop || !q.model.operators.empty()) { return; }
        Priced const priced{q};
        auto const rows = priced.rows();
        double const m = micro_batch_count(q.strategy, q.workload);
        for (auto const& [dimension, traffic] :
             {std::pair{"tensor", Traffic::tensor}, {"context", Traffic::context}, {"experts", Traffic::experts}}) {
            auto const* row = row_of(rows, dimension);
            if (row == nullptr) { continue; }
            Sent const sent = sent_by_stage(q, priced.step.stage, traffic);
            // what predicts later tokens has no context row of its own
            if (traffic == Traffic::context && q.model.prediction_layers > 0) { continue; }
            expect_near(row->bytes.base(), m * sent.bytes, q, dimension);
            EXPECT_NEAR(row->operations, m * sent.operations, 1.0) << name_of(q) << ": " << dimension;
            EXPECT_GE(row->operations, m * sent.operations * (1.0 - 1e-6) - 1e-3) << name_of(q) << ": " << dimension;
        }
    });
}

TEST(Rows, OfAPipelineAreItsBoundaries) {
    // Expectation: forward and back, for each micro-batch and chunk, b s h w / t.
    for_random_questions(draws, [](Question const& q) {
        if (q.strategy.pp == 1) { return; }
        Sizes const of{q};
        auto const rows = Priced{q}.rows();
        auto const* row = row_of(rows, "pipeline");
        ASSERT_NE(row, nullptr) << name_of(q);
        double const hops = 2.0 * micro_batch_count(q.strategy, q.workload) * q.strategy.virtual_pp;
        expect_near(row->bytes.base(), hops * of.tokens * of.m.hidden * of.element / of.t, q, "pipeline");
        EXPECT_EQ(row->group.size, q.strategy.pp) << name_of(q);
    });
}

// ---- data parallelism ---------------------------------------------------------------------------------------------

/// Bytes that one rank sends in a step for one set of parameters, by the formula sheet: N parameters, p data ranks.
///
///     ZeRO 0 2 N w,  ZeRO 1, 2 N w + N w,  ZeRO 3 3 N w, in S ranks, and 2 N w / S between copies;   all x (p-1)/p
///
/// With a pipeline ZeRO 2 and 3 reduce once, and ZeRO 3 gathers for every micro-batch.
struct Sheet {
    double parameters = 0.0, trained = 1.0;
    double data = 1.0, shard = 1.0; ///< ranks
};
double whole(double ranks, double bytes) { return 2.0 * (ranks - 1.0) / ranks * bytes; }
double half(double ranks, double bytes) { return (ranks - 1.0) / ranks * bytes; }
double sheet_bytes(Sheet const& of, Question const& q) {
    auto const& f = q.framework;
    double const gradients = of.parameters * of.trained * f.reduced_bytes;
    double const narrow = std::min(f.parameter_bytes, element_bytes(q.strategy.precision));
    bool const wide = f.gathers_wide && q.strategy.trained != Trained::lora; // as they are kept
    double const width = wide ? f.parameter_bytes : narrow;
    bool const pipeline = q.strategy.pp > 1;
    double const all = micro_batch_count(q.strategy, q.workload);
    double const reduced = f.gathers_per_micro_batch && !pipeline ? all : 1.0;
    double const gathered = f.gathers_per_micro_batch || pipeline ? all : 1.0;
    double const reduction = half(of.shard, gradients) + whole(of.data / of.shard, gradients / of.shard);
    bool const releases = f.gradient_overlap == GradientOverlap::exposed && q.strategy.recompute == Recompute::full;
    switch (q.strategy.zero) {
    case 0: return whole(of.data, gradients);
    case 1: return reduction + half(of.shard, of.parameters * of.trained * width);
    case 2: return reduced * reduction + half(of.shard, of.parameters * of.trained * width);
    default: break;
    }
    double const gathers = releases ? 3.0 : 2.0;
    return reduced * reduction + gathered * gathers * half(of.shard, of.parameters * width);
}

double sent_by_rows(std::vector<CommunicationRow> const& rows, std::string const& dimension) {
    double sum = 0.0;
    for (auto const& row : rows) {
        if (row.dimension != dimension) { continue; }
        bool const reduces = row.collective == "all_reduce";
        sum += sent_share(reduces ? Collective::all_reduce : Collective::all_gather, Ranks{row.group.size}) *
               row.bytes.base();
    }
    return sum;
}

bool sends_every_step(Strategy const& s) {
    return s.local_steps == 1 && s.servers == 0 && s.compression.kind == Compression::none;
}

TEST(Rows, OfDataParallelismAreTheFormulaSheet) {
    // Expectation: the rest of the parameters over dp cp ranks, experts over dp cp tp / (ep etp); any stage of ZeRO, over
    // all ranks and over half of them.
    int drawn = 0;
    for_random_questions(draws, [&drawn](Question q) {
        auto& s = q.strategy;
        if (s.local_steps == 1 && s.servers == 0 && s.compression.kind == Compression::none) { s.zero = ++drawn % 4; }
        bool const halves = s.zero > 0 && s.data_ranks() % 2 == 0 && drawn % 3 == 0;
        if (halves) { s.shard = s.data_ranks() / 2; }
        if (s.zero == 0) { s.shard = 0; }
        if (!is_legal(q)) { return; }
        if (!sends_every_step(s)) { return; }
        Priced const priced{q};
        auto const setting = priced.setting();
        auto const held = fullest_stage_parameters(setting, s);
        bool const frozen = has_frozen_blocks(q.model, s);
        if (s.pp > 1) { return; } // rows are of the stage that works longest
        auto const trained =
            frozen ? holding_of_last_blocks(setting, s, 0).trained : trained_parts(s, q.model, setting.count);
        double const same = s.dp * s.cp * static_cast<double>(s.tp) / (s.ep * s.etp);
        auto const rows = priced.rows();
        Sheet const dense{held.dense, trained.dense, static_cast<double>(s.dp * s.cp),
                          static_cast<double>(s.shard_ranks())};
        Sheet const experts{held.experts, trained.experts, same, static_cast<double>(s.expert_shard_ranks())};
        expect_near(sent_by_rows(rows, "data"), sheet_bytes(dense, q), q, "data");
        expect_near(sent_by_rows(rows, "expert data"), held.experts > 0.0 ? sheet_bytes(experts, q) : 0.0, q,
                    "experts");
    });
}

TEST(Rows, OfEqualWidthsAreTwoTwoAndThreeN) {
    // Expectation: with 16-bit weights and gradients a step of one micro-batch sends 2, 2, 2 and 3 times N (p-1)/p w.
    auto question = training::question(training::catalog().model("llama-3-8b"), training::catalog().cluster("dgx-h100"),
                                       training::catalog().framework("megatron-core"), {.dp = 8},
                                       {.sequence_length = 4096, .global_batch = 8});
    question.framework.reduced_bytes = question.framework.parameter_bytes = 2.0;
    double const n = count_parameters(question.model).total;
    for (auto const& [zero, times] : {std::pair{0, 2.0}, {1, 2.0}, {2, 2.0}, {3, 3.0}}) {
        question.strategy.zero = zero;
        EXPECT_NEAR(sent_by_rows(Priced{question}.rows(), "data") / (times * n * 2.0 * 7.0 / 8.0), 1.0, 1e-12) << zero;
    }
}

TEST(Rows, OfCompressedGradientsAreTheirShare) {
    // Expectation: 8 bits for w bytes; a value and a 4-byte place for one element in a hundred from each of p ranks, by
    // an all-gather that loads a rank half as much as an all-reduce.
    for_random_questions(draws, [](Question q) {
        auto const& s = q.strategy;
        if (s.zero != 0 || s.data_ranks() == 1) { return; }
        if (s.pp > 1) { return; } // the stage that works longest depends on what it compresses
        q.strategy.servers = 0;
        q.strategy.local_steps = 1;
        auto const ratio = [&](Compression kind) {
            q.strategy.compression = {.kind = Compression::none};
            double const plain = sent_by_rows(Priced{q}.rows(), "data");
            q.strategy.compression = {.kind = kind};
            return sent_by_rows(Priced{q}.rows(), "data") / plain;
        };
        double const w = q.framework.reduced_bytes, p = s.data_ranks();
        EXPECT_NEAR(ratio(Compression::quantised), 1.0 / w, 1e-12) << name_of(q);
        EXPECT_NEAR(ratio(Compression::top_k), p * 0.01 * (w + 4.0) / (2.0 * w), 1e-12) << name_of(q);
    });
}

TEST(Rows, OfLocalUpdatesAreSpreadOverTheirSteps) {
    // Expectation: what is trained, in 32 bits, once every H steps; copies of a shard group each exchange their part.
    for_random_questions(draws, [](Question q) {
        auto const& s = q.strategy;
        q.strategy.local_steps = 8;
        q.strategy.servers = 0;
        q.strategy.compression = {};
        if (!training::is_legal(q) || s.data_ranks() == 1) { return; }
        Priced const priced{q};
        auto const setting = priced.setting();
        auto const held = fullest_stage_parameters(setting, s);
        double const groups = s.data_ranks() / s.shard_ranks(),
                     expert_groups = s.expert_data_ranks() / s.expert_shard_ranks();
        double dense = held.dense, experts = held.experts;
        if (s.zero == 3) { dense = groups > 1 ? dense / s.shard_ranks() : 0.0; }
        if (s.zero == 3) { experts = expert_groups > 1 ? experts / s.expert_shard_ranks() : 0.0; }
        if (s.expert_data_ranks() == 1) { experts = 0.0; }
        auto const trained = trained_parts(s, q.model, setting.count);
        double const expected = 4.0 * (trained.dense * dense + trained.experts * experts) / 8.0;
        auto const traffic = placed_traffic(setting, s).data;
        expect_near(traffic.blocking_bytes.base(), expected, q, "local updates");
        EXPECT_EQ(s.zero == 3 ? traffic.dense.replicate : traffic.dense.reduce, Seconds{}) << name_of(q);
    });
}

TEST(Rows, OfParameterServersQueueAtTheirPorts) {
    // Expectation: 2 n K / (S B) of all K ranks that send once no more servers than ranks take part, 2 n / B beyond,
    // two messages and two starts.
    for_random_questions(draws, [](Question q) {
        auto const& s = q.strategy;
        if (s.zero != 0 || s.data_ranks() == 1 || q.model.moe.experts > 0) { return; }
        q.strategy.local_steps = 1;
        q.strategy.compression = {};
        for (int const servers : {1, 2, s.data_ranks(), 100}) {
            q.strategy.servers = servers;
            Priced const priced{q};
            auto const fabric = calibrated_fabric(priced.cluster, priced.constants);
            auto const traffic = placed_traffic(priced.setting(), s).data;
            double const k = s.workers(), n = traffic.dense.gradients.base();
            bool const leaves = traffic.dense.group.domains() > 1 || k > priced.cluster.domain;
            Link const port = leaves ? fabric.scale_out : fabric.scale_up;
            double const queued = 2.0 * std::max(k / servers, 1.0) * n / port.bandwidth.base();
            double const starts = 2.0 * port.latency.base() + priced.constants[Constant::base_latency];
            EXPECT_NEAR(traffic.blocking.base(), queued + starts, 1e-9 * queued) << name_of(q);
            EXPECT_EQ(traffic.reduce(), Seconds{}) << name_of(q);
            expect_near(traffic.blocking_bytes.base(), 2.0 * n, q, "servers");
        }
    });
}

TEST(DataTraffic, GroupsAreTheRanksThatHoldTheSame) {
    for_random_questions(draws, [](Question const& q) {
        auto const& s = q.strategy;
        Priced const priced{q};
        auto const placed = placed_traffic(priced.setting(), s);
        auto const& traffic = placed.data;
        EXPECT_EQ(traffic.dense.ranks(), s.dp * s.cp) << name_of(q);
        if (placed.held.experts > 0.0) {
            EXPECT_EQ(traffic.experts.ranks(), s.dp * s.cp * s.tp / (s.ep * s.etp)) << name_of(q);
        }
        if (s.zero < 3) { EXPECT_EQ(traffic.dense.replicas.size, 1) << name_of(q); }
    });
}

} // namespace
} // namespace headroom
