#include "networks/network_words.hpp"

#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom::io {

namespace {

/// Words of one meaning, parted by blanks.
struct VocabularyRow {
    std::string_view words;
    NetworkMeaning meaning;
};

using enum NetworkRole;
constexpr std::array vocabulary{
    VocabularyRow{"x", {times}},
    VocabularyRow{"one single", {count, 1}},
    VocabularyRow{"two dual twin pair", {count, 2}},
    VocabularyRow{"four quad", {count, 4}},
    VocabularyRow{"eight", {count, 8}},
    VocabularyRow{"sixteen", {count, 16}},
    VocabularyRow{"mb mbps mbit mbits", {unit, 1e-3}},
    VocabularyRow{"g gb gbps gbs gbit gbits gbitps gigabit gigabits gig", {unit, 1}},
    VocabularyRow{"gbe gige", {unit, 1, "ethernet"}},
    VocabularyRow{"tb tbps tbit tbits terabit terabits", {unit, 1e3}},
    VocabularyRow{"qdr", {generation, 40, "infiniband", true}},
    VocabularyRow{"fdr", {generation, 56, "infiniband", true}},
    VocabularyRow{"edr", {generation, 100, "infiniband", true}},
    VocabularyRow{"hdr", {generation, 200, "infiniband", true}},
    VocabularyRow{"ndr", {generation, 400, "infiniband", true}},
    VocabularyRow{"xdr", {generation, 800, "infiniband", true}},
    VocabularyRow{"slingshot", {generation, 200, "slingshot", true}},
    VocabularyRow{"omnipath opa path", {generation, 100, "omni-path", true}},
    VocabularyRow{"infiniband ib quantum", {family, 0, "infiniband", true}},
    VocabularyRow{"roce rocev rdma iwarp spectrum", {family, 0, "ethernet", true}},
    VocabularyRow{"ethernet eth tcp vpc", {family, 0, "ethernet"}},
    VocabularyRow{"efa efav", {family, 0, "efa", true}},
    VocabularyRow{"connectx cx mlx mellanox", {nic_model, 0, "ethernet", true}},
    VocabularyRow{"bluefield bf thor pensando pollara", {nic_model, 0, "", true}},
    VocabularyRow{"nic nics hca hcas hfi hfis adapter adapters card cards link links rail rails interface interfaces "
                  "connection connections uplink uplinks",
                  {nic}},
    VocabularyRow{"port ports", {port}},
    VocabularyRow{"nvlink nvswitch nvls nvl pcie pci xgmi ici shm upi qpi infinity neuronlink", {inside}},
    VocabularyRow{"v gen generation dx ex lx vpi sx", {versioned}},
    VocabularyRow{"per each every", {per}},
    VocabularyRow{"node nodes host hosts server servers machine machines box instance vm system", {node}},
    VocabularyRow{"gpu gpus accelerator accelerators device devices chip chips gcd gcds rank ranks", {accelerator}},
    VocabularyRow{"total aggregate aggregated combined overall altogether", {total}},
    VocabularyRow{"compute backend ew east west", {compute}},
    VocabularyRow{"storage management mgmt frontend ns north south dpu dpus bmc", {other}},
    VocabularyRow{
        "a an the of for and with at by to in on via over between from across is are s sec second seconds "
        "bandwidth rate speed network networks networking networked fabric interconnect interconnected "
        "interconnects nvidia amd intel broadcom hpe aws azure gcp google cloud arista cornelis inter intra "
        "internode intranode dcn superpod dgx hgx elastic omni gpudirect tcpx tcpxo fastrak lossless optimized "
        "optimised rail non blocking full bisection fat tree unidirectional direction way line up public page "
        "spec class based high low latency performance connected e gve gvnic wire raw "
        "theoretical peak nominal slice slices pod pods converged ip ena bidirectional duplex using used configuration "
        "config",
        {filler}},
};

NetworkMeaning network_meaning(std::string_view word) {
    for (VocabularyRow const& row : vocabulary) {
        for (std::string_view left = row.words; !left.empty();) {
            if (next_word(left) == word) { return row.meaning; }
        }
    }
    return {};
}

bool is_unit_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }
bool beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80U; }

/// Length of a sign that people write for "times" or for a blank; 0 where there is none.
std::size_t sign_at(std::string_view text, std::initializer_list<std::string_view> signs) {
    for (std::string_view const sign : signs) {
        if (text.starts_with(sign)) { return sign.size(); }
    }
    return 0;
}
std::size_t times_at(std::string_view text) {
    return sign_at(text, {"\xC3\x97", "\xE2\x9C\x95", "\xE2\xA8\xAF", "\xE2\x88\x97", "\xE2\x8B\x85", "*"});
}
std::size_t blank_at(std::string_view text) { return sign_at(text, {"\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89"}); }

class Tokenizer {
public:
    explicit Tokenizer(std::string_view text) : text_{text} {}

