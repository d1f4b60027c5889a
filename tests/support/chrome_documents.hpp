#pragma once

// Traces of events as text, made at random: what profilers write, in many spellings, whole or damaged.

#include "headroom/trace/rank_trace.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace headroom::test {

class ChromeDocuments {
public:
    explicit ChromeDocuments(std::uint32_t seed) : random_(seed) {}

    /// A document that is JSON: an object around the events or a bare list of them.
    std::string document(int events) {
        bool const bare = chance(4);
        std::string text = chance(6) ? " \n" : "";
        if (!bare) {
            text +=
                R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A [device]", "numSms": 108}],)" + gap();
            if (chance(2)) { text += R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},)" + gap(); }
            text += R"("traceEvents": )";
        }
        text += "[" + gap();
        for (int i = 0; i < events; ++i) { text += (i == 0 ? "" : "," + gap()) + event(); }
        text += gap() + "]";
        if (!bare) {
            if (chance(2)) { text += R"(, "traceName": "a]}, {\"ph\": \"X\"", "INFO": ["one", "two \"three\""])"; }
            if (chance(3)) { text += R"(,"baseTimeNanoseconds": 1700000000000000000)"; }
            text += gap() + "}";
        }
        return text + (chance(2) ? "\n" : "");
    }

    /// Some bytes changed, taken out, put in or repeated.
    std::string damaged(std::string text) {
        for (int changes = below(3) + 1; changes > 0 && !text.empty(); --changes) {
            std::size_t const at = random_() % text.size(), count = random_() % 9 + 1;
            switch (below(6)) {
            case 0: text[at] = static_cast<char>(random_()); break;
            case 1: text.erase(at, count); break;
            case 2: text.insert(at, one_of(pieces)); break;
            case 3: text.insert(at, text.substr(at / 2, count * 40)); break;
            case 4: text.resize(at); break;
            default: text[at] = pieces[random_() % pieces.size()][0]; break;
            }
        }
        return text;
    }

private:
    static constexpr std::array<std::string_view, 16> pieces{
        "\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "\t", "NaN ", "\\\"", "0", "null", "Infinity", "\xff"};
    std::mt19937 random_;

    int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint32_t>(limit)); }
    bool chance(int of) { return below(of) == 0; }
    template <std::size_t count> std::string one_of(std::array<std::string_view, count> const& all) {
        return std::string(all[random_() % count]);
    }
    std::string gap() { return one_of(std::array<std::string_view, 5>{"", " ", "\n  ", "\r\n\t", "  "}); }
    std::string text_value() {
        constexpr std::array<std::string_view, 14> texts{
            "gemm",
            "aten::add_",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
            "a \\\"quoted\\\" name",
            "back\\\\slash",
            "tab\\tand \\u00e9\\ud83d\\ude00",
            "{\\\"ph\\\": 1}",
            "",
            "], }",
            "caf\xc3\xa9",
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
            "at::detail::Array<char*, 1> >",
            "cudaDeviceSynchronize",
            "gloo:all_reduce",
            "a, b: [c]"};
        return "\"" + one_of(texts) + "\"";
    }
    std::string micros(int limit) {
        std::string text = std::to_string(below(limit));
        if (chance(2)) { text += "." + std::to_string(below(1000)); }
        return text;
    }
    std::string member(std::string_view key, std::string const& value) {
        return "\"" + std::string(key) + "\"" + (chance(8) ? " " : "") + ":" + gap() + value;
    }
    std::string arguments() {
        std::string text = "{" + gap() + member("External id", std::to_string(below(100)));
        if (chance(2)) { text += ", " + member("correlation", std::to_string(below(1000))); }
        if (chance(2)) { text += ", " + member("stream", std::to_string(below(30))); }
        if (chance(2)) { text += ", " + member("device", std::to_string(below(8))); }
        if (chance(3)) { text += ", " + member("grid", "[1, 2, {\"ts\": 5, \"x\": [{}, {\"ph\": \"X\"}]}]"); }
        if (chance(3)) { text += ", " + member("Input Dims", "[[2, 3], [], [[4], [5, 6]]]"); }
        if (chance(4)) { text += ", " + member(chance(2) ? "Call stack" : "name", text_value()); }
        if (chance(4)) { text += ", " + member("deep", R"({"correlation": 77, "stream": {"device": null}})"); }
        return text + gap() + "}";
    }
    std::string event() {
        constexpr std::array<std::string_view, 10> categories{
            "\"kernel\"", "\"cpu_op\"",          "\"gpu_memcpy\"",     "\"cuda_runtime\"",        "\"user_annotation\"",
            "\"Kernel\"", "\"python_function\"", "\"something else\"", "\"gpu_user_annotation\"", "null"};
        constexpr std::array<std::string_view, 8> phases{"X", "X", "X", "X", "X", "M", "s", "C"};
        std::string text = "{" + gap() + member("ph", "\"" + one_of(phases) + "\"") + ", ";
        if (!chance(8)) { text += member("cat", one_of(categories)) + ", "; }
        text += member("name", text_value()) + "," + gap();
        text += member("pid", chance(6) ? "\"CPU functions\"" : std::to_string(below(5))) + ", ";
        text += member("tid", chance(6) ? "\"stream 7\"" : std::to_string(below(5))) + "," + gap();
        text += member("ts", micros(1'000'000));
        if (!chance(12)) { text += ", " + member("dur", micros(1000)); }
        if (!chance(4)) { text += "," + gap() + member("args", arguments()); }
        if (chance(10)) { text += ", " + member("ts", micros(1'000'000)); }
        return text + gap() + "}";
    }
};

} // namespace headroom::test
