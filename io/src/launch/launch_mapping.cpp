#include "launch/launch_mapping.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/strategy.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace headroom::io::launch {

std::string last_part(std::string_view key) {
    auto const dot = key.rfind('.');
    return std::string{dot == std::string_view::npos ? key : key.substr(dot + 1)};
}

namespace {

/// Options of scripts with hyphens, whichever they have.
std::string with_hyphens(std::string_view key) {
    std::string name{key};
    if (name.starts_with("--")) { std::ranges::replace(name, '_', '-'); }
    return name;
}

KeyRow const* row_of(std::span<KeyRow const> rows, std::string_view written) {
    std::string const key = with_hyphens(written);
    for (KeyRow const& row : rows) {
        bool const by_end = row.key.starts_with("*.") && (key.ends_with(row.key.substr(1)) || key == row.key.substr(2));
        bool const by_start = row.key.ends_with(".*") && key.starts_with(row.key.substr(0, row.key.size() - 1));
        if (row.key == key || row.key == written || by_end || by_start) { return &row; }
    }
    return nullptr;
}

/// Options that strategy and question have, as files may name them themselves: "--tp" in a script.
bool is_option(std::string_view name) {
    constexpr std::array others{"--workers",      "--nodes",           "--accelerators-per-node",
                                "--global-batch", "--sequence-length", "--tokens",
                                "--steps",        "--framework",       "--price",
                                "--cluster"};
    return std::ranges::count(others, name) > 0 ||
           (name.starts_with("--") && strategy_field(name.substr(2)) != nullptr &&
            strategy_field(name.substr(2))->option == name);
}

/// A section whose values are those of another run than the training: "eval_model.micro_batch_size".
bool of_other_work(std::string_view key) {
    for (std::size_t dot = key.find('.'), begin = 0; dot != std::string_view::npos; dot = key.find('.', begin)) {
        std::string_view const section = key.substr(begin, dot - begin);
        for (std::string_view const start : {"eval", "valid", "infer", "generat", "test"}) {
            if (section.starts_with(start)) { return true; }
        }
        begin = dot + 1;
    }
    return false;
}

/// A variable of a script, or of a template, that the file does not set.
bool is_elsewhere(std::string_view value) {
    return value.find('$') != std::string_view::npos || value.starts_with('*');
}

/// Optimizer, parameters and activations, each of which a key offloads.
std::string joined_offload(std::string const& a, std::string const& b) {
    auto const any = [&](std::string_view name) { return a == name || b == name; };
    if (a == b || b == "none") { return a; }
    if (any("parameters") && any("activations")) { return "all"; }
    return any("parameters") ? "parameters" : any("none") ? b : "both";
}

bool adapts(std::string const& name) { return name == "lora" || name == "dora"; }
/// A text whose rank is the default that stands before modules.
bool by_modules(std::string const& text) { return text.starts_with("lora:16:") || text.starts_with("dora:16:"); }

/// Takes the tables, which a key of their own names, out of the modules of LoRA: "lora:16:+tables".
bool take_tables(std::string& text) {
    constexpr std::string_view tables = "+tables";
    bool const has = text.ends_with(tables);
    if (has) { text.resize(text.size() - tables.size()); }
    if (text.ends_with(':')) { text = text.starts_with("lora:16:") ? "lora" : text.substr(0, text.size() - 1); }
    return has;
}

/// "lora", "lora:8", "lora:16:linear" and "dora" of four keys as "dora:8:linear".
std::string joined_training(std::string a, std::string b) {
    bool const in_a = take_tables(a), in_b = take_tables(b);
    if (in_a || in_b) {
        std::string const joined = joined_training(a, b);
        auto const parts = std::ranges::count(joined, ':');
        return adapts(joined.substr(0, 4)) ? joined +
                                                 (parts == 0   ? ":16:"
                                                  : parts == 1 ? ":"
                                                               : "") +
                                                 "+tables"
                                           : joined;
    }
    auto const first = words::split(a, ':'), second = words::split(b, ':');
    if (!adapts(first.front()) || !adapts(second.front())) { return adapts(second.front()) && a != "all" ? a : b; }
    std::string const name = first.front() == "dora" ? first.front() : second.front();
    std::string const modules = second.size() > 2 ? second[2] : first.size() > 2 ? first[2] : "";
    bool const a_modules = first.size() > 2 && by_modules(a), b_modules = second.size() > 2 && by_modules(b);
    std::string const rank = second.size() > 1 && !b_modules  ? second[1]
                             : first.size() > 1 && !a_modules ? first[1]
                             : first.size() > 1               ? first[1]
                             : second.size() > 1              ? second[1]
                                                              : "";
    if (rank.empty() && modules.empty()) { return name; }
    return name + ":" + (rank.empty() ? "16" : rank) + (modules.empty() ? "" : ":" + modules);
}

/// The stage of two keys: Megatron's distributed optimizer is part of a stronger sharding, a strategy says more than a switch.
std::string joined_sharding(std::string const& a, std::string const& by_a, std::string const& b,
                            std::string const& by_b) {
    if (a == "0" || b == "0") { return {}; }
    if (a == "1" || b == "1") { return a == "1" ? b : a; }
    bool const stated = by_a.find("strategy") != std::string::npos;
    return stated != (by_b.find("strategy") != std::string::npos) ? (stated ? a : b) : std::string{};
}

/// The number format of two keys: 8-bit products stand on top of a 16-bit format, and this on top of weights in 32 bits; TF32 is
/// for the remaining 32-bit products.
std::string joined_precision(std::string const& a, std::string const& b) {
    auto const is_whole = [](std::string const& name) { return name == "fp32" || name == "float32"; };
    if (a == "fp8" || b == "fp8") { return "fp8"; }
    if (is_whole(b)) { return a; } // of stored weights
    if (is_whole(a) || a == "tf32") { return b; }
    return b == "tf32" ? a : std::string{};
}

/// The parts that selective recomputation recomputes, which Megatron names by an option of its own.
std::string joined_recomputation(std::string const& a, std::string const& b) {
    auto const is_kind = [](std::string const& text) {
        return text == "none" || text == "full" || text == "alternate";
    };
    if (a == "selective" && !is_kind(b)) { return b; }
    return b == "selective" && !is_kind(a) ? a : std::string{};
}

/// Words that name what sort of device it is, and not which.
bool names_no_machine(std::string_view value) {
    constexpr std::array list{"cpu", "gpu", "cuda", "tpu",  "auto", "cuda0", "hpu",
                              "npu", "xpu", "mps",  "true", "none", "rocm"};
    return std::ranges::count(list, normalised(value)) > 0;
}

} // namespace

