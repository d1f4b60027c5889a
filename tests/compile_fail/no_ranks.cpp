// A group has at least one member: a constant without any must not compile.
#include "headroom/ranks.hpp"

#if HEADROOM_FAIL
constexpr headroom::Ranks ranks{0};
#else
constexpr headroom::Ranks ranks{1};
#endif
static_assert(ranks.count() >= 0);
