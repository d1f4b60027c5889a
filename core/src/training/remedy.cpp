#include "remedy.hpp"

#include "headroom/legality.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t most_remedies = 3; ///< named: more would hide the cheapest

/// A change that saves memory. Applied to a strategy that has it already, it changes nothing.
struct Remedy {
    std::string_view name;
    void (*apply)(Strategy&);
};

/// From what costs the least time to what costs the most.
constexpr std::array remedies{
    Remedy{"ZeRO stage 1", [](Strategy& s) { s.zero = std::max(s.zero, 1); }},
    Remedy{"sequence parallelism", [](Strategy& s) { s.sequence_parallel = s.tp > 1; }},
    Remedy{"selective recomputation",
           [](Strategy& s) {
               if (s.recompute == Recompute::none) { s.recompute = Recompute::selective; }
           }},
    Remedy{"micro-batch 1", [](Strategy& s) { s.micro_batch = 1; }},
    Remedy{"full recomputation", [](Strategy& s) { s.recompute = Recompute::full; }},
    Remedy{"full recomputation with micro-batch 1",
           [](Strategy& s) {
               s.recompute = Recompute::full;
               s.micro_batch = 1;
           }},
    Remedy{"ZeRO stage 3 with full recomputation",
           [](Strategy& s) {
               if (s.pp > 1) { return; }
               s.zero = 3;
               s.recompute = Recompute::full;
               s.micro_batch = 1;
           }},
};

std::vector<std::string_view> remedies_that_fit(StepSetting const& setting, Strategy const& strategy, Bytes usable) {
    std::vector<std::string_view> found;
    for (auto const& remedy : remedies) {
        Strategy changed = strategy;
        remedy.apply(changed);
        if (changed == strategy || !illegal_because(changed, setting.model, setting.workload).empty()) { continue; }
        if (memory_use(setting, changed).total() <= usable) { found.push_back(remedy.name); }
    }
    std::erase_if(found, [&](std::string_view name) { // one that holds a simpler one says nothing new
        return std::ranges::any_of(found, [&](auto other) { return name != other && name.starts_with(other); });
    });
    return found;
}

} // namespace

std::string why_it_does_not_fit(StepSetting const& setting, Strategy const& strategy, MemoryUse const& memory,
                                Bytes usable) {
    std::string const why = "needs " + format_binary(memory.total()) + " of " + format_binary(usable) + " usable (" +
                            format_binary(memory.total() - usable) + " too much)";
    auto const found = remedies_that_fit(setting, strategy, usable);
    if (found.empty()) { return why + "; more tensor or pipeline ranks are needed"; }
    std::string with = "; fits with ";
    for (std::size_t i = 0; i < std::min(found.size(), most_remedies); ++i) {
        with += (i > 0 ? ", or " : "") + std::string{found[i]};
    }
    return why + with;
}

} // namespace headroom
