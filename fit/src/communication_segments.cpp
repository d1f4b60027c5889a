#include "communication_segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::fit {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t most_split_places = 64;
constexpr double seam_slack = 1e-9; ///< relative: rounding

/// Sizes at which a piece may begin: all of them, or evenly spread ones where there are very many.
std::vector<std::size_t> split_places(std::span<TimedSize const> rows) {
    std::vector<std::size_t> const starts = size_starts(rows);
    std::size_t const sizes = starts.size() - 1;
    if (sizes <= most_split_places) { return starts; }
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i <= most_split_places; ++i) { places.push_back(starts[i * sizes / most_split_places]); }
    return places;
}

/// A piece between two places, and what it costs.
struct Candidate {
    Line line;
    double cost = infinite;
    double begins = 0.0, ends = 0.0; ///< its times there
};

class Split {
public:
    Split(std::span<TimedSize const> rows, PieceRule const& rule) : rows_{rows}, rule_{rule} {
        places_ = split_places(rows);
        starts_ = size_starts(rows);
        fit_candidates();
    }

    /// The best pieces of every number, from one on, as far as there are any.
    [[nodiscard]] std::vector<std::vector<Piece>> all() const;
    [[nodiscard]] double cost(std::vector<Piece> const& pieces) const {
        double sum = 0.0;
        for (Piece const& piece : pieces) { sum += cost_of(piece.line, piece.first, piece.last + 1); }
        return sum;
    }

private:
    [[nodiscard]] std::size_t count() const { return places_.size() - 1; }
    [[nodiscard]] Candidate const& candidate(std::size_t from, std::size_t to) const {
        return candidates_[from * places_.size() + to];
    }
    [[nodiscard]] double cost_of(Line line, std::size_t begin, std::size_t end) const;
    [[nodiscard]] std::size_t sizes_between(std::size_t from, std::size_t to) const;
    void fit_candidates();

    /// For pieces that end with candidate (from, to): the least cost with so many pieces, and where the one before
    /// begins.
    struct State {
        double cost = infinite;
        std::size_t before = 0;
    };
    using Layer = std::vector<State>;
    [[nodiscard]] Layer first_layer() const;
    [[nodiscard]] Layer next_layer(Layer const& layer) const;
    [[nodiscard]] std::vector<Piece> trace(std::vector<Layer> const& layers) const;

    std::span<TimedSize const> rows_;
    PieceRule rule_;
    std::vector<std::size_t> places_, starts_;
    std::vector<Candidate> candidates_;
};

double Split::cost_of(Line line, std::size_t begin, std::size_t end) const {
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) { sum += std::min(log_error(line, rows_[i]), rule_.most_counted); }
    return sum;
}

std::size_t Split::sizes_between(std::size_t from, std::size_t to) const {
    auto const begin = std::lower_bound(starts_.begin(), starts_.end(), places_[from]);
    auto const end = std::lower_bound(starts_.begin(), starts_.end(), places_[to]);
    return static_cast<std::size_t>(end - begin);
}

void Split::fit_candidates() {
    std::vector<double> const scale = smoothed_times(rows_);
    candidates_.resize(places_.size() * places_.size());
    for (std::size_t from = 0; from < count(); ++from) {
        for (std::size_t to = from + 1; to <= count(); ++to) {
            bool const whole = from == 0 && to == count();
            if (!whole && sizes_between(from, to) < rule_.least_sizes) { continue; }
            std::size_t const begin = places_[from], end = places_[to];
            Candidate& it = candidates_[from * places_.size() + to];
            it.line =
                least_absolute_line(rows_.subspan(begin, end - begin), std::span{scale}.subspan(begin, end - begin));
            it.cost = cost_of(it.line, begin, end);
            it.begins = it.line.at(rows_[begin]);
            it.ends = it.line.at(rows_[end - 1]);
        }
    }
}

Split::Layer Split::first_layer() const {
    Layer layer(candidates_.size());
    for (std::size_t to = 1; to <= count(); ++to) { layer[to].cost = candidate(0, to).cost; }
    return layer;
}

Split::Layer Split::next_layer(Layer const& layer) const {
    Layer next(candidates_.size());
    for (std::size_t from = 1; from < count(); ++from) {
        for (std::size_t to = from + 1; to <= count(); ++to) {
            Candidate const& here = candidate(from, to);
            if (here.cost == infinite) { continue; }
            State& state = next[from * places_.size() + to];
            for (std::size_t before = 0; before < from; ++before) {
                double const cost = layer[before * places_.size() + from].cost + here.cost;
                if (cost < state.cost && candidate(before, from).ends <= here.begins * (1.0 + seam_slack)) {
                    state = {cost, before};
                }
            }
        }
    }
    return next;
}

std::vector<Piece> Split::trace(std::vector<Layer> const& layers) const {
    std::size_t to = count(), from = 0;
    double best = infinite;
    for (std::size_t i = 0; i < count(); ++i) {
        double const cost = layers.back()[i * places_.size() + to].cost;
        if (cost < best) {
            best = cost;
            from = i;
        }
    }
    std::vector<Piece> pieces;
    if (best == infinite) { return pieces; }
    for (std::size_t k = layers.size(); k-- > 0;) {
        pieces.push_back({places_[from], places_[to] - 1, candidate(from, to).line});
        std::size_t const before = layers[k][from * places_.size() + to].before;
        to = from;
        from = before;
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

std::vector<std::vector<Piece>> Split::all() const {
    std::vector<std::vector<Piece>> found;
    std::vector<Layer> layers{first_layer()};
    std::size_t const most = std::min(rule_.most_pieces, std::max<std::size_t>(1, (starts_.size() - 2) / 2));
    for (std::size_t k = 1; k <= most; ++k) { // some size is left to say how far off the lines are
        std::vector<Piece> pieces = trace(layers);
        if (pieces.empty()) { break; }
        found.push_back(std::move(pieces));
        layers.push_back(next_layer(layers.back()));
    }
    return found;
}

} // namespace

std::vector<Piece> best_pieces(std::span<TimedSize const> rows, PieceRule const& rule) {
    Split const split{rows, rule};
    double const count = static_cast<double>(rows.size());
    std::vector<Piece> best;
    double least = infinite;
    for (auto& pieces : split.all()) {
        double const criterion = count * std::log(split.cost(pieces) / count + rule.noise) +
                                 rule.price * static_cast<double>(pieces.size() - 1) * std::log(count);
        if (criterion < least) {
            least = criterion;
            best = std::move(pieces);
        }
    }
    return best;
}

} // namespace headroom::fit
