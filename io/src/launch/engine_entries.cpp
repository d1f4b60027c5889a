#include "launch/engine_entries.hpp"

namespace headroom::io::launch {

namespace {

/// Program of a serving engine that a word starts: its sign, and the words of it that are passed over.
struct EngineStart {
    std::string_view sign;
    std::size_t words = 0;
};
EngineStart engine_start(std::vector<Word> const& words, std::size_t at) {
    std::string_view const word = words[at].text;
    bool const serves = at + 1 < words.size() && words[at + 1].text == "serve";
    auto const program = [&](std::string_view name) { return word == name || word.ends_with('/' + std::string{name}); };
    if (word.starts_with("vllm.entrypoints.") || word.starts_with("vllm/vllm-openai")) { return {"vllm", 1}; }
    if (word == "sglang.launch_server") { return {"sglang", 1}; }
    if (program("trtllm-serve")) { return {"trtllm-serve", serves ? 2u : 1u}; }
    if (serves && program("vllm")) { return {"vllm", 2}; }
    return serves && program("sglang") ? EngineStart{"sglang", 2} : EngineStart{};
}

/// Options and the model of a command that starts an engine; its short options have one dash.
std::vector<Entry> options_of(std::vector<Word> const& words, std::size_t at, std::vector<Entry> entries) {
    bool has_model = false;
    for (std::size_t i = at; i < words.size() && entries.size() < most_entries; ++i) {
        std::string const& word = words[i].text;
        bool const option = word.size() > 1 && word.starts_with('-') && !words[i].quoted;
        if (!option) {
            if (!has_model && !word.empty()) { entries.push_back({"MODEL", word, words[i].line}); }
            has_model = true;
            continue;
        }
        auto const equals = word.find('=');
        if (equals != std::string::npos) {
            entries.push_back({word.substr(0, equals), word.substr(equals + 1), words[i].line});
            continue;
        }
        bool const has_value = i + 1 < words.size() && (words[i + 1].quoted || !words[i + 1].text.starts_with('-'));
        entries.push_back({word, has_value ? words[i + 1].text : std::string{}, words[i].line});
        i += has_value ? 1 : 0;
    }
    return entries;
}

} // namespace

std::vector<Entry> engine_entries(std::vector<Word> const& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto const [sign, passed] = engine_start(words, i);
        if (passed > 0) { return options_of(words, i + passed, {{std::string{sign}, {}, words[i].line}}); }
    }
    return {};
}

} // namespace headroom::io::launch
