#include "comm/comm_candidates.hpp"
#include "document/text.hpp"

#include "headroom/error.hpp"
#include "headroom/io/strategy.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr char const* compression_option = "--gradient-compression";

std::optional<GradientMatrix> read_matrix(Arguments const& arguments) {
    auto const text = arguments.text("--matrix");
    if (!text) { return std::nullopt; }
    std::vector<std::string> const sides = split(*text, 'x');
    if (sides.size() != 2) {
        refuse("--matrix", "cannot read " + headroom::quoted(*text), "a shape is rows and columns",
               "write it like 4096x16384");
    }
    return GradientMatrix{.rows = static_cast<double>(parse_whole(sides[0], "--matrix")),
                          .columns = static_cast<double>(parse_whole(sides[1], "--matrix"))};
}

std::optional<CommCompression> read_compression(Arguments const& arguments) {
    auto const text = arguments.text(compression_option);
    if (!text) { return std::nullopt; }
    auto const colon = text->find(':');
    return CommCompression{.how = io::parse_compression(*text, compression_option),
                           .parameter = colon == std::string::npos ? "" : text->substr(colon + 1),
                           .matrix = read_matrix(arguments)};
}

std::optional<CommBuckets> read_buckets(Arguments const& arguments) {
    auto const text = arguments.text("--buckets");
    if (!text) { return std::nullopt; }
    std::string const behind =
        arguments.required("--overlap-with", "how long the backward pass takes: --overlap-with 180ms");
    return CommBuckets{.size = read_size(*text, "--buckets"), .behind = parse<Seconds>(behind, "--overlap-with")};
}

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
    CommLever lever{.ranks = one.ranks, .name = "compressed", .count = 0.0};
    lever.bytes = one.gradients.byte_ratio * size;
    for (CommSent const& part : one.sent) { lever.count += part.sent.steps; }
    lever.time = lever.exposed = one.time.total();
    return lever;
}

/// The same vector, once every H steps.
CommLever lever_of(CommQuestion const& question, int period, int ranks, Seconds plain) {
    LocalUpdates const updates{.period = period, .bytes_per_element = question.levers.element.in(units::byte)};
    double const parameters = question.size.size / question.levers.element;
    LocalUpdateCost const cost = local_updates(parameters, updates);
    Seconds const time = plain / static_cast<double>(period);
    return {.ranks = ranks,
            .name = "local steps",
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
            .name = "buckets",
            .bytes = question.size.size,
            .count = count,
            .time = exchange.total,
            .exposed = exchange.exposed};
}

} // namespace

CommLevers read_levers(Arguments const& arguments) {
    CommLevers levers{.element = read_size(arguments.text("--element").value_or("2B"), "--element"),
                      .compression = read_compression(arguments),
                      .local_steps = arguments.count("--local-steps"),
                      .buckets = read_buckets(arguments)};
    return levers;
}

void add_levers(CommReport& report, int ranks) {
    CommQuestion const& question = report.question;
    CollectiveTime const plain = cheapest(question, Collective::all_reduce, question.size, ranks).time;
    std::vector<CommLever> levers{{.ranks = ranks,
                                   .name = "plain",
                                   .bytes = question.size.size,
                                   .time = plain.total(),
                                   .exposed = plain.total()}};
    if (question.levers.compression) {
        report.compressed.push_back(compressed_of(question, ranks, plain));
        levers.push_back(lever_of(report.compressed.back(), question.size.size));
    }
    if (auto const period = question.levers.local_steps) {
        levers.push_back(lever_of(question, *period, ranks, plain.total()));
    }
    if (question.levers.buckets) { levers.push_back(lever_of(question, *question.levers.buckets, ranks)); }
    for (CommLever& lever : levers) {
        lever.plain = plain.total();
        report.levers.push_back(std::move(lever));
    }
}

} // namespace headroom::cli
