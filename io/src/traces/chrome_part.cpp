#include "traces/chrome_part.hpp"

#include "traces/chrome_numbers.hpp"

#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace headroom::io {

using namespace headroom::trace;

namespace {

using enum ChromeKey;

constexpr std::size_t longest_name = std::size_t{1} << 20;

struct CategoryRow {
    std::string_view name;
    ChromeCategory category;
};

/// In small letters. Kineto's since torch 1.8, NVIDIA's, AMD's and those of other accelerators; rocprofv3's and
/// rocprof-sys', which puts "rocm_" before them.
constexpr std::array category_rows{CategoryRow{"kernel", ChromeCategory::kernel},
                                   CategoryRow{"concurrent_kernel", ChromeCategory::kernel},
                                   CategoryRow{"gpu_memcpy", ChromeCategory::copy},
                                   CategoryRow{"kernel_dispatch", ChromeCategory::kernel},
                                   CategoryRow{"gpu_memset", ChromeCategory::copy},
                                   CategoryRow{"memory_copy", ChromeCategory::copy},
                                   CategoryRow{"memcpy", ChromeCategory::copy},
                                   CategoryRow{"memset", ChromeCategory::copy},
                                   CategoryRow{"cuda_sync", ChromeCategory::device_wait},
                                   CategoryRow{"gpu_user_annotation", ChromeCategory::device_annotation},
                                   CategoryRow{"cuda_runtime", ChromeCategory::call},
                                   CategoryRow{"cuda_driver", ChromeCategory::call},
                                   CategoryRow{"runtime", ChromeCategory::call},
                                   CategoryRow{"hip_runtime", ChromeCategory::call},
                                   CategoryRow{"hip_driver", ChromeCategory::call},
                                   CategoryRow{"hip_api", ChromeCategory::call},
                                   CategoryRow{"hsa_api", ChromeCategory::call},
                                   CategoryRow{"xpu_runtime", ChromeCategory::call},
                                   CategoryRow{"mtia_runtime", ChromeCategory::call},
                                   CategoryRow{"mtia_ccp_events", ChromeCategory::call},
                                   CategoryRow{"privateuse1_runtime", ChromeCategory::call},
                                   CategoryRow{"privateuse1_driver", ChromeCategory::call},
                                   CategoryRow{"cpu_op", ChromeCategory::operation},
                                   CategoryRow{"operator", ChromeCategory::operation},
                                   CategoryRow{"user_annotation", ChromeCategory::annotation},
                                   CategoryRow{"marker_api", ChromeCategory::annotation},
                                   CategoryRow{"comm", ChromeCategory::communication},
                                   CategoryRow{"communication", ChromeCategory::communication},
                                   CategoryRow{"collective", ChromeCategory::communication},
                                   CategoryRow{"nccl", ChromeCategory::communication},
                                   CategoryRow{"python_function", ChromeCategory::left_out},
                                   CategoryRow{"python function", ChromeCategory::left_out},
                                   CategoryRow{"overhead", ChromeCategory::left_out},
                                   CategoryRow{"trace", ChromeCategory::left_out},
                                   CategoryRow{"cuda_event", ChromeCategory::left_out},
                                   CategoryRow{"cuda_profiler_range", ChromeCategory::left_out},
                                   CategoryRow{"gpu_pm_counter", ChromeCategory::left_out},
                                   CategoryRow{"cpu_instant_event", ChromeCategory::left_out}};

/// Whether a compiled program's category of operations exchanges data: "all-gather fusion", "all-reduce".
bool names_exchange(std::string_view category) {
    return category.find("all-") != std::string_view::npos ||
           category.find("reduce-scatter") != std::string_view::npos ||
           category.find("collective") != std::string_view::npos;
}

std::int32_t narrow(std::int64_t number) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
}

/// Identifiers of launches in 32 bits. Negative ones, which AMD's have, tie nothing.
std::uint32_t short_correlation(std::int64_t number) {
    if (number <= 0) { return 0; }
    auto const bits = static_cast<std::uint64_t>(number);
    return static_cast<std::uint32_t>(bits ^ bits >> 32);
}

/// The number that `text` ends with: of "stream 7".
std::optional<std::int64_t> trailing_number(std::string_view text) {
    std::size_t at = text.size();
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && text.size() - at < 18) { --at; }
    if (at == text.size()) { return {}; }
    std::int64_t number = 0;
    for (char const digit : text.substr(at)) { number = number * 10 + (digit - '0'); }
    return number;
}

