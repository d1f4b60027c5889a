#include "headroom/error.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <array>

namespace headroom::trace {

using namespace headroom::network;

namespace {

struct Word {
    std::string_view part;
    Collective collective;
};

/// Parts of normalised words, the longer before those that they hold.
constexpr std::array words{
    Word{"reducescatter", Collective::reduce_scatter},
    Word{"allreduce", Collective::all_reduce},
    Word{"allgather", Collective::all_gather},
    Word{"alltoall", Collective::all_to_all},
    Word{"broadcast", Collective::broadcast},
    Word{"bcast", Collective::broadcast},
    Word{"barrier", Collective::barrier},
};

/// Words that name a collective only as the whole word.
constexpr std::array whole_words{
    Word{"send", Collective::point_to_point},
    Word{"recv", Collective::point_to_point},
    Word{"isend", Collective::point_to_point},
    Word{"irecv", Collective::point_to_point},
    Word{"recvanysource", Collective::point_to_point},
    Word{"batchisendirecv", Collective::point_to_point},
    Word{"reduce", Collective::reduce},
    Word{"reduceoop", Collective::reduce},
    Word{"gather", Collective::gather},
    Word{"scatter", Collective::scatter},
};

template <std::size_t N> std::optional<Collective> find_in(std::string_view text, std::array<Word, N> const& table) {
    auto const* const found =
        std::ranges::find_if(table, [&](Word const& word) { return text.find(word.part) != std::string_view::npos; });
    return found == table.end() ? std::nullopt : std::optional(found->collective);
}

/// "nccl:send 0->1": without the maker and the peers; "c10d::allreduce_" without the namespace.
std::string_view bare(std::string_view word) {
    if (auto const colon = word.rfind(':'); colon != std::string_view::npos) { word.remove_prefix(colon + 1); }
    return word.substr(0, word.find(' '));
}

bool is_expert_exchange(std::string_view name) {
    constexpr std::array parts{"deep_ep", "dpsk::ep",   "hybrid_ep", "MoeDistribute",
                               "moeA2A",  "EpDispatch", "EpCombine", "pplx::a2a_"};
    return std::ranges::any_of(parts, [&](char const* part) { return name.find(part) != std::string_view::npos; });
}

/// The name of a kernel without namespaces, templates and arguments, normalised.
std::string kernel_word(std::string_view name) {
    constexpr std::string_view nameless = "(anonymous namespace)::";
    if (auto const at = name.find(nameless); at != std::string_view::npos) { name.remove_prefix(at + nameless.size()); }
    return normalised(name.substr(0, name.find_first_of("(<")));
}

} // namespace

std::optional<Collective> traced_collective(std::string_view word) {
    std::string const text = normalised(bare(word));
    if (auto const found = find_in(text, words)) { return found; }
    auto const* const whole = std::ranges::find(whole_words, std::string_view(text), &Word::part);
    return whole == whole_words.end() ? std::nullopt : std::optional(whole->collective);
}

std::optional<Collective> collective_of_kernel(std::string_view name) {
    std::string const text = kernel_word(name);
    if (is_expert_exchange(name)) {
        bool const exchanges = text.find("dispatch") != std::string::npos || text.find("combine") != std::string::npos;
        return exchanges ? std::optional(Collective::all_to_all) : std::nullopt;
    }
    if (text.find("sendrecv") != std::string::npos) { return {}; }
    if (text.starts_with("hcomsend") || text.starts_with("hcomreceive")) { return Collective::point_to_point; }
    if (auto const found = find_in(text, words)) { return found; }
    if (text.find("crossdevicereduce") != std::string::npos) { return Collective::all_reduce; }
    constexpr std::array rest{Word{"kernelreduce", Collective::reduce}, Word{"ncclreduce", Collective::reduce},
                              Word{"kernelgather", Collective::gather}, Word{"kernelscatter", Collective::scatter}};
    return find_in(text, rest);
}

std::int32_t element_bytes_of(std::string_view data_type) {
    struct Width {
        std::string_view name;
        std::int32_t bytes;
    };
    constexpr std::array widths{Width{"float", 4},
                                Width{"float32", 4},
                                Width{"f32", 4},
                                Width{"fp32", 4},
                                Width{"double", 8},
                                Width{"float64", 8},
                                Width{"f64", 8},
                                Width{"fp64", 8},
                                Width{"half", 2},
                                Width{"float16", 2},
                                Width{"f16", 2},
                                Width{"fp16", 2},
                                Width{"bf16", 2},
                                Width{"bfloat16", 2},
                                Width{"long", 8},
                                Width{"longint", 8},
                                Width{"int64", 8},
                                Width{"i64", 8},
                                Width{"uint64", 8},
                                Width{"u64", 8},
                                Width{"int", 4},
                                Width{"int32", 4},
                                Width{"i32", 4},
                                Width{"uint32", 4},
                                Width{"u32", 4},
                                Width{"short", 2},
                                Width{"int16", 2},
                                Width{"uint16", 2},
                                Width{"char", 1},
                                Width{"int8", 1},
                                Width{"i8", 1},
                                Width{"byte", 1},
                                Width{"uint8", 1},
                                Width{"u8", 1},
                                Width{"bool", 1},
                                Width{"float8e4m3fn", 1},
                                Width{"float8e5m2", 1},
                                Width{"float8e4m3fnuz", 1},
                                Width{"float8e5m2fnuz", 1},
                                Width{"float8e8m0fnu", 1},
                                Width{"fp8", 1},
                                Width{"f8e4m3", 1},
                                Width{"f8e5m2", 1},
                                Width{"complexfloat", 8},
                                Width{"complex64", 8},
                                Width{"complexdouble", 16},
                                Width{"complex128", 16},
                                Width{"complexhalf", 4}};
    if (auto const colon = data_type.rfind("::"); colon != std::string_view::npos) {
        data_type.remove_prefix(colon + 2);
    }
    std::string text = normalised(data_type);
    for (std::string_view const before : {"torch", "nccl", "tensor"}) {
        if (text.starts_with(before)) { text.erase(0, before.size()); }
    }
    auto const* const found = std::ranges::find(widths, std::string_view(text), &Width::name);
    return found == widths.end() ? 0 : found->bytes;
}

} // namespace headroom::trace
