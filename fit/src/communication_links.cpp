#include "communication_links.hpp"

#include "communication_closed_form.hpp"
#include "communication_group.hpp"
#include "scaling_statistics.hpp"

#include "headroom/network/link_class.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr int rounds = 20;
constexpr std::size_t most_rows = 128;           ///< of one group
constexpr std::size_t most_groups_left_out = 64; ///< one at a time: beyond, leaving out one says little
constexpr double least_bandwidth_share = 0.5;    ///< of a row's time, for it to tell what a byte costs
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

/// A row of a group on this level; its size outlives the closed form that is being fitted.
struct LevelRow {
    std::size_t fit = 0; ///< index into the fits
    double size = 0.0, seconds = 0.0, smoothed = 0.0;
    bool large = false; ///< of the last segment of its group, which shows what a byte costs
};

class LevelProblem {
public:
    LevelProblem(std::span<MeasuredCollective const> rows, std::span<CommunicationFit const> fits,
                 std::vector<std::size_t> members, bool scale_out, Fabric fabric, Forms forms)
        : fits_{fits}, members_{std::move(members)}, scale_out_{scale_out}, fabric_{fabric}, forms_{forms} {
        for (std::size_t const member : members_) {
            auto const& residuals = fits[member].residuals; // of very many, as many as can be told apart
            std::size_t const step = std::max<std::size_t>(1, residuals.size() / most_rows);
            for (std::size_t i = 0; i < residuals.size(); i += step) {
                FitResidual const& residual = residuals[i];
                if (residual.outlier) { continue; }
                MeasuredCollective const& row = rows[residual.row];
                bool const large = row.size.size >= fits[member].segments.back().from;
                rows_.push_back({member, row.size.size.base(), row.time.base(), residual.predicted.base(), large});
            }
        }
        start();
    }

    /// Alternates between the algorithms that are fastest and the constants that fit them best, from several rates: where
    /// another link is the slower one at first, bytes of this one do not show, and the alternation stands still.
    void solve();
    [[nodiscard]] FittedLevel level();
    [[nodiscard]] Fabric fabric() const { return fabric_with(line_); }
    [[nodiscard]] double misfit() const { return misfit(line_); }

private:
    void start();
    /// Without the rows of one member, or of `nobody`.
    [[nodiscard]] Line solution(std::size_t without) const;
    /// Mean |ln(predicted / measured)|, a row counted for ln 10 at most.
    [[nodiscard]] double misfit(Line line) const;
    [[nodiscard]] Fabric fabric_with(Line line) const;
    [[nodiscard]] std::vector<TimedSize> shares(Line line, std::size_t without) const;
    [[nodiscard]] std::vector<TimedSize> large_of(std::vector<TimedSize> const& shares) const;
    [[nodiscard]] double latency_given(double beta, std::vector<TimedSize> const& shares) const;
    [[nodiscard]] Line jackknife_errors() const;
    [[nodiscard]] std::vector<double> byte_factors(std::size_t member, std::vector<TimedSize> const& shares) const;
    void add_contention(std::vector<TimedSize> const& shares, FittedLevel& level) const;
    void add_notes(FittedLevel& level) const;

    std::span<CommunicationFit const> fits_;
    std::vector<std::size_t> members_;
    bool scale_out_;
    Fabric fabric_;
    Forms forms_;
    std::vector<LevelRow> rows_;
    Line line_;
};

/// Starts from the times that a ring would need for the largest and the smallest message: the right order of magnitude.
void LevelProblem::start() {
    line_ = {infinite, infinite};
    for (LevelRow const& row : rows_) {
        double const messages = std::max(1.0, static_cast<double>(fits_[row.fit].ranks) - 1.0);
        line_.alpha = std::min(line_.alpha, row.seconds / messages);
        if (row.size > 0.0) { line_.beta = std::min(line_.beta, 0.5 * row.seconds / row.size); }
    }
}

