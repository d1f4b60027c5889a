#include "stated_network.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

namespace headroom::io {

namespace {

constexpr double most_adapters = 64.0, most_gigabits = 51200.0;

/// A run of letters, a number, or a mark between clauses.
struct Token {
    std::string text = {}; ///< lower case
    double value = 0.0;    ///< of a number
    bool number = false;
    bool bytes = false; ///< "GB", not "Gb"
};
using Tokens = std::vector<Token>;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Token number_at(std::string_view text, std::size_t& at) {
    Token token{.number = true};
    for (; at < text.size() &&
           (is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) &&
           token.text.size() < 9;
         ++at) {
        token.text += text[at];
    }
    token.value = std::stod(token.text);
    while (at < text.size() && is_digit(text[at])) { ++at; }
    return token;
}

Tokens tokens_of(std::string_view text) {
    Tokens tokens;
    for (std::size_t at = 0; at < text.size();) {
        if (is_digit(text[at])) {
            tokens.push_back(number_at(text, at));
        } else if (is_letter(text[at])) {
            Token token;
            std::size_t const from = at;
            while (at < text.size() && is_letter(text[at])) {
                token.text += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at++])));
            }
            std::string_view const as_written = text.substr(from, at - from);
            token.bytes = as_written == "GB" || as_written == "GBps" || as_written == "TB" || as_written == "TBps";
            tokens.push_back(std::move(token));
        } else {
            if (text[at] == ';' || text[at] == ',' || text[at] == ')') { tokens.push_back({.text = ";"}); }
            ++at;
        }
    }
    return tokens;
}

std::string_view word(Tokens const& tokens, std::size_t at) {
    return at < tokens.size() && !tokens[at].number ? std::string_view{tokens[at].text} : std::string_view{};
}

double number(Tokens const& tokens, std::size_t at) {
    return at < tokens.size() && tokens[at].number ? tokens[at].value : 0.0;
}

double sane_count(double count) { return count >= 1.0 && count <= most_adapters ? count : 1.0; }

/// "8x", "8 x", "dual" before a place; one where nothing is said, zero with `unsaid`.
double times_before(Tokens const& tokens, std::size_t at) {
    double count = 0.0;
    if (at > 0 && (word(tokens, at - 1) == "dual" || word(tokens, at - 1) == "dualport")) {
        count = 2.0;
        --at;
    }
    bool const times = at > 1 && word(tokens, at - 1) == "x" && tokens[at - 2].number;
    return times ? std::max(count, 1.0) * sane_count(tokens[at - 2].value) : count;
}

/// "x8" or "per GPU" in the words after a place, before the clause ends.
double times_after(Tokens const& tokens, std::size_t at, int per_node) {
    constexpr std::size_t reach = 5;
    for (std::size_t i = at; i < std::min(tokens.size(), at + reach); ++i) {
        if (word(tokens, i) == ";") { break; }
        if (word(tokens, i) == "x" && number(tokens, i + 1) >= 1.0 && word(tokens, i + 2) != "g") {
            return sane_count(number(tokens, i + 1));
        }
        std::string_view const whom = word(tokens, i) == "per" || word(tokens, i) == "each" ? word(tokens, i + 1) : "";
        if (whom == "gpu" || whom == "accelerator") { return std::max(1, per_node); }
    }
    return 0.0;
}

struct Rate {
    double gigabits = 0.0;
    std::size_t end = 0; ///< the first token after it
};

bool is_adapter(double gigabits) {
    constexpr std::array rates{10.0, 25.0, 50.0, 100.0, 200.0, 400.0, 800.0};
    return std::ranges::find(rates, gigabits) != rates.end();
}

