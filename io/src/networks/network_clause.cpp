#include "networks/network_clause.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace headroom::io {

namespace {

constexpr double most_nics = 64.0, most_gigabits = 51'200.0;

bool is_listed(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_count(double value) { return value >= 1.0 && value <= most_nics && value == std::floor(value); }

/// A number with its unit, and the first token behind.
struct Rate {
    double gigabits = 0.0;
    bool bytes = false, lax = false; ///< lax: "200GB", which is Gbit/s where it is a rate at all
    std::size_t end = 0;
};

class ClauseReader {
public:
    explicit ClauseReader(std::string_view text) : tokens_{network_tokens(text)} { reading_.clauses.emplace_back(); }

    ClauseReading read() {
        for (at_ = 0; at_ < tokens_.size(); ++at_) {
            if (tokens_[at_].used) { continue; }
            if (tokens_[at_].number) {
                take_number();
            } else {
                take_word();
            }
        }
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (is_left_over(i)) { reading_.left_over.push_back(word_at(i)); }
        }
        return std::move(reading_);
    }

private:
    [[nodiscard]] NetworkToken const* token(std::size_t at) const {
        return at < tokens_.size() ? &tokens_[at] : nullptr;
    }
    [[nodiscard]] bool is(std::size_t at, NetworkRole role) const {
        return at < tokens_.size() && tokens_[at].is(role);
    }
    [[nodiscard]] bool number(std::size_t at) const { return at < tokens_.size() && tokens_[at].number; }
    [[nodiscard]] bool mark(std::size_t at, char c) const { return at < tokens_.size() && tokens_[at].mark(c); }
    [[nodiscard]] NetworkWord word_at(std::size_t at) const { return {tokens_[at].at, tokens_[at].text}; }
    void use(std::size_t from, std::size_t end) {
        for (std::size_t i = from; i < std::min(end, tokens_.size()); ++i) { tokens_[i].used = true; }
    }
    NetworkClause& clause() { return reading_.clauses.back(); }

    void next_clause() {
        NetworkClause next;
        next.compute = clause().compute;
        next.other = clause().other;
        label_open_ = false;
        reading_.clauses.push_back(std::move(next));
    }

    // ---- words ------------------------------------------------------------------------------------------------------

    void take_word() {
        NetworkToken& word = tokens_[at_];
        bool const spaced = !word.glued && !(token(at_ + 1) != nullptr && tokens_[at_ + 1].glued);
        bool const parts = word.mark(',') || word.mark(';') || word.text == "and" ||
                           (word.mark('+') && (clause().is_network() || clause().inside)) ||
                           (word.mark('/') && spaced && (clause().is_network() || clause().inside));
        if (parts) {
            word.used = true;
            return next_clause();
        }
        switch (word.meaning.role) {
        case NetworkRole::generation: return take_generation();
        case NetworkRole::family:
        case NetworkRole::nic_model: word.used = true; return take_family(word.meaning);
        case NetworkRole::inside:
            if (clause().is_network()) { next_clause(); }
            clause().inside = word.used = true;
            return;
        case NetworkRole::compute:
        case NetworkRole::other: return take_label(word.meaning.role == NetworkRole::compute);
        case NetworkRole::count: return take_count_word();
        case NetworkRole::per: return take_scope(at_ + 1);
        case NetworkRole::total: word.used = true; return set_scope(ClauseScope::node);
        case NetworkRole::unit: return take_lone_unit();
        case NetworkRole::times: // "8 NICs x 400 Gb/s"
            word.used = clause().count > 0.0 && number(at_ + 1) && rate_at(at_ + 1).has_value();
            return;
        case NetworkRole::node: return take_node_to_node();
        default: break;
        }
        if (word.mark('/')) { take_scope(at_ + 1); }
        if (word.mark(':')) { label_open_ = false; }
    }

    void take_family(NetworkMeaning const& meaning) {
        // A NIC's maker says less than the family that it is used for.
        bool const better = clause().family.empty() || (meaning.role == NetworkRole::family && maker_alone_);
        if (better && !meaning.family.empty()) {
            clause().family = meaning.family;
            maker_alone_ = meaning.role == NetworkRole::nic_model;
        }
        clause().rdma = clause().rdma || meaning.rdma;
    }

    void take_generation() {
        NetworkToken& word = tokens_[at_];
        word.used = true;
        double rate = word.meaning.value;
        NetworkMeaning meaning = word.meaning;
        meaning.role = NetworkRole::family;
        std::size_t const behind = at_ + (mark(at_ + 1, '-') ? 2U : 1U);
        bool const plain = number(behind) && !is(behind + 1, NetworkRole::times) && !is(behind + 1, NetworkRole::unit);
        double const version = plain || (number(behind) && tokens_[behind].glued && !is(behind + 1, NetworkRole::unit))
                                   ? tokens_[behind].value
                                   : 0.0;
        bool const older = word.text == "slingshot" && version == 10.0; // 100 Gbit/s Ethernet
        bool const halved = word.text != "slingshot" && is_nic_rate(version) && version <= rate && version >= 100.0;
        bool const named = version > 0.0 && (older || halved || is_listed(word.text, {"slingshot"}) ||
                                             (word.text == "fdr" && (version == 10.0 || version == 14.0)) ||
                                             (word.text == "path" && version == 100.0));
        if (named) { use(at_ + 1, behind + 1); }
        if (older || halved) { rate = older ? 100.0 : version; }
        if (word.text == "fdr" && version == 10.0) { rate = 40.0; }
        if (older) { meaning.family = "ethernet"; }
        clause().generation = std::max(clause().generation, rate);
        take_family(meaning);
    }

    void take_label(bool compute) {
        tokens_[at_].used = true;
        bool const first = !clause().is_network() && clause().nics() <= 0.0;
        if (first && !label_open_) { clause().compute = clause().other = false; }
        label_open_ = first;
        (compute ? clause().compute : clause().other) = true;
    }

    /// "dual-port" is of ports, "dual HDR" and "four NICs" count NICs.
    void take_count_word() {
        NetworkToken& word = tokens_[at_];
        std::size_t const behind = at_ + (mark(at_ + 1, '-') ? 2U : 1U);
        word.used = true;
        if (is(behind, NetworkRole::port)) { return take_ports(word.meaning.value, behind); }
        if (is(behind, NetworkRole::node) || is(behind, NetworkRole::accelerator)) { return use(at_, behind + 1); }
        if (says_again(behind)) { return; }
        multiply(word.meaning.value);
    }

    /// "8x 400G (1 per GPU)" says twice how many there are; the first is taken.
    bool says_again(std::size_t behind) {
        std::size_t const per = behind + (is(behind, NetworkRole::filler) ? 1U : 0U); // "one for every GPU"
        bool const again = is(per, NetworkRole::per) && clause().count > 0.0;
        if (again) { use(at_, per + 2); }
        return again;
    }

    void take_ports(double ports, std::size_t noun) {
        use(at_, noun + 1);
        clause().ports *= ports;
        if (ports > 1.0) { add_rule(NetworkRule::ports); }
    }

    void multiply(double count) { clause().count = std::max(clause().count, 1.0) * count; }
    void add_rule(NetworkRule rule) { clause().rules.push_back(rule); }
    void set_scope(ClauseScope scope) {
        if (clause().scope == ClauseScope::none) { clause().scope = scope; }
    }

    /// "per node", "/GPU", "each NIC", "per 2 GPUs".
    void take_scope(std::size_t whom) {
        tokens_[at_].used = true;
        bool const several = (number(whom) && is_count(tokens_[whom].value)) || is(whom, NetworkRole::count);
        if (several && is(whom + 1, NetworkRole::accelerator)) {
            clause().sharers = number(whom) ? tokens_[whom].value : tokens_[whom].meaning.value;
            use(whom, whom + 2);
            return set_scope(ClauseScope::accelerator);
        }
        if (is(whom, NetworkRole::node) || is(whom, NetworkRole::accelerator)) {
            tokens_[whom].used = true;
            set_scope(tokens_[whom].is(NetworkRole::node) ? ClauseScope::node : ClauseScope::accelerator);
        }
    }

    /// "node-node", "node to node": of a node as a whole.
    void take_node_to_node() {
        std::size_t const behind = at_ + 2;
        bool const joined = mark(at_ + 1, '-') || (token(at_ + 1) != nullptr && tokens_[at_ + 1].text == "to");
        bool const hyphens = mark(at_ + 1, '-') && mark(at_ + 3, '-') && is(at_ + 4, NetworkRole::node);
        if ((joined && is(behind, NetworkRole::node)) || hyphens) {
            use(at_, hyphens ? at_ + 5 : behind + 1);
            set_scope(ClauseScope::node);
        }
        tokens_[at_].used = true;
    }

    /// "Gigabit Ethernet" without a number.
    void take_lone_unit() {
        if (!is_listed(tokens_[at_].text, {"gig", "gigabit", "gbe", "gige"})) { return; }
        tokens_[at_].used = true;
        reading_.gigabit_alone = true;
        clause().family = "ethernet";
    }

    // ---- numbers ----------------------------------------------------------------------------------------------------

    void take_number() {
        if (is_version() || is_name()) { return; }
        if (auto const rate = rate_at(at_)) { return take_rate(*rate); }
        if (is_count(tokens_[at_].value) && (take_times() || take_trailing() || take_counted())) { return; }
        take_unitless();
    }

    /// "ConnectX-7", "Gen 5", "RoCEv2", "NVLink4".
    bool is_version() {
        if (at_ == 0) { return false; }
        std::size_t const before = at_ - (tokens_[at_ - 1].mark('-') && at_ > 1 ? 2U : 1U);
        NetworkToken const& word = tokens_[before];
        bool const versioned = word.is(NetworkRole::nic_model) || word.is(NetworkRole::versioned) ||
                               word.is(NetworkRole::inside) || word.is(NetworkRole::family);
        bool const tight = tokens_[at_].glued || before + 2 == at_;
        bool const loose = !word.is(NetworkRole::family) && tokens_[at_].value <= 12.0 &&
                           !is(at_ + 1, NetworkRole::times) && !is(at_ + 1, NetworkRole::nic);
        bool const found = versioned && (tight || loose) && !rate_at(at_);
        tokens_[at_].used = tokens_[at_].used || found;
        return found;
    }

    /// "A100", "g4dn": glued to a word that says nothing of networks.
    bool is_name() {
        bool const device = at_ > 0 && tokens_[at_].glued && mark(at_ - 1, '_'); // "mlx5_7"
        bool const found = device || (at_ > 0 && tokens_[at_].glued && begins_name(at_ - 1));
        tokens_[at_].used = tokens_[at_].used || found;
        return found;
    }
    [[nodiscard]] bool begins_name(std::size_t at) const {
        NetworkToken const& word = tokens_[at];
        bool const plain = word.is(NetworkRole::unknown) || word.is(NetworkRole::filler) || word.is(NetworkRole::unit);
        return plain && word.text[0] >= 'a' && number(at + 1) && tokens_[at + 1].glued;
    }

    [[nodiscard]] std::optional<Rate> rate_at(std::size_t at) const {
        std::size_t unit = at + 1;
        if (mark(unit, '-') && tokens_[unit].glued) { ++unit; }
        if (!is(unit, NetworkRole::unit) || tokens_[at].value <= 0.0) { return std::nullopt; }
        NetworkToken const& word = tokens_[unit];
        bool const slash = mark(unit + 1, '/') || is(unit + 1, NetworkRole::per);
        bool const second =
            slash && token(unit + 2) != nullptr && is_listed(tokens_[unit + 2].text, {"s", "sec", "second", "seconds"});
        bool const plain = is_listed(word.text, {"g", "gb", "tb", "mb"}) && !second;
        bool const bytes = word.upper_case && !plain;
        double const gigabits = tokens_[at].value * word.meaning.value * (bytes ? 8.0 : 1.0);
        bool const bare_letter = word.text == "g" && !is_nic_rate(tokens_[at].value);
        if (bare_letter || gigabits > most_gigabits) { return std::nullopt; }
        return Rate{gigabits, bytes, plain && word.upper_case, unit + (second ? 3U : 1U)};
    }

    void take_rate(Rate const& rate) {
        bool const of_node =
            is(rate.end + 1, NetworkRole::node); // "400 GB/s per node": no link inside one is so called
        bool const of_each = is(rate.end, NetworkRole::per) && (of_node || rate.gigabits <= most_of_accelerator);
        bool const network = clause().is_network() || clause().nics() > 0.0 || of_each || names_network(rate.end);
        if (rate.bytes && clause().inside && !clause().is_network()) { return use(at_, rate.end); }
        if (rate.bytes && !network) { return; } // of a link that is not named
        bool const memory = rate.lax && (!network || !is_nic_rate(rate.gigabits) || (at_ > 0 && mark(at_ - 1, '-')));
        if (memory) { return; }
        if (rate.lax) { add_rule(NetworkRule::bits); }
        clause().rates.push_back({rate.gigabits, word_at(at_)});
        for (std::size_t i = at_; i < rate.end; ++i) {
            if (tokens_[i].is(NetworkRole::unit) && !tokens_[i].meaning.family.empty()) {
                take_family(tokens_[i].meaning);
            }
        }
        use(at_, rate.end);
    }

    /// Whether the words behind name a network, before the clause ends.
    [[nodiscard]] bool names_network(std::size_t from) const {
        for (std::size_t i = from; i < tokens_.size(); ++i) {
            NetworkToken const& one = tokens_[i];
            if (one.mark(',') || one.mark(';') || one.is(NetworkRole::inside)) { return false; }
            if (one.is(NetworkRole::family) || one.is(NetworkRole::generation) || one.is(NetworkRole::nic_model) ||
                one.is(NetworkRole::nic)) {
                return true;
            }
        }
        return false;
    }

    /// Whether a count may stand before this token.
    [[nodiscard]] bool is_countable(std::size_t at) const {
        if (number(at)) {
            return rate_at(at).has_value() || is(at + 1, NetworkRole::port) ||
                   (mark(at + 1, '-') && is(at + 2, NetworkRole::port)) || is_nic_rate(tokens_[at].value) ||
                   is(at + 1, NetworkRole::times);
        }
        NetworkToken const* const one = token(at);
        if (one == nullptr || one->text.empty() || one->mark(',') || one->mark(';') || one->mark('(') ||
            one->mark(')')) {
            return true;
        }
        switch (one->meaning.role) {
        case NetworkRole::generation:
        case NetworkRole::family:
        case NetworkRole::nic_model:
        case NetworkRole::nic:
        case NetworkRole::port:
        case NetworkRole::count:
        case NetworkRole::filler: return true;
        default: return false;
        }
    }

    /// "8x 400G", "4 * HDR". Of "8x H100" the accelerators are counted.
    bool take_times() {
        if (!is(at_ + 1, NetworkRole::times)) { return false; }
        std::size_t const what = at_ + 2;
        if (what < tokens_.size() && !number(what) && begins_name(what)) {
            use(at_, what);
            return true;
        }
        if (!is_countable(what)) { return false; }
        double const value = tokens_[at_].value;
        bool const lanes = tokens_[at_ + 1].upper_case && tokens_[at_ + 1].glued && is(what, NetworkRole::generation) &&
                           (value == 1.0 || value == 4.0 || value == 12.0);
        use(at_, what);
        bool const of_nic = lanes && (!clause().rates.empty() || clause().count > 0.0); // "1 x 4X HDR"
        if (lanes) { add_rule(of_nic ? NetworkRule::lanes : NetworkRule::not_lanes); }
        if (!of_nic) { multiply(value); }
        return true;
    }

    /// "400Gb/s x8"; of PCIe the lanes.
    bool take_trailing() {
        if (at_ == 0 || !is(at_ - 1, NetworkRole::times) || tokens_[at_ - 1].used) { return false; }
        bool const behind_number = at_ > 1 && tokens_[at_ - 2].number && !tokens_[at_ - 2].used;
        if (behind_number || (!clause().inside && !clause().has_rate())) { return false; }
        use(at_ - 1, at_ + 1);
        if (!clause().inside || clause().is_network()) { multiply(tokens_[at_].value); }
        return true;
    }

    /// "4 OmniPath links", "8 NICs", "1 per GPU", "2-port"; "8 GPUs" and "2 nodes" count other things.
    bool take_counted() {
        double const value = tokens_[at_].value;
        std::size_t const behind = at_ + (mark(at_ + 1, '-') ? 2U : 1U);
        if (is(behind, NetworkRole::port)) {
            take_ports(value, behind);
            return true;
        }
        if (is(behind, NetworkRole::node) || is(behind, NetworkRole::accelerator)) {
            use(at_, behind + 1);
            return true;
        }
        if (says_again(behind)) { return true; }
        if (is(behind, NetworkRole::per)) {
            use(at_, behind);
            multiply(value);
            return true;
        }
        bool const rate_of_family = is_nic_rate(value) && value >= 10.0;
        bool const before_network = is(behind, NetworkRole::generation) || is(behind, NetworkRole::family) ||
                                    is(behind, NetworkRole::nic_model) || (number(behind) && rate_at(behind));
        if (!counts_nics(behind) && (!before_network || rate_of_family)) { return false; }
        use(at_, at_ + 1);
        multiply(value);
        return true;
    }

    /// Whether a noun for NICs follows within a few words.
    [[nodiscard]] bool counts_nics(std::size_t from) const {
        constexpr std::size_t reach = 6;
        for (std::size_t i = from; i < std::min(tokens_.size(), from + reach); ++i) {
            NetworkToken const& one = tokens_[i];
            if (one.is(NetworkRole::nic)) { return true; }
            bool const version = one.number && (one.glued || mark(i - 1, '-'));
            bool const goes_on = version || one.mark('-') || one.is(NetworkRole::generation) ||
                                 one.is(NetworkRole::family) || one.is(NetworkRole::nic_model) ||
                                 one.is(NetworkRole::filler) || one.is(NetworkRole::versioned);
            if (!goes_on) { return false; }
        }
        return false;
    }

    /// "EFA 3200", "400 RoCE".
    void take_unitless() {
        double const value = tokens_[at_].value;
        bool const family = !clause().family.empty() || is(at_ + 1, NetworkRole::family);
        bool const efa = clause().family == "efa" && value >= 100.0 && std::fmod(value, 100.0) == 0.0;
        bool const nic = is_nic_rate(value) && value >= 10.0;
        bool const counted = at_ > 0 && is(at_ - 1, NetworkRole::times) && tokens_[at_ - 1].used;
        bool const second = !clause().rates.empty() && !counted; // "3200 Gb/s (8 x 400)" states one rate twice
        if (second || !(family || counted) || !(nic || efa) || value > most_gigabits) { return; }
        tokens_[at_].used = true;
        add_rule(NetworkRule::no_unit);
        clause().rates.push_back({value, word_at(at_)});
    }

    [[nodiscard]] bool is_left_over(std::size_t at) const {
        NetworkToken const& one = tokens_[at];
        if (one.used) { return false; }
        if (one.number) { return true; }
        bool const letters =
            !one.text.empty() && (one.text[0] >= 'a' || static_cast<unsigned char>(one.text[0]) >= 0x80U);
        bool const part_of_name = number(at + 1) && begins_name(at);
        bool const meaningless =
            one.is(NetworkRole::unknown) || one.is(NetworkRole::unit) || one.is(NetworkRole::times);
        return letters && meaningless && !one.bracketed && !part_of_name;
    }

    std::vector<NetworkToken> tokens_;
    ClauseReading reading_;
    std::size_t at_ = 0;
    bool maker_alone_ = false, label_open_ = false;
};

} // namespace

void NetworkClause::join(NetworkClause const& before) {
    bool const not_lanes = std::ranges::find(before.rules, NetworkRule::not_lanes) != before.rules.end();
    bool const counted_here = count > 0.0 && (before.count <= 0.0 || not_lanes);
    if (before.count > 0.0 && !counted_here) {
        count = before.count;
        scope = before.scope;
        sharers = before.sharers;
    } else if (scope == ClauseScope::none) {
        scope = before.scope;
        sharers = before.sharers;
    }
    ports = std::max(ports, before.ports);
    if (rates.empty()) { rates = before.rates; }
    generation = std::max(generation, before.generation);
    if (family.empty()) { family = before.family; }
    rdma = rdma || before.rdma;
    compute = compute || before.compute;
    other = other || before.other;
    for (NetworkRule const rule : before.rules) {
        rules.push_back(rule == NetworkRule::not_lanes && counted_here ? NetworkRule::lanes : rule);
    }
    left_over.insert(left_over.begin(), before.left_over.begin(), before.left_over.end());
}

ClauseReading read_clauses(std::string_view text) { return ClauseReader{text}.read(); }

} // namespace headroom::io
