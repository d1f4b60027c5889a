#pragma once

#include "headroom/io/words.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

enum class Takes { value, nothing, perhaps_value, values };

/// One option of a verb, as data: what the parser accepts and `--help` prints.
struct Option {
    char const* name;        ///< "--workers"
    char const* placeholder; ///< "COUNTS"
    char const* help;
    char const* group;
    Takes takes = Takes::value;
    char const* alias = nullptr; ///< another name
};

/// Texts that the user gave, by option name ("--workers") or by the name of a positional ("MODEL"). Each reader gives
/// its text a meaning.
class Arguments {
public:
    void add(std::string name, std::vector<std::string> values) { values_[std::move(name)] = std::move(values); }
    /// Marks options as those of a file of options, which may belong to other questions than this one.
    void mark_defaults(std::vector<std::string> const& names) { defaults_.insert(names.begin(), names.end()); }
    /// Whether an option stands on the command line itself.
    [[nodiscard]] bool states(std::string const& name) const { return has(name) && !defaults_.contains(name); }
    /// These arguments without one.
    [[nodiscard]] Arguments without(std::string const& name) const {
        Arguments rest = *this;
        rest.values_.erase(name);
        return rest;
    }
    [[nodiscard]] bool has(std::string const& name) const { return values_.contains(name); }
    /// The value; empty when the option is absent, "" when it was given without one.
    [[nodiscard]] std::optional<std::string> text(std::string const& name) const;
    [[nodiscard]] std::vector<std::string> all(std::string const& name) const;
    /// The value. Errors: InputError{usage} with `hint` when it is absent.
    [[nodiscard]] std::string required(std::string const& name, std::string_view hint) const;
    /// Errors: InputError{usage} that names all of `options` where two or more are absent; each with an example, "--size (140GB)".
    void require_all(std::vector<std::pair<std::string, std::string>> const& options) const;
    /// A whole positive count, "2048" or "8k".
    [[nodiscard]] std::optional<int> count(std::string const& name) const;
    /// A name out of a list. Errors: InputError{usage} with the nearest.
    [[nodiscard]] std::optional<std::string> choice(std::string const& name,
                                                    std::vector<std::string> const& choices) const;
    /// One of `known`, by its name. Errors: InputError{usage} with the nearest.
    template <class Kind, std::size_t count>
    [[nodiscard]] std::optional<Kind> one_of(std::string const& name, std::array<Kind, count> const& known) const {
        std::vector<std::string> names;
        for (Kind const one : known) { names.emplace_back(name_of(one)); }
        auto const chosen = choice(name, names);
        if (!chosen) { return std::nullopt; }
        return *std::ranges::find(known, *chosen, [](Kind one) { return std::string{name_of(one)}; });
    }
    template <class Q> [[nodiscard]] std::optional<Q> quantity(std::string const& name) const {
        if (auto const given = text(name)) { return parse<Q>(*given, name); }
        return std::nullopt;
    }

    /// Readings of what was given, for standard error and the answer.
    void note(std::string text) { notes_.push_back(std::move(text)); }
    [[nodiscard]] std::vector<std::string> const& notes() const { return notes_; }

private:
    std::vector<std::string> notes_;
    std::set<std::string> defaults_;
    std::map<std::string, std::vector<std::string>> values_;
};

} // namespace headroom::io
