#include "traces/execution_nodes.hpp"

#include "traces/json_feed.hpp"
#include "traces/trace_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::io {

namespace {

constexpr std::size_t deepest = 64, longest_text = 4096, most_dependencies = 1 << 20;

/// Role of a list or an object in the text.
enum class ExecutionPlace : std::uint8_t {
    top,
    nodes,
    node,
    data,
    control,
    inputs,
    values_in,
    values_out,
    shapes,
    types,
    outputs,
    attributes,
    attribute,
    skipped
};

/// A value that is neither a list nor an object.
struct ExecutionScalar {
    std::optional<double> number;
    std::optional<std::uint64_t> whole;
    std::string_view text;
    bool is_text = false;
};

/// Follows the events of nlohmann's parser; the public functions are its interface.
class ExecutionReader {
public:
    ExecutionReader(ExecutionText& about, JsonFeed& feed, std::function<void(ExecutionNode&)> const& take)
        : about_{about}, feed_{feed}, take_{take} {}

    bool null() { return value({}); }
    bool boolean(bool truth) { return value({.number = truth ? 1.0 : 0.0, .whole = truth ? 1U : 0U, .text = {}}); }
    bool number_integer(std::int64_t number) {
        return value({.number = static_cast<double>(number), .whole = {}, .text = {}});
    }
    bool number_unsigned(std::uint64_t number) {
        return value({.number = static_cast<double>(number), .whole = number, .text = {}});
    }
    bool number_float(double number, std::string const&) { return value({.number = number, .whole = {}, .text = {}}); }
    bool string(std::string const& text) { return value({.number = {}, .whole = {}, .text = text, .is_text = true}); }
    bool binary(std::vector<std::uint8_t> const&) { return true; } // JSON has none
    bool start_object(std::size_t) { return start(true); }
    bool start_array(std::size_t) { return start(false); }
    bool key(std::string const& key);
    bool end_object() { return end(); }
    bool end_array() { return end(); }
    bool parse_error(std::size_t, std::string const&, nlohmann::json::exception const& error) {
        std::string_view const what = error.what();
        bool const at_end = what.find("end of input") != std::string_view::npos ||
                            what.find("missing closing quote") != std::string_view::npos;
        about_.problem = at_end ? "cut short" : "not valid JSON";
        return false;
    }

private:
    bool value(ExecutionScalar const& scalar);
    bool start(bool object);
    bool end();
    [[nodiscard]] ExecutionPlace opened(bool object) const;
    [[nodiscard]] ExecutionPlace opened_in_node(bool object) const;
    void node_value(ExecutionScalar const& scalar);
    void tensor_value(ExecutionScalar const& scalar);
    void end_attribute();
    void write(std::string_view text);

