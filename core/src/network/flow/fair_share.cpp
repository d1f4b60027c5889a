#include "headroom/network/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom::network {
namespace {

constexpr double slack = 1e-11; ///< of sums over the flows of a link, relative

} // namespace

FairShare::FairShare(std::span<NetworkLink const> links) : links_(links.size()) {
    for (std::size_t i = 0; i < links.size(); ++i) { links_[i].capacity = links[i].capacity.base(); }
}

/// Longer routes than before: lays the hops out again.
void FairShare::make_room(std::size_t hops) {
    if (hops <= stride_) { return; }
    std::size_t const wider = std::max(hops, 2 * stride_);
    std::vector<Hop> moved(flows_.size() * wider);
    for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
        std::copy_n(hops_.begin() + static_cast<std::ptrdiff_t>(flow * stride_), flows_[flow].hops,
                    moved.begin() + static_cast<std::ptrdiff_t>(flow * wider));
    }
    hops_ = std::move(moved);
    stride_ = wider;
}

void FairShare::note(LinkId link) {
    if (!links_[link].changed) {
        links_[link].changed = true;
        changed_.push_back(link);
    }
}

FairShare::Flow FairShare::add(std::span<LinkId const> route) {
    make_room(route.size());
    if (unused_.empty()) {
        unused_.push_back(static_cast<Flow>(flows_.size()));
        flows_.emplace_back();
        hops_.resize(flows_.size() * stride_);
    }
    Flow const flow = unused_.back();
    unused_.pop_back();
    flows_[flow] = {.hops = static_cast<std::uint32_t>(route.size())};
    for (std::uint32_t i = 0; i < flows_[flow].hops; ++i) {
        LinkState& link = links_[route[i]];
        hop(flow, i) = {route[i], static_cast<std::uint32_t>(link.uses.size())};
        link.uses.push_back({flow, i});
        note(route[i]);
    }
    return flow;
}

void FairShare::remove(Flow flow) {
    for (std::uint32_t i = 0; i < flows_[flow].hops; ++i) {
        Hop const at = hop(flow, i);
        std::vector<Use>& uses = links_[at.link].uses;
        uses[at.place] = uses.back();
        hop(uses[at.place].flow, uses[at.place].hop).place = at.place;
        uses.pop_back();
        note(at.link);
    }
    flows_[flow].hops = 0;
    unused_.push_back(flow);
}

void FairShare::let_in(Flow flow) {
    FlowState& state = flows_[flow];
    if (state.epoch == epoch_) { return; }
    state.epoch = epoch_;
    state.next = state.rate;
    taking_part_.push_back(flow);
}

std::span<FairShare::Flow const> FairShare::settle() {
    ++epoch_;
    taking_part_.clear();
    for (LinkId const link : changed_) {
        links_[link].changed = false;
        for (Use const use : links_[link].uses) { let_in(use.flow); }
    }
    do {
        fill();
        total_links();
    } while (let_in_losers());
    for (LinkId const link : changed_) { // those that nobody uses now take no part
        if (links_[link].uses.empty()) { links_[link].load = links_[link].largest = 0.0; }
    }
    changed_.clear();
    std::erase_if(taking_part_, [this](Flow flow) { return flows_[flow].next == flows_[flow].rate; });
    for (Flow const flow : taking_part_) { flows_[flow].rate = flows_[flow].next; }
    return taking_part_;
}

/// The links of those that take part, with what the others leave of their capacity.
void FairShare::gather_links() {
    ++filling_;
    found_ = 0;
    filled_.clear();
    heap_.clear();
    for (Flow const flow : taking_part_) {
        for (std::uint32_t i = 0; i < flows_[flow].hops; ++i) {
            LinkId const id = hop(flow, i).link;
            LinkState& link = links_[id];
            if (link.filling == filling_) { continue; }
            link.filling = filling_;
            link.left = link.capacity;
            link.rising = 0;
            for (Use const use : link.uses) {
                FlowState const& state = flows_[use.flow];
                if (state.epoch == epoch_) {
                    ++link.rising;
                } else {
                    link.left -= state.rate;
                }
            }
            filled_.push_back(id);
            heap_.emplace_back(std::max(link.left, 0.0) / link.rising, id);
        }
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

/// The link is full: its flows have found their rates.
void FairShare::stop_rising(LinkId link, double share) {
    for (Use const use : links_[link].uses) {
        FlowState& state = flows_[use.flow];
        if (state.epoch != epoch_ || state.filled == filling_) { continue; }
        state.filled = filling_;
        ++found_;
        state.bottleneck = link;
        state.next = share;
        for (std::uint32_t i = 0; i < state.hops; ++i) {
            LinkState& other = links_[hop(use.flow, i).link];
            other.left -= share;
            --other.rising;
        }
    }
}

/// Progressive filling of those that take part: the link with the smallest share for each rising flow is full first. A
/// link's share only grows when flows stop rising elsewhere, so that what the heap has is never too much.
void FairShare::fill() {
    gather_links();
    double level = 0.0;
    while (found_ < taking_part_.size() && !heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        auto const [known, id] = heap_.back();
        heap_.pop_back();
        LinkState const& link = links_[id];
        if (link.rising == 0) { continue; }
        double const share = std::max(link.left / link.rising, level);
        if (share > known && !heap_.empty() && share > heap_.front().first) {
            heap_.emplace_back(share, id);
            std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
            continue;
        }
        level = share;
        stop_rising(id, share);
    }
    for (Flow const flow : taking_part_) { // a rate that is the old one but for rounding is the old one
        FlowState& state = flows_[flow];
        if (std::abs(state.next - state.rate) <= 0.01 * slack * state.rate) { state.next = state.rate; }
    }
}

void FairShare::total_links() {
    for (LinkId const id : filled_) {
        LinkState& link = links_[id];
        link.load = link.largest = 0.0;
        for (Use const use : link.uses) {
            double const rate = rate_now(flows_[use.flow]);
            link.load += rate;
            link.largest = std::max(link.largest, rate);
        }
    }
}

bool FairShare::has_bottleneck(Flow flow) const {
    double const rate = rate_now(flows_[flow]) * (1.0 + slack);
    for (std::uint32_t i = 0; i < flows_[flow].hops; ++i) {
        LinkState const& link = links_[hop(flow, i).link];
        if (rate >= link.largest && link.load >= link.capacity * (1.0 - slack)) { return true; }
    }
    return false;
}

/// Lets in whoever keeps the flow from its fair share: those that have more where it stopped.
void FairShare::look_after(Flow flow) {
    if (has_bottleneck(flow)) { return; }
    double const rate = flows_[flow].next * (1.0 + slack);
    for (Use const use : links_[flows_[flow].bottleneck].uses) {
        if (flows_[use.flow].epoch != epoch_ && flows_[use.flow].rate > rate) { let_in(use.flow); }
    }
}

/// Whether the fillings must go on with more flows: those that lost their bottleneck by it and those that hold back one
/// that takes part.
bool FairShare::let_in_losers() {
    std::size_t const before = taking_part_.size();
    for (std::size_t i = 0; i < before; ++i) { look_after(taking_part_[i]); }
    for (LinkId const id : filled_) {
        for (Use const use : links_[id].uses) {
            if (flows_[use.flow].epoch != epoch_ && !has_bottleneck(use.flow)) { let_in(use.flow); }
        }
    }
    return taking_part_.size() > before;
}

} // namespace headroom::network
