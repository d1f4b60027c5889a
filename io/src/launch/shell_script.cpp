#include "launch/shell_script.hpp"

#include "launch/inner_text.hpp"
#include "launch/shell_conditions.hpp"
#include "launch/shell_variables.hpp"
#include "launch/slurm_variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace headroom::io::launch {

namespace {

constexpr int deepest_call = 12;             ///< of functions, blocks and texts that are run
constexpr int most_levels = 64;              ///< of conditions and loops inside each other
constexpr std::size_t most_steps = 200'000;  ///< commands that are run
constexpr std::size_t most_work = 4'000'000; ///< variables that are copied at conditions

class Runner {
public:
    ShellScript run(std::string_view text, std::string_view before) {
        run_commands(by_reserved_words(shell_text(before).commands));
        script_.commands.clear();
        has_ended_ = false;
        ShellText parts = shell_text(text);
        script_.headers = parts.headers;
        script_.heredocs = parts.heredocs;
        set_slurm_variables(parts.headers, expand_);
        script_.notes = notes_on_late(parts.late_headers);
        run_commands(by_reserved_words(parts.commands));
        std::map<std::string, std::vector<RawCommand>> const functions = functions_;
        for (auto const& [name, body] : functions) { // that nothing here calls
            if (!called_.contains(name)) { run_commands(body); }
        }
        add_variables();
        if (!expand_.met_unset.empty()) {
            script_.notes.push_back(
                fmt::format("conditions on {} hold as where it is not set: the script does not set it",
                            fmt::join(expand_.met_unset, ", ")));
        }
        return std::move(script_);
    }

private:
    void run_commands(std::vector<RawCommand> const& commands) {
        if (depth_ >= deepest_call) { return; }
        ++depth_;
        std::vector<RawCommand> const* const outer = commands_;
        std::size_t const outer_at = at_;
        bool const outer_background = has_background_;
        has_background_ = std::ranges::find(commands, CommandEnd::background, &RawCommand::end) != commands.end();
        commands_ = &commands;
        at_ = 0;
        while (!done()) {
            block({});
            ++at_; // a reserved word without its beginning
        }
        commands_ = outer;
        at_ = outer_at;
        has_background_ = outer_background;
        --depth_;
    }

    [[nodiscard]] std::string_view reserved() const {
        auto const& words = (*commands_)[at_].words;
        return words.empty() ? std::string_view{} : std::string_view{words.front().text};
    }
    [[nodiscard]] bool done() const { return at_ >= commands_->size() || script_.too_large || has_ended_; }

    /// Variables as they are now, of which only so many copies are made.
    Variables copied() {
        work_ += expand_.variables.size() + 1;
        script_.too_large = script_.too_large || work_ > most_work;
        return expand_.variables;
    }
    void count(std::size_t characters) {
        expand_.characters += characters;
        script_.too_large = script_.too_large || expand_.too_large();
    }

    /// Runs up to one of the words, or to the end.
    void block(std::initializer_list<std::string_view> stops) {
        script_.too_large = script_.too_large || ++levels_ > most_levels;
        Truth holds = Truth::yes; // of what stands before "&&" and "||"
        CommandEnd joint = CommandEnd::next;
        Variables before; // of a list that may run in the background, and then changes none
        while (!done()) {
            RawCommand const& command = (*commands_)[at_];
            std::string_view const word = reserved();
            bool const ends =
                is_one_of(word, stops) ||
                is_one_of(word, {"then", "else", "elif", "fi", "do", "done", "esac", "}", ")"}) ||
                (command.end == CommandEnd::clause && command.words.empty() && std::ranges::count(stops, ";;") > 0);
            if (ends) { break; }
            bool const skipped = (joint == CommandEnd::both && holds == Truth::no) ||
                                 (joint == CommandEnd::either && holds == Truth::yes);
            bool const unsure = joint != CommandEnd::next && holds == Truth::unknown;
            bool const clause = command.end == CommandEnd::clause && std::ranges::count(stops, ";;") > 0;
            if (has_background_ && active_ && joint == CommandEnd::next) { before = copied(); }
            Truth const now = step(skipped, unsure);
            bool const background = at_ > 0 && (*commands_)[at_ - 1].end == CommandEnd::background;
            if (background && active_) { expand_.variables = std::move(before); }
            if (!skipped) { holds = unsure ? Truth::unknown : now; }
            CommandEnd const end = word == "(" ? (*commands_)[at_ - 1].end : command.end; // of its ")"
            joint = end == CommandEnd::both || end == CommandEnd::either ? end : CommandEnd::next;
            if (clause) { break; }
        }
        --levels_;
    }

