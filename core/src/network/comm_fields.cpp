#include "headroom/network/comm_answer.hpp"

namespace headroom::network {

namespace {

template <class Element> std::optional<std::vector<Element>> if_any(std::vector<Element> const& all) {
    return all.empty() ? std::nullopt : std::optional{all};
}

// ---- the network ------------------------------------------------------------------------------------------------------

constexpr Field pod_rows[] = {
    {"*", "Link between pods.", member<&CommPod::link>},
    {"ranks", "Ranks of a pod.", member<&CommPod::ranks>},
};
constexpr FieldTable pod_table = field_table<CommPod>("pod", pod_rows);

constexpr Field network_rows[] = {
    {"name", "Name of the cluster, or the link as it was given.", member<&CommNetwork::name>},
    {"domain", "Ranks of a scale-up domain; null where all ranks share one level.",
     [](CommNetwork const& n) { return n.domain > 0 ? std::optional{n.domain} : std::nullopt; }},
    {"scale_up", "Link inside a domain.", [](CommNetwork const& n) { return n.fabric.scale_up; }},
    {"scale_out", "Link between domains; null where all ranks share one level.",
     [](CommNetwork const& n) { return n.domain > 0 ? std::optional{n.fabric.scale_out} : std::nullopt; }},
    {"pod", "Pods of domains; null without --pod.", member<&CommNetwork::pod>},
    {"torus", "Ranks along each side; null where the network is no torus.",
     [](CommNetwork const& n) { return if_any(n.torus); }},
};
constexpr FieldTable network_table = field_table<CommNetwork>("comm_network", network_rows);

// ---- rows -------------------------------------------------------------------------------------------------------------

constexpr Field simulated_rows[] = {
    {"seconds", "Time until the last rank is done.", [](SimulatedCollective const& s) { return s.total(); }},
    {"picoseconds", "Time in whole picoseconds.", member<&SimulatedCollective::picoseconds>, Unit{"ps"}},
    {"messages", "Messages of all ranks.", member<&SimulatedCollective::messages>},
    {"critical_messages", "Messages along the critical path.", member<&SimulatedCollective::critical_messages>},
};
constexpr FieldTable simulated_table = field_table<SimulatedCollective>("simulated_collective", simulated_rows);

constexpr Field parts_rows[] = {
    {"broadcast_seconds", "Time to send the weights to the actors.",
     [](ActorLearnerTime const& t) { return t.broadcast.total(); }},
    {"gather_seconds", "Time to collect the experience.", [](ActorLearnerTime const& t) { return t.gather.total(); }},
    {"asynchronous_seconds", "Time of an update where both run at once.",
     [](ActorLearnerTime const& t) { return t.asynchronous(); }},
};
constexpr FieldTable parts_table = field_table<ActorLearnerTime>("actor_learner", parts_rows);

constexpr Field row_rows[] = {
    {"collective", "Collective, parameter_server or actor_learner.", member<&CommRow::collective>},
    {"algorithm", "Name of the algorithm.", member<&CommRow::algorithm>},
    {"ranks", "Ranks that take part; of actor_learner the actors.", member<&CommRow::ranks>},
    {"size_bytes", "Size of the whole vector.", [](CommRow const& r) { return r.size.size; }},
    {"seconds", "Time of the collective.", [](CommRow const& r) { return r.time.total(); }},
    {"latency_seconds", "Part of the time that the number of messages causes.",
     [](CommRow const& r) { return r.time.latency; }},
    {"bandwidth_seconds", "Part of the time that bytes cause.", [](CommRow const& r) { return r.time.bandwidth; }},
    {"reduction_seconds", "Part of the time that adding causes; null where adding is not modelled.",
     [](CommRow const& r) { return r.adding_modelled ? std::optional{r.time.reduction} : std::nullopt; }},
    {"bus_bandwidth_bytes_per_second", "Bus bandwidth; null where nothing moves.", member<&CommRow::bus_bandwidth>},
    {"lower_bound_seconds", "Time that no algorithm can beat on these links.", member<&CommRow::lower_bound>},
    {"fastest", "Whether this is the fastest of its ranks and size.", member<&CommRow::fastest>},
    {"priced_by", "Source of the time: closed_form, channels, simulated or measured.", member<&CommRow::priced_by>},
    {"holds_for", "Numbers and arrangements of ranks for which the time holds.", member<&CommRow::holds_for>},
    {"simulated", "Simulation of its messages; null without --simulate.", member<&CommRow::simulated>},
    {"parts", "Parts of an update; null except for actor_learner.", member<&CommRow::parts>},
    {"source", "Key of the publication in docs/references.bib.", member<&CommRow::source>},
};
constexpr FieldTable row_table = field_table<CommRow>("comm_row", row_rows);

/// The fastest row of a number of ranks and a size.
struct Fastest {
    CommRow const* row;
};
constexpr Field fastest_rows[] = {
    {"ranks", "Ranks that take part.", [](Fastest const& f) { return f.row->ranks; }},
    {"size_bytes", "Size of the whole vector.", [](Fastest const& f) { return f.row->size.size; }},
    {"collective", "Collective, parameter_server or actor_learner.",
     [](Fastest const& f) { return f.row->collective; }},
    {"algorithm", "Name of the algorithm.", [](Fastest const& f) { return f.row->algorithm; }},
    {"priced_by", "Source of the time.", [](Fastest const& f) { return f.row->priced_by; }},
    {"seconds", "Time of the collective.", [](Fastest const& f) { return f.row->time.total(); }},
};
constexpr FieldTable fastest_table = field_table<Fastest>("fastest", fastest_rows);
FieldTable const& field_table_of(Fastest const*) { return fastest_table; }

std::vector<Fastest> fastest_of(CommAnswer const& answer) {
    std::vector<Fastest> all;
    for (CommRow const& row : answer.rows) {
        if (row.fastest) { all.push_back({&row}); }
    }
    return all;
}

constexpr Field crossover_rows[] = {
    {"ranks", "Ranks that take part.", member<&CommCrossover::ranks>},
    {"size_bytes", "Size at which the fastest algorithm changes.", [](CommCrossover const& c) { return c.size.size; }},
    {"below", "Fastest algorithm for smaller sizes.", member<&CommCrossover::below>},
    {"above", "Fastest algorithm for larger sizes.", member<&CommCrossover::above>},
    {"seconds", "Time of both at this size.", member<&CommCrossover::time>},
};
constexpr FieldTable crossover_table = field_table<CommCrossover>("crossover", crossover_rows);

constexpr Field left_out_rows[] = {
    {"ranks", "Ranks that take part.", member<&CommLeftOut::ranks>},
    {"algorithm", "Name of the algorithm.", member<&CommLeftOut::algorithm>},
    {"why", "Reason why it has no row.", [](CommLeftOut const& l) { return words_of(l); }},
};
constexpr FieldTable left_out_table = field_table<CommLeftOut>("algorithm_left_out", left_out_rows);

// ---- NCCL -------------------------------------------------------------------------------------------------------------

struct CandidateOfSize {
    NcclCandidate candidate;
    TotalBytes size;
};
constexpr Field candidate_rows[] = {
    {"algorithm", "Algorithm, as NCCL prints it.", [](CandidateOfSize const& c) { return c.candidate.algorithm; }},
    {"protocol", "Protocol, as NCCL prints it.", [](CandidateOfSize const& c) { return c.candidate.protocol; }},
    {"seconds", "Time that NCCL's tuning model estimates.",
     [](CandidateOfSize const& c) { return c.candidate.seconds(c.size); }},
};
constexpr FieldTable candidate_table = field_table<CandidateOfSize>("nccl_candidate", candidate_rows);
FieldTable const& field_table_of(CandidateOfSize const*) { return candidate_table; }

std::vector<CandidateOfSize> candidates_of(CommNccl const& one) {
    std::vector<CandidateOfSize> all;
    for (NcclCandidate const& candidate : one.choice.candidates) { all.push_back({candidate, one.size}); }
    return all;
}

constexpr Field nccl_rows[] = {
    {"ranks", "Ranks that take part.", member<&CommNccl::ranks>},
    {"size_bytes", "Size of the whole vector.", [](CommNccl const& n) { return n.size.size; }},
    {"algorithm", "Algorithm that NCCL would choose.", [](CommNccl const& n) { return n.choice.algorithm; }},
    {"protocol", "Protocol that NCCL would choose.", [](CommNccl const& n) { return n.choice.protocol; }},
    {"seconds", "Time that NCCL's tuning model estimates.", [](CommNccl const& n) { return n.choice.seconds; }},
    {"candidates", "Algorithms and protocols that it compares.", from<candidates_of>},
};
constexpr FieldTable nccl_table = field_table<CommNccl>("nccl_choice", nccl_rows);

// ---- levers -----------------------------------------------------------------------------------------------------------

constexpr Field sent_rows[] = {
    {"collective", "Collective.", [](CommSent const& s) { return s.sent.collective; }},
    {"algorithm", "Fastest algorithm by its formula.", [](CommSent const& s) { return s.choice.algorithm; }},
    {"size_bytes", "Size of the whole vector.", [](CommSent const& s) { return s.sent.bytes.size; }},
    {"share_of_steps", "Share of the steps that have this collective.", [](CommSent const& s) { return s.sent.steps; }},
    {"seconds", "Time of the collective.", [](CommSent const& s) { return s.choice.time.total(); }},
};
constexpr FieldTable sent_table = field_table<CommSent>("compressed_collective", sent_rows);

constexpr Field compressed_rows[] = {
    {"ranks", "Ranks that take part.", member<&CommCompressed::ranks>},
    {"byte_ratio", "Bytes that a rank sends over those without compression.",
     [](CommCompressed const& c) { return c.gradients.byte_ratio; }},
    {"rounds", "Collectives of a step.", [](CommCompressed const& c) { return c.gradients.rounds; }},
    {"seconds", "Communication of a step, on average.", [](CommCompressed const& c) { return c.time.total(); }},
    {"uncompressed_seconds", "Communication of a step without compression.",
     [](CommCompressed const& c) { return c.uncompressed.total(); }},
    {"touched_bytes_per_parameter", "Memory traffic of compressing and decompressing a parameter.",
     [](CommCompressed const& c) { return c.gradients.touched_per_parameter; }, Unit{"B"}},
    {"kept_bytes_per_parameter", "Memory for error feedback of a parameter.",
     [](CommCompressed const& c) { return c.gradients.kept_per_parameter; }, Unit{"B"}},
    {"product_flops", "Operations of the matrix products of low_rank.",
     [](CommCompressed const& c) { return c.gradients.products; }},
    {"sent", "Collectives, one after another.", member<&CommCompressed::sent>},
};
constexpr FieldTable compressed_table = field_table<CommCompressed>("compressed_step", compressed_rows);

struct CompressionView {
    CommAnswer const* answer;
    [[nodiscard]] CommLevers const& levers() const { return answer->question.levers; }
};
constexpr Field compression_rows[] = {
    {"kind", "Method of compression.", [](CompressionView const& v) { return v.levers().compression->how.kind; }},
    {"parameter", "Parameter of the method as given; null for its default.",
     [](CompressionView const& v) {
         std::string const& given = v.levers().compression->parameter;
         return given.empty() ? std::nullopt : std::optional{given};
     }},
    {"elements", "Gradients of the vector.",
     [](CompressionView const& v) { return v.answer->question.size.size / v.levers().element; }},
    {"bytes_per_element", "Size of a gradient before compression.",
     [](CompressionView const& v) { return v.levers().element; }},
    {"rows", "Compressed steps, by ranks.", [](CompressionView const& v) { return v.answer->compressed; }},
};
constexpr FieldTable compression_table = field_table<CompressionView>("compression", compression_rows);
FieldTable const& field_table_of(CompressionView const*) { return compression_table; }

std::optional<CompressionView> compression_of(CommAnswer const& answer) {
    return answer.question.levers.compression ? std::optional{CompressionView{&answer}} : std::nullopt;
}

constexpr Field lever_rows[] = {
    {"ranks", "Ranks that take part.", member<&CommLever::ranks>},
    {"lever", "Change: plain (none), compressed, local steps or buckets.", member<&CommLever::kind>},
    {"bytes_per_step", "Bytes of the vectors that are exchanged.", member<&CommLever::bytes>},
    {"collectives_per_step", "Collectives of a step, on average.", member<&CommLever::count>},
    {"seconds", "Communication of a step, on average.", member<&CommLever::time>},
    {"exposed_seconds", "Part of it that does not overlap with the backward pass.", member<&CommLever::exposed>},
    {"plain_seconds", "Communication of a step without any change.", member<&CommLever::plain>},
    {"exposed_over_plain", "Exposed communication over that of a step without any change.",
     [](CommLever const& lever) {
         return lever.plain > Seconds{} ? std::optional{lever.exposed / lever.plain} : std::nullopt;
     }},
};
constexpr FieldTable lever_table = field_table<CommLever>("comm_lever", lever_rows);

// ---- contention and measured times --------------------------------------------------------------------------------------

constexpr Field link_use_rows[] = {
    {"link", "Name of the link.", member<&LinkUse::name>},
    {"bytes", "Bytes that it carries.", member<&LinkUse::carried>},
    {"utilisation", "Share of the bytes that it could carry until the last group is done.",
     member<&LinkUse::utilisation>},
};
constexpr FieldTable link_use_table = field_table<LinkUse>("link_use", link_use_rows);

constexpr Field contended_rows[] = {
    {"ranks", "Ranks of a group.", member<&CommContended::ranks>},
    {"groups", "Groups that run the collective at once.", member<&CommContended::groups>},
    {"stride", "Places between the ranks of a group.", member<&CommContended::stride>},
    {"topology", "Name of the topology.", member<&CommContended::topology>},
    {"algorithm", "Algorithm of the groups.", member<&CommContended::algorithm>},
    {"alone_seconds", "Time of a group that has the network to itself.",
     [](CommContended const& c) { return c.time.groups.front().alone; }},
    {"together_seconds", "Time of all groups at once.",
     [](CommContended const& c) { return c.time.groups.front().together; }},
    {"slowdown", "Time together over time alone.",
     [](CommContended const& c) { return c.time.groups.front().slowdown(); }},
    {"messages", "Messages of all groups.", [](CommContended const& c) { return c.time.messages; }},
    {"busiest", "Links that are used most.", [](CommContended const& c) { return c.time.busiest; }},
};
constexpr FieldTable contended_table = field_table<CommContended>("contention", contended_rows);

constexpr Field measured_rows[] = {
    {"ranks", "Ranks that take part.", [](CommMeasured const& m) { return m.measured.ranks; }},
    {"size_bytes", "Size of the whole vector.", [](CommMeasured const& m) { return m.measured.size.size; }},
    {"measured_seconds", "Measured time.", [](CommMeasured const& m) { return m.measured.time; }},
    {"predicted_seconds", "Time of the fastest formula.",
     [](CommMeasured const& m) { return m.predicted.time.total(); }},
    {"predicted_over_measured", "Ratio of the two.",
     [](CommMeasured const& m) { return m.predicted.time.total() / m.measured.time; }},
    {"algorithm", "Algorithm of the fastest formula.", [](CommMeasured const& m) { return m.predicted.algorithm; }},
    {"nccl_seconds", "Time that NCCL's tuning model estimates; null without one.", member<&CommMeasured::nccl>},
    {"file", "File of the measured time.", [](CommMeasured const& m) { return m.measured.file; }},
    {"line", "Line of that file.", [](CommMeasured const& m) { return m.measured.line; }},
};
constexpr FieldTable measured_table = field_table<CommMeasured>("measured_collective", measured_rows);

// ---- the answer -------------------------------------------------------------------------------------------------------

constexpr std::string_view sizes_counted =
    "size is the whole vector in bytes, counted once: for all_gather, reduce_scatter, scatter and gather the sum over "
    "ranks, for all_to_all what one rank holds for all ranks, for the others the vector of one rank";

constexpr Field answer_rows[] = {
    {"size_convention", "Convention by which sizes are counted, in words.",
     [](CommAnswer const&) { return sizes_counted; }},
    {"collective", "Collective, parameter_server or actor_learner.",
     [](CommAnswer const& a) { return a.question.movement; }},
    {"network", "Network that data moves over.", [](CommAnswer const& a) { return a.question.network; }},
    {"complete", "False after an interruption: rows hold the numbers of ranks that were finished.",
     member<&CommAnswer::complete>},
    {"rows", "Times of every algorithm, by ranks and size.", member<&CommAnswer::rows>},
    {"fastest", "Fastest algorithm of each number of ranks and size.", from<fastest_of>},
    {"crossovers", "Sizes at which the fastest algorithm changes.", member<&CommAnswer::crossovers>},
    {"left_out", "Algorithms that have no row, with the reason.", member<&CommAnswer::left_out>},
    {"nccl", "Choices of NCCL by its tuning model; null where it has none.",
     [](CommAnswer const& a) { return if_any(a.nccl); }},
    {"compression", "Gradient compression; null without it.", from<compression_of>},
    {"levers", "Changes of the plain all-reduce; null without any.",
     [](CommAnswer const& a) { return if_any(a.levers); }},
    {"contention", "Groups that share links; null without --topology.",
     [](CommAnswer const& a) { return if_any(a.contention); }},
    {"measured", "Measured times and predictions; null without --measured.",
     [](CommAnswer const& a) { return if_any(a.measured); }},
    {"assumptions", "Conditions that hold for the whole answer, in words.", from<assumptions_of>},
    {"notes", "Origin of measured links, and reasons for measured links that are not used.",
     [](CommAnswer const& a) { return a.question.network.notes; }},
};
constexpr FieldTable answer_table = field_table<CommAnswer>("comm", answer_rows);

} // namespace

FieldTable const& field_table_of(CommPod const*) { return pod_table; }
FieldTable const& field_table_of(CommNetwork const*) { return network_table; }
FieldTable const& field_table_of(SimulatedCollective const*) { return simulated_table; }
FieldTable const& field_table_of(ActorLearnerTime const*) { return parts_table; }
FieldTable const& field_table_of(CommRow const*) { return row_table; }
FieldTable const& field_table_of(CommCrossover const*) { return crossover_table; }
FieldTable const& field_table_of(CommLeftOut const*) { return left_out_table; }
FieldTable const& field_table_of(CommNccl const*) { return nccl_table; }
FieldTable const& field_table_of(CommSent const*) { return sent_table; }
FieldTable const& field_table_of(CommCompressed const*) { return compressed_table; }
FieldTable const& field_table_of(CommLever const*) { return lever_table; }
FieldTable const& field_table_of(LinkUse const*) { return link_use_table; }
FieldTable const& field_table_of(CommContended const*) { return contended_table; }
FieldTable const& field_table_of(CommMeasured const*) { return measured_table; }
FieldTable const& field_table_of(CommAnswer const*) { return answer_table; }

} // namespace headroom::network

namespace headroom {

FieldTable const& field_table_of(Link const*) {
    using namespace headroom::network;
    static constexpr Field rows[] = {
        {"bandwidth_bytes_per_second", "Bandwidth of the link, each way.", member<&Link::bandwidth>},
        {"latency_seconds", "Latency of one message.", member<&Link::latency>},
    };
    static constexpr FieldTable table = field_table<Link>("link", rows);
    return table;
}

} // namespace headroom
