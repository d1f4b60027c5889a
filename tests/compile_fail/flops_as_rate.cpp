// An amount of work is not a rate of work: passing it must not compile.
#include "headroom/quantity.hpp"

headroom::Seconds duration(headroom::Flops work, headroom::FlopsPerSecond rate) { return work / rate; }

#if HEADROOM_FAIL
auto const time = duration(1.0 * headroom::units::PFLOP, 312.0 * headroom::units::TFLOP);
#else
auto const time = duration(1.0 * headroom::units::PFLOP, 312.0 * headroom::units::TFLOP / headroom::units::s);
#endif