Format const* format_among(std::span<Format const> formats, std::vector<Entry> const& entries) {
    for (Format const& format : formats) {
        std::vector<std::string> const signs = words::split(format.signs, ' ');
        bool const is_one = std::ranges::any_of(entries, [&](Entry const& entry) {
            return std::ranges::count(signs, with_hyphens(entry.key)) > 0 ||
                   std::ranges::count(signs, "*." + last_part(entry.key)) > 0;
        });
        if (is_one) { return &format; }
    }
    return nullptr;
}

Format const* format_of_programs(std::span<Format const> formats, std::vector<std::string> const& programs) {
    for (Format const& format : formats) {
        for (std::string const& name : words::split(format.programs, ' ')) {
            if (!name.empty() && std::ranges::count(programs, name) > 0) { return &format; }
        }
    }
    return nullptr;
}

void put_in_references(std::vector<Entry>& entries) {
    std::map<std::string, std::string> values;
    for (Entry const& entry : entries) { values.emplace(entry.key, entry.value); }
    for (Entry& entry : entries) {
        for (int depth = 0; depth < 8 && entry.value.starts_with("${") && entry.value.ends_with('}'); ++depth) {
            std::string const name = entry.value.substr(2, entry.value.size() - 3);
            auto const found = values.find(name);
            auto const comma = name.starts_with("oc.env:") ? name.find(',') : std::string::npos; // its default
            if (found == values.end() && comma == std::string::npos) { break; }
            entry.value = found != values.end() ? found->second : name.substr(comma + 1);
            if (entry.value.starts_with(' ')) { entry.value.erase(0, 1); }
        }
    }
}

std::vector<std::string> keep_last(std::vector<Entry>& entries) {
    std::vector<std::string> notes;
    std::map<std::pair<std::string, std::string>, std::size_t> last;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t& at = last.try_emplace({with_hyphens(entries[i].key), entries[i].to}, i).first->second;
        Entry& before = entries[at];
        if (at != i && before.value != entries[i].value) {
            notes.push_back(fmt::format("{} is {} (line {}) and {} (line {}): the later is taken", entries[i].key,
                                        before.value.empty() ? "set" : before.value, before.line,
                                        entries[i].value.empty() ? "empty" : entries[i].value, entries[i].line));
        }
        if (at != i) { before.key.clear(); }
        at = i;
    }
    std::erase_if(entries, [](Entry const& entry) { return entry.key.empty(); });
    return notes;
}

