#include "step_beside_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

/// Gradients of a backward pass, and what they do to it.
class ReducedPass {
public:
    ReducedPass(BlockPass const& pass, UnitTimes const& block, double blocks, double loss)
        : most_{pass.most_lost(loss)}, length_{pass.seconds + most_}, blocks_{blocks}, reduce_{block.reduce} {
        double const buckets = block.elements / bucket_elements; // of a block
        pieces_ = std::max(1.0, std::floor(buckets));
        together_ = buckets > 0.0 ? std::ceil(1.0 / buckets) : blocks;
        double const full = std::floor(blocks / together_);
        in_time_ = full * together_ < blocks ? full : std::max(0.0, full - 1.0);
        to_bucket_ = lost_to_bucket(pass, loss);
    }
    /// Reductions of blocks that begin before the pass is over.
    [[nodiscard]] double before_end() const {
        return in_time_ * together_ * reduce_ + (pieces_ - 1.0) / pieces_ * reduce_;
    }
    /// What kernels lose where so much is under way as the pass begins. Behind that queue b each block finds the gradients
    /// of those before, until it has made up for it after b / (c - r) blocks; then each bucket has its own blocks.
    [[nodiscard]] double lost(double queued) const {
        double const behind = reduce_ < length_ ? std::min(blocks_, queued / (length_ - reduce_)) : blocks_;
        double const buckets = in_time_ + (pieces_ - 1.0) / pieces_; // the last block's too, but for what it ends with
        double const sum = behind * most_ + std::max(0.0, buckets - behind / together_) * to_bucket_;
        return std::min(sum, without_first(queued) * most_);
    }
    /// What of it is left when the pass is over: the network has sent without a pause since the first bucket, or since the last
    /// one that was full before the end.
    [[nodiscard]] double left(double queued) const {
        double const last = in_time_ > 0.0 ? together_ * reduce_ - (blocks_ - in_time_ * together_) * length_ : 0.0;
        return std::max({0.0, before_end() + queued - without_first(queued) * length_, last});
    }

private:
    [[nodiscard]] double lost_to_bucket(BlockPass const& pass, double loss) const {
        if (in_time_ + pieces_ <= 1.0 || reduce_ <= 0.0) { return 0.0; }
        if (pieces_ == 1.0) { return pass.lost_in(together_ * reduce_, loss, together_); }
        BlockPass busy = pass; // what it waits for the host it has once, for all of a block's buckets
        busy.idle = 0.0;
        // the block before has its last piece beside the begin of this one; the others are spread over the rest
        double const piece = reduce_ / pieces_, first = busy.beside(piece, loss).lost, others = reduce_ - piece;
        double const share = others < length_ - piece ? others / (length_ - piece) : 1.0;
        double const lost = first + share * std::max(0.0, busy.most_lost(loss) - first);
        return std::max(0.0, lost - pass.idle * pass.seconds);
    }
    [[nodiscard]] double without_first(double queued) const {
        return queued > 0.0 || pieces_ > 1.0 ? blocks_ : std::max(0.0, blocks_ - together_);
    }
    double most_, length_; ///< of a block that is slowed all along: what it loses, and its time
    double blocks_, reduce_, pieces_ = 1.0, together_ = 1.0, in_time_ = 0.0, to_bucket_ = 0.0;
};

/// The first block waits for its weights and those of the embedding; the rest are gathered beside the blocks before.
///
///     g_0 + [g - e]+ + max(lost, (n - 1)(g - c), G - g_0 - g - n c)
template <class N>
double gathering(Frame<N> const& f, BlockPass const& pass, UnitTimes const& block, UnitTimes const& table,
                 double loss) {
    double const all = f.traffic.gather().base(), n = f.stage.layers;
    if (all <= 0.0) { return 0.0; }
    double const first = std::min(table.gather, all), one = std::min(block.gather, all - first);
    double const rest = all - first - one, embedding = f.costs.embedding.forward().base();
    double const beside = std::max(0.0, rest - std::max(0.0, embedding - one)) + f.costs.forward.before();
    double const waits = std::max((n - 1.0) * (one - pass.seconds), rest - n * pass.seconds);
    return first + std::max(0.0, one - embedding) + std::max(pass.lost_in(beside, loss, n), waits);
}

} // namespace