/// Keys whose values intervals of a category need; those of a collective or of shapes where they are there.
std::uint32_t keys_of(ChromeEvent const& event, ChromeCategory which) {
    constexpr std::uint32_t all = ChromeEvent::bits(ChromeKey::name, process, thread, time, duration,
                                                    ChromeKey::correlation, rank, ChromeKey::step_number);
    std::uint32_t keys = all;
    if (event.has(collective)) { return ~0U; }
    if (event.has(ChromeKey::shapes)) { keys |= ChromeEvent::bits(ChromeKey::shapes, types); }
    if (which <= ChromeCategory::device_annotation) { keys |= ChromeEvent::bits(stream, ChromeKey::device); }
    if (which == ChromeCategory::device_wait) { keys |= ChromeEvent::bits(awaited_stream, awaited_record); }
    if (which == ChromeCategory::kernel) { keys |= ChromeEvent::bit(external); }
    if (which == ChromeCategory::copy) { keys |= ChromeEvent::bit(bytes); }
    if (event.has(operation_category)) { keys |= ChromeEvent::bit(operation_category); }
    return keys;
}

std::size_t slot_of(ChromePart::Lane const& lane) {
    auto const bits = static_cast<std::uint64_t>(lane.process) * 0x9e3779b97f4a7c15U +
                      static_cast<std::uint64_t>(lane.thread) * 2 + (lane.device ? 1 : 0);
    return bits * 0xe7037ed1a0b428dbU >> 58;
}

} // namespace

bool is_of_profiler(ChromeCategory category) {
    return category != ChromeCategory::none && category != ChromeCategory::communication;
}

ChromeCategory chrome_category(std::string_view category) {
    std::string small(category.substr(0, 32));
    for (char& letter : small) {
        if (letter >= 'A' && letter <= 'Z') { letter = static_cast<char>(letter | 0x20); }
    }
    std::string_view const word = std::string_view{small}.substr(small.starts_with("rocm_") ? 5 : 0);
    auto const row = std::find_if(category_rows.begin(), category_rows.end(),
                                  [&](CategoryRow const& known) { return known.name == word; });
    return row == category_rows.end() ? ChromeCategory::none : row->category;
}

ChromeCategory ChromePart::category_of(ChromeEvent const& event) {
    std::string_view const text = event.text_of(category);
    if (text.size() < 4) { return ChromeCategory::none; }
    std::uint64_t first = 0, last = 0;
    if (text.size() >= 8) {
        __builtin_memcpy(&first, text.data(), 8);
        __builtin_memcpy(&last, text.data() + text.size() - 8, 8);
    } else {
        __builtin_memcpy(&first, text.data(), 4);
        __builtin_memcpy(&last, text.data() + text.size() - 4, 4);
    }
    auto& cached = category_cache_[((first + last * 3 + text.size()) * 0x9e3779b97f4a7c15U) >> 58];
    bool const same = cached.size == text.size() && cached.first == first && cached.last == last;
    if (same && text.size() <= 16) { return cached.category; }
    cached = {first, last, text.size(), chrome_category(text)};
    bool const of_rocprof = text.ends_with("_api") || text.ends_with("_dispatch") || text.ends_with("memory_copy");
    is_kineto = is_kineto || (is_of_profiler(cached.category) && !of_rocprof);
    return cached.category;
}

ChromePart::Place ChromePart::place_of(ChromeEvent const& event, ChromeKey key) {
    if (event.is_number(key)) { return event.number_of(key); }
    std::string_view const text = event.text_of(key);
    return text.empty() ? 0 : word_base + words.raw(text.substr(0, longest_name));
}

std::uint32_t ChromePart::lane_of(ChromeEvent const& event, bool device) {
    Lane wanted{device, 0, 0};
    if (device) {
        auto const number = [&](ChromeKey inner, ChromeKey outer) -> Place {
            if (event.is_number(inner)) { return event.number_of(inner); }
            if (event.is_number(outer)) { return event.number_of(outer); }
            auto const stated = trailing_number(event.text_of(outer));
            return stated ? *stated : place_of(event, outer);
        };
        wanted.process = number(ChromeKey::device, process);
        wanted.thread = number(stream, thread);
    } else {
        wanted.process = place_of(event, process);
        wanted.thread = place_of(event, thread);
    }
    auto& cached = lane_cache_[slot_of(wanted)];
    if (!cached.set || cached.lane != wanted) { cached = {wanted, lane_number(wanted), true}; }
    return cached.number;
}

std::uint32_t ChromePart::lane_number(Lane wanted) {
    auto const [known, is_new] = lane_numbers_.try_emplace(wanted, static_cast<std::uint32_t>(lanes.size()));
    if (is_new) { lanes.push_back(wanted); }
    return known->second;
}

std::uint32_t ChromePart::thread_number(Lane wanted) {
    auto const [known, is_new] = thread_numbers_.try_emplace(wanted, static_cast<std::uint32_t>(threads.size()));
    if (is_new) { threads.push_back(wanted); }
    return known->second;
}