Fabric LevelProblem::fabric_with(Line line) const {
    constexpr double least_beta = 1e-30; ///< a link that is free of charge
    Fabric fabric = fabric_;
    Link const link{.latency = Seconds{line.alpha}, .bandwidth = BytesPerSecond{1.0 / std::max(line.beta, least_beta)}};
    (scale_out_ ? fabric.scale_out : fabric.scale_up) = link;
    return fabric;
}

std::vector<TimedSize> LevelProblem::shares(Line line, std::size_t without) const {
    Fabric const fabric = fabric_with(line);
    std::vector<TimedSize> shares;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        LevelRow const& row = rows_[i];
        if (row.fit == without) { continue; }
        FormShare const share = share_of(fits_[row.fit], Bytes{row.size}, fabric, scale_out_, forms_);
        shares.push_back({share.bytes, row.seconds, i, share.messages, share.given});
    }
    return shares;
}

/// Rows of last segments: protocols of smaller messages carry bytes at rates of their own.
std::vector<TimedSize> LevelProblem::large_of(std::vector<TimedSize> const& shares) const {
    std::vector<TimedSize> large;
    std::ranges::copy_if(shares, std::back_inserter(large), [&](TimedSize const& one) { return rows_[one.row].large; });
    return large;
}

/// The latency with the least absolute relative errors of all rows: a weighted median.
double LevelProblem::latency_given(double beta, std::vector<TimedSize> const& shares) const {
    std::vector<std::pair<double, double>> wanted; // latency, weight
    for (TimedSize const& share : shares) {
        if (!(share.messages > 0.0)) { continue; }
        wanted.emplace_back((share.seconds - share.given - share.bytes * beta) / share.messages,
                            share.messages / rows_[share.row].smoothed);
    }
    return std::max(0.0, weighted_quantile(std::move(wanted), 0.5));
}

Line LevelProblem::solution(std::size_t without) const {
    Line line = line_;
    for (int round = 0; round < rounds; ++round) {
        std::vector<TimedSize> const shares = this->shares(line, without), large = large_of(shares);
        std::vector<double> scale;
        for (TimedSize const& share : large) { scale.push_back(rows_[share.row].smoothed); }
        double const beta = least_absolute_line(large, scale).beta;
        Line const next{latency_given(beta, shares), beta};
        bool const settled = std::abs(next.alpha - line.alpha) <= 1e-7 * line.alpha &&
                             std::abs(next.beta - line.beta) <= 1e-7 * line.beta;
        line = next;
        if (settled) { break; }
    }
    return line;
}

double LevelProblem::misfit(Line line) const {
    constexpr double most_counted = 2.303;
    double sum = 0.0;
    for (TimedSize const& share : shares(line, nobody)) { sum += std::min(log_error(line, share), most_counted); }
    return rows_.empty() ? 0.0 : sum / static_cast<double>(rows_.size());
}

void LevelProblem::solve() {
    constexpr double clearly = 1e-9, much_better = 0.8;
    Line const begin = line_;
    Line best = begin;
    double least = infinite;
    for (double const factor : {1.0, 4.0, 16.0, 64.0, 0.25, 0.0625, 0.015625}) {
        line_ = {begin.alpha, begin.beta * factor};
        Line const one = solution(nobody);
        double const here = misfit(one);
        bool const goes_flat =
            best.beta > 0.0 && !(one.beta > 0.0); // a rate that shows is given up for a much better fit alone
        if (!(here < (goes_flat ? much_better * least : least - clearly))) { continue; }
        least = here;
        best = one;
    }
    line_ = best;
}

/// Standard errors by leaving out one group at a time; zero with fewer than three groups, or very many.
/// Source: [EfronTibshirani1993]
Line LevelProblem::jackknife_errors() const {
    double const count = static_cast<double>(members_.size());
    if (members_.size() < 3 || members_.size() > most_groups_left_out) { return {}; }
    std::vector<Line> lines;
    Line mean;
    for (std::size_t const member : members_) {
        lines.push_back(solution(member));
        mean.alpha += lines.back().alpha / count;
        mean.beta += lines.back().beta / count;
    }
    Line sum;
    for (Line const& line : lines) {
        sum.alpha += (line.alpha - mean.alpha) * (line.alpha - mean.alpha);
        sum.beta += (line.beta - mean.beta) * (line.beta - mean.beta);
    }
    return {std::sqrt((count - 1.0) / count * sum.alpha), std::sqrt((count - 1.0) / count * sum.beta)};
}

