#pragma once

#include "operation_price.hpp"

#include "headroom/training/step.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace headroom::training {

/// The dimension whose ranks a collective joins: tensor, context or experts.
std::size_t group_of(Operation const& operation);
bool is_product(Operation const& operation);
bool is_attention(Operation const& operation);
bool is_kernel(Operation const& operation);

/// What hides a collective of a group: products; of keys and values the attention core, of tokens both. A core that is
/// computed again hides nothing.
bool hides(std::size_t group, Operation const& kernel, bool recomputes_core);

/// An operation of a pass and its price.
struct PricedOperation {
    Operation const* operation = nullptr;
    OperationPrice price;
    bool kernel = false;
    unsigned beside = 0; ///< a bit for each group whose collectives it hides
};
PricedOperation priced(Operation const& operation, OperationPrice const& price, bool recomputes_core);

/// Kernels, and what follows them before the next ones can begin.
struct Stretch {
    double kernels = 0.0, others = 0.0;
};

/// The operations of a pass in their order: kernels, what shows of collectives, and what of
/// the rest outlasts the kernels it runs beside. Where it does so, only what kernels at 1 - loss of their rate take
/// beyond it counts as kernels.
std::vector<Stretch> stretches_of(std::vector<PricedOperation> const& pass, double loss);

/// What a pass waits for a host whose pace is uneven over what it takes: the smooth maximum of chip and host beyond the
/// larger of the two.
double uneven_share(PassCost const& pass);

/// The mean of the passes of blocks of several kinds.
class OutlineMean {
public:
    void add(std::vector<Stretch> pass, double weight);
    /// `uneven_host`: share of a pass that kernels behind it wait for a host that is late now and then.
    [[nodiscard]] PassOutline mean(double uneven_host);

private:
    struct Weighted {
        std::vector<Stretch> pass;
        double weight = 0.0;
    };
    std::vector<Weighted> passes_;
};

} // namespace headroom::training