void Mapping::take(std::vector<Entry> const& entries, Format const& format) {
    format_ = &format;
    for (Entry const& entry : entries) { take(entry); }
}

LaunchFile Mapping::result(Format const& format, bool is_partial) {
    file_.format = format.name;
    add_node_size();
    auto const set = [this](std::string_view option) {
        return find(option) != nullptr || file_.suppressed.contains(std::string{option});
    };
    auto const imply = [&](std::string_view option, std::string_view value) {
        if (!set(option)) { file_.implied.emplace_back(option, value); }
    };
    std::vector<std::string> const defaults = words::split(format.implied, ' ');
    for (std::size_t i = 0; i + 1 < defaults.size(); i += 2) {
        std::string const &option = defaults[i], &value = defaults[i + 1];
        bool const in_layers = option == "--virtual-pp" && set("--layers-per-chunk");
        bool const unsure = is_partial && option == "--precision";
        bool const batch =
            option == "--grad-accum" && (set("--global-batch") && (set("--micro-batch") || !format.batch_alone));
        bool const unknown = option == "--grad-accum" && (file_.suppressed.contains("--global-batch") ||
                                                          (find("--micro-batch") == nullptr && set("--micro-batch")));
        bool const sized =
            option != "--grad-accum" || find("--micro-batch") != nullptr ||
            (format.batch_alone && find("--global-batch") != nullptr) ||
            std::ranges::any_of(file_.implied, [](auto const& pair) { return pair.first == "--micro-batch"; });
        if (!in_layers && !unsure && !batch && !unknown && sized) { imply(option, value); }
    }
    if (format.switches_alone) { add_defaults_of_megatron(); }
    resolve_shard();
    resolve_tables();
    if (format.fine_tunes && !file_.suppressed.contains("--train")) { imply("--method", method()); }
    return std::move(file_);
}

/// Takes an option back: the keys that set it are ignored, for the reason `note`.
void Mapping::drop(std::string_view option, std::string_view note) {
    std::erase_if(file_.options, [&](auto const& pair) { return pair.first == option; });
    for (LaunchKey& key : file_.read) {
        if (key.option == option) {
            file_.ignored.push_back({key.key, key.value, key.line, {}, {}, std::string{note}, {}});
        }
    }
    std::erase_if(file_.read, [&](LaunchKey const& key) { return key.option == option; });
}

/// Tables alone are trained in addition to LoRA of the attention; without LoRA they are among all weights.
void Mapping::resolve_tables() {
    std::string* train = find("--train");
    if (train == nullptr || !train->ends_with(":+tables")) { return; }
    auto const keys = std::ranges::count(file_.read, std::string{"--train"}, &LaunchKey::option);
    if (keys > 1) {
        train->replace(train->size() - 7, 7, "attention+tables");
    } else {
        drop("--train", "all weights are trained, tables among them");
    }
}

/// Replicas that share one optimizer, where the file states how many such groups there are: "dp/2".
void Mapping::resolve_shard() {
    std::string* shard = find("--shard");
    if (shard == nullptr || !shard->starts_with("dp/")) { return; }
    auto const number = [this](std::string_view option) {
        std::string const* value = find(option);
        int const count = value != nullptr ? std::atoi(value->c_str()) : 0;
        return count < 1'000'000 ? count : 0;
    };
    auto const degree = [&](std::string_view option) {
        return file_.suppressed.contains(std::string{option}) ? 0 : find(option) != nullptr ? number(option) : 1;
    };
    double const stated =
        number("--workers") > 0 ? number("--workers") : 1.0 * number("--nodes") * number("--accelerators-per-node");
    double const workers = workers_ > 0 ? workers_ : stated;
    double const parts = 1.0 * degree("--tp") * degree("--pp") * degree("--cp") * std::atoi(shard->c_str() + 3);
    double const each = parts > 0 ? workers / parts : 0.0;
    if (each >= 1.0 && each < 1e6 && each == static_cast<double>(static_cast<int>(each))) {
        *shard = std::to_string(static_cast<int>(each));
        return;
    }
    file_.contradictions.push_back(fmt::format(
        "{} shards over a part of the replicas, whose number is not in the file: give --shard", by_["--shard"]));
    file_.suppressed.insert("--shard");
    drop("--shard", "the number of replicas is not in the file");
}

