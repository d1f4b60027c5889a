#include "operation_price.hpp"

#include "headroom/training/host_launches.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Megatron's fused softmax needs a batch of heads that is a multiple of this; else the softmax is several kernels.
/// Source: [MegatronLM]
constexpr int fused_softmax_batch = 4;

/// Whether the softmax is launched as several kernels.
bool softmax_in_parts(StepProgram const& program, LayerShape const& shape, Framework const& framework) {
    return program.heads > 0 && framework.host == HostPace::eager_2022 &&
           framework.attention == AttentionKernel::unfused &&
           shape.micro_batch * std::max(1, program.heads / shape.tp) % fused_softmax_batch != 0;
}

constexpr std::size_t tensor_group = 0, context_group = 1, experts_group = 2;

} // namespace

std::size_t group_of(Operation const& operation) {
    return operation.kind == OperationKind::exchange ? experts_group
           : operation.traffic == Traffic::tensor    ? tensor_group
                                                     : context_group;
}
bool is_product(Operation const& operation) {
    return operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
}
bool is_attention(Operation const& operation) {
    return operation.kind == OperationKind::attention || operation.kind == OperationKind::unfused_attention;
}
bool is_kernel(Operation const& operation) {
    return operation.kind != OperationKind::collective && operation.kind != OperationKind::exchange;
}

bool hides(std::size_t group, Operation const& kernel, bool recomputes_core) {
    switch (group) {
    case tensor_group: return is_product(kernel);
    case experts_group: return is_product(kernel) || is_attention(kernel);
    default: return is_attention(kernel) && !(recomputes_core && kernel.phase == Phase::recompute);
    }
}

OperationPricer::OperationPricer(LayerShape const& shape, Cluster const& cluster, Framework const& framework,
                                 Calibration const& constants)
    : shape_{shape},
      framework_{framework},
      constants_{constants},
      rates_{kernel_rates(cluster.accelerator, shape.precision, framework, constants)},
      fabric_{calibrated_fabric(cluster, constants)},
      launch_cost_{launch_cost(cluster.host_year)},
      tensor_{network::group_of(shape.tp, 1, cluster.domain)},
      context_{network::group_of(shape.cp, shape.tp, cluster.domain)},
      experts_{network::group_of(shape.ep, shape.etp, cluster.domain)} {}

OperationPrice OperationPricer::price(Operation const& operation, bool in_block) const {
    switch (operation.kind) {
    case OperationKind::collective: return collective(operation);
    case OperationKind::exchange: return exchange(operation);
    default: return kernel(operation, in_block);
    }
}

OperationPrice OperationPricer::kernel(Operation const& operation, bool in_block) const {
    bool const product = operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
    Seconds const time = product ? product_time(operation, in_block ? rates_.gemm : rates_.head_gemm, rates_)
                                 : kernel_time(operation, rates_);
    return {time, time};
}

OperationPrice OperationPricer::collective(Operation const& operation) const {
    bool const tensor = operation.traffic == Traffic::tensor;
    auto const once =
        fastest(operation.collective, {operation.bytes}, tensor ? tensor_ : context_, fabric_).time.total() +
        Seconds{constants_[Constant::base_latency]};
    Seconds const time = once * operation.times;
    bool const overlaps = tensor ? overlaps_tensor() : !exposes(TrafficKind::context);
    return {time, time * (overlaps ? constants_[Constant::tensor_exposed] : 1.0)};
}

ExpertExchange OperationPricer::exchange_of(Operation const& operation) const {
    return {.tokens = operation.m,
            .token = operation.bytes,
            .top_k = static_cast<int>(operation.n),
            .experts = static_cast<int>(operation.k),
            .deduplicated = framework_.sends_tokens_once,
            .group_limit = static_cast<int>(operation.limit)};
}

OperationPrice OperationPricer::exchange(Operation const& operation) const {
    auto const sent = expert_exchange(exchange_of(operation), experts_, fabric_);
    Seconds const time = sent.time.total() + Seconds{constants_[Constant::base_latency]};
    return {time, time * experts_exposed_share()};
}

/// Whether gathers and scatters of tensor-parallel ranks overlap with products.
bool OperationPricer::overlaps_tensor() const {
    bool const hides = framework_.tensor_overlap || shape_.overlap[TrafficKind::tensor] == Overlap::hidden;
    return hides && !exposes(TrafficKind::tensor);
}

/// Exposed share of the expert exchange. Frameworks that overlap it hide as large a share as of tensor-parallel
/// collectives.
double OperationPricer::experts_exposed_share() const {
    if (exposes(TrafficKind::expert)) { return 1.0; }
    bool const hides = framework_.expert_overlap || shape_.overlap[TrafficKind::expert] == Overlap::hidden;
    return constants_[hides ? Constant::tensor_exposed : Constant::experts_exposed];
}

