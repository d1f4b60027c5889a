#include "headroom/document/chrome_trace.hpp"

#include "headroom/document/json.hpp"

namespace headroom::document {
namespace {

void add_number(std::string& out, std::string_view key, std::int64_t value) {
    out += ",\"";
    out += key;
    out += "\":";
    out += std::to_string(value);
}

void add_text(std::string& out, std::string_view key, std::string_view value) {
    out += ",\"";
    out += key;
    out += "\":";
    append_json_string(out, value);
}

} // namespace

ChromeTrace::ChromeTrace(std::string_view tick, std::size_t events) {
    out_.reserve(160 * events + 256);
    out_ += "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tick\":";
    append_json_string(out_, tick);
    out_ += "},\"traceEvents\":[\n";
}

void ChromeTrace::begin_event() {
    if (!empty_) { out_ += ",\n"; }
    empty_ = false;
}

void ChromeTrace::name_process(int process, std::string_view name) {
    begin_event();
    out_ += R"({"ph":"M","name":"process_name")";
    add_number(out_, "pid", process);
    out_ += R"(,"args":{"name":)";
    append_json_string(out_, name);
    out_ += "}},\n";
    out_ += R"({"ph":"M","name":"process_sort_index")";
    add_number(out_, "pid", process);
    out_ += R"(,"args":{"sort_index":)" + std::to_string(process) + "}}";
}

void ChromeTrace::name_thread(int process, int thread, std::string_view name) {
    begin_event();
    out_ += R"({"ph":"M","name":"thread_name")";
    add_number(out_, "pid", process);
    add_number(out_, "tid", thread);
    out_ += R"(,"args":{"name":)";
    append_json_string(out_, name);
    out_ += "}}";
}

void ChromeTrace::add(TraceEvent const& event, std::span<TraceArgument const> arguments) {
    begin_event();
    out_ += "{\"ph\":\"X\"";
    add_text(out_, "name", event.name);
    add_text(out_, "cat", event.category);
    add_number(out_, "pid", event.process);
    add_number(out_, "tid", event.thread);
    out_ += ",\"ts\":" + event.begin + ",\"dur\":" + event.duration + ",\"args\":{";
    bool first = true;
    for (TraceArgument const& argument : arguments) {
        if (!first) { out_ += ','; }
        first = false;
        append_json_string(out_, argument.name);
        out_ += ':';
        if (auto const* number = std::get_if<std::int64_t>(&argument.value)) {
            out_ += std::to_string(*number);
        } else {
            append_json_string(out_, std::get<std::string_view>(argument.value));
        }
    }
    out_ += "}}";
}

void ChromeTrace::add_arrow(TraceArrow const& arrow) {
    auto const add_end = [&](std::string_view head, int process, int thread, std::string const& time) {
        begin_event();
        out_ += head;
        add_text(out_, "name", arrow.name);
        add_text(out_, "cat", arrow.name);
        add_number(out_, "id", arrow.number);
        add_number(out_, "pid", process);
        add_number(out_, "tid", thread);
        out_ += ",\"ts\":" + time + "}";
    };
    add_end(R"({"ph":"s")", arrow.from_process, arrow.from_thread, arrow.from_time);
    add_end(R"({"ph":"f","bp":"e")", arrow.to_process, arrow.to_thread, arrow.to_time);
}

void ChromeTrace::add_counter(TraceCounter const& counter) {
    begin_event();
    out_ += R"({"ph":"C")";
    add_text(out_, "name", counter.name);
    add_number(out_, "pid", counter.process);
    out_ += ",\"ts\":" + counter.time + ",\"args\":{";
    append_json_string(out_, counter.quantity);
    out_ += ':' + std::to_string(counter.value) + "}}";
}

std::string ChromeTrace::text() && {
    out_ += "\n]}\n";
    return std::move(out_);
}

std::string microseconds_of(std::int64_t picoseconds) {
    constexpr std::int64_t per_microsecond = 1'000'000;
    std::string text = std::to_string(picoseconds / per_microsecond);
    std::int64_t const rest = picoseconds % per_microsecond;
    if (rest == 0) { return text; }
    std::string const digits = std::to_string(rest);
    text += '.' + std::string(6 - digits.size(), '0') + digits;
    return text.erase(text.find_last_not_of('0') + 1);
}

} // namespace headroom::document
