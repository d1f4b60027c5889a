// A bare integer is not a count of participants: passing it must not compile.
#include "headroom/network/collective.hpp"

headroom::Bytes sent(headroom::network::TotalBytes size) {
#if HEADROOM_FAIL
    return headroom::network::ring_all_reduce_bytes(size, 8);
#else
    return headroom::network::ring_all_reduce_bytes(size, headroom::Ranks{8});
#endif
}