Seconds OperationPricer::issue(BlockProgram const& program, double passes) const {
    double const issued = passes * program.issue;
    Seconds time;
    switch (framework_.host) {
    case HostPace::native: break;
    case HostPace::modern: time = Seconds{constants_[Constant::host_modern] * issued}; break;
    case HostPace::eager_2022: time = Seconds{constants_[Constant::host_eager] * issued}; break;
    case HostPace::eager:
        time = Seconds{constants_[Constant::host_launch] * program.launches * launch_cost_ * passes};
        if (gathers()) {
            time += Seconds{constants_[Constant::host_gather] * framework_.gathered_modules * launch_cost_ * passes};
        }
        break;
    }
    if (program.routed) { time += Seconds{constants_[Constant::host_experts] * issued}; }
    return time;
}

void OperationPricer::explain(TermBook& book, std::string const& name, Operation const& operation,
                              bool in_block) const {
    if (is_kernel(operation)) {
        explain_kernel(book, name, operation, in_block ? "gemm_rate" : "head_gemm_rate", rates_);
    } else {
        explain_traffic(book, name, operation);
    }
}

void OperationPricer::explain_traffic(TermBook& book, std::string const& name, Operation const& operation) const {
    auto const shape = [&](char const* part, char const* unit, double value) {
        book.add(TermKind::shape, name + "_" + part, unit, "of the operation, from model and strategy", value);
    };
    std::string times;
    if (operation.kind == OperationKind::exchange) {
        shape("tokens", "", operation.m), shape("token_bytes", "B", operation.bytes.base());
        shape("experts_of_token", "", operation.n);
        book.formula(name + "_bytes", "B", name + "_tokens * " + name + "_token_bytes * " + name + "_experts_of_token",
                     operation.bytes.base() * operation.m * operation.n);
        explain_messages(book, name,
                         framework_.sends_tokens_once ? "tokens sent once to each domain" : "pairwise exchange",
                         experts_, fabric_,
                         [&](Fabric fabric) { return expert_exchange(exchange_of(operation), experts_, fabric).time; });
    } else {
        shape("bytes", "B", operation.bytes.base());
        explain_fastest(book, name, operation.collective, {operation.bytes},
                        operation.traffic == Traffic::tensor ? tensor_ : context_, fabric_);
        if (operation.times != 1.0) { shape("times", "", operation.times), times = name + "_times * "; }
    }
    book.formula(name + "_traffic_seconds", "s",
                 times + "(" + name + "_latency_seconds + " + name + "_transfer_seconds + base_latency)",
                 price(operation, true).time.base());
}

std::string OperationPricer::explain_pass(TermBook& book, std::string const& name, BlockProgram const& program) const {
    std::string const issue = name + "_issue";
    std::string each;
    switch (framework_.host) {
    case HostPace::native: break;
    case HostPace::modern: each = training::explain(book, constants_, Constant::host_modern) + " * " + issue; break;
    case HostPace::eager_2022: each = training::explain(book, constants_, Constant::host_eager) + " * " + issue; break;
    case HostPace::eager:
        book.add(TermKind::shape, name + "_launches", "", "kernels of a forward pass in primitives of PyTorch",
                 program.launches);
        book.add(TermKind::catalog, "launch_cost", "", "of a launch, by the age of the host", launch_cost_);
        each = training::explain(book, constants_, Constant::host_launch) + " * " + name + "_launches * launch_cost";
        if (!gathers()) { break; }
        book.add(TermKind::framework, "gathered_modules", "", framework_.name, framework_.gathered_modules);
        each +=
            " + " + training::explain(book, constants_, Constant::host_gather) + " * gathered_modules * launch_cost";
        break;
    }
    if (program.routed) {
        each +=
            (each.empty() ? "" : " + ") + training::explain(book, constants_, Constant::host_experts) + " * " + issue;
    }
    return each;
}

void OperationPricer::explain_issue(TermBook& book, std::string const& name, BlockProgram const& program) const {
    book.add(TermKind::shape, name + "_passes", "", "forward passes with as many kernels as all passes of the block",
             program.passes);
    book.add(TermKind::shape, name + "_issue", "", "kernels of the block over those of a transformer block",
             program.issue);
    std::string const each = explain_pass(book, name, program);
    book.formula(name + "_launch_seconds", "s",
                 each.empty() ? "0" : "pace * issued_in_parts * (" + each + ") * " + name + "_passes",
                 issue(program, program.passes).base() * book["pace"] * book["issued_in_parts"]);
}

double issued_in_parts(StepProgram const& program, LayerShape const& shape, Framework const& framework,
                       Calibration const& constants) {
    return softmax_in_parts(program, shape, framework) ? constants[Constant::host_unaligned] : 1.0;
}

} // namespace headroom::training