    ExecutionText& about_;
    JsonFeed& feed_;
    std::function<void(ExecutionNode&)> const& take_;
    std::vector<ExecutionPlace> open_;
    std::string key_;
    ExecutionNode node_;
    std::string attribute_; ///< its name
    ExecutionScalar attribute_value_;
    std::string attribute_text_;
    std::size_t numbers_ = 0;                             ///< at the start of the innermost list
    std::array<double, 5> tensor_{};                      ///< they
    std::vector<std::optional<std::uint64_t>> arguments_; ///< of the operator, until its first text
};

std::uint64_t whole_of(ExecutionScalar const& scalar) {
    if (scalar.whole) { return *scalar.whole; }
    std::uint64_t number = 0;
    if (scalar.is_text) { std::from_chars(scalar.text.data(), scalar.text.data() + scalar.text.size(), number); }
    return number;
}

/// "COMM_COLL_NODE" or its number.
std::uint64_t node_type(ExecutionScalar const& scalar) {
    constexpr std::array<std::string_view, 8> names{"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                                    "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                                    "COMM_RECV_NODE", "COMM_COLL_NODE"};
    auto const row = std::ranges::find(names, scalar.text);
    return row == names.end() ? whole_of(scalar) : static_cast<std::uint64_t>(row - names.begin());
}

bool is_one_of(std::string_view key, std::initializer_list<std::string_view> keys) {
    return std::ranges::find(keys, key) != keys.end();
}

bool ExecutionReader::key(std::string const& key) {
    key_ = key;
    auto const place = open_.back();
    if (place == ExecutionPlace::shapes || place == ExecutionPlace::types) { write(key + ": "); }
    return true;
}

/// Lists of shapes and types are kept as they are written.
void ExecutionReader::write(std::string_view text) {
    std::string& to = open_.back() == ExecutionPlace::types ? node_.types : node_.shapes;
    if (to.size() > longest_text) { return; }
    if (!to.empty() && to.back() != '[' && text != "]") { to += ", "; }
    to += text;
}

void ExecutionReader::node_value(ExecutionScalar const& scalar) {
    ChakraNode& node = node_.chakra;
    if (key_ == "id" || key_ == "Id") { node.id = whole_of(scalar); }
    if (key_ == "name" || key_ == "Name") { node_.name = plain_name(scalar.text); }
    if (key_ == "NodeType" || key_ == "type") { node.type = node_type(scalar); }
    if (is_one_of(key_, {"runtime", "duration_micros", "durationMicros"})) { node.micros = whole_of(scalar); }
    if (is_one_of(key_, {"start_time_micros", "startTimeMicros"})) { node.start = whole_of(scalar); }
    if (is_one_of(key_, {"ctrl_deps", "parent"}) && scalar.whole) { node_.control.push_back(*scalar.whole); }
    if (!scalar.number) { return; }
    if (key_ == "is_cpu_op") { node.on_cpu = *scalar.number != 0.0; }
    if (key_ == "tid") { node.thread = scalar.number; }
    if (key_ == "stream") { node.stream = scalar.number; }
    if (key_ == "comm_type") { node.comm_type = scalar.number; }
    if (key_ == "comm_size" && *scalar.number >= 0.0) { node.bytes = *scalar.number; }
}

/// A tensor is written as [number, storage, offset, elements, bytes of one, "device"]; the arguments of
/// record_param_comms before the collective's name are tensors, sequence, group and rank.
void ExecutionReader::tensor_value(ExecutionScalar const& scalar) {
    bool const outermost = open_.size() >= 2 && open_[open_.size() - 2] != open_.back();
    if (scalar.is_text && numbers_ == tensor_.size() && tensor_[3] >= 0.0 && tensor_[3] < 0x1p53) {
        TensorSizes& sizes = open_.back() == ExecutionPlace::values_in ? node_.in : node_.out;
        auto const elements = static_cast<std::int64_t>(tensor_[3]);
        if (__builtin_add_overflow(sizes.elements, elements, &sizes.elements)) { sizes.elements = 0; }
        if (tensor_[4] >= 1.0 && tensor_[4] <= 16.0) { sizes.element_bytes = static_cast<std::int32_t>(tensor_[4]); }
    }
    if (outermost && open_.back() == ExecutionPlace::values_in && node_.name == "record_param_comms" &&
        node_.collective.empty()) {
        if (scalar.is_text && arguments_.size() >= 2) {
            node_.collective = plain_name(scalar.text);
            auto const group = arguments_[arguments_.size() - 2];
            if (node_.group.empty() && group) { node_.group = std::to_string(*group); }
        } else if (arguments_.size() < 16) {
            arguments_.push_back(scalar.whole);
        }
    }
    bool const counts = scalar.number && !scalar.is_text && numbers_ < tensor_.size();
    if (counts) { tensor_[numbers_] = *scalar.number; }
    numbers_ = counts ? numbers_ + 1 : tensor_.size() + 1;
}

bool ExecutionReader::value(ExecutionScalar const& scalar) {
    if (open_.empty()) { return true; }
    switch (open_.back()) {
    case ExecutionPlace::top:
        if (key_ == "schema") { about_.schema = plain_name(scalar.text).substr(0, 64); }
        break;
    case ExecutionPlace::node: node_value(scalar); break;
    case ExecutionPlace::data:
        if (node_.data.size() < most_dependencies) { node_.data.push_back(whole_of(scalar)); }
        break;
    case ExecutionPlace::control:
        if (node_.control.size() < most_dependencies) { node_.control.push_back(whole_of(scalar)); }
        break;
    case ExecutionPlace::values_in:
    case ExecutionPlace::values_out: tensor_value(scalar); break;
    case ExecutionPlace::shapes:
    case ExecutionPlace::types:
        write(scalar.is_text ? plain_name(scalar.text) : std::to_string(whole_of(scalar)));
        break;
    case ExecutionPlace::attribute:
        if (key_ == "name") { attribute_ = scalar.text.substr(0, 64); }
        if (key_ == "value" || key_.ends_with("Val") || key_.ends_with("_val")) {
            attribute_text_ = plain_name(scalar.text);
            attribute_value_ = scalar;
            attribute_value_.text = {};
        }
        break;
    default: break;
    }
    return true;
}

ExecutionPlace ExecutionReader::opened_in_node(bool object) const {
    using enum ExecutionPlace;
    if (is_one_of(key_, {"data_deps", "dataDeps"})) { return data; }
    if (is_one_of(key_, {"ctrl_deps", "ctrlDeps"})) { return control; }
    if (key_ == "inputs") { return object ? inputs : values_in; }
    if (key_ == "outputs") { return object ? outputs : values_out; }
    if (key_ == "input_shapes") { return shapes; }
    if (key_ == "input_types") { return types; }
    return is_one_of(key_, {"attrs", "attr"}) ? attributes : skipped;
}

ExecutionPlace ExecutionReader::opened(bool object) const {
    using enum ExecutionPlace;
    if (open_.empty()) { return object ? top : skipped; }
    switch (open_.back()) {
    case top: return !object && is_one_of(key_, {"nodes", "workload_graph"}) ? nodes : skipped;
    case nodes: return object ? node : skipped;
    case node: return opened_in_node(object);
    case inputs: return key_ == "values" ? values_in : key_ == "shapes" ? shapes : key_ == "types" ? types : skipped;
    case outputs: return key_ == "values" ? values_out : skipped;
    case attributes: return object ? attribute : skipped;
    case values_in:
    case values_out:
    case shapes:
    case types: return open_.back();
    default: return skipped;
    }
}

bool ExecutionReader::start(bool object) {
    if (open_.size() >= deepest) {
        about_.problem = "nested too deeply";
        return false;
    }
    auto const next = opened(object);
    if (next == ExecutionPlace::nodes) { about_.from_pytorch = key_ == "nodes"; }
    if (next == ExecutionPlace::node) {
        node_ = {};
        arguments_.clear();
    }
    if (next == ExecutionPlace::attribute) { attribute_.clear(), attribute_text_.clear(), attribute_value_ = {}; }
    bool const of_tensors = next == ExecutionPlace::values_in || next == ExecutionPlace::values_out;
    bool const argument = of_tensors && open_.size() >= 2 && open_.back() == next && open_[open_.size() - 2] != next;
    if (argument && arguments_.size() < 16) { arguments_.emplace_back(); } // a list among the arguments
    if (of_tensors) { numbers_ = 0; }
    open_.push_back(next);
    if (next == ExecutionPlace::shapes || next == ExecutionPlace::types) { write("["); }
    return true;
}

void ExecutionReader::end_attribute() {
    auto const number = attribute_value_.number;
    ChakraNode& node = node_.chakra;
    if (attribute_ == "collective_name") { node_.collective = attribute_text_; }
    if (attribute_ == "dtype") { node_.element_type = attribute_text_; }
    if (attribute_ == "pg_name") { node_.group = attribute_text_; }
    if (attribute_ == "pg_desc") { node_.group_about = attribute_text_; }
    if (!number || !(std::abs(*number) < 0x1p53)) { return; }
    auto const whole = static_cast<std::int64_t>(*number);
    if (attribute_ == "in_msg_nelems") { node_.elements_in = whole; }
    if (attribute_ == "out_msg_nelems") { node_.elements_out = whole; }
    if (attribute_ == "pg_size" && whole > 0 && whole < (1 << 30)) {
        node.group_size = static_cast<std::int32_t>(whole);
    }
    if (attribute_ == "global_rank_start") { node_.first_rank = whole; }
    if (attribute_ == "global_rank_stride") { node_.rank_stride = whole; }
    if (attribute_ == "tid") { node.thread = number; }
    if (attribute_ == "stream") { node.stream = number; }
    if (attribute_ == "is_cpu_op") { node.on_cpu = *number != 0.0; }
    if (attribute_ == "comm_type") { node.comm_type = number; }
    if (attribute_ == "comm_size" && whole >= 0) { node.bytes = *number; }
}

bool ExecutionReader::end() {
    auto const ended = open_.back();
    if (ended == ExecutionPlace::shapes || ended == ExecutionPlace::types) { write("]"); }
    open_.pop_back();
    if (ended == ExecutionPlace::values_in || ended == ExecutionPlace::values_out) { numbers_ = tensor_.size() + 1; }
    if (ended == ExecutionPlace::attribute) { end_attribute(); }
    if (ended == ExecutionPlace::node) {
        ++about_.nodes;
        node_.at = feed_.byte();
        take_(node_);
    }
    return true;
}

} // namespace

ExecutionText read_execution_nodes(ByteSource& source, std::uint64_t most,
                                   std::function<void(ExecutionNode&)> const& take,
                                   std::function<void(std::string_view kind, std::uint64_t at_byte)> const& tell) {
    ExecutionText about;
    JsonFeed feed{source, most, tell};
    ExecutionReader reader{about, feed, take};
    nlohmann::json::sax_parse(JsonFeedIterator{feed}, JsonFeedIterator{}, &reader);
    about.bytes = feed.byte();
    if (!about.problem.empty()) { tell(about.problem, about.bytes); }
    return about;
}

void add_node(ChakraNodes& to, ExecutionNode const& node) {
    ChakraNode added = node.chakra;
    to.texts.push_back(node.name);
    added.name = to.texts.back();
    added.group = {};
    if (!node.group.empty()) {
        to.texts.push_back(node.group);
        added.group = to.texts.back();
    }
    added.first_data = to.data.size(), added.first_control = to.control.size();
    to.data.insert(to.data.end(), node.data.begin(), node.data.end());
    to.control.insert(to.control.end(), node.control.begin(), node.control.end());
    to.nodes.push_back(added);
}

} // namespace headroom::io