std::uint32_t ChromePart::thread_of_edge(ChromeEvent const& event) {
    bool const by_id = event.text_of(phase) == "b" || event.text_of(phase) == "e";
    return thread_number({by_id, place_of(event, process), place_of(event, by_id ? id : thread)});
}

ChromePart::NameTraits ChromePart::traits_of(std::uint32_t number) {
    for (std::size_t at = traits_.size(); at < names.size(); ++at) {
        std::string_view const text = names[static_cast<std::uint32_t>(at)];
        traits_.push_back({names_communication(text), names_synchronization(text), names_data_loading(text),
                           text == "record_param_comms"});
    }
    return traits_[number];
}

void ChromePart::count_oddities(ChromeEvent const& event) {
    if (event.repeated != 0) {
        faults.count(ChromeFault::duplicate_key, event.at,
                     static_cast<std::uint64_t>(__builtin_popcount(event.repeated)));
    }
    auto const of_time = ChromeEvent::bits(time, duration); // faults of their own
    if (std::uint32_t const broken = event.broken & ~of_time; broken != 0) {
        faults.count(ChromeFault::not_a_number, event.at, static_cast<std::uint64_t>(__builtin_popcount(broken)));
    }
    auto const times = event.quoted & event.numbers & of_time;
    if (times != 0) { faults.count(ChromeFault::number_as_text, event.at); }
}

void ChromePart::keep(ChromeEvent& event, ChromeScanner const& scanner) {
    ++events;
    scanner.read_phase(event);
    std::string_view const what = event.text_of(phase);
    switch (what.size() == 1 ? what[0] : '\0') {
    case 'X': return add_span(event, scanner, true);
    case 'b': scanner.read(event, ChromeEvent::bit(id)); [[fallthrough]];
    case 'B': return add_span(event, scanner, false);
    case 'e':
    case 'E':
        scanner.read(event, ChromeEvent::bits(process, thread, time, id));
        if (measured(event, false)) {
            edges.push_back({no_span, thread_of_edge(event), event.number_of(time), event.at});
        }
        break;
    case 'M':
        scanner.read(event, ChromeEvent::bits(process, thread, ChromeKey::name, label));
        add_lane_name(event);
        break;
    case '\0': faults.count(ChromeFault::no_event, event.at); break;
    default: break;
    }
    scanner.read_strings(event, ChromeEvent::bits(time, duration));
    count_oddities(event);
}

bool ChromePart::measured(ChromeEvent const& event, bool with_duration) {
    constexpr std::int64_t far = std::int64_t{1} << 62;
    if (!event.is_number(time)) {
        faults.count(ChromeFault::no_time, event.at);
        return false;
    }
    if (!with_duration) { return true; }
    if (!event.is_number(duration)) {
        faults.count(ChromeFault::no_duration, event.at);
        return false;
    }
    std::int64_t const from = event.number_of(time), length = event.number_of(duration);
    if (length < 0) { faults.count(ChromeFault::negative_duration, event.at); }
    if (length > 0 && from > far - length) {
        faults.count(ChromeFault::out_of_range, event.at);
        return false;
    }
    return true;
}

void ChromePart::add_span(ChromeEvent& event, ChromeScanner const& scanner, bool complete) {
    scanner.read_category(event);
    ChromeCategory const which = category_of(event);
    std::uint32_t const wanted = which == ChromeCategory::left_out ? 0 : keys_of(event, which);
    scanner.read(event, wanted & ~ChromeEvent::bits(phase, category));
    if (which == ChromeCategory::left_out) { scanner.read_strings(event, ChromeEvent::bits(time, duration)); }
    count_oddities(event);
    if (which == ChromeCategory::left_out || !measured(event, complete)) { return; }
    if (!event.has(ChromeKey::name)) { faults.count(ChromeFault::no_name, event.at); }
    if (!event.has(process) || !event.has(thread)) { faults.count(ChromeFault::no_thread, event.at); }
    std::string_view text = event.text_of(ChromeKey::name);
    if (text.size() > longest_name) {
        text = text.substr(0, longest_name);
        faults.count(ChromeFault::long_text, event.at);
    }
    std::uint32_t const named = names.raw(text);
    SpanKind const what = kind_of(event, which, named);
    bool const device = which <= ChromeCategory::device_annotation;
    std::int64_t const from = event.number_of(time);
    auto const span = static_cast<std::uint32_t>(size());
    begin.push_back(from);
    end.push_back(complete ? from + std::max<std::int64_t>(event.number_of(duration), 0) : from);
    lane.push_back(lane_of(event, device));
    name.push_back(named);
    kind.push_back(what);
    correlation.push_back(short_correlation(event.number_of(ChromeKey::correlation)));
    if (!complete) { edges.push_back({span, thread_of_edge(event), from, event.at}); }
    add_sides(event, which, span, what);
}