/// Measured over predicted time of the bytes alone, of every row where they weigh enough.
std::vector<double> LevelProblem::byte_factors(std::size_t member, std::vector<TimedSize> const& shares) const {
    std::vector<double> factors;
    for (TimedSize const& share : shares) {
        double const bytes = share.bytes * line_.beta;
        if (rows_[share.row].fit != member || bytes < least_bandwidth_share * line_.at(share)) { continue; }
        factors.push_back((share.seconds - share.given - share.messages * line_.alpha) / bytes);
    }
    return factors;
}

/// A median with the relative half-width of its 90 % interval.
struct Middle {
    double value = 0.0, half = 0.0;
};
Middle middle_of(std::vector<double> const& values, double sigma) {
    double const value = median_of(values), count = static_cast<double>(values.size());
    std::vector<double> away;
    for (double const one : values) { away.push_back(std::abs(one / value - 1.0)); }
    double const spread = std::max(from_median * median_of(away), sigma);
    return {value, student_t_quantile(interval_share, std::max(1, static_cast<int>(values.size()) - 1)) * spread /
                       std::sqrt(count)};
}

void LevelProblem::add_contention(std::vector<TimedSize> const& shares, FittedLevel& level) const {
    auto const fewest = [&](std::size_t a, std::size_t b) {
        auto const at_once = [&](std::size_t i) {
            return fits_[i].collective == Collective::point_to_point ? 0 : fits_[i].ranks;
        };
        return at_once(a) < at_once(b);
    };
    std::vector<std::size_t> order = members_;
    std::ranges::stable_sort(order, fewest);
    std::optional<Middle> alone;
    for (std::size_t const member : order) {
        std::vector<double> const factors = byte_factors(member, shares);
        if (factors.empty()) { continue; }
        Middle const here = middle_of(factors, fits_[member].relative_spread);
        if (!(here.value > 0.0)) { continue; }
        if (!alone) {
            alone = here;
            level.reference = member;
        }
        double const factor = here.value / alone->value;
        bool const itself = level.contention.empty();
        double const half = itself ? 0.0 : std::hypot(here.half, alone->half);
        level.contention.push_back({member, {factor, std::max(0.0, factor * (1.0 - half)), factor * (1.0 + half)}});
    }
    std::ranges::sort(level.contention, {}, &Contention::fit);
}

std::string name_of_group(CommunicationFit const& fit) {
    return std::string{name_of(fit.collective)} + (fit.algorithm.empty() ? "" : " " + fit.algorithm) + " on " +
           std::to_string(fit.ranks) + " ranks";
}

void LevelProblem::add_notes(FittedLevel& level) const {
    if (!(line_.beta > 0.0)) { level.notes.push_back({.remark = LinkRemark::flat}); }
    if (forms_ == Forms::all) { level.notes.push_back({.remark = LinkRemark::all_forms}); }
    if (members_.size() == 1) { level.notes.push_back({.remark = LinkRemark::one_group}); }
    bool const spans = std::ranges::any_of(members_, [&](std::size_t i) { return group_of(fits_[i]).per_domain > 1; });
    if (scale_out_ && spans && std::isinf(fabric_.scale_up.bandwidth.base())) {
        level.notes.push_back({.remark = LinkRemark::inside_counted});
    }
    for (Contention const& one : level.contention) {
        if (one.factor.value < 1.1 || one.factor.low <= 1.0) { continue; }
        level.notes.push_back({.remark = LinkRemark::contended,
                               .group = name_of_group(fits_[one.fit]),
                               .other = name_of_group(fits_[*level.reference]),
                               .factor = one.factor.value});
    }
}

