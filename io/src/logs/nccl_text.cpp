#include "logs/log_formats.hpp"
#include "logs/log_hints.hpp"
#include "logs/log_lines.hpp"
#include "logs/nccl_row.hpp"

#include "headroom/network/collective.hpp"
#include "headroom/network/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// Bus bandwidth over algorithm bandwidth of all rows of a text, which is 2 (p - 1) / p for an all-reduce on p ranks.
class BandwidthEvidence {
public:
    explicit BandwidthEvidence(std::string_view text);

    /// The one count of ranks whose factor lies within the rounding of all rows; 0 where there is none, or several.
    [[nodiscard]] int ranks(network::Collective collective) const;
    /// Whether rows may be of a collective: its factor on some ranks, and an operator where it adds.
    [[nodiscard]] bool agrees(network::Collective collective) const;
    /// All-reduce where rows add, have no root and show a factor above 1, as no other collective does.
    [[nodiscard]] std::optional<network::Collective> collective() const;
    /// Whether some row shows a factor.
    [[nodiscard]] bool any() const { return rows_ > 0; }

private:
    void add(NcclRow const& row);

    double low_ = 0.0, high_ = 1e9; ///< the factor
    int rows_ = 0;
    bool all_add_ = true, none_adds_ = true, rooted_ = false;
};

using namespace headroom::network;

constexpr int most_ranks = 65'536;

BandwidthEvidence::BandwidthEvidence(std::string_view text) {
    NcclColumns columns;
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        NcclRow row;
        if (!read_nccl_header(line, columns) && read_nccl_row(line, columns, false, row) == NcclLine::row) { add(row); }
    }
}

void BandwidthEvidence::add(NcclRow const& row) {
    bool const adds = !row.operation.empty() && row.operation != "none";
    all_add_ = all_add_ && adds;
    none_adds_ = none_adds_ && !adds;
    rooted_ = rooted_ || row.root >= 0.0;
    auto const& algorithm = row.printed.algorithm;
    auto const& bus = row.printed.bus;
    constexpr double slack = 1.01;
    double const least = algorithm->value - slack * algorithm->half_unit;
    if (!(least > 0.0) || !(bus->value > 0.0)) { return; }
    ++rows_;
    low_ = std::max(low_, (bus->value - slack * bus->half_unit) / (algorithm->value + slack * algorithm->half_unit));
    high_ = std::min(high_, (bus->value + slack * bus->half_unit) / least);
}

int BandwidthEvidence::ranks(Collective collective) const {
    int found = 0;
    for (int ranks = 2; any() && ranks <= most_ranks; ++ranks) {
        double const factor = bus_bandwidth_factor(collective, Ranks{ranks});
        if (factor < low_ || factor > high_) { continue; }
        if (found != 0) { return 0; }
        found = ranks;
    }
    return found;
}

bool BandwidthEvidence::agrees(Collective collective) const {
    if (reduces(collective) ? !all_add_ : !none_adds_) { return false; }
    if (!any()) { return true; }
    for (int ranks = 2; ranks <= most_ranks; ++ranks) {
        double const factor = bus_bandwidth_factor(collective, Ranks{ranks});
        if (factor >= low_ && factor <= high_) { return true; }
    }
    return false;
}

std::optional<Collective> BandwidthEvidence::collective() const {
    bool const shown = any() && all_add_ && !rooted_ && low_ > 1.0 && agrees(Collective::all_reduce);
    return shown ? std::optional{Collective::all_reduce} : std::nullopt;
}

