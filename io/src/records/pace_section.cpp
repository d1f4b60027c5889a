#include "records/pace_section.hpp"

#include "records/toml_text.hpp"

#include <fmt/format.h>

namespace headroom::io {

using namespace headroom::training;

Pace read_pace(Section section) {
    Pace pace;
    section.read("factor", pace.factor, {1e-3, 1e3}, Presence::required);
    section.read("rows", pace.rows, {0, 1e9});
    section.read("sources", pace.sources, {0, 1e9});
    return pace;
}

std::string written_pace(std::string_view name, Pace const& pace) {
    return fmt::format("\n[pace.{}]\nfactor = {}\nrows = {}\nsources = {}\n", toml_string(name),
                       toml_number(pace.factor), pace.rows, pace.sources);
}

Likeness read_likeness(Section section) {
    constexpr Range variance{0, 100};
    Likeness likeness;
    section.read("site", likeness.site, variance, Presence::required);
    section.read("model", likeness.model, variance, Presence::required);
    section.read("workload", likeness.workload, variance, Presence::required);
    section.read("layout", likeness.layout, variance, Presence::required);
    section.read("replica", likeness.replica, variance, Presence::required);
    section.read("noise", likeness.noise, variance, Presence::required);
    section.read("pairs", likeness.pairs, {0, 1e9});
    section.read("sources", likeness.sources, {0, 1e9});
    return likeness;
}

std::string written_likeness(std::string_view name, Likeness const& likeness) {
    return fmt::format("\n[likeness.{}]\nsite = {}\nmodel = {}\nworkload = {}\nlayout = {}\nreplica = {}\nnoise = {}\n"
                       "pairs = {}\nsources = {}\n",
                       name, toml_number(likeness.site), toml_number(likeness.model), toml_number(likeness.workload),
                       toml_number(likeness.layout), toml_number(likeness.replica), toml_number(likeness.noise),
                       likeness.pairs, likeness.sources);
}

} // namespace headroom::io
