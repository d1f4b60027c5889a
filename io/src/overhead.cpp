#include "headroom/io/overhead.hpp"

#include "headroom/error.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace headroom::io {

using namespace headroom::laws;

namespace {

constexpr double largest_coefficient = 1e18, largest_exponent = 16.0;
constexpr std::size_t most_terms = 64;
constexpr char const* example = "write it like '2 K log2(K)' or '50 K + 3 W^(2/3) K^0.5'";

/// Reads from left to right; what it cannot read it quotes.
class Reader {
public:
    Reader(std::string_view text, std::string_view where) : text_{text}, where_{where} {}

    std::vector<OverheadTerm> terms() {
        std::vector<OverheadTerm> found{term()};
        while (taken("+")) {
            if (found.size() == most_terms) { refuse("too many terms", "at most 64"); }
            found.push_back(term());
        }
        if (at_ < text_.size()) { refuse_here(); }
        return found;
    }

private:
    OverheadTerm term() {
        OverheadTerm term{.coefficient = 1.0};
        factor(term);
        while (true) {
            skip_space();
            bool const joined = taken("*");
            if (!joined && (at_ == text_.size() || text_[at_] == '+')) { break; }
            factor(term);
        }
        check(term);
        return term;
    }

    void factor(OverheadTerm& term) {
        if (taken("log2")) {
            bool const open = taken("(");
            if (!taken("K") && !taken("k")) { refuse_here(); }
            if (open && !taken(")")) { refuse_here(); }
            term.log_exponent += power();
        } else if (taken("K") || taken("k")) {
            term.worker_exponent += power();
        } else if (taken("W") || taken("w")) {
            term.work_exponent += power();
        } else if (auto const coefficient = number()) {
            term.coefficient *= *coefficient;
        } else {
            refuse_here();
        }
    }

    /// "^0.5", "^(2/3)"; 1 when there is none.
    double power() {
        if (!taken("^")) { return 1.0; }
        bool const open = taken("(");
        auto exponent = number();
        if (exponent && open && taken("/")) {
            auto const under = number();
            exponent = under && *under > 0.0 ? std::optional{*exponent / *under} : std::nullopt;
        }
        if (!exponent || (open && !taken(")"))) { refuse_here(); }
        return *exponent;
    }

    std::optional<double> number() {
        skip_space();
        double value = 0.0;
        auto const [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) { refuse_here(); }
        if (error != std::errc{} || !std::isfinite(value) || value < 0.0) { return std::nullopt; }
        at_ = static_cast<std::size_t>(stop - text_.data());
        bool const runs_on =
            at_ < text_.size() && (text_[at_] == '.' || std::isdigit(static_cast<unsigned char>(text_[at_])));
        if (runs_on) { refuse_here(); } // "1..8" is no product of 1 and 0.8
        return value;
    }

    void check(OverheadTerm const& term) const {
        if (!(term.coefficient > 0.0 && term.coefficient <= largest_coefficient)) {
            refuse("a term has no usable factor", "factors lie above 0 and end at 1e18");
        }
        if (term.work_exponent >= 1.0) {
            refuse("the overhead grows as fast as the work W",
                   "with a power of W of 1 or more no problem is ever large enough to hold an efficiency");
        }
        if (term.worker_exponent > largest_exponent || term.log_exponent > largest_exponent) {
            refuse("an exponent is too large", "they end at 16");
        }
    }

    bool taken(std::string_view word) {
        skip_space();
        if (!text_.substr(at_).starts_with(word)) { return false; }
        at_ += word.size();
        return true;
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) { ++at_; }
    }

    [[noreturn]] void refuse(std::string problem, std::string why) const {
        headroom::refuse(where_, "cannot use " + quoted(text_) + ": " + std::move(problem), std::move(why), example);
    }

    [[noreturn]] void refuse_here() const {
        std::string const rest =
            at_ < text_.size() ? "at " + quoted(text_.substr(at_)) : "something is missing at the end";
        headroom::refuse(where_, "cannot read " + quoted(text_) + " " + rest,
                         "an overhead is a sum of numbers times powers of K, W and log2(K)", example);
    }

    std::string_view text_, where_;
    std::size_t at_ = 0;
};

} // namespace

std::vector<OverheadTerm> parse_overhead(std::string_view text, std::string_view where) {
    return Reader{text, where}.terms();
}

} // namespace headroom::io
