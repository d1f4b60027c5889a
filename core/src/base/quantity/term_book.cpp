#include "headroom/term.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace headroom {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Names of inputs in a formula, each once, in order.
std::vector<std::string> inputs_of(std::string_view formula) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < formula.size();) {
        std::size_t end = at + 1;
        if (is_digit(formula[at])) {
            double number = 0.0;
            end = static_cast<std::size_t>(
                std::from_chars(formula.data() + at, formula.data() + formula.size(), number).ptr - formula.data());
        } else if (starts_name(formula[at])) {
            while (end < formula.size() &&
                   (starts_name(formula[end]) || is_digit(formula[end]) || formula[end] == '.')) {
                ++end;
            }
            std::string name{formula.substr(at, end - at)};
            bool const calls = end < formula.size() && formula[end] == '(';
            if (!calls && std::ranges::find(names, name) == names.end()) { names.push_back(std::move(name)); }
        }
        at = end;
    }
    return names;
}

} // namespace

std::string_view name_of(TermKind kind) {
    switch (kind) {
    case TermKind::formula: return "formula";
    case TermKind::priced: return "priced";
    case TermKind::algorithm: return "algorithm";
    case TermKind::shape: return "shape";
    case TermKind::model: return "model";
    case TermKind::catalog: return "catalog";
    case TermKind::framework: return "framework";
    case TermKind::option: return "option";
    case TermKind::constant: return "constant";
    }
    return {};
}

void TermBook::formula(std::string name, std::string unit, std::string formula, double value) {
    auto const inputs = inputs_of(formula);
    add({.name = std::move(name), .unit = std::move(unit), .formula = std::move(formula), .inputs = {}, .value = value},
        inputs);
}

void TermBook::add(TermKind kind, std::string name, std::string unit, std::string origin, double value,
                   std::vector<std::string> const& inputs) {
    add({.name = std::move(name),
         .unit = std::move(unit),
         .formula = {},
         .inputs = {},
         .value = value,
         .kind = kind,
         .origin = std::move(origin)},
        inputs);
}

void TermBook::add(Term term, std::vector<std::string> const& inputs) {
    if (auto const known = index_.find(term.name); known != index_.end()) {
        if (terms_[known->second].value != term.value) { throw std::logic_error{"two values of term " + term.name}; }
        return;
    }
    for (std::string const& input : inputs) {
        auto const known = index_.find(input);
        if (known == index_.end()) {
            throw std::logic_error{"term " + term.name + " names " + input + ", which has none"};
        }
        term.inputs.emplace_back(input, terms_[known->second].value);
    }
    index_.emplace(term.name, terms_.size());
    terms_.push_back(std::move(term));
}

std::vector<Term> opened(std::vector<Term> const& terms, std::vector<std::string> const& names, int depth) {
    std::map<std::string_view, Term const*> known;
    for (Term const& term : terms) { known.emplace(term.name, &term); }
    std::vector<Term> found;
    std::set<std::string_view> seen;
    std::vector<Term const*> level, next;
    auto const take = [&](std::string const& name) {
        auto const one = known.find(name);
        if (one != known.end() && seen.insert(one->first).second) { next.push_back(one->second); }
    };
    for (std::string const& name : names) { take(name); }
    for (; !next.empty(); --depth) {
        level = std::exchange(next, {});
        for (Term const* term : level) { found.push_back(*term); }
        if (depth == 0) { break; }
        for (Term const* term : level) {
            for (auto const& input : term->inputs) { take(input.first); }
        }
    }
    return found;
}

} // namespace headroom
