#include "headroom/network/comm_answer.hpp"

#include <algorithm>

namespace headroom::network {

std::string_view name_of(PricedBy by) {
    switch (by) {
    case PricedBy::closed_form: return "closed_form";
    case PricedBy::channels: return "channels";
    case PricedBy::simulated: return "simulated";
    case PricedBy::measured: return "measured";
    }
    return "";
}

std::string_view name_of(CommLeverKind kind) {
    switch (kind) {
    case CommLeverKind::plain: return "plain";
    case CommLeverKind::compressed: return "compressed";
    case CommLeverKind::local_steps: return "local steps";
    case CommLeverKind::buckets: return "buckets";
    }
    return "";
}

std::string label_of(std::string const& algorithm, PricedBy by) {
    return by == PricedBy::closed_form ? algorithm : algorithm + " (" + std::string{name_of(by)} + ")";
}

std::string words_of(CommLeftOut const& left_out) {
    switch (left_out.why) {
    case CommWhyNot::several_levels: return "holds for ranks on one level";
    case CommWhyNot::other_layouts: return "holds for " + std::string{left_out.holds_for};
    case CommWhyNot::too_many_messages: return "its messages are too many, or last too long, to simulate";
    }
    return {};
}

std::vector<std::string> assumptions_of(CommAnswer const& answer) {
    CommQuestion const& question = answer.question;
    std::vector<std::string> all{question.contention
                                     ? "ports are full-duplex; only where groups share links is anything "
                                       "else on the network"
                                     : "ports are full-duplex and nothing else is on the network"};
    bool const adds = question.collective && reduces(*question.collective);
    if (adds && question.reduction > SecondsPerByte{}) {
        all.push_back("a rank adds " + format(BytesPerSecond{1.0 / question.reduction.base()}) +
                      "; libraries (channels) add while they copy");
    } else if (adds) {
        all.emplace_back(question.network.cluster ? "adding costs no time, since libraries add while they copy"
                                                  : "adding costs no time: --reduction RATE");
    }
    auto const priced = [&](PricedBy by) {
        return std::ranges::any_of(answer.rows, [by](CommRow const& row) { return row.priced_by == by; });
    };
    if (priced(PricedBy::channels)) {
        all.emplace_back("channels: as libraries run it, pipelined over channels that leave a domain by different "
                         "adapters");
    }
    if (priced(PricedBy::simulated)) { all.emplace_back("simulated: its messages one by one, with one port a rank"); }
    if (priced(PricedBy::measured)) {
        all.emplace_back("measured: the curve that the calibration fitted to measured times");
    }
    if (question.in_network) { all.emplace_back("in_network: the switches add at line rate; few networks have such"); }
    all.emplace_back("x bound is the time over the least that latencies and rates of the links allow");
    return all;
}

} // namespace headroom::network
