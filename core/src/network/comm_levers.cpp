#include "comm_candidates.hpp"

#include "headroom/network/local_updates.hpp"

namespace headroom::network {
namespace {

CollectiveTime scaled(CollectiveTime const& time, double factor) {
    return {factor * time.latency, factor * time.bandwidth, factor * time.reduction};
}

CommCompressed compressed_of(CommQuestion const& question, int ranks, CollectiveTime const& plain) {
    CommCompression const& given = *question.levers.compression;
    double const elements = question.size.size / question.levers.element;
    double const width = question.levers.element.in(units::byte);
    CommCompressed result{.ranks = ranks, .gradients = {}, .sent = {}, .time = {}, .uncompressed = plain};
    if (given.matrix) {
        GradientMatrix matrix = *given.matrix;
        matrix.count = elements / (matrix.rows * matrix.columns);
        result.gradients = compressed_gradients(given.how, std::span{&matrix, 1}, width, Ranks{ranks});
    } else {
        result.gradients = compressed_gradients(given.how, elements, width, Ranks{ranks});
    }
    for (SentCollective const& sent : result.gradients.sent) {
        result.sent.push_back({sent, cheapest(question, sent.collective, sent.bytes, ranks)});
        CollectiveTime const time = scaled(result.sent.back().choice.time, sent.steps);
        result.time.latency += time.latency;
        result.time.bandwidth += time.bandwidth;
        result.time.reduction += time.reduction;
    }
    return result;
}

CommLever lever_of(CommCompressed const& one, Bytes size) {
    CommLever lever{.ranks = one.ranks, .kind = CommLeverKind::compressed, .count = 0.0};
    lever.bytes = one.gradients.byte_ratio * size;
    for (CommSent const& part : one.sent) { lever.count += part.sent.steps; }
    lever.time = lever.exposed = one.time.total();
    return lever;
}

/// One exchange of the vector every H steps.
CommLever lever_of(CommQuestion const& question, int period, int ranks, Seconds plain) {
    LocalUpdates const updates{.period = period, .bytes_per_element = question.levers.element.in(units::byte)};
    double const parameters = question.size.size / question.levers.element;
    LocalUpdateCost const cost = local_updates(parameters, updates);
    Seconds const time = plain / static_cast<double>(period);
    return {.ranks = ranks,
            .kind = CommLeverKind::local_steps,
            .bytes = cost.per_step,
            .count = 1.0 / period,
            .time = time,
            .exposed = time};
}

CommLever lever_of(CommQuestion const& question, CommBuckets const& given, int ranks) {
    double const count = bucket_count(question.size.size, given.size);
    TotalBytes const one{question.size.size / count};
    Seconds const each = cheapest(question, Collective::all_reduce, one, ranks).time.total();
    BucketedExchange const exchange = bucketed_exchange(each, count, given.behind);
    return {.ranks = ranks,
            .kind = CommLeverKind::buckets,
            .bytes = question.size.size,
            .count = count,
            .time = exchange.total,
            .exposed = exchange.exposed};
}

} // namespace

void add_levers(CommAnswer& answer, int ranks) {
    CommQuestion const& question = answer.question;
    CollectiveTime const plain = cheapest(question, Collective::all_reduce, question.size, ranks).time;
    std::vector<CommLever> levers{{.ranks = ranks,
                                   .kind = CommLeverKind::plain,
                                   .bytes = question.size.size,
                                   .time = plain.total(),
                                   .exposed = plain.total()}};
    if (question.levers.compression) {
        answer.compressed.push_back(compressed_of(question, ranks, plain));
        levers.push_back(lever_of(answer.compressed.back(), question.size.size));
    }
    if (auto const period = question.levers.local_steps) {
        levers.push_back(lever_of(question, *period, ranks, plain.total()));
    }
    if (question.levers.buckets) { levers.push_back(lever_of(question, *question.levers.buckets, ranks)); }
    for (CommLever& lever : levers) {
        lever.plain = plain.total();
        answer.levers.push_back(std::move(lever));
    }
}

} // namespace headroom::network
