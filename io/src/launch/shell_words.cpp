#include "launch/shell_words.hpp"

#include "launch/shell_conditions.hpp"

#include <algorithm>
#include <cctype>

namespace headroom::io::launch {

namespace {

constexpr int deepest = 32; ///< of parts inside each other

std::size_t part_end(std::string_view text, std::size_t at, int level);

/// Position behind the mark that closes what opens at `at`; quotations inside are passed over.
std::size_t closing(std::string_view text, std::size_t at, char opens, char closes, int level) {
    int depth = 0;
    while (at < text.size()) {
        char const c = text[at];
        if (c == '\\') {
            at += 2;
            continue;
        }
        if (c == '\'' || c == '"') {
            at = part_end(text, at, level + 1);
            continue;
        }
        depth += c == opens ? 1 : c == closes ? -1 : 0;
        ++at;
        if (depth == 0) { return at; }
    }
    return text.size();
}

std::size_t end_of_quotation(std::string_view text, std::size_t at, int level) {
    char const mark = text[at++];
    while (at < text.size() && text[at] != mark) {
        if (text[at] == '\\' && mark == '"') {
            at += 2;
        } else if (text[at] == '$' && mark == '"' && at + 1 < text.size() &&
                   (text[at + 1] == '(' || text[at + 1] == '{')) {
            at = part_end(text, at, level + 1);
        } else {
            ++at;
        }
    }
    return std::min(at + 1, text.size());
}

std::size_t part_end(std::string_view text, std::size_t at, int level) {
    if (level > deepest) { return text.size(); }
    char const c = text[at];
    if (c == '\'' || c == '"') { return end_of_quotation(text, at, level); }
    if (c == '`') { return std::min(text.find('`', at + 1), text.size() - 1) + 1; }
    std::string_view const rest = text.substr(at + 1);
    if (rest.starts_with("(")) { return closing(text, at + 1, '(', ')', level); }
    if (rest.starts_with("{")) { return closing(text, at + 1, '{', '}', level); }
    return at + 1;
}

std::vector<std::string> slurm_words(std::string_view line) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        while (at < line.size() && is_blank(line[at])) { ++at; }
        std::size_t end = at;
        while (end < line.size() && !is_blank(line[end])) { ++end; }
        if (end == at || line[at] == '#') { break; } // a comment
        words.emplace_back(line.substr(at, end - at));
        std::erase_if(words.back(), [](char c) { return c == '"' || c == '\''; });
        at = end;
    }
    return words;
}

class Lexer {
public:
    Lexer(std::string_view text, std::vector<int> const& lines, int line, bool in_array = false)
        : text_{text}, lines_{lines}, line_{line}, in_array_{in_array} {}

    ShellText read() {
        while (at_ < text_.size()) { step(); }
        end_command(CommandEnd::next);
        return std::move(result_);
    }

private:
    [[nodiscard]] bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    [[nodiscard]] int line() const { return lines_.empty() ? line_ : at_ < lines_.size() ? lines_[at_] : line_; }

    void step() {
        char const c = text_[at_];
        bool const inside = in_test_ && c != '\n';
        if (at("\\\n") || at("\\\r\n")) {
            end_word();
            pass(at("\\\n") ? 2 : 3);
        } else if (c == '#' && !open_) {
            comment();
        } else if (c == '\n') {
            end_command(CommandEnd::next);
            pass(1);
            skip_heredocs();
        } else if (is_blank(c)) {
            end_word();
            pass(1);
        } else if ((c == '>' || c == '<' || at("&>")) && !inside) {
            redirection();
        } else if (inside && (c == '(' || c == ')' || at("&&") || at("||"))) {
            end_word();
            take(c == '&' || c == '|' ? 2 : 1);
            end_word();
        } else if (c == '(') {
            parenthesis();
        } else if (at(";;")) {
            end_command(CommandEnd::clause);
            pass(at(";;&") ? 3 : 2);
        } else if (at("&&") || at("||")) {
            end_command(c == '&' ? CommandEnd::both : CommandEnd::either);
            pass(2);
        } else if (c == ')') {
            closes();
        } else if (c == ';' || c == '&' || c == '|') {
            bool const background = c == '&' && !(at_ > 0 && text_[at_ - 1] == '|'); // "|&" is a pipe
            end_command(background ? CommandEnd::background : CommandEnd::next);
            pass(1);
        } else {
            bool const part = c == '\'' || c == '"' || c == '`' || c == '$';
            take(c == '\\' ? 2 : part ? end_of_part(text_, at_) - at_ : 1);
        }
    }

