#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Where a number of a result comes from.
enum class TermKind {
    formula,   ///< from its formula
    priced,    ///< from the recurrence over passes and streams, which reads the inputs
    algorithm, ///< from an algorithm's count, of the inputs
    shape,     ///< a dimension of the work, from model and strategy
    model,
    catalog,
    framework,
    option,
    constant, ///< of the calibration
};
std::string_view name_of(TermKind kind);
/// Whether a value of this kind follows from no other term.
constexpr bool is_fact(TermKind kind) { return kind > TermKind::algorithm; }

/// A number of a result with where it comes from. `formula` is an expression in the names of `inputs`
/// (+ - * / ^, min, max, ceil, floor, log2, sqrt, picoseconds) whose value is `value`; empty for other kinds.
struct Term {
    std::string name;
    std::string unit;
    std::string formula;
    std::vector<std::pair<std::string, double>> inputs;
    double value = 0.0;
    TermKind kind = TermKind::formula;
    std::string origin = {}; ///< of other kinds than formulas, in words
};

/// Terms under construction, each after its inputs: no formula names what has no term.
class TermBook {
public:
    /// Adds a term by its formula; its value is that of the code which the formula describes.
    void formula(std::string name, std::string unit, std::string formula, double value);
    /// Adds a term without a formula, with the terms that it depends on.
    void add(TermKind kind, std::string name, std::string unit, std::string origin, double value,
             std::vector<std::string> const& inputs = {});

    [[nodiscard]] bool has(std::string const& name) const { return index_.contains(name); }
    [[nodiscard]] double operator[](std::string const& name) const { return terms_[index_.at(name)].value; }
    [[nodiscard]] std::vector<Term> const& terms() const { return terms_; }

private:
    void add(Term term, std::vector<std::string> const& inputs);

    std::vector<Term> terms_;
    std::map<std::string, std::size_t> index_;
};

/// Terms of these names with those that they depend on, over at most `depth` steps, nearest first, each once. Names without a
/// term are passed over.
std::vector<Term> opened(std::vector<Term> const& terms, std::vector<std::string> const& names, int depth);
inline constexpr int to_the_facts = std::numeric_limits<int>::max(); ///< a depth

} // namespace headroom
