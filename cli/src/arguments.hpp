#pragma once

#include "rooms.hpp"

#include "headroom/io/words.hpp"
#include "headroom/quantity.hpp"
#include "headroom/training/strategy.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {

using io::did_you_mean;
using io::did_you_mean_one_of;
using io::refuse;
using io::too_little;

/// Texts that the user gave, by option name ("--workers") or by the name of a positional ("MODEL"). Each reader gives
/// its text a meaning.
class Arguments {
public:
    void add(std::string name, std::vector<std::string> values) { values_[std::move(name)] = std::move(values); }
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
    std::map<std::string, std::vector<std::string>> values_;
};

/// "8", "8,16,64", "8..1024" (doubling), "8..64:8" (step 8); sorted, each once.
std::vector<int> parse_counts(std::string_view text, std::string_view where);

using io::parse_choice;
using io::parse_pairs;
using io::parse_whole;

/// Dollars and dollars an hour: "2.95 $/h", "$2.95/h", and a bare number, whose unit the option's name gives.
Dollars parse_dollars(std::string_view text, std::string_view where);
DollarsPerSecond parse_price(std::string_view text, std::string_view where);

/// The fields of a strategy that were given as options: --dp, --tp and so on (`io::strategy_fields`).
void assign_options(training::PartialStrategy& strategy, Arguments const& arguments);

} // namespace headroom::cli
