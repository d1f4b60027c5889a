#pragma once

#include <cstdint>
#include <hwy/targets.h>

/// The function NAME of every instruction set that it is compiled for, in the namespace of the set; once a file, where HWY_ONCE.
#define HEADROOM_VECTOR_FUNCTION(NAME)                                                                                 \
    constexpr decltype(&HWY_STATIC_DISPATCH(NAME)) NAME##_of_targets[] = {HWY_CHOOSE_TARGET_LIST(NAME),                \
                                                                          HWY_CHOOSE_FALLBACK(NAME)}
/// The function of the set in use; Highway's numbers begin at 1.
#define HEADROOM_OF_TARGET(NAME) (*NAME##_of_targets[chosen_target().GetIndex() - 1])

namespace headroom::probe {

/// Instruction sets with vectors that run here, as Highway numbers them. Its library would tell, too, but spends 3 ms of every start of
/// a program on a clock that nothing here reads.
std::int64_t supported_targets();

/// The best of the allowed sets, in use by all functions.
hwy::ChosenTarget& chosen_target();

/// Allows those sets alone; all that run here where it is 0.
void allow_targets(std::int64_t targets);

} // namespace headroom::probe
