#include "demand.hpp"

#include "headroom/error.hpp"

#include <cmath>

namespace headroom {

namespace {

void refuse_if(bool wrong, std::string_view where, char const* problem, std::string const& hint) {
    if (!wrong) { return; }
    refuse(where, problem, {}, hint);
}

} // namespace

void demand_not_negative(double value, std::string_view where, std::string const& hint) {
    refuse_if(std::isnan(value), where, "not a number", hint);
    refuse_if(value < 0.0, where, "below zero", hint);
}

void demand_positive(double value, std::string_view where, std::string const& hint) {
    demand_not_negative(value, where, hint);
    refuse_if(value == 0.0, where, "not above zero", hint);
}

void demand_amount(double value, std::string_view where, std::string const& hint) {
    demand_not_negative(value, where, hint);
    refuse_if(std::isinf(value), where, "not finite", hint);
}

void demand_size(double value, std::string_view where, std::string const& hint) {
    demand_amount(value, where, hint);
    demand_positive(value, where, hint);
}

void demand_share(double value, std::string_view where, std::string const& hint) {
    demand_not_negative(value, where, hint);
    refuse_if(value > 1.0, where, "above one", hint);
}

} // namespace headroom
