// A bare integer is not a count of participants: passing it must not compile.
#include "headroom/collective.hpp"

headroom::Bytes sent(headroom::TotalBytes size) {
#if HEADROOM_FAIL
    return headroom::ring_all_reduce_bytes(size, 8);
#else
    return headroom::ring_all_reduce_bytes(size, headroom::Ranks{8});
#endif
}
