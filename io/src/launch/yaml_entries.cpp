#include "launch/job_description.hpp"
#include "records/record.hpp"

#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <yaml.h>

namespace headroom::io::launch {

namespace {

constexpr std::size_t deepest_level = 16;

/// Parser of libyaml, freed at the end of its scope.
struct Parser {
    yaml_parser_t parser{};
    explicit Parser(std::string_view text) {
        yaml_parser_initialize(&parser);
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser, reinterpret_cast<unsigned char const*>(text.data()), text.size());
    }
    ~Parser() { yaml_parser_delete(&parser); }
    Parser(Parser const&) = delete;
    Parser& operator=(Parser const&) = delete;
};

struct Event {
    yaml_event_t event{};
    Event() = default;
    ~Event() { yaml_event_delete(&event); }
    Event(Event const&) = delete;
    Event& operator=(Event const&) = delete;
};

/// A mapping or a list that is open.
struct Level {
    bool is_list = false;
    std::string path; ///< of its own key
    std::string key;  ///< of a mapping: that whose value comes next; empty: a key comes next
    int element = 0;  ///< of a list
    bool is_plain = true;
    std::string joined;     ///< of a list of values
    int line = 0, last = 0; ///< of its first and of its last value
    std::string anchor{};   ///< name by which it is used again
    std::size_t first = 0;  ///< index of its first value
};

class Reader {
public:
    Reader(std::string_view text, std::string_view where) : parser_{text}, where_{where} {}

    std::vector<Entry> read() {
        while (true) {
            Event holder;
            yaml_event_t& event = holder.event;
            if (yaml_parser_parse(&parser_.parser, &event) == 0) { refuse(); }
            if (event.type == YAML_STREAM_END_EVENT) {
                std::erase_if(entries_, [](Entry const& entry) { return entry.key.empty(); });
                return std::move(entries_);
            }
            take(event);
        }
    }

private:
    void take(yaml_event_t const& event) {
        int const line = static_cast<int>(event.start_mark.line) + 1;
        switch (event.type) {
        case YAML_DOCUMENT_START_EVENT:
            keys_.clear();
            document_ = entries_.size();
            break;
        case YAML_SCALAR_EVENT:
            if (event.data.scalar.anchor != nullptr) {
                anchors_[reinterpret_cast<char const*>(event.data.scalar.anchor)] = {
                    {{}, {reinterpret_cast<char const*>(event.data.scalar.value), event.data.scalar.length}, line}};
            }
            scalar({reinterpret_cast<char const*>(event.data.scalar.value), event.data.scalar.length},
                   event.data.scalar.style, line);
            break;
        case YAML_ALIAS_EVENT: alias(reinterpret_cast<char const*>(event.data.alias.anchor), line); break;
        case YAML_MAPPING_START_EVENT: open(false, line, event.data.mapping_start.anchor); break;
        case YAML_SEQUENCE_START_EVENT: open(true, line, event.data.sequence_start.anchor); break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT: close(); break;
        default: break;
        }
    }

    /// A number may have underscores, 4_096; nothing behind the colon, an empty text and an empty list are null.
    void scalar(std::string text, yaml_scalar_style_t style, int line) {
        bool const is_plain = style == YAML_PLAIN_SCALAR_STYLE;
        bool const is_block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
        bool const in_list = !levels_.empty() && levels_.back().is_list;
        std::string const path = in_list ? levels_.back().path : path_of_value();
        if (is_block && (is_command_key(path) || is_command_list(path))) {
            text.insert(0, 1, '\n');
        } // on the next line
        bool const digits = is_plain && !text.empty() && text.front() >= '0' && text.front() <= '9' &&
                            text.find_first_not_of("0123456789_.") == std::string::npos;
        if (digits) { std::erase(text, '_'); }
        is_null_ = text.empty() || (is_plain && (text == "~" || text == "null" || text == "Null" || text == "NULL"));
        value(std::move(text), line);
        is_null_ = false;
    }

    void open(bool is_list, int line, yaml_char_t const* anchor) {
        if (levels_.size() >= deepest_level) {
            unreadable_error(fmt::format("{}:{}", where_, line), "values nested too deeply",
                             fmt::format("at most {} levels are read", deepest_level));
        }
        std::string path = path_of_value();
        if (!levels_.empty() && !levels_.back().is_list) { forget(path); }
        if (!levels_.empty()) { levels_.back().is_plain = false; }
        levels_.push_back({.is_list = is_list,
                           .path = std::move(path),
                           .key = {},
                           .joined = {},
                           .line = line,
                           .last = line,
                           .anchor = anchor != nullptr ? reinterpret_cast<char const*>(anchor) : "",
                           .first = entries_.size()});
    }