    /// One command or one construct; its result.
    Truth step(bool skipped, bool unsure) {
        bool const outer = active_;
        active_ = outer && !skipped;
        std::string_view const word = reserved();
        Truth result = Truth::yes;
        Variables const before = unsure && active_ ? copied() : Variables{};
        if (word == "if") {
            branches();
        } else if (word == "while" || word == "until" || word == "for" || word == "select") {
            loop(word == "for");
        } else if (word == "case") {
            cases();
        } else if (word == "function" || (word.size() > 2 && word.ends_with("()"))) {
            define();
        } else if (word == "{" || word == "(") {
            enclosed(word == "(");
        } else {
            RawCommand const& command = (*commands_)[at_++];
            result = active_ ? simple(command) : Truth::yes;
            has_ended_ = active_ && !unsure && word == "exit" && levels_ == 1 && depth_ == 1;
        }
        if (unsure && active_) { expand_.variables = merged({before, expand_.variables}); }
        active_ = outer;
        return result;
    }

    /// Commands in braces; those in parentheses leave the variables as they were.
    void enclosed(bool in_subshell) {
        Variables before = in_subshell && active_ ? copied() : Variables{};
        ++at_;
        block({in_subshell ? ")" : "}"});
        if (at_ < commands_->size()) { ++at_; }
        if (in_subshell && active_) { expand_.variables = std::move(before); }
    }

    void branches() {
        std::vector<Variables> ways;
        bool const outer = active_;
        bool decided = false; // a branch that runs for certain
        Variables const before = outer ? copied() : Variables{};
        bool unsure = false;
        while (!done() && (reserved() == "if" || reserved() == "elif")) {
            ++at_;
            active_ = outer && !decided;
            Truth const holds = condition({"then"});
            if (!done()) { ++at_; }
            active_ = outer && !decided && holds != Truth::no;
            block({"elif", "else", "fi"});
            if (active_) { ways.push_back(copied()); }
            if (active_ && holds == Truth::unknown) { unsure = true; }
            decided = decided || (active_ && holds == Truth::yes);
            if (outer && !decided) { expand_.variables = before; }
        }
        if (!done() && reserved() == "else") {
            ++at_;
            active_ = outer && !decided;
            block({"fi"});
            if (active_) { ways.push_back(copied()); }
            decided = true;
        }
        if (!done()) { ++at_; }
        active_ = outer;
        if (!outer) { return; }
        if (!decided) { ways.push_back(before); }
        expand_.variables = unsure ? merged(ways) : ways.back();
    }

    /// Commands up to a word, the last of which decides.
    Truth condition(std::initializer_list<std::string_view> stops) {
        Truth result = Truth::unknown;
        CommandEnd joint = CommandEnd::next;
        while (!done() && !is_one_of(reserved(), stops)) {
            RawCommand const& command = (*commands_)[at_++];
            bool const parenthesis = !command.words.empty() && is_one_of(command.words.front().text, {"(", ")"});
            Truth const now = parenthesis ? result : active_ ? truth_of(command, expand_) : Truth::unknown;
            bool const both = joint == CommandEnd::both, either = joint == CommandEnd::either;
            Truth const weaker = result == now ? now : Truth::unknown;
            result = both     ? (result == Truth::no || now == Truth::no ? Truth::no : weaker)
                     : either ? (result == Truth::yes || now == Truth::yes ? Truth::yes : weaker)
                              : now;
            joint = parenthesis && command.end == CommandEnd::next ? joint : command.end;
        }
        return result;
    }