SpanKind ChromePart::kind_of(ChromeEvent const& event, ChromeCategory which, std::uint32_t named) {
    switch (which) {
    case ChromeCategory::kernel:
        return event.has(collective) || traits_of(named).communicates ? SpanKind::communication : SpanKind::compute;
    case ChromeCategory::copy: return SpanKind::memory;
    case ChromeCategory::device_wait: return SpanKind::device_wait;
    case ChromeCategory::call: return traits_of(named).synchronizes ? SpanKind::synchronization : SpanKind::launch;
    case ChromeCategory::annotation: // a loader's range is work of the host, whose calls nobody records
        return traits_of(named).loads_data ? SpanKind::host : SpanKind::annotation;
    case ChromeCategory::device_annotation: return SpanKind::annotation;
    case ChromeCategory::communication: return SpanKind::communication;
    default: return names_exchange(event.text_of(operation_category)) ? SpanKind::communication : SpanKind::host;
    }
}

void ChromePart::add_sides(ChromeEvent const& event, ChromeCategory which, std::uint32_t span, SpanKind what) {
    if (event.is_number(rank) && can_be_rank(event.number_of(rank))) { ranks.push_back({span, event.number_of(rank)}); }
    bool const of_host = which > ChromeCategory::device_annotation;
    if (of_host && event.is_number(ChromeKey::step_number)) {
        step_ranges.push_back({span, event.number_of(ChromeKey::step_number)});
    }
    if (what == SpanKind::memory && event.is_number(bytes)) { copies.push_back({span, event.number_of(bytes)}); }
    if (what == SpanKind::device_wait && event.number_of(awaited_stream, -1) >= 0) {
        Lane const stream{true, lanes[lane[span]].process, event.number_of(awaited_stream)};
        awaits.push_back({span, stream, short_correlation(event.number_of(awaited_record))});
    }
    if (what == SpanKind::communication) {
        if (event.has(collective)) {
            collectives.push_back(collective_of(event, span));
        } else if (event.is_number(external)) {
            bare.push_back({event.number_of(external), {.span = span}});
        }
    }
    if (which == ChromeCategory::operation && event.has(collective) && traits_of(name[span]).parameters) {
        calls.push_back({event.number_of(external), collective_of(event, span)});
    }
    if (event.has(ChromeKey::shapes)) { add_shape(event, span); }
}

TracedCollective ChromePart::collective_of(ChromeEvent const& event, std::uint32_t span) {
    TracedCollective call{.span = span};
    scratch_.clear();
    for (ChromeKey const key : {group_name, group_description, group_ranks}) {
        if (event.is_number(key)) {
            scratch_ += std::to_string(event.number_of(key));
        } else {
            scratch_ += event.text_of(key);
        }
        scratch_ += '\0';
    }
    call.group = group_texts.raw(scratch_);
    scratch_ = event.text_of(collective);
    bool const sends = scratch_.ends_with("send"), receives = scratch_.ends_with("recv");
    std::int64_t const peer = event.number_of(sends ? to_rank : from_rank, -1);
    if ((sends || receives) && peer >= 0) { // "send ->1", "recv <-0"
        scratch_ += (sends ? " ->" : " <-") + std::to_string(peer);
    }
    call.what = collective_names.raw(scratch_);
    call.sequence = event.number_of(ChromeKey::sequence, -1);
    call.elements_in = event.number_of(elements_in);
    call.elements_out = event.number_of(elements_out);
    call.element_bytes = element_bytes_of(event.text_of(element_type));
    call.group_size = narrow(event.number_of(ChromeKey::group_size));
    return call;
}

/// Shapes without a dimension in them say nothing, and most are such.
void ChromePart::add_shape(ChromeEvent const& event, std::uint32_t span) {
    std::string_view const list = event.text_of(ChromeKey::shapes);
    bool const says = std::any_of(list.begin(), list.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
    if (!says || list.size() > longest_name) { return; }
    scratch_ = list;
    scratch_ += '\0';
    scratch_ += event.text_of(types).substr(0, longest_name);
    shapes.push_back({span, shape_texts.raw(scratch_)});
}

void ChromePart::add_lane_name(ChromeEvent const& event) {
    std::string_view const what = event.text_of(ChromeKey::name);
    bool const of_process = what == "process_name";
    if ((!of_process && what != "thread_name") || !event.has(label)) { return; }
    std::string_view const text = event.text_of(label).substr(0, 256);
    if (text.empty()) { return; }
    Place const of = place_of(event, process); // first: words are numbered in the order of reading
    Place const within = of_process ? 0 : place_of(event, thread);
    (of_process ? process_names : lane_names).push_back({of, within, words.raw(text)});
}

} // namespace headroom::io
