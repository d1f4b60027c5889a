// Two bare numbers in braces must not make a link, in whichever order they were meant.
#include "headroom/machine.hpp"

#if HEADROOM_FAIL
headroom::Link const link{5.0, 300.0};
#else
headroom::Link const link{5.0 * headroom::units::us, 300.0 * headroom::units::GB / headroom::units::s};
#endif
