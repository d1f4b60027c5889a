#pragma once

#include "headroom/training/strategy.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// One field of a strategy as people give it. The one table of them serves the options, `--fix`, `--what-if` and the
/// records of strategies: a new field is a row.
struct StrategyField {
    char const* option;      ///< "--virtual-pp"; without its hyphens the name elsewhere
    char const* placeholder; ///< "N", "KIND"
    char const* help;
    /// Reads a value. Errors: InputError{usage} at `where`.
    void (*assign)(training::PartialStrategy& strategy, std::string_view text, std::string_view where);
    /// Copies what `from` has and `to` has not; whether there was something to copy.
    bool (*fill)(training::PartialStrategy& to, training::PartialStrategy const& from);
    /// Sets what the change has.
    void (*apply)(training::PartialStrategy const& change, training::Strategy& strategy);
    char const* alias = nullptr; ///< another name of the option
    [[nodiscard]] std::string_view name() const { return std::string_view{option}.substr(2); }
};
std::span<StrategyField const> strategy_fields();

/// Field by its name or by the short names that training frameworks use ("mb", "vp"); none when unknown.
StrategyField const* strategy_field(std::string_view name);
/// Field by its name. Errors: InputError{usage} at `where`, with the nearest name.
StrategyField const& known_strategy_field(std::string_view name, std::string_view where);

/// "low-rank[:RANK]", "quantised[:BITS]", "top-k[:SHARE]", "one-bit[:WARMUP]" or "none". Errors: InputError{usage}.
network::GradientCompression parse_compression(std::string_view text, std::string_view where);

/// "tp=8,pp=4,recompute=full". Errors: InputError{usage} at `where`, also for a field that is named twice.
void assign_fixed(training::PartialStrategy& strategy, std::string_view text, std::string_view where);

/// A strategy of the literature by name: some fields, the rest open.
struct StrategyRecord {
    std::string name, title;
    training::PartialStrategy fields;
    std::vector<std::pair<std::string, std::string>> given; ///< field and value, as written
};
StrategyRecord read_strategy(std::string_view toml, std::string_view where);

} // namespace headroom::io
