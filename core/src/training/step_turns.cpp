#include "step_turns.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// How much longer traffic takes while passes with others on its adapter run.
double longer(double shown, double hidden) { return 1.0 / std::max(0.5, 1.0 - (shown + hidden) / (1.0 + shown)); }

/// What a window of passes loses to traffic beside it, less what it waits for the host anyway.
double lost(ChunksInTurn const& t, double traffic, double window, double adapter, double idle) {
    double const beside = std::min(traffic, window);
    return std::max(0.0, t.kernels * std::min(t.loss * traffic, t.loss / (1.0 - t.loss) * window) +
                             (adapter - idle) * beside);
}

double lost_backward(ChunksInTurn const& t, double traffic, double window) {
    return traffic > 0.0 ? lost(t, traffic, window, t.adapter_backward, t.idle_backward) : 0.0;
}

/// What the two longest ways through the last passes lose.
struct Ways {
    double first = 0.0; ///< one pass in which the first chunk becomes whole
    double becoming_whole = 0.0, following = 0.0;
};

Ways lost_on_the_way(ChunksInTurn const& t) {
    double const stretch = longer(t.adapter_backward, t.hidden_backward), b = t.backward;
    double const each = stretch * std::max(0.0, t.reduce - t.last_reduce) / t.chunks;
    double const late = (1.0 - t.early) * each; // of a chunk's gradients, sent after the pass that makes them
    double const round = t.stages * (b + t.hop);
    auto const transfer = [&](double traffic) { return std::min(t.adapter_hop, traffic); };
    Ways ways;
    double left = 0.0, pass = 0.0; // traffic that earlier chunks left, and what the last pass lost
    int const chunks = static_cast<int>(t.chunks);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        if (chunk > 0) {
            ways.following += t.stages * (lost_backward(t, left, b) + transfer(std::max(0.0, left - b)));
            if (chunk + 1 == chunks) {
                ways.following += lost_backward(t, std::max(0.0, left - b), (t.stages - 2.0) * b);
            }
            left = std::max(0.0, left - (round - b));
        }
        pass = lost_backward(t, left + each - late, b);
        left = std::max(0.0, left + each - late - b - pass) + late;
        ways.becoming_whole += t.stages * (pass + transfer(left));
        if (chunk == 0) { ways.first = pass + transfer(left); }
    }
    ways.following += ways.first + pass - t.stages * t.hop;
    return ways;
}

} // namespace

AddedInTurn added_by_gathers(ChunksInTurn const& t) {
    if (t.gather <= 0.0) { return {}; }
    double const stretch = longer(t.adapter_forward, t.hidden_forward), all = t.stages * t.chunks * t.forward;
    auto const after = [&](double gathered, double shown) {
        return shown + lost(t, stretch * std::max(0.0, t.gather - gathered), all, t.adapter_forward, t.idle_forward);
    };
    double const first_block = after(t.first_gather, t.first_gather);
    double const before_last_block = t.forward * (t.blocks - 1.0) / t.blocks;
    double const first_chunk = after(t.gather / t.chunks, t.gather / t.chunks - before_last_block);
    double const until_last = (t.chunks - 1.0) * t.stages * (t.forward + t.hop) + before_last_block;
    double const beside = std::min(stretch * t.gather, until_last); // the rest has the adapter for itself
    double const last_chunk = beside + (t.gather - beside / stretch) - until_last;
    return {.shown = std::max({first_block, first_chunk, last_chunk}), .waited = 0.0};
}

AddedInTurn added_by_reductions(ChunksInTurn const& t) {
    if (t.reduce <= 0.0) { return {}; }
    auto const ways = lost_on_the_way(t);
    double const before = (t.stages - 1.0) * ways.first;
    double const window = (t.chunks - 1.0) * t.stages * (t.backward + t.hop) + t.early * t.backward;
    double const stretch = longer(t.adapter_backward, t.hidden_backward);
    double const beside = std::min(stretch * t.reduce, window); // the rest has the adapter for itself
    double const rest = beside + (t.reduce - beside / stretch) - window,
                 way = std::max(ways.becoming_whole, ways.following);
    double const own = std::min(way, lost_backward(t, stretch * std::max(0.0, t.reduce - t.last_reduce), window));
    double const of_chunk = (t.reduce - t.table) / t.chunks + t.table;
    double const outlasts = std::max(rest, of_chunk + t.first_bucket - t.backward);
    double const shown = std::max(own + t.last_reduce, outlasts);
    return {.shown = shown, .waited = std::max(way + t.last_reduce, before + outlasts) - shown};
}

} // namespace headroom::training
