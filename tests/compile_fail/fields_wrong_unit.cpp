// A name or a unit that contradicts the type of the getter would mislead whoever reads the result: it must not compile.
#include "headroom/fields.hpp"

struct Answer {
    headroom::Seconds step;
};

#if HEADROOM_FAIL
constexpr headroom::Field row{"step_bytes", "Time of one step.", headroom::member<&Answer::step>};
#else
constexpr headroom::Field row{"step_seconds", "Time of one step.", headroom::member<&Answer::step>};
#endif
