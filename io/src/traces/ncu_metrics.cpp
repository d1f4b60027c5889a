#include "traces/ncu_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {

namespace {

/// Factors of a prefix, in powers of 1000: "Kbyte" is 1000 bytes in Nsight Compute.
std::optional<double> prefix_factor(std::string_view prefix) {
    constexpr std::array<std::pair<std::string_view, double>, 9> prefixes{{{"", 1.0},
                                                                           {"n", 1e-9},
                                                                           {"u", 1e-6},
                                                                           {"m", 1e-3},
                                                                           {"K", 1e3},
                                                                           {"k", 1e3},
                                                                           {"M", 1e6},
                                                                           {"G", 1e9},
                                                                           {"T", 1e12}}};
    auto const row = std::ranges::find(prefixes, prefix, &std::pair<std::string_view, double>::first);
    return row == prefixes.end() ? std::nullopt : std::optional{row->second};
}

/// The factor of "usecond" for the unit "second".
std::optional<double> factor_of(std::string_view unit, std::string_view base) {
    return unit.ends_with(base) ? prefix_factor(unit.substr(0, unit.size() - base.size())) : std::nullopt;
}

std::optional<double> second_factor(std::string_view unit) {
    auto const factor = factor_of(unit, "second");
    return factor ? factor : factor_of(unit, "s");
}
std::optional<double> byte_factor(std::string_view unit) {
    auto const factor = factor_of(unit, "byte");
    return factor ? factor : factor_of(unit, "B");
}
std::optional<double> rate_factor(std::string_view unit, std::string_view base) {
    for (std::string_view const tail : {"/second", "/s"}) {
        if (unit.ends_with(tail)) { return factor_of(unit.substr(0, unit.size() - tail.size()), base); }
    }
    return std::nullopt;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

/// Writes `value` times its factor where that is known.
template <class Number> bool put(Number& to, std::optional<double> factor, double value) {
    if (factor) { to = value * *factor; }
    return factor.has_value();
}

} // namespace

bool NcuMetrics::take(std::string_view metric, std::string_view unit, double value) {
    if (is_one_of(metric, {"gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max", "Duration"})) {
        if (unit == "cycle" || unit == "cycles") {
            cycles_ = std::max(cycles_, value);
            return true;
        }
        return put(seconds_, second_factor(unit), value);
    }
    if (metric == "dram__bytes.sum") { return put(bytes_, byte_factor(unit), value); }
    if (metric == "dram__bytes_read.sum") { return put(read_, byte_factor(unit), value); }
    if (metric == "dram__bytes_write.sum") { return put(written_, byte_factor(unit), value); }
    if (metric == "dram__bytes.sum.per_second" || (metric == "Memory Throughput" && unit != "%")) {
        return put(bytes_per_second_, rate_factor(unit, "byte"), value);
    }
    if (is_one_of(metric, {"sm__cycles_elapsed.max", "sm__cycles_elapsed.avg", "Elapsed Cycles"})) {
        cycles_ = std::max(cycles_, value);
        return true;
    }
    if (is_one_of(metric, {"sm__cycles_elapsed.avg.per_second", "SM Frequency"})) {
        std::optional<double> factor = rate_factor(unit, "cycle");
        if (!factor) { factor = factor_of(unit, "hz"); } // "Ghz", as it writes since 2022
        if (!factor) { factor = factor_of(unit, "Hz"); }
        if (!factor && unit.starts_with("cycle/")) { // "cycle/nsecond"
            auto const time = second_factor(unit.substr(6));
            if (time) { factor = 1.0 / *time; }
        }
        return put(cycles_per_second_, factor, value);
    }
    return take_work(metric, value);
}

/// Instructions of single threads by their operations, as the roofline of Nsight Compute counts them.
bool NcuMetrics::take_work(std::string_view metric, double value) {
    bool const per_cycle = metric.ends_with(".sum.per_cycle_elapsed");
    if (!per_cycle && !metric.ends_with(".sum")) { return true; }
    std::string_view const name = metric.substr(0, metric.find('.'));
    constexpr std::array<std::string_view, 3> single_starts{"sm__sass_thread_inst_executed_op_",
                                                            "smsp__sass_thread_inst_executed_op_",
                                                            "derived__sm__sass_thread_inst_executed_op_"};
    for (auto const start : single_starts) {
        if (!name.starts_with(start)) { continue; }
        auto const operation = name.substr(start.size());
        bool const floating =
            operation.size() > 4 && (operation[0] == 'f' || operation[0] == 'h' || operation[0] == 'd');
        if (!floating) { return true; }
        auto const kind = operation.substr(1, 3);
        bool const fused = kind == "fma";
        if (!fused && kind != "add" && kind != "mul") { return true; }
        bool const doubled = name.ends_with("_x2");
        if (!doubled && !operation.substr(4).starts_with("_pred_on")) { return true; }
        (per_cycle ? per_cycle_ : operations_) += value * (fused && !doubled ? 2.0 : 1.0);
        return true;
    }
    if (name.find("_ops_fadd_fmul_ffma_pred_on") != std::string_view::npos ||
        name.find("_ops_dadd_dmul_dfma_pred_on") != std::string_view::npos ||
        name.find("_ops_hadd_hmul_hfma_pred_on") != std::string_view::npos) {
        if (!per_cycle) { grouped_ += value; }
    } else if (name.starts_with("sm__ops_path_tensor_src_") && name.find("int") == std::string_view::npos) {
        (per_cycle ? tensor_per_cycle_ : tensor_operations_) += value;
    } else if (name.starts_with("sm__inst_executed_pipe_tensor") && !per_cycle) {
        tensor_instructions_ = std::max(tensor_instructions_, value);
    }
    return true;
}

std::optional<double> NcuMetrics::seconds() const {
    if (seconds_ || !(cycles_ > 0.0) || !(cycles_per_second_ > 0.0)) { return seconds_; }
    return cycles_ / cycles_per_second_;
}

double NcuMetrics::flops() const {
    double const cycles = cycles_ > 0.0 ? cycles_ : cycles_per_second_ * seconds_.value_or(0.0);
    double const scalar = operations_ > 0.0 ? operations_ : grouped_ > 0.0 ? grouped_ : per_cycle_ * cycles;
    double const tensor = tensor_operations_ > 0.0 ? tensor_operations_ : tensor_per_cycle_ * cycles;
    double const all = scalar + tensor;
    return std::isfinite(all) && all > 0.0 ? all : 0.0;
}

double NcuMetrics::bytes() const {
    double const moved = bytes_ > 0.0 ? bytes_ : read_ + written_;
    double const all = moved > 0.0 ? moved : bytes_per_second_ * seconds_.value_or(0.0);
    return std::isfinite(all) && all > 0.0 ? all : 0.0;
}

} // namespace headroom::io