    /// A loop's body once; the variable of "for" has all of its values, and what the body sets may have been set or not.
    void loop(bool counts) {
        RawCommand const head = (*commands_)[at_++];
        Variables const before = active_ ? copied() : Variables{};
        bool once = false;
        if (counts && active_ && head.words.size() > 3 && head.words[2].text == "in") {
            Variable variable;
            for (std::size_t i = 3; i < head.words.size(); ++i) {
                for (ShellItem& item : expand_.expanded(head.words[i])) {
                    if (variable.values.size() < most_values) { variable.values.push_back({std::move(item)}); }
                }
            }
            once = !variable.values.empty();
            if (once) { expand_.variables[head.words[1].text] = std::move(variable); }
        }
        if (!counts) { condition({"do"}); }
        if (!done() && reserved() == "do") { ++at_; }
        block({"done"});
        if (!done()) { ++at_; }
        if (active_ && !once) { expand_.variables = merged({before, expand_.variables}); }
    }

    /// "case WORD in a|b) ... ;; *) ... ;; esac".
    void cases() {
        RawCommand head = (*commands_)[at_++];
        bool const outer = active_;
        Truth known = Truth::unknown;
        std::string subject;
        if (outer && head.words.size() > 1) {
            expand_.met_unknown = false;
            expand_.readings = 1;
            expand_.reading = 0;
            subject = expand_.joined(head.words[1]);
            known = !expand_.met_unknown && expand_.readings == 1 ? Truth::yes : Truth::unknown;
        }
        std::vector<RawWord> patterns;
        if (head.words.size() > 3) { patterns.assign(head.words.begin() + 3, head.words.end()); }
        bool pending = head.end == CommandEnd::pattern && !patterns.empty();
        Variables const before = outer ? copied() : Variables{};
        std::vector<Variables> ways;
        bool decided = false;
        while (!done() && (pending || reserved() != "esac")) {
            while (!pending && !done() && reserved() != "esac") {
                RawCommand const& part = (*commands_)[at_++];
                std::ranges::copy(part.words, std::back_inserter(patterns));
                pending = part.end == CommandEnd::pattern;
            }
            if (!pending) { break; }
            bool any = false, matches = false;
            for (RawWord const& pattern : patterns) {
                std::string const text = expand_.joined(pattern);
                any = any || text == "*";
                matches = matches || text == subject;
            }
            bool const runs = known == Truth::yes ? !decided && (any || matches) : true;
            active_ = outer && runs;
            if (active_) { expand_.variables = before; }
            block({";;", "esac"});
            if (active_) { ways.push_back(copied()); }
            decided = decided || (runs && (known == Truth::yes || any));
            if (!done() && (*commands_)[at_].end == CommandEnd::clause && (*commands_)[at_].words.empty()) { ++at_; }
            patterns.clear();
            pending = false;
        }
        if (!done()) { ++at_; }
        active_ = outer;
        if (!outer) { return; }
        if (!decided) { ways.push_back(before); }
        expand_.variables = known == Truth::yes && !ways.empty() ? ways.front() : merged(ways);
    }

    void define() {
        std::string name = (*commands_)[at_++].words.back().text;
        if (name.ends_with("()")) { name.resize(name.size() - 2); }
        if (done() || (reserved() != "{" && reserved() != "(")) { return; }
        if (reserved() == "(") {
            subshells_.insert(name);
        } else {
            subshells_.erase(name);
        }
        functions_[name] = enclosed_in(*commands_, at_);
    }