    /// Passes over characters.
    void pass(std::size_t count) {
        std::size_t const end = std::min(at_ + count, text_.size());
        for (; at_ < end; ++at_) { line_ += text_[at_] == '\n' ? 1 : 0; }
    }

    /// Adds characters to the word.
    void take(std::size_t count) {
        std::size_t const end = std::min(at_ + std::max<std::size_t>(count, 1), text_.size());
        open_ = true;
        while (at_ < end) {
            word_.text += text_[at_];
            word_.lines.push_back(line());
            pass(1);
        }
    }

    void end_word() {
        if (!open_) { return; }
        open_ = false;
        RawWord word = std::move(word_);
        word_ = {};
        if (drops_next_) {
            drops_next_ = false;
            return;
        }
        if (word.text == "[[") { in_test_ = true; }
        if (word.text == "]]") { in_test_ = false; }
        if (command_.words.empty()) { command_.line = word.line(); }
        bool const begins = std::ranges::all_of(command_.words, [](RawWord const& before) {
            return is_one_of(before.text, {"then", "else", "do", "{", "!", "if", "elif", "while", "until", "time"});
        });
        if (begins) { cases_ += word.text == "case" ? 1 : word.text == "esac" && cases_ > 0 ? -1 : 0; }
        command_.words.push_back(std::move(word));
    }

    void end_command(CommandEnd end) {
        end_word();
        drops_next_ = false;
        in_test_ = false;
        bool const matters = end == CommandEnd::pattern || end == CommandEnd::clause;
        if (command_.words.empty() && !matters) { return; }
        command_.end = end;
        result_.commands.push_back(std::move(command_));
        command_ = {};
    }

    void comment() {
        std::size_t const end = std::min(text_.find('\n', at_), text_.size());
        std::string_view const text = text_.substr(at_, end - at_);
        if (text.starts_with("#SBATCH")) {
            std::vector<std::string> const words = slurm_words(text.substr(7));
            if (!words.empty() && is_one_of(words.front(), {"hetjob", "packjob"})) {
                result_.headers.push_back({"#SBATCH " + words.front(), {}, line()});
            }
            bool const late = !result_.commands.empty() || !command_.words.empty();
            add_slurm_options(words, "#SBATCH ", line(), late ? result_.late_headers : result_.headers);
        }
        pass(end - at_);
    }