FittedLevel LevelProblem::level() {
    std::vector<TimedSize> const shares = this->shares(line_, nobody), large = large_of(shares);
    auto const sigma_of = [&](std::vector<TimedSize> const& rows) {
        std::vector<double> errors;
        for (TimedSize const& row : rows) { errors.push_back(std::min(log_error(line_, row), 10.0)); }
        return std::max(from_median * median_of(errors), least_deviation);
    };
    std::vector<bool> const all_kept(shares.size(), false), large_kept(large.size(), false);
    LineErrors const of_all = line_errors(shares, all_kept, line_), of_large = line_errors(large, large_kept, line_);
    Line const by_groups = jackknife_errors();
    double const t = student_t_quantile(interval_share, std::max(1, static_cast<int>(large.size()) - 2));
    double const t_groups = student_t_quantile(interval_share, std::max(1, static_cast<int>(members_.size()) - 1));
    auto const around = [&](double value, double own, double groups) {
        return interval_around(value, value, std::max(own * t, groups * t_groups), 1.0);
    };

    FittedLevel level;
    level.system = fits_[members_.front()].system;
    level.interconnect = fits_[members_.front()].interconnect;
    level.scale_out = scale_out_;
    level.latency_seconds = around(line_.alpha, of_all.alpha * sigma_of(shares), by_groups.alpha);
    level.seconds_per_byte = around(line_.beta, of_large.beta * sigma_of(large), by_groups.beta);
    auto const inverse = [](double beta) { return beta > 0.0 ? 1.0 / beta : 0.0; };
    Fitted const& beta = level.seconds_per_byte;
    level.bytes_per_second = {inverse(beta.value), inverse(beta.high), inverse(beta.low)};
    level.fits = members_;
    level.rows = shares.size();
    std::vector<double> relative;
    for (TimedSize const& share : shares) { relative.push_back(std::abs(line_.at(share) / share.seconds - 1.0)); }
    level.median_relative_error = median_of(relative);
    if (line_.beta > 0.0) { add_contention(shares, level); }
    add_notes(level);
    return level;
}

} // namespace