/// "400G", "400 Gb/s", "400Gbps", "400 Gbit/s", "400GbE", "3.2 Tbps". A bare "G" is of an adapter only: "highgpu-8g".
std::optional<Rate> rate_at(Tokens const& tokens, std::size_t at) {
    double const value = number(tokens, at);
    std::string_view const unit = word(tokens, at + 1);
    if (value <= 0.0 || unit.empty() || tokens[at + 1].bytes) { return std::nullopt; }
    bool const per_second = word(tokens, at + 2) == "s";
    double const scale = unit.starts_with('t') ? 1000.0 : 1.0;
    std::string_view const rest = unit.substr(1);
    bool const giga = unit.starts_with('g') || unit.starts_with('t');
    bool const whole = rest == "bps" || rest == "bit" || rest == "bits" || rest == "be" || (rest == "b" && per_second);
    bool const bare = unit == "g" && is_adapter(value);
    if (!((giga && whole) || bare) || value * scale > most_gigabits) { return std::nullopt; }
    return Rate{value * scale, at + (per_second ? 3U : 2U)};
}

/// Kinds of InfiniBand by the rate of four lanes; Slingshot 11. (10 has adapters of 100 Gbit/s Ethernet.)
double kind_rate(std::string_view text) {
    if (text == "slingshot") { return 200.0; }
    return text == "edr" ? 100.0 : text == "hdr" ? 200.0 : text == "ndr" ? 400.0 : text == "xdr" ? 800.0 : 0.0;
}

void read_kind(Tokens const& tokens, std::size_t at, int per_node, StatedNetwork& network) {
    double const after = number(tokens, at + 1); // HDR100, NDR400
    bool const slingshot = tokens[at].text == "slingshot", older = slingshot && after == 10.0;
    bool const halved = !slingshot && is_adapter(after) && after < kind_rate(tokens[at].text);
    network.family = older ? "ethernet" : slingshot ? "slingshot" : "infiniband";
    network.rdma = true;
    network.adapter = halved ? after : older ? 100.0 : kind_rate(tokens[at].text);
    double count = times_before(tokens, at);
    if (count == 0.0) { count = times_after(tokens, at + (after > 0.0 ? 2U : 1U), per_node); }
    network.node = std::max(network.node, count * network.adapter);
}

void read_rate(Tokens const& tokens, std::size_t at, Rate rate, int per_node, StatedNetwork& network) {
    double count = times_before(tokens, at);
    if (count == 0.0) { count = times_after(tokens, rate.end, per_node); }
    if (count > 0.0 && is_adapter(rate.gigabits)) {
        network.node = std::max(network.node, count * rate.gigabits);
        if (network.adapter == 0.0) { network.adapter = rate.gigabits; }
    } else if (is_adapter(rate.gigabits) && network.family != "efa") {
        if (network.adapter == 0.0) { network.adapter = rate.gigabits; }
    } else {
        network.node = std::max(network.node, rate.gigabits);
    }
}

void read_family(Tokens const& tokens, StatedNetwork& network) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string_view const text = word(tokens, i);
        bool const is_roce =
            text.starts_with("roce") || text == "rdma" || (text == "spectrum" && word(tokens, i + 1) == "x");
        bool const is_infiniband = text == "infiniband" || text == "ib" || text == "quantum";
        if (text.starts_with("efa")) { network.family = "efa"; }
        if (is_infiniband && network.family.empty()) { network.family = "infiniband"; }
        bool const ethernet = is_roce || text == "ethernet" || text == "gbe" || text == "tcp" || text == "connectx";
        if (ethernet && network.family.empty()) { network.family = "ethernet"; }
        if (is_roce || is_infiniband || text == "connectx") { network.rdma = true; }
    }
}

} // namespace

StatedNetwork stated_network(std::string_view text, int per_node) {
    Tokens const tokens = tokens_of(text);
    StatedNetwork network;
    read_family(tokens, network);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (auto const rate = rate_at(tokens, i)) { read_rate(tokens, i, *rate, per_node, network); }
        if (kind_rate(tokens[i].text) > 0.0) { read_kind(tokens, i, per_node, network); }
    }
    double const share = network.node / std::max(1, per_node);
    if (network.adapter == 0.0 && is_adapter(share)) { network.adapter = share; }
    return network;
}

} // namespace headroom::io