    /// Assignments, arithmetic, calls, texts that are run; another command is kept.
    Truth simple(RawCommand const& command) {
        if (command.words.empty()) { return Truth::yes; }
        if (command.heredoc >= 0 && static_cast<std::size_t>(command.heredoc) < script_.heredocs.size()) {
            Heredoc& one = script_.heredocs[static_cast<std::size_t>(command.heredoc)];
            one.text = expand_.put_in(one.text, one.line);
            count(one.text.size());
            std::string const last = command.words.back().text;
            if (command.words.front().text == "read" && name_at(last) == last) {
                expand_.set_text(last, one.text, one.line);
            }
        }
        script_.too_large = script_.too_large || ++steps_ > most_steps || expand_.too_large();
        std::string const first = command.words.front().text;
        if (is_one_of(first, {"[", "[[", "test", "true", "false", ":", "!"}) || first.starts_with("((")) {
            for (RawWord const& word : command.words) {
                if (first == ":") { expand_.expanded(word); } // ": ${TP:=2}"
            }
            if (first.starts_with("((")) {
                expand_.compute(first.substr(2, first.size() > 4 ? first.size() - 4 : 0), command.line);
            }
            return truth_of(command, expand_);
        }
        if (command.words.size() == 1 && holds_truth(first)) { // "$USE_SP && ARGS=..."
            if (Truth const known = truth_of(command, expand_); known != Truth::unknown) { return known; }
        }
        std::size_t at = 0;
        bool const declares = is_one_of(first, {"export", "local", "declare", "readonly", "typeset"});
        bool const here = is_one_of(first, {"local", "declare", "typeset"}) && !locals_.empty();
        if (declares) { ++at; }
        for (std::size_t i = 1; here && i < command.words.size(); ++i) {
            std::string const name{name_at(command.words[i].text)};
            locals_.back().try_emplace(name, value_of(name));
        }
        std::map<std::string, std::optional<Variable>> outside; // of "TP=8 bash x.sh": of that command alone
        while (at < command.words.size()) {
            bool const flag = declares && command.words[at].text.starts_with('-');
            std::string const name{name_at(command.words[at].text)};
            auto const old = value_of(name);
            if (!flag && !expand_.assign(command.words[at])) { break; }
            if (!flag) { outside.try_emplace(name, old); }
            ++at;
        }
        if (at == command.words.size() || declares) { return Truth::yes; }
        if (first == "let") {
            for (std::size_t i = 1; i < command.words.size(); ++i) {
                expand_.compute(expand_.joined(command.words[i]), command.line);
            }
            return Truth::yes;
        }
        for (RawWord const& word : command.words) {
            if (first == "unset") { expand_.variables.erase(word.text); }
        }
        if (first == "unset" || first == "exit" || first == "return" || first == "set") { return Truth::yes; }
        if (first == "shift" && expand_.has_arguments && !expand_.arguments.empty()) {
            expand_.arguments.erase(expand_.arguments.begin());
            return Truth::yes;
        }
        keep(command);
        for (auto& [name, value] : outside) { put_back(name, std::move(value)); }
        return Truth::yes;
    }

    [[nodiscard]] std::optional<Variable> value_of(std::string const& name) const {
        auto const found = expand_.variables.find(name);
        return found != expand_.variables.end() ? std::optional{found->second} : std::nullopt;
    }

    /// A variable as it was before a command that had one of its own, which is kept as words.
    void put_back(std::string const& name, std::optional<Variable> value) {
        auto own = expand_.variables.extract(name);
        if (own && !used_.contains(name)) { passed_.insert(std::move(own)); }
        if (value) { expand_.variables[name] = std::move(*value); }
    }

    /// A command that is no builtin: a function is called, the text of "eval" and "bash -c" is run.
    void keep(RawCommand const& command) {
        ShellCommand kept{.readings = {}, .line = command.line};
        expand_.readings = 1;
        for (expand_.reading = 0; expand_.reading < std::min(expand_.readings, most_values); ++expand_.reading) {
            std::vector<Word> words;
            for (RawWord const& word : command.words) {
                for (ShellItem const& item : expand_.expanded(word)) {
                    int const line = item.text.lines.empty() ? word.line() : item.text.lines.front();
                    words.push_back({item.text.chars, line, item.quoted});
                    count(item.text.chars.size() + 16);
                    note_lines(item);
                }
            }
            if (!words.empty()) { kept.readings.push_back(std::move(words)); }
        }
        expand_.reading = 0;
        if (kept.readings.empty()) { return; }
        for (RawWord const& word : command.words) { used_.merge(variables_in(word.text)); }
        if (runs_inside(kept)) { return; }
        script_.commands.push_back(std::move(kept));
    }

    void call(std::vector<Word> const& words) {
        std::string const& name = words.front().text;
        called_.insert(name);
        std::vector<std::string> const outer = expand_.arguments;
        bool const had = expand_.has_arguments;
        expand_.arguments.clear();
        for (std::size_t i = 1; i < words.size(); ++i) { expand_.arguments.push_back(words[i].text); }
        expand_.has_arguments = true;
        locals_.emplace_back();
        bool const in_subshell = subshells_.contains(name);
        Variables before = in_subshell ? copied() : Variables{};
        run_commands(std::vector<RawCommand>{functions_[name]});
        if (in_subshell) { expand_.variables = std::move(before); }
        for (auto& [local, value] : locals_.back()) {
            value ? static_cast<void>(expand_.variables[local] = std::move(*value))
                  : static_cast<void>(expand_.variables.erase(local));
        }
        locals_.pop_back();
        expand_.arguments = outer;
        expand_.has_arguments = had;
    }

