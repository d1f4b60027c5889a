// Latency comes first; a bandwidth in its place must not compile.
#include "headroom/machine.hpp"

#if HEADROOM_FAIL
headroom::Link const link{300.0 * headroom::units::GB / headroom::units::s, 5.0 * headroom::units::us};
#else
headroom::Link const link{5.0 * headroom::units::us, 300.0 * headroom::units::GB / headroom::units::s};
#endif