    std::vector<NetworkToken> tokens() {
        while (at_ < text_.size()) {
            std::string_view const rest = text_.substr(at_);
            if (is_decimal_digit(rest[0])) {
                take_number();
            } else if (std::size_t const times = times_at(rest)) {
                add("x", times);
            } else if (std::size_t const blank = blank_at(rest)) {
                pass(blank);
            } else if (is_unit_letter(rest[0]) || beyond_ascii(rest[0])) {
                take_word();
            } else if (rest[0] == ' ' || rest[0] == '\t') {
                pass(1);
            } else {
                take_mark(rest[0]);
            }
        }
        return std::move(tokens_);
    }

private:
    void pass(std::size_t length) {
        at_ += length;
        gap_ = true;
    }

    NetworkToken& add(std::string text, std::size_t length) {
        NetworkToken token{.text = std::move(text), .at = at_, .glued = !gap_ && !tokens_.empty()};
        token.bracketed = depth_ > 0;
        token.meaning = network_meaning(token.text);
        tokens_.push_back(std::move(token));
        at_ += length;
        gap_ = false;
        return tokens_.back();
    }

    void take_mark(char c) {
        if (c == ')' && depth_ > 0) { --depth_; }
        add(std::string(1, c), 1);
        if (c == '(') { ++depth_; }
    }

    [[nodiscard]] bool digit_at(std::size_t at) const { return at < text_.size() && is_decimal_digit(text_[at]); }
    /// "1,600": three digits and no more behind a comma, that make a rate of eight NICs. "4,100Gb" may be four NICs of 100.
    [[nodiscard]] bool group_at(std::size_t at) const {
        bool const three =
            text_[at] == ',' && digit_at(at + 1) && digit_at(at + 2) && digit_at(at + 3) && !digit_at(at + 4);
        if (!three || at == 0 || !digit_at(at - 1)) { return false; }
        int value = 0;
        for (std::size_t i = at > 2 && digit_at(at - 2) ? at - 2 : at - 1; i < at + 4; ++i) {
            if (i != at) { value = 10 * value + (text_[i] - '0'); }
        }
        return value % 800 == 0;
    }

    void take_number() {
        constexpr std::size_t longest = 12;
        std::string digits;
        std::size_t end = at_;
        bool point = false;
        for (; end < text_.size(); ++end) {
            bool const is_point = text_[end] == '.' && !point && digit_at(end + 1);
            if (!is_decimal_digit(text_[end]) && !is_point && !(group_at(end) && !point)) { break; }
            point = point || is_point;
            if (text_[end] != ',' && digits.size() < longest) { digits += text_[end]; }
        }
        NetworkToken& token = add(digits, end - at_);
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), token.value);
        token.number = true;
    }

    /// "8xNDR", "gbpsx8": the sign of multiplication stands apart. "XDR" and "ConnectX" are words.
    void take_word() {
        std::size_t end = at_;
        while (end < text_.size() && (is_unit_letter(text_[end]) || beyond_ascii(text_[end])) &&
               (end == at_ || times_at(text_.substr(end)) + blank_at(text_.substr(end)) == 0)) {
            ++end;
        }
        std::string word;
        for (char const c : text_.substr(at_, end - at_)) { word += lowered(c); }
        bool const behind_number = !gap_ && !tokens_.empty() && tokens_.back().number;
        bool const known = network_meaning(word).role != unknown;
        if (behind_number && word.size() > 1 && word[0] == 'x' && !known) {
            take_letters(1);
            return take_word();
        }
        bool const before_number = digit_at(end) && word.size() > 1 && word.back() == 'x' && !known &&
                                   network_meaning(word.substr(0, word.size() - 1)).role != unknown;
        take_letters(end - at_ - (before_number ? 1 : 0));
        if (before_number) { take_letters(1); }
    }

    void take_letters(std::size_t length) {
        std::string_view const written = text_.substr(at_, length);
        std::string word;
        for (char const c : written) { word += lowered(c); }
        NetworkToken& token = add(std::move(word), length);
        auto const capital = [](char c) { return c >= 'A' && c <= 'Z'; };
        bool const shouts = written.size() > 2 && std::ranges::all_of(written, capital); // "GBPS" shows nothing
        token.upper_case =
            capital(written[0]) && (!token.is(unit) || (written.size() > 1 && written[1] == 'B' && !shouts));
    }

    std::string_view text_;
    std::vector<NetworkToken> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool gap_ = false;
};

} // namespace

std::vector<NetworkToken> network_tokens(std::string_view text) {
    constexpr std::size_t longest = 4096;
    return Tokenizer{text.substr(0, longest)}.tokens();
}

bool is_nic_rate(double gigabits) {
    constexpr std::array rates{1.0, 10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0};
    return std::ranges::find(rates, gigabits) != rates.end();
}

} // namespace headroom::io