/// The ranks that a run lists: "#  Rank  3 Group  0 Pid   6902 on host device  3 [0x0b] NAME".
class RankList {
public:
    /// False when the line, its mark apart, is no such line.
    bool take(std::string_view line) {
        std::string_view rest = line;
        if (next_word(rest) != "Rank") { return false; }
        auto const rank = printed_count(next_word(rest));
        if (!rank) { return false; }
        int group = 0;
        std::string_view host;
        while (!rest.empty() && host.empty()) {
            std::string_view const word = next_word(rest);
            if (word == "Group") { group = printed_count(next_word(rest)).value_or(0); }
            if (word == "on") { host = next_word(rest); }
        }
        if (host.empty()) { return false; }
        groups_.insert(group);
        if (*rank == 0 || hosts_.empty()) { first_group_ = group; }
        auto const [known, is_new] = hosts_.try_emplace({group, *rank}, host);
        twice_ = twice_ || (!is_new && known->second != host);
        auto const bus = rest.find('[');
        auto const end = bus == std::string_view::npos ? bus : rest.find(']', bus);
        if (is_new && end != std::string_view::npos) {
            ++places_[{group, std::string{host}}][std::string{rest.substr(bus, end - bus)}];
        }
        highest_ = std::max(highest_, *rank);
        if (auto const name = rest.find("] "); name != std::string_view::npos) { device_ = rest.substr(name + 2); }
        return true;
    }

    [[nodiscard]] bool empty() const { return hosts_.empty(); }
    /// Ranks and nodes of the first group; nothing where ranks are missing or listed by several runs.
    [[nodiscard]] RunHints shape() const {
        bool const whole = hosts_.size() == static_cast<std::size_t>(highest_) + 1;
        if (empty() || twice_ || !whole) { return {}; }
        RunHints shape;
        std::set<std::string> names;
        for (auto const& [place, host] : hosts_) {
            if (place.first != first_group_) { continue; }
            ++shape.ranks;
            names.insert(host);
        }
        for (std::string const& name : names) { shape.nodes += machines_named(name); }
        return shape;
    }
    [[nodiscard]] bool has_groups() const { return groups_.size() > 1; }
    [[nodiscard]] std::string const& device() const { return device_; }

private:
    /// Machines with one name, as containers have it: each place of a GPU is listed as often.
    [[nodiscard]] int machines_named(std::string const& name) const {
        auto const found = places_.find({first_group_, name});
        if (found == places_.end() || found->second.size() < 2) { return 1; }
        int const often = found->second.begin()->second;
        bool const even = std::ranges::all_of(found->second, [&](auto const& place) { return place.second == often; });
        return even ? often : 1;
    }

    std::map<std::pair<int, int>, std::string> hosts_;                         ///< by group and rank
    std::map<std::pair<int, std::string>, std::map<std::string, int>> places_; ///< by group and host: GPUs by their bus
    std::set<int> groups_;
    std::string device_;
    int highest_ = 0, first_group_ = 0;
    bool twice_ = false;
};

/// The number after a word of "# nThread 1 nGpus 8 minBytes ..."; 0 when it is not there.
int number_after(std::string_view line, std::string_view name) {
    while (!line.empty()) {
        if (next_word(line) == name) { return printed_count(next_word(line)).value_or(0); }
    }
    return 0;
}

/// Programs that a text names, so that one alone needs not be named before each table.
std::set<std::string> programs_in(std::string_view text) {
    std::set<std::string> programs;
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        if (auto const program = nccl_program_in(line); !program.empty()) { programs.emplace(program); }
    }
    return programs;
}

class Reader {
public:
    Reader(std::string_view text, LogBuilder& log)
        : text_{text}, lines_{text}, log_{log}, programs_{programs_in(text)} {
        if (auto const name = nccl_program_in(log.where()); !name.empty()) { name_ = name; }
    }

    std::size_t read() {
        for (std::string_view line; lines_.next(line);) {
            if (line.empty()) { continue; }
            if (line.starts_with('#')) {
                comment(line, line.substr(1));
            } else if (lost_its_mark(line)) {
                log_.note("the marks # of this log are lost: its lines are read without them");
                comment(line, line);
            } else {
                other(line);
            }
        }
        if (lines_.marked_inside() > 0) {
            log_.note(fmt::format("marks of a launcher inside {} rows were taken out", lines_.marked_inside()));
        }
        return lines_.number();
    }

private:
    /// A comment of nccl-tests whose mark a web page took for a heading's.
    static bool lost_its_mark(std::string_view line) {
        NcclColumns columns;
        RankList list;
        std::string_view rest = line;
        std::string_view const first = next_word(rest);
        return first == "nThread" || first == "(B)" || list.take(line) || read_nccl_header(line, columns);
    }

