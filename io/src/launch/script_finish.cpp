#include "launch/launch_finish.hpp"
#include "launch/launch_mapping.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace headroom::io::launch {

namespace {

int whole(Entry const& entry) {
    int const value = std::atoi(entry.value.c_str());
    return value > 0 && value < 1'000'000 ? value : 0;
}

/// A layout without stars and brackets: "Ett|tt|tL" of "Et*2|(t*2|)*1,tL". Empty where it is none.
std::string spelled_out(std::string text) {
    constexpr std::size_t longest = 10'000;
    std::erase_if(text, [](char c) { return std::string_view{", \"'"}.find(c) != std::string_view::npos; });
    for (std::size_t star = 0; (star = text.find('*')) != std::string::npos;) { // no other stands before it
        std::size_t const end = std::min(text.find_first_not_of("0123456789", star + 1), text.size());
        int const times = std::atoi(text.substr(star + 1, std::min<std::size_t>(end - star - 1, 5)).c_str());
        std::size_t const begin = star > 0 && text[star - 1] == ')' ? text.rfind('(', star) : star - 1;
        if (star == 0 || begin == std::string::npos || text.size() > longest) { return {}; }
        std::string const one = text.substr(begin, star - begin);
        if (one.size() * static_cast<std::size_t>(times) > longest) { return {}; }
        std::string all;
        for (int i = 0; i < times; ++i) { all += one; }
        text.replace(begin, end - begin, all);
    }
    std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
    bool const known = text.find_first_not_of("EtL|") == std::string::npos && text.size() <= longest;
    return known ? text : std::string{};
}

/// Transformer layers of each part between bars.
std::vector<int> layers_of(std::string_view layout) {
    std::vector<int> layers(1);
    for (char const sign : layout) {
        if (sign == '|') { layers.push_back(0); }
        layers.back() += sign == 't' ? 1 : 0;
    }
    return layers;
}

} // namespace

void finish_layout(std::vector<Entry>& entries, int layers) {
    Entry* layout = nullptr;
    std::size_t stages = 1;
    for (Entry& entry : entries) {
        std::string const name = normalised(last_part(entry.key));
        if (name == "pipelinemodelparallellayout" && !entry.is_null) { layout = &entry; }
        if (name == "pipelinemodelparallelsize") { stages = static_cast<std::size_t>(whole(entry)); }
    }
    std::vector<int> const counts = layers_of(layout != nullptr ? spelled_out(layout->value) : std::string{});
    int const sum = std::accumulate(counts.begin(), counts.end(), 0);
    bool const other_model = sum == 0 || (layers > 0 && sum != layers);
    if (stages == 0 || counts.size() % stages != 0 || other_model) { return; } // the row says that it is not read
    bool const even = std::ranges::all_of(counts, [&](int count) { return count == counts.front(); });
    if (counts.size() > stages && even) {
        layout->to = "--virtual-pp";
        layout->value = std::to_string(counts.size() / stages);
    } else if (counts.size() == stages) {
        layout->to = "--layers-per-stage";
        layout->value.clear();
        for (int const count : counts) { layout->value += (layout->value.empty() ? "" : ",") + std::to_string(count); }
    }
}

void finish_fairseq(std::vector<Entry>& entries, Known) {
    auto const number = [&](std::string_view name) {
        auto const found = std::ranges::find_if(entries, [&](auto const& one) { return normalised(one.key) == name; });
        return found != entries.end() ? whole(*found) : 0;
    };
    int const tokens = number("maxtokens"), length = number("tokenspersample");
    std::vector<Entry> more;
    for (Entry& entry : entries) {
        std::string const key = normalised(entry.key);
        if (key == "batchsize") { entry.to = "--micro-batch"; }
        bool const shards = key == "ddpbackend" && normalised(entry.value) == "fullysharded";
        if (shards) {
            more.push_back({entry.key, "pytorch-fsdp", entry.line, false, "--framework", {}});
            entry.to = "--zero";
            entry.value = "3";
        }
        // a batch of eight sequences and more is a multiple of eight
        bool const fits = length > 0 && tokens % length == 0 && (tokens / length < 8 || tokens / length % 8 == 0);
        if (key != "maxtokens" || number("batchsize") + number("maxsentences") > 0) { continue; }
        if (fits && tokens > 0) {
            entry.to = "--micro-batch";
            entry.value = std::to_string(tokens / length);
        } else {
            entry.key = "fairseq " + entry.key; // its row asks for the micro-batch
        }
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

void finish_lightning(std::vector<Entry>& entries, Known known) {
    finish_litgpt(entries, known);
    std::vector<Entry> more;
    for (Entry& entry : entries) {
        bool const strategy = entry.key == "trainer.strategy" || entry.key == "trainer.strategy.class_path";
        std::string const name = strategy ? normalised(entry.value) : std::string{};
        if (name.find("offload") != std::string::npos) { // "deepspeed_stage_3_offload"
            bool const all = name.find("stage3") != std::string::npos;
            more.push_back({entry.key, all ? "parameters" : "optimizer", entry.line, false, "--offload", {}});
        }
        bool const recomputes = entry.key.starts_with("trainer.strategy.init_args.activation_checkpointing");
        if (!recomputes || entry.is_null) { continue; }
        entry.to = "--recompute"; // a policy or a list of blocks
        entry.value = switch_in(entry.value) == false ? "none" : "full";
    }
    entries.insert(entries.end(), more.begin(), more.end());
}

} // namespace headroom::io::launch