    /// A mapping or a list that is stated again replaces all that it had.
    void forget(std::string const& path) {
        auto const begin = keys_.lower_bound(path + "."), end = keys_.lower_bound(path + "/"); // '/' follows '.'
        if (begin == end) { return; }
        keys_.erase(begin, end);
        for (std::size_t i = document_; i < entries_.size(); ++i) {
            if (entries_[i].key.starts_with(path + ".")) { entries_[i].key.clear(); }
        }
    }

    void close() {
        Level const level = std::move(levels_.back());
        levels_.pop_back();
        if (level.is_list && level.is_plain) {
            is_null_ = level.element == 0;
            add(level.path, level.joined, level.line);
            is_null_ = false;
        }
        if (!level.anchor.empty()) {
            std::vector<Entry>& held = anchors_[level.anchor];
            held.assign(entries_.begin() + static_cast<std::ptrdiff_t>(level.first), entries_.end());
            std::erase_if(held, [](Entry const& entry) { return entry.key.empty(); });
            for (Entry& entry : held) { entry.key.erase(0, level.path.size()); }
        }
        end_value();
    }

    /// Values of an anchor once more; "<<: *name" puts those of a mapping in, where it has no value of its own yet.
    void alias(std::string const& name, int line) {
        auto const found = anchors_.find(name);
        bool const is_key = levels_.empty() || (!levels_.back().is_list && levels_.back().key.empty());
        if (found == anchors_.end() || is_key) { return value("*" + name, line); }
        std::vector<Entry> const held = found->second;
        for (Entry const& entry : held) { repeated_ += entry.key.size() + entry.value.size(); }
        if (repeated_ > most_repeated) {
            unreadable_error(fmt::format("{}:{}", where_, line), "aliases that repeat too much",
                             fmt::format("at most {} bytes are put in by aliases", most_repeated));
        }
        if (held.size() == 1 && held.front().key.empty()) { return value(held.front().value, line); }
        bool const merges = levels_.back().key == "<<";
        std::string const path = merges ? levels_.back().path : path_of_value();
        for (Entry const& entry : held) {
            std::string key = path.empty() && entry.key.starts_with('.') ? entry.key.substr(1) : path + entry.key;
            if (!merges || !keys_.contains(key)) { add(std::move(key), entry.value, line); }
        }
        levels_.back().is_plain = false;
        end_value();
    }

    void value(std::string text, int line) {
        if (levels_.empty()) { return; }
        Level& level = levels_.back();
        if (!level.is_list && level.key.empty()) {
            level.key = text.empty() ? "''" : std::move(text);
            return;
        }
        if (level.is_list && level.is_plain) {
            join(level, text, line);
        } else {
            add(path_of_value(), std::move(text), line);
        }
        end_value();
    }

    /// Values of a list with commas; words of a command as a shell has them, each on its line.
    static void join(Level& level, std::string const& text, int line) {
        bool const command = is_command_key(level.path), commands = is_command_list(level.path);
        std::string between = level.element == 0 ? "" : commands ? "\n" : command ? " " : ",";
        int const from = level.last + (commands && level.element > 0 ? 1 : 0);
        for (int at = from; (command || commands) && at < line; ++at) { between += command ? "\\\n" : "\n"; }
        level.joined += between + (command ? words::shell_word(text) : text);
        level.last = line;
    }

    [[nodiscard]] std::string path_of_value() const {
        if (levels_.empty()) { return {}; }
        Level const& level = levels_.back();
        std::string const name = level.is_list ? std::to_string(level.element) : level.key;
        return level.path.empty() ? name : level.path + "." + name;
    }

    void end_value() {
        if (levels_.empty()) { return; }
        levels_.back().key.clear();
        ++levels_.back().element;
    }

    void add(std::string key, std::string value, int line) {
        if (entries_.size() >= most_entries) {
            unreadable_error(fmt::format("{}:{}", where_, line), "too many values",
                             fmt::format("a launch file has at most {}", most_entries));
        }
        keys_.insert(key);
        entries_.push_back({std::move(key), std::move(value), line, is_null_});
    }

    [[noreturn]] void refuse() const {
        yaml_parser_t const& parser = parser_.parser;
        std::size_t const line = parser.problem_mark.line + 1;
        unreadable_error(fmt::format("{}:{}", where_, line), "not valid YAML or JSON",
                         parser.problem == nullptr ? "" : parser.problem);
    }

    static constexpr std::size_t most_repeated = std::size_t{1} << 20;

    Parser parser_;
    std::string where_;
    std::size_t repeated_ = 0; ///< bytes that aliases put in
    std::size_t document_ = 0; ///< index of the first value of this document
    bool is_null_ = false;     ///< of the value that is read
    std::vector<Level> levels_;
    std::vector<Entry> entries_;
    std::set<std::string> keys_;
    std::map<std::string, std::vector<Entry>> anchors_; ///< values by the rest of their keys
};

} // namespace

std::vector<Entry> yaml_entries(std::string_view text, std::string_view where) { return Reader{text, where}.read(); }

} // namespace headroom::io::launch