/// Megatron passes keys and values around a ring, and overlaps nothing that no switch asks for.
void Mapping::add_defaults_of_megatron() {
    std::string const* ranks = find("--cp");
    bool const exchanges = find("--exchange") != nullptr || file_.suppressed.contains("--exchange");
    if (ranks != nullptr && *ranks != "1" && !exchanges) { file_.implied.emplace_back("--exchange", "ring"); }
    std::string* overlap = find("--overlap");
    std::string text = overlap != nullptr ? *overlap : std::string{};
    std::string const *sequence = find("--sequence-parallel"), *zero = find("--zero");
    bool const splits = sequence != nullptr && *sequence == "on", shards = zero != nullptr && *zero != "0";
    for (auto const& [kind, has] : {std::pair{"tensor", splits}, {"gradients", true}, {"parameters", shards}}) {
        bool const open = has && text.find(kind) == std::string::npos;
        if (open) { text += (text.empty() ? "" : ",") + std::string{kind} + "=off"; }
    }
    if (overlap != nullptr) {
        *overlap = text;
    } else if (!file_.suppressed.contains("--overlap")) {
        file_.implied.emplace_back("--overlap", text);
    }
}

/// Name that `finetune` has for the parameters that are trained.
std::string Mapping::method() {
    std::string const* train = find("--train");
    if (train == nullptr || !(train->starts_with("lora") || train->starts_with("dora"))) { return "full"; }
    std::string const* base = find("--base");
    std::string const kind = train->substr(0, 4);
    return base != nullptr && *base == "nf4" ? "q" + kind : kind;
}

/// Accelerators of a node, where a file states all of them and the nodes.
void Mapping::add_node_size() {
    std::string const *all = find("--workers"), *nodes = find("--nodes");
    if (all == nullptr || nodes == nullptr || find("--accelerators-per-node") != nullptr) { return; }
    int const workers = std::atoi(all->c_str()), machines = std::atoi(nodes->c_str());
    bool const even = workers > 0 && machines > 0 && workers % machines == 0;
    if (even) { file_.options.emplace_back("--accelerators-per-node", std::to_string(workers / machines)); }
}

void Mapping::take(Entry const& entry) {
    KeyRow const* row = entry.to.empty() ? row_of(format_->rows, entry.key) : nullptr;
    std::string const name = !entry.to.empty() ? entry.to : row != nullptr ? std::string{row->to} : own_name(entry.key);
    if (of_other_work(entry.key)) { return ignore(entry, "of evaluation or inference"); }
    if (!entry.doubt.empty()) {
        return entry.is_null ? ignore(entry, entry.doubt) : suppress(entry, name, entry.doubt);
    }
    bool const is_null = entry.is_null || normalised(entry.value) == "null" || entry.value == "~";
    if (is_null) { return ignore(entry, entry.value.empty() ? "it has no value" : "null"); }
    if (row != nullptr && row->to.empty()) {
        for (std::string const& option : words::split(row->may_set, ' ')) {
            if (!option.empty() && !entry.value.empty()) { file_.suppressed.insert(option); }
        }
        ignore(entry, std::string{row->note});
        if (row->decides) { file_.ignored.back().needed = row->may_set; }
        return;
    }
    if (name.empty()) {
        std::string_view const reason = neutral_reason(entry.key);
        return ignore(entry, reason.empty() ? "not understood" : std::string{reason});
    }
    if (normalised(entry.value) == "auto") {
        if (format_ == &nested_deepspeed()) { return ignore(entry, std::string{row != nullptr ? row->note : ""}); }
        bool const explained = row != nullptr && !row->note.empty();
        return suppress(entry, name, explained ? std::string{row->note} : "\"auto\" leaves it to the software");
    }
    std::string value = entry.value;
    if (is_elsewhere(value)) {
        if (!is_switch(name) || !(format_->switches_alone || holds_options(value))) { return elsewhere(entry, name); }
        value.clear(); // "--use-distributed-optimizer $DATA_ARGS"
    }
    if (row != nullptr && row->translate != nullptr) {
        value = row->translate(value);
        if (value.empty()) { return ignore(entry, row->note.empty() ? "it asks for nothing" : std::string{row->note}); }
    }
    set(entry, name, value);
}

/// Option that a name sets: of another tool's name, the first of its row.
std::string Mapping::option_of(std::string const& name) {
    HabitWord const* word = name.empty() || name.starts_with("--") || name == "MODEL" ? nullptr : habit_word(name);
    return word == nullptr ? name : words::split(word->options, ' ').front();
}

bool Mapping::is_switch(std::string const& name) {
    HabitWord const* word = name.starts_with("--") ? nullptr : habit_word(name);
    return name == "--sequence-parallel" || (word != nullptr && !word->fixed.empty());
}