double blocks_of_first_bucket(double elements_of_block, double blocks) {
    double const buckets = elements_of_block / bucket_elements;
    if (buckets >= 1.0) { return 1.0 / std::floor(buckets); }
    return buckets > 0.0 ? std::min(blocks, std::ceil(1.0 / buckets)) : blocks;
}

template <class N> double issued_backward(Frame<N> const& f) {
    auto const cost = f.costs.block.backward_pass();
    return (f.block_times.total - f.block_times.forward + std::max(Seconds{}, cost.host - cost.chip)).base();
}

template <class N>
BesideBlocks beside_blocks(Frame<N> const& f, Units const& units, HostIdle const& idle, double reductions) {
    double const loss = f.setting.constants[Constant::gradients_exposed], n = f.stage.layers;
    double const reduce = f.traffic.reduce().base();
    if (reduce <= 0.0 && f.traffic.gather().base() <= 0.0) { return {}; }
    auto block = unit_times(f, units.block);
    auto const table = unit_times(f, units.table);
    block.reduce = std::min(block.reduce, reduce / n);
    auto const forward = forward_pass(f, idle.forward);
    ReducedPass const pass{backward_pass(f, idle.backward), block, n, loss};
    double const whole = (f.block_times.total - f.block_times.forward).base();
    ReducedPass const issued{BlockPass{.seconds = issued_backward(f), .kernels = 0.0}, block, n, 0.0};
    constexpr double rounding = 1e-9; // what is left of a difference of sums is no gradient of a head
    double const rest = reduce - n * block.reduce - table.reduce, of_head = rest > rounding * reduce ? rest : 0.0;
    double const at_end = std::max(0.0, reduce - of_head - pass.before_end()); // sent when the pass is over
    BesideBlocks sum;
    sum.unsent = std::max(0.0, blocks_of_first_bucket(block.elements, n) * whole - of_head);
    sum.drained = pass.lost(0.0);
    sum.last_when_issued = at_end + issued.left(of_head);
    sum.last = at_end + pass.left(of_head);
    sum.backward = pass.lost(of_head);
    double const adding_up = std::min(loss * sum.last, loss / (1.0 - loss) * f.accumulation);
    sum.backward += adding_up;
    if (reductions > 1.0) {
        double const beside = std::max(0.0, sum.last - f.accumulation - adding_up) + f.costs.forward.before();
        double const left = std::max(0.0, beside - n * forward.slowed(loss));
        sum.last = at_end + pass.left(of_head + left);
        sum.backward += (reductions - 1.0) * (forward.lost_in(beside, loss, n) + pass.lost(of_head + left) + adding_up);
    }
    sum.last = std::max(0.0, sum.last - adding_up); // adding up takes longer beside it
    sum.gathering = gathering(f, forward, block, table, loss);
    if (block.elements < bucket_elements * 2.0) { // else they leave all along a block
        double const together = std::max(1.0, std::min(n, std::ceil(bucket_elements / std::max(1.0, block.elements))));
        sum.collectives_backward = backward_pass(f, 0.0).more_collectives(together * block.reduce);
    }
    sum.collectives_forward = forward_pass(f, 0.0).more_collectives(f.traffic.gather().base());
    return sum;
}

template double issued_backward(Frame<double> const& f);
template double issued_backward(Frame<Traced> const& f);
template BesideBlocks beside_blocks(Frame<double> const& f, Units const& units, HostIdle const& idle,
                                    double reductions);
template BesideBlocks beside_blocks(Frame<Traced> const& f, Units const& units, HostIdle const& idle,
                                    double reductions);

} // namespace headroom::training