    /// The commands kept since there were `first` of them.
    std::vector<ShellCommand> taken_from(std::size_t first) {
        auto const begin = script_.commands.begin() + static_cast<std::ptrdiff_t>(first);
        std::vector<ShellCommand> commands{std::make_move_iterator(begin),
                                           std::make_move_iterator(script_.commands.end())};
        script_.commands.erase(begin, script_.commands.end());
        return commands;
    }

    /// Commands of a text, behind what starts it.
    std::vector<ShellCommand> commands_of(InnerText const& inner, int line) {
        std::size_t const first = script_.commands.size();
        auto const lines = lines_.find(inner.text);
        ShellText parts = shell_text(inner.text, lines != lines_.end() ? lines->second : std::vector<int>{}, line);
        for (RawCommand& command : parts.commands) { command.heredoc = -1; } // of another text
        run_commands(by_reserved_words(parts.commands));
        std::vector<ShellCommand> commands = taken_from(first);
        if (commands.empty() && !inner.launcher.empty()) { return {{.readings = {inner.launcher}, .line = line}}; }
        for (ShellCommand& command : commands) {
            for (std::vector<Word>& reading : command.readings) {
                reading.insert(reading.begin(), inner.launcher.begin(), inner.launcher.end());
            }
        }
        return commands;
    }

    /// Runs a function or a text for each reading of the command. False where it is neither. A text that "eval" does not run
    /// leaves the variables as they are.
    bool runs_inside(ShellCommand const& command) {
        std::string const name = command.readings.front().front().text;
        bool const calls = functions_.contains(name);
        if (!calls && (depth_ >= deepest_call || inner_text(command.readings.front()).text.empty())) { return false; }
        Variables const before = copied();
        std::vector<Variables> ways;
        std::vector<ShellCommand> all;
        for (std::vector<Word> const& words : command.readings) {
            expand_.variables = before;
            std::size_t const first = script_.commands.size();
            if (calls) { call(words); }
            std::vector<ShellCommand> commands =
                calls ? taken_from(first) : commands_of(inner_text(words), words.front().line);
            ways.push_back(calls || name == "eval" ? copied() : before);
            bool const same = commands.size() == all.size();
            for (std::size_t i = 0; i < commands.size(); ++i) {
                same ? static_cast<void>(std::ranges::move(commands[i].readings, std::back_inserter(all[i].readings)))
                     : all.push_back(std::move(commands[i]));
            }
        }
        expand_.variables = ways.size() > 1 ? merged(ways) : std::move(ways.front());
        std::ranges::move(all, std::back_inserter(script_.commands));
        return true;
    }

    /// Lines of a text that has blanks: it may be run.
    void note_lines(ShellItem const& item) {
        bool const may_run = item.text.chars.find(' ') != std::string::npos && lines_.size() < 200;
        if (may_run) { lines_[item.text.chars] = item.text.lines; }
    }

    void add_variables() {
        expand_.variables.merge(passed_);
        for (auto const& [name, variable] : expand_.variables) {
            if (used_.contains(name)) { continue; }
            int const line = expand_.where[name];
            auto readings = readings_of(name, variable, line);
            if (!readings.empty()) { script_.variables.push_back({.readings = std::move(readings), .line = line}); }
        }
    }

    Expansion expand_;
    ShellScript script_;
    std::map<std::string, std::vector<RawCommand>> functions_;
    std::set<std::string> called_, used_;
    std::set<std::string> subshells_; ///< functions whose body stands in parentheses
    bool has_background_ = false;     ///< a command ends in "&"
    Variables passed_;                ///< of single commands, which are not set behind them
    std::vector<std::map<std::string, std::optional<Variable>>>
        locals_; ///< of each function that runs: values outside of it
    std::map<std::string, std::vector<int>> lines_;
    std::vector<RawCommand> const* commands_ = nullptr;
    std::size_t at_ = 0, steps_ = 0;
    int depth_ = 0, levels_ = 0;
    std::size_t work_ = 0;
    bool active_ = true;
    bool has_ended_ = false; ///< "exit" outside of blocks
};

} // namespace

ShellScript run_shell(std::string_view text, std::string_view before) { return Runner{}.run(text, before); }

} // namespace headroom::io::launch