/// Names of variables that scripts put options in.
bool Mapping::holds_options(std::string const& value) {
    constexpr std::array parts{"ARGS", "OPT", "EXTRA", "FLAGS", "CONFIG", "PARAM", "@"};
    return std::ranges::any_of(parts, [&](char const* part) { return value.find(part) != std::string::npos; }) ||
           value.find("args") != std::string::npos || value.find("opt") != std::string::npos;
}

void Mapping::elsewhere(Entry const& entry, std::string const& name) {
    std::string const option = option_of(name);
    bool const can_be_given = option.starts_with("--") || option == "MODEL";
    suppress(entry, name,
             can_be_given ? fmt::format("its value is set elsewhere: give {}", option) : "its value is set elsewhere");
}

/// A key whose value is not known: the software's default may not hold.
void Mapping::suppress(Entry const& entry, std::string const& name, std::string note) {
    std::string const option = option_of(name);
    if (!option.empty()) { file_.suppressed.insert(option); }
    ignore(entry, std::move(note));
}

/// The option, or the other tool's name, that a key without a row is.
std::string Mapping::own_name(std::string const& key) const {
    if (!format_->words) { return {}; }
    std::string name = with_hyphens(last_part(key));
    if (is_option(name)) { return name; }
    if (name.starts_with("--")) { name = name.substr(2); }
    return habit_word(name) != nullptr ? name : std::string{};
}

void Mapping::set(Entry const& entry, std::string const& name, std::string const& value) {
    if (name.starts_with("--") || name == "MODEL") { return give(entry, name, value); }
    HabitWord const& word = *habit_word(name);
    std::string const option = words::split(word.options, ' ').front();
    if (option == "--cluster" && names_no_machine(value)) { return ignore(entry, "it names no machine"); }
    bool const alone =
        is_switch(name) && !switch_in(value) &&
        (value.empty() || word.translate == nullptr || word.translate(value) == value); // "--bf16 train.py"
    std::string const own = habit_value(word, alone ? "true" : value);
    if (own.empty()) { return ignore(entry, "it asks for nothing"); }
    give(entry, option, own);
    HabitSetting const more = habit_addition(word, value);
    if (!more.option.empty()) { give(entry, more.option, more.value); }
    bool const offloads =
        more.option == "--shard" && value.find("offload") != std::string::npos; // "hybrid_shard offload"
    if (offloads) { give(entry, "--offload", "parameters"); }
}

void Mapping::give(Entry const& entry, std::string const& option, std::string const& given) {
    if (given.empty()) { return ignore(entry, "it has no value"); }
    std::string* before = find(option);
    std::string value = given;
    if (before != nullptr && option == "--offload") { value = joined_offload(*before, given); }
    if (before != nullptr && option == "--train") { value = joined_training(*before, given); }
    if (before != nullptr && option == "--overlap" && *before != given) { value = *before + "," + given; }
    std::string const parts =
        before != nullptr && option == "--recompute" ? joined_recomputation(*before, given) : std::string{};
    if (!parts.empty()) { value = parts; }
    std::string const stage = before != nullptr && option == "--zero"
                                  ? joined_sharding(*before, by_[option], given, entry.key)
                                  : std::string{};
    if (!stage.empty()) { value = stage; }
    bool const of_other = before != nullptr && option == "--recompute" && given == "none";
    if (of_other) { value = *before; } // the other switch is on
    std::string const format =
        before != nullptr && option == "--precision" ? joined_precision(*before, given) : std::string{};
    if (!format.empty()) { value = format; }
    bool const merges = !format.empty() || !parts.empty() || !stage.empty() || option == "--offload" ||
                        option == "--train" || option == "--overlap";
    if (before != nullptr && !merges && *before != value) {
        file_.contradictions.push_back(fmt::format("{} is {} by {} and {} by {} (line {}): the later is taken", option,
                                                   *before, by_[option], value, entry.key, entry.line));
    }
    if (before != nullptr) {
        *before = value;
    } else {
        file_.options.emplace_back(option, value);
    }
    by_[option] = fmt::format("{} (line {})", entry.key, entry.line);
    file_.read.push_back({entry.key, entry.value, entry.line, option, given, {}, {}});
}

void Mapping::ignore(Entry const& entry, std::string note) {
    file_.ignored.push_back({entry.key, entry.value, entry.line, {}, {}, std::move(note), {}});
}

std::string* Mapping::find(std::string_view option) {
    for (auto& [name, value] : file_.options) {
        if (name == option) { return &value; }
    }
    return nullptr;
}

} // namespace headroom::io::launch
