#include "launch/launch_entries.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace headroom::io::launch {

namespace {

constexpr std::size_t longest_expansion = 256; ///< of braces
constexpr std::size_t longest_value = 4096;    ///< of a variable with others put in

struct Word {
    std::string text;
    int line = 0;
    bool quoted = false;
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// The words of a script, as far as a launch command goes: quotes, comments, continued lines and plain variables.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_{text} {}

    std::vector<Word> words() {
        while (at_ < text_.size()) { step(); }
        end_word();
        return std::move(words_);
    }
    [[nodiscard]] std::vector<Entry> const& headers() const { return headers_; }

private:
    void step() {
        char const c = text_[at_];
        if (c == '\\' && at_ + 1 < text_.size()) {
            bool const joins = text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r';
            if (joins) {
                end_word();
            } else {
                add(text_[at_ + 1]);
            }
            line_ += text_[at_ + 1] == '\n' ? 1 : 0;
            at_ += 2;
        } else if (c == '#' && !open_) {
            comment();
        } else if (c == '\'' || c == '"') {
            quote(c);
        } else if (c == '$') {
            variable();
        } else if (is_blank(c) || c == ';' || c == '(' || c == ')' || c == '&' || c == '|') {
            end_word();
            line_ += c == '\n' ? 1 : 0;
            ++at_;
        } else {
            add(c);
            ++at_;
        }
    }

    void add(char c) {
        if (!open_) {
            open_ = true;
            word_ = {.text = {}, .line = line_, .quoted = false};
        }
        word_.text += c;
    }

    void end_word() {
        if (!open_) { return; }
        open_ = false;
        assign(word_);
        words_.push_back(word_);
    }

    /// "TP=8" as the variable TP.
    void assign(Word const& word) {
        auto const equals = word.text.find('=');
        if (equals == std::string::npos || equals == 0 ||
            !std::all_of(word.text.begin(), word.text.begin() + static_cast<std::ptrdiff_t>(equals), is_name)) {
            return;
        }
        variables_[word.text.substr(0, equals)] = word.text.substr(equals + 1).substr(0, longest_value);
    }

    void comment() {
        std::size_t const end = std::min(text_.find('\n', at_), text_.size());
        std::string_view const line = text_.substr(at_, end - at_);
        if (line.starts_with("#SBATCH")) { header(line.substr(7)); }
        at_ = end;
    }

    /// "--nodes=4", "-N 4", "--nodes 4 # comment".
    void header(std::string_view line) {
        line = line.substr(0, line.find(" #"));
        while (!line.empty() && is_blank(line.front())) { line.remove_prefix(1); }
        std::size_t const end = std::min(line.find_first_of("= \t"), line.size());
        std::string value{line.substr(std::min(end + 1, line.size()))};
        while (!value.empty() && is_blank(value.back())) { value.pop_back(); }
        while (!value.empty() && is_blank(value.front())) { value.erase(0, 1); }
        headers_.push_back({"#SBATCH " + std::string{line.substr(0, end)}, std::move(value), line_});
    }

    /// A quoted text is one word, but a text of options, as of ARGS="--tp 8 --pp 4", is as many as it holds.
    void quote(char mark) {
        if (inside_options_) { // a mark of the other sort inside of them
            ++at_;
            return;
        }
        std::size_t const end = std::min(text_.find(mark, at_ + 1), text_.size());
        std::string_view const inside = text_.substr(at_ + 1, end - at_ - 1);
        std::size_t const first = inside.find_first_not_of(" \t\r\n\\");
        if (first != std::string_view::npos && inside.substr(first).starts_with("--")) {
            end_word();
            ++at_; // its words follow; the closing mark is passed over
            inside_options_ = true;
            while (at_ < end) { step(); }
            inside_options_ = false;
            end_word();
        } else {
            at_ += 1;
            while (at_ < end) {
                if (text_[at_] == '$' && mark == '"') {
                    variable();
                    continue;
                }
                line_ += text_[at_] == '\n' ? 1 : 0;
                add(text_[at_]);
                ++at_;
            }
            if (!open_) { // an empty text is a word, too
                add(' ');
                word_.text.clear();
            }
            word_.quoted = true;
        }
        at_ = std::min(end + 1, text_.size());
    }

    /// $TP, ${TP}, ${TP:-8}; another expansion stands as it is.
    void variable() {
        std::size_t begin = at_ + 1;
        bool const braces = begin < text_.size() && text_[begin] == '{';
        if (braces) { ++begin; }
        std::size_t end = begin;
        while (end < text_.size() && is_name(text_[end])) { ++end; }
        std::string const name{text_.substr(begin, end - begin)};
        std::string fallback;
        std::size_t after = end;
        if (braces) {
            std::size_t const close = text_.substr(0, std::min(text_.size(), end + longest_expansion)).find('}', end);
            if (close == std::string_view::npos) {
                add('$');
                ++at_;
                return;
            }
            std::string_view const rest = text_.substr(end, close - end);
            if (rest.starts_with(":-") || rest.starts_with(":=")) { fallback = rest.substr(2); }
            after = close + 1;
        }
        auto const known = variables_.find(name);
        std::string const value = known != variables_.end() ? known->second
                                  : !fallback.empty()       ? fallback
                                                            : std::string{text_.substr(at_, after - at_)};
        for (char const c : value) {
            if (word_.text.size() < longest_value || !open_) { add(c); }
        }
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(after), '\n'));
        at_ = std::max(after, at_ + 1);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool open_ = false;
    bool inside_options_ = false;
    Word word_;
    std::vector<Word> words_;
    std::vector<Entry> headers_;
    std::map<std::string, std::string> variables_;
};

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
std::vector<Entry> engine_entries(std::vector<Word> const& words, std::size_t at, std::vector<Entry> entries) {
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

std::vector<Entry> shell_entries(std::string_view text) {
    Scanner scanner{text};
    std::vector<Word> const words = scanner.words();
    std::vector<Entry> entries = scanner.headers();
    for (std::size_t i = 0; i < words.size() && entries.size() < most_entries; ++i) {
        std::string const& word = words[i].text;
        if (auto const [sign, passed] = engine_start(words, i); passed > 0) {
            std::vector<Entry> const start{{std::string{sign}, {}, words[i].line}};
            return engine_entries(words, i + passed, start);
        }
        if (!word.starts_with("--") || word.size() < 3 || words[i].quoted) { continue; }
        auto const equals = word.find('=');
        if (equals != std::string::npos) {
            entries.push_back({word.substr(0, equals), word.substr(equals + 1), words[i].line});
            continue;
        }
        bool const has_value =
            i + 1 < words.size() && !words[i + 1].text.starts_with("--") && words[i + 1].text != "$@";
        entries.push_back({word, has_value ? words[i + 1].text : std::string{}, words[i].line});
    }
    return entries;
}

} // namespace headroom::io::launch