    /// `line`: without its mark; `whole`: with it, where it has one.
    void comment(std::string_view whole, std::string_view line) {
        std::string_view rest = line;
        std::string_view const first = next_word(rest);
        if (first == "nThread") {
            begin_run();
            threads_ = static_cast<double>(number_after(line, "nThread")) * std::max(1, number_after(line, "nGpus"));
        } else if (first == "Rank") {
            if (in_table_) { begin_run(); }
            ranks_.take(line);
        } else if (read_nccl_header(whole, columns_)) {
            begin_table();
        } else if (first == "Out" || first == "Avg") {
            end_table();
        } else if (rest.starts_with("test starting:")) {
            end_table();
            started_ = nccl_program_in(line);
            if (started_.empty()) { started_ = next_word(rest = rest.substr(rest.find(':') + 1)); }
        } else {
            commented_row(line);
            mention(line);
        }
    }

    /// A line of results behind a mark, as one release without checks wrote them.
    void commented_row(std::string_view line) {
        NcclRow row;
        bool const is_row = in_table_ && read_nccl_row(line, columns_, false, row) == NcclLine::row;
        if (is_row) { leave_out(Unused::commented, line); }
    }

    void other(std::string_view line) {
        bool const summary = line.starts_with("Out of bounds") || line.starts_with("Avg bus");
        if (summary) { return end_table(); } // older releases print it without a mark
        NcclRow row;
        auto const read = read_nccl_row(line, columns_, log_.question().in_place, row);
        bool const first = !columns_.known && read != NcclLine::not_a_row;
        if (!in_table_ && !first && read != NcclLine::row) { return mention(line); }
        switch (read) {
        case NcclLine::row: return take(row, line);
        case NcclLine::cut: return leave_out(Unused::truncated, line);
        case NcclLine::not_available: return leave_out(Unused::not_available, line);
        case NcclLine::unreadable: return leave_out(Unused::unreadable, line);
        case NcclLine::not_a_row: leave_out(Unused::other_text, line); return mention(line);
        }
    }

    void leave_out(Unused why, std::string_view line) { log_.leave_out(why, lines_.number(), line); }

    void mention(std::string_view line) {
        if (auto const program = nccl_program_in(line); !program.empty()) { mentioned_.emplace(program); }
        RunHints const command = hints_of_command(line);
        if (command.ranks > 0) { command_ = command; }
    }

    void begin_run() {
        end_table();
        ranks_ = {};
        threads_ = 0.0;
    }

    void begin_table() {
        in_table_ = true;
        program_ = table_program();
        if (program_.empty() && log_.question().collective.empty()) { program_ = shown_program(); }
        RunHints stated = stated_shape();
        bool const nobody = stated.ranks == 0 && ranks_.empty() && log_.question().ranks == 0;
        if (nobody) { stated.ranks = shown_ranks(); }
        shape_ = run_shape(stated, log_, most_of_usual_node);
        mentioned_.clear();
    }

    void end_table() {
        if (in_table_) { started_.clear(); }
        in_table_ = false;
    }

    /// The program whose table begins: the one that says so, the only one named since the last table or in the
    /// whole text, the one in the name of the file; empty when they are several or none.
    [[nodiscard]] std::string table_program() const {
        if (!started_.empty()) { return started_; }
        if (mentioned_.size() == 1) { return *mentioned_.begin(); }
        if (mentioned_.empty() && programs_.size() == 1) { return *programs_.begin(); }
        return mentioned_.empty() && programs_.empty() ? name_ : "";
    }

    /// The collective that the name of the file says and the rows agree with; else the one that the bandwidths show.
    [[nodiscard]] std::string shown_program() {
        std::string_view const name = collective_in_name(log_.where());
        if (auto const named = collective_in_log(name); named && evidence().agrees(*named)) {
            log_.note(fmt::format("the collective {} is taken from the name of the file", name));
            return std::string{name};
        }
        auto const shown = evidence().collective();
        if (!shown) { return {}; }
        log_.note("the collective is taken to be an all-reduce: rows add, and their bus bandwidth is above the "
                  "algorithm bandwidth");
        return std::string{name_of(*shown)};
    }

