#pragma once

// Numbers that depend on a seed and a counter alone: the same on every machine and in every order.

#include "headroom/counter_random.hpp"

namespace headroom::test {

using headroom::CounterRandom;

} // namespace headroom::test