    /// "> file", "2>&1", "<<EOF": the operator and the word behind it are left out.
    void redirection() {
        bool const number = std::ranges::all_of(word_.text, [](unsigned char c) { return std::isdigit(c) != 0; });
        if (open_ && number) { // "2>"
            open_ = false;
            word_ = {};
        }
        end_word();
        if (at("<<<")) {
            pass(3);
            drops_next_ = true;
        } else if (at("<<")) {
            heredoc();
        } else if (at("<(") || at(">(")) {
            std::size_t const end = closing(text_, at_ + 1, '(', ')', 0);
            take(end - at_);
        } else {
            while (at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '<' || text_[at_] == '&')) { pass(1); }
            drops_next_ = true;
        }
    }

    void heredoc() {
        pass(2);
        bool const tabs = at("-");
        pass(tabs ? 1 : 0);
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) { pass(1); }
        std::string mark;
        while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ';' && text_[at_] != '>' &&
               text_[at_] != '|' && text_[at_] != ')') {
            bool const quotes = text_[at_] == '\'' || text_[at_] == '"' || text_[at_] == '\\';
            if (!quotes) { mark += text_[at_]; }
            pass(1);
        }
        command_.heredoc = static_cast<int>(result_.heredocs.size() + marks_.size());
        marks_.push_back(std::move(mark));
    }

    void skip_heredocs() {
        for (std::string const& mark : marks_) {
            Heredoc one{.text = {}, .line = line()};
            while (at_ < text_.size()) {
                std::size_t const end = std::min(text_.find('\n', at_), text_.size());
                std::string_view row = text_.substr(at_, end - at_);
                while (!row.empty() && is_blank(row.front())) { row.remove_prefix(1); }
                while (!row.empty() && is_blank(row.back())) { row.remove_suffix(1); }
                std::size_t const begin = at_;
                pass(end - at_ + 1);
                if (row == mark) { break; }
                one.text += text_.substr(begin, at_ - begin);
            }
            result_.heredocs.push_back(std::move(one));
        }
        marks_.clear();
    }

    /// Begins a command of one word.
    void begin_with(char c) {
        command_.line = line();
        command_.words.push_back({.text = std::string(1, c), .lines = {line()}, .is_array = false, .items = {}});
        pass(1);
    }

    /// Parenthesis that closes a subshell, or ends a pattern of "case".
    void closes() {
        end_word(); // it may be "esac"
        bool const of_case = subshells_.empty() || subshells_.back() != cases_;
        end_command(of_case ? CommandEnd::pattern : CommandEnd::next);
        if (of_case) { return pass(1); }
        subshells_.pop_back();
        begin_with(')'); // "&&" and "||" behind it end it
    }

    /// Whether a parenthesis opens a pattern of "case": "case $X in (a)", ";; (b)".
    [[nodiscard]] bool before_pattern() const {
        if (cases_ <= (subshells_.empty() ? 0 : subshells_.back())) { return false; }
        auto const is_head = [](std::vector<RawWord> const& words) {
            return words.size() > 2 && words[words.size() - 3].text == "case" && words.back().text == "in";
        };
        if (!command_.words.empty() || result_.commands.empty()) { return is_head(command_.words); }
        RawCommand const& before = result_.commands.back();
        return before.end == CommandEnd::clause || is_head(before.words);
    }

    /// Parenthesis of an array, of a function, of arithmetic, or of a subshell.
    void parenthesis() {
        if (open_ && !in_array_ && word_.text.ends_with('=')) { return array(); }
        if (open_ && at("()")) { return take(2); }
        if (!open_ && at("((")) { return take(closing(text_, at_, '(', ')', 0) - at_); }
        bool const empty = !open_ && at("()"); // "name ()"
        if (empty && !command_.words.empty()) {
            command_.words.back().text += "()";
            command_.words.back().lines.insert(command_.words.back().lines.end(), 2, line());
            return pass(2);
        }
        if (before_pattern()) { return pass(1); }
        end_command(CommandEnd::next);
        if (in_array_) { return pass(1); }
        subshells_.push_back(cases_);
        begin_with('(');
        end_command(CommandEnd::next);
    }

    void array() {
        std::size_t const end = closing(text_, at_, '(', ')', 0);
        std::size_t const begin = at_ + 1;
        std::string_view const inside = text_.substr(begin, end > begin ? end - begin - 1 : 0);
        std::vector<int> lines;
        pass(1);
        for (std::size_t i = 0; i < inside.size(); ++i) {
            lines.push_back(line());
            pass(1);
        }
        pass(end > at_ ? end - at_ : 0);
        word_.is_array = true;
        for (RawCommand& command : Lexer{inside, lines, line(), true}.read().commands) {
            std::ranges::move(command.words, std::back_inserter(word_.items));
        }
        end_word();
    }

    std::string_view text_;
    std::vector<int> lines_;
    int line_;
    bool in_array_;
    std::size_t at_ = 0;
    bool open_ = false, in_test_ = false, drops_next_ = false;
    RawWord word_;
    RawCommand command_;
    std::vector<std::string> marks_;
    std::vector<int> subshells_; ///< number of "case" that were open where each begins
    int cases_ = 0;              ///< that are open
    ShellText result_;
};

} // namespace

std::size_t end_of_part(std::string_view text, std::size_t at) { return part_end(text, at, 0); }

ShellText shell_text(std::string_view text, std::vector<int> const& lines, int line) {
    return Lexer{text, lines, line}.read();
}

void add_slurm_options(std::vector<std::string> const& words, std::string const& prefix, int line,
                       std::vector<Entry>& entries) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string const& word = words[i];
        if (word.size() < 2 || !word.starts_with('-')) { continue; }
        bool const is_long = word.starts_with("--");
        auto const equals = word.find('=');
        if (equals != std::string::npos) {
            entries.push_back({prefix + word.substr(0, equals), word.substr(equals + 1), line});
        } else if (!is_long && word.size() > 2) { // "-N4"
            entries.push_back({prefix + word.substr(0, 2), word.substr(2), line});
        } else {
            bool const has_value = i + 1 < words.size() && !words[i + 1].starts_with('-');
            entries.push_back({prefix + word, has_value ? words[i + 1] : std::string{}, line});
            i += has_value ? 1 : 0;
        }
    }
}

} // namespace headroom::io::launch