namespace {

/// Nameplate of one level; zero: not known.
BytesPerSecond most_of(FittedLevel const& level, std::span<CommunicationFit const> fits, KnownLinks const& known) {
    if (!level.scale_out) { return known.most_inside; }
    bool const one_domain = !known.machine.empty() && std::ranges::all_of(level.fits, [&](std::size_t i) {
        return fits[i].ranks <= known.domain; // a domain of several hosts, as NVL72
    });
    return one_domain ? known.most_inside : known.most_between;
}

bool is_above(FittedLevel const& level, BytesPerSecond most) {
    constexpr double tolerance = 1.1;
    return most > BytesPerSecond{} && level.bytes_per_second.value > tolerance * most.base();
}

/// Keeps a level, or refuses it; returns whether it was kept.
bool keep(FittedLevel level, KnownLinks const& known, CommunicationFits& fits) {
    BytesPerSecond const most = most_of(level, fits.fits, known);
    bool const above = is_above(level, most);
    if (above) {
        fits.refused.push_back({std::move(level), most, known.machine});
    } else {
        fits.levels.push_back(std::move(level));
    }
    return !above;
}

/// A solved level. Rows without a named algorithm follow the library's forms, unless those of all algorithms fit clearly better.
LevelProblem solved(std::span<MeasuredCollective const> rows, std::span<CommunicationFit const> fits,
                    std::vector<std::size_t> const& members, bool scale_out, Fabric fabric) {
    constexpr double clearly_better = 0.5, good_enough = 0.01;
    LevelProblem library{rows, fits, members, scale_out, fabric, Forms::library};
    library.solve();
    bool const unnamed = std::ranges::any_of(members, [&](std::size_t i) { return fits[i].algorithm.empty(); });
    if (!unnamed || library.misfit() <= good_enough) { return library; }
    LevelProblem all{rows, fits, members, scale_out, fabric, Forms::all};
    all.solve();
    return all.misfit() < clearly_better * library.misfit() ? all : library;
}

/// Levels of one system: groups inside a node, and groups across nodes.
void fit_system(std::span<MeasuredCollective const> rows, std::vector<std::size_t> const& inside,
                std::vector<std::size_t> const& across, std::optional<KnownLinks> const& stated,
                CommunicationFits& fits) {
    constexpr BytesPerSecond fastest_nic{100e9}; // 800 Gbit/s
    Link const free{Seconds{}, BytesPerSecond{infinite}};
    Fabric fabric{free, free};
    KnownLinks known = stated.value_or(KnownLinks{});
    if (!stated) { known.most_between = fastest_nic; }
    bool measured = false;
    if (!inside.empty()) {
        LevelProblem problem = solved(rows, fits.fits, inside, false, fabric);
        measured = keep(problem.level(), known, fits);
        if (measured) { fabric = problem.fabric(); }
    }
    if (across.empty()) { return; }
    bool const spans =
        std::ranges::any_of(across, [&](std::size_t i) { return group_of(fits.fits[i]).per_domain > 1; });
    if (measured || !spans || known.scale_up.bandwidth <= BytesPerSecond{}) {
        keep(solved(rows, fits.fits, across, true, fabric).level(), known, fits);
        return;
    }
    // Priced as usual, then at its nameplate: where times are shorter than an inside link allows, nothing is left for the network.
    for (BytesPerSecond const rate : {known.scale_up.bandwidth, known.most_inside}) {
        if (rate <= BytesPerSecond{}) { continue; }
        fabric.scale_up = {.latency = known.scale_up.latency, .bandwidth = rate};
        FittedLevel level = solved(rows, fits.fits, across, true, fabric).level();
        bool const shows = level.bytes_per_second.value > 0.0 && !is_above(level, most_of(level, fits.fits, known));
        if (!shows) { continue; }
        level.notes.push_back({.remark = LinkRemark::inside_known, .machine = known.machine});
        fits.levels.push_back(std::move(level));
        return;
    }
    keep(solved(rows, fits.fits, across, true, {free, free}).level(), known, fits);
}

/// Messages through the memory of a host say nothing about links between its accelerators: where groups of both are there,
/// the latter make the link.
void keep_one_class(std::span<CommunicationFit const> fits, std::vector<std::size_t>& inside) {
    auto const in_host = [&](std::size_t i) { return link_class(fits[i].interconnect) == LinkClass::host_memory; };
    if (!std::ranges::all_of(inside, in_host)) { std::erase_if(inside, in_host); }
}

} // namespace

KnownLinks known_links(Cluster const& cluster, Link priced_scale_up, bool stated) {
    bool const adding =
        cluster.scale_up_service.wire == Wire::nvls_switch; // an all-reduce counts its bytes up to twice
    bool const bridged = !stated && cluster.scale_up_service.wire == Wire::pcie; // cards may be, and no name says it
    BytesPerSecond const share = cluster.scale_out.bandwidth;
    return {.machine = cluster.name,
            .domain = cluster.domain,
            .scale_up = priced_scale_up,
            .most_inside = bridged ? BytesPerSecond{} : cluster.scale_up.bandwidth * (adding ? 2.0 : 1.0),
            .most_between = stated ? share : std::max(share, cluster.host.bandwidth)};
}

void fit_levels(std::span<MeasuredCollective const> rows, CommunicationFitSettings const& settings,
                CommunicationFits& fits) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> systems;
    for (std::size_t i = 0; i < fits.fits.size(); ++i) {
        if (!has_form(fits.fits[i])) { continue; }
        auto& [inside, across] = systems[fits.fits[i].system];
        (fits.fits[i].nodes > 1 ? across : inside).push_back(i);
    }
    for (auto& [system, members] : systems) {
        keep_one_class(fits.fits, members.first);
        fit_system(rows, members.first, members.second,
                   settings.known ? settings.known(system) : std::optional<KnownLinks>{}, fits);
    }
}

} // namespace headroom::fit
