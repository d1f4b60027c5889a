// Two figures of one name would overwrite each other in a result: such a field table must not compile.
#include "headroom/fields.hpp"

struct Answer {
    headroom::Seconds step, wait;
};

constexpr headroom::Field rows[] = {
    {"step_seconds", "Time of one step.", headroom::member<&Answer::step>},
#if HEADROOM_FAIL
    {"step_seconds", "Time of one wait.", headroom::member<&Answer::wait>},
#else
    {"wait_seconds", "Time of one wait.", headroom::member<&Answer::wait>},
#endif
};
constexpr headroom::FieldTable table = headroom::field_table<Answer>("answer", rows);
