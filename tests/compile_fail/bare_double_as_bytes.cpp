// A number without a unit is not a size: passing it must not compile.
#include "headroom/quantity.hpp"

headroom::Bytes twice(headroom::Bytes size) { return 2.0 * size; }

#if HEADROOM_FAIL
auto const size = twice(450e9);
#else
auto const size = twice(450.0 * headroom::units::GB);
#endif
