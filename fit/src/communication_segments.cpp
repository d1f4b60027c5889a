#include "communication_segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::fit {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int reweightings = 25;
constexpr double least_error = 1e-4; ///< relative: below it rows count alike
constexpr std::size_t most_split_places = 96;
constexpr double seam_slack = 1e-9; ///< relative: rounding

double median_of(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) { return *middle; }
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// Sums of one weighted problem.
struct Moments {
    double w = 0.0, wn = 0.0, wnn = 0.0, wt = 0.0, wnt = 0.0, wtt = 0.0;

    [[nodiscard]] double loss(Line line) const {
        return wtt + line.alpha * line.alpha * w + line.beta * line.beta * wnn +
               2.0 * (line.alpha * line.beta * wn - line.alpha * wt - line.beta * wnt);
    }
};

Line non_negative(Moments const& m) {
    double const determinant = m.w * m.wnn - m.wn * m.wn;
    if (determinant > 1e-12 * m.w * m.wnn) {
        Line const free{(m.wt * m.wnn - m.wnt * m.wn) / determinant, (m.wnt * m.w - m.wt * m.wn) / determinant};
        if (free.alpha >= 0.0 && free.beta >= 0.0) { return free; }
    }
    Line const flat{m.w > 0.0 ? m.wt / m.w : 0.0, 0.0};
    Line const rising{0.0, m.wnn > 0.0 ? m.wnt / m.wnn : 0.0};
    return m.wnn > 0.0 && m.loss(rising) < m.loss(flat) ? rising : flat;
}

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
            it.begins = it.line.at(rows_[begin].bytes);
            it.ends = it.line.at(rows_[end - 1].bytes);
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
    for (std::size_t k = 1; k <= rule_.most_pieces; ++k) {
        std::vector<Piece> pieces = trace(layers);
        if (pieces.empty()) { break; }
        found.push_back(std::move(pieces));
        layers.push_back(next_layer(layers.back()));
    }
    return found;
}

} // namespace

std::vector<std::size_t> size_starts(std::span<TimedSize const> rows) {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == 0 || rows[i].bytes != rows[i - 1].bytes) { starts.push_back(i); }
    }
    starts.push_back(rows.size());
    return starts;
}

double log_error(Line const& line, TimedSize const& row) {
    double const predicted = line.at(row.bytes);
    return predicted > 0.0 ? std::abs(std::log(predicted / row.seconds)) : infinite;
}

Line weighted_line(std::span<TimedSize const> rows, std::span<double const> weights) {
    Moments m;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double const w = weights[i], n = rows[i].bytes, t = rows[i].seconds;
        m.w += w;
        m.wn += w * n;
        m.wnn += w * n * n;
        m.wt += w * t;
        m.wnt += w * n * t;
        m.wtt += w * t * t;
    }
    return non_negative(m);
}

Line least_absolute_line(std::span<TimedSize const> rows, std::span<double const> scale) {
    std::vector<double> weights(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) { weights[i] = 1.0 / (scale[i] * scale[i]); }
    Line line = weighted_line(rows, weights);
    for (int round = 0; round < reweightings; ++round) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double const predicted = line.at(rows[i].bytes);
            double const against = round < reweightings / 2 || predicted <= 0.0 ? scale[i] : predicted;
            double const error = std::abs(predicted - rows[i].seconds) / against;
            weights[i] = 1.0 / (against * against * std::max(error, least_error));
        }
        Line const next = weighted_line(rows, weights);
        bool const settled = round > reweightings / 2 && std::abs(next.alpha - line.alpha) <= 1e-9 * line.alpha &&
                             std::abs(next.beta - line.beta) <= 1e-9 * line.beta;
        line = next;
        if (settled) { break; }
    }
    return line;
}

std::vector<double> smoothed_times(std::span<TimedSize const> rows) {
    std::vector<std::size_t> const starts = size_starts(rows);
    std::vector<double> medians;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        std::vector<double> times;
        for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) { times.push_back(rows[i].seconds); }
        medians.push_back(median_of(std::move(times)));
    }
    std::vector<double> smoothed(rows.size());
    for (std::size_t k = 0; k < medians.size(); ++k) {
        std::size_t const half = std::min({std::size_t{2}, k, medians.size() - 1 - k});
        std::size_t const reach = half == 0 && medians.size() > 2 ? 1 : half;
        std::size_t const from = k >= reach ? k - reach : 0, to = std::min(k + reach, medians.size() - 1);
        double const middle = median_of({medians.begin() + static_cast<std::ptrdiff_t>(from),
                                         medians.begin() + static_cast<std::ptrdiff_t>(to) + 1});
        for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) { smoothed[i] = middle; }
    }
    return smoothed;
}

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
