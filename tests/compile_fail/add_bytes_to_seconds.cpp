// A size is not a time: adding them must not compile.
#include "headroom/quantity.hpp"

#if HEADROOM_FAIL
auto const total = 1.0 * headroom::units::GB + 1.0 * headroom::units::s;
#else
auto const total = 1.0 * headroom::units::GB + 1.0 * headroom::units::GB;
#endif