    /// Ranks that the bandwidths show; 0 where they do not.
    [[nodiscard]] int shown_ranks() {
        auto const collective = collective_in_log(program_.empty() ? log_.question().collective : program_);
        int const ranks = collective ? evidence().ranks(*collective) : 0;
        if (ranks > 0) {
            log_.note(fmt::format("{} ranks are taken from the ratio of the two bandwidths; no rank is listed", ranks));
        }
        return ranks;
    }

    BandwidthEvidence const& evidence() {
        if (!evidence_) { evidence_.emplace(text_); }
        return *evidence_;
    }

    /// Ranks as listed; else processes x threads x GPUs, where the command tells the processes or a process has several.
    [[nodiscard]] RunHints stated_shape() {
        if (!ranks_.empty()) {
            RunHints const listed = ranks_.shape();
            if (listed.ranks == 0) { log_.note("the list of ranks is not whole, or of several runs at once"); }
            return listed;
        }
        if (threads_ < 1.0) { return {}; }
        double const ranks = threads_ * std::max(1, command_.ranks);
        if (command_.ranks == 0 && threads_ < 2.0) { return {}; }
        if (command_.ranks == 0) {
            log_.note(fmt::format("no rank is listed: one process with {} GPUs is assumed", threads_));
        }
        return {ranks > most_log_ranks ? 0 : static_cast<int>(ranks), command_.nodes};
    }

    void take(NcclRow const& row, std::string_view line) {
        if (!in_table_) { begin_table(); }
        if (row.wrong) { return leave_out(Unused::wrong_results, line); }
        if (ranks_.has_groups()) { return leave_out(Unused::several_at_once, line); }
        std::string const name = program_.empty() ? log_.question().collective : program_;
        if (name.empty()) { return leave_out(Unused::no_collective, line); }
        auto const collective = collective_in_log(name);
        if (!collective) { return leave_out(Unused::other_collective, line); }
        if (shape_.ranks == 0) { return leave_out(Unused::no_ranks, line); }
        if (!row.checked) { log_.note("the results of some rows were not checked by the benchmark"); }
        MeasuredCollective one;
        one.system = ranks_.device();
        one.collective = *collective;
        one.size = TotalBytes{Bytes{row.bytes}};
        one.ranks = shape_.ranks;
        one.nodes = shape_.nodes;
        one.time = Seconds{row.seconds};
        one.data_type = row.type;
        one.line = lines_.number();
        log_.add(std::move(one), row.printed, line);
    }

    std::string_view text_;
    LogLines lines_;
    LogBuilder& log_;
    std::optional<BandwidthEvidence> evidence_; ///< looked for where something is not stated
    std::set<std::string> programs_, mentioned_;
    std::string name_, started_, program_;
    NcclColumns columns_;
    RankList ranks_;
    RunHints command_;
    RunShape shape_;
    double threads_ = 0.0;
    bool in_table_ = false;
};

} // namespace

bool looks_like_nccl_text(std::string_view text) {
    constexpr int enough = 2; // rows alone, as people paste them
    int rows = 0;
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        NcclColumns columns;
        std::string_view rest = line.substr(line.starts_with('#') ? 1 : 0);
        if (line.find(',') == std::string_view::npos && read_nccl_header(line, columns)) { return true; }
        if (next_word(rest) == "nThread") { return true; }
        NcclRow row;
        if (read_nccl_row(line, {}, false, row) != NcclLine::row || !(row.seconds > 0.0)) { continue; }
        PrintedNumber const printed = *row.printed.algorithm;
        double const rate = row.bytes / row.seconds / 1e9;
        rows += std::abs(printed.value - rate) <= 2.0 * printed.half_unit + 0.01 * rate ? 1 : 0;
        if (rows >= enough) { return true; }
    }
    return false;
}

ReadLog read_nccl_text(std::string_view text, LogBuilder& log) { return {"nccl-tests", Reader{text, log}.read()}; }

} // namespace headroom::io
