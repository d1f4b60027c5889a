#include "program.hpp"

#include "headroom/document/text.hpp"
#include "headroom/io/streams.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace headroom::cli {
namespace {

/// Columns of help: the terminal's, as far as lines of text stay readable.
std::size_t page_width() {
    constexpr std::size_t most = 100;
    return std::min(most, io::columns_of(STDOUT_FILENO).value_or(io::usual_columns));
}

/// "name  words", the words wrapped next to the name.
void add_entry(std::string& out, std::string const& name, std::string const& words) {
    constexpr std::size_t indent = 30;
    std::string first = "  " + name;
    first.resize(std::max(indent, first.size() + 2), ' ');
    for (std::string const& line : wrap(words, page_width() - std::max(indent, first.size()))) {
        out += first + line + "\n";
        first.assign(indent, ' ');
    }
}

/// Lines that go on end as a shell has it, so that an example can be copied.
std::string examples_of(Verb const& verb) {
    static constexpr std::string_view next_line = "\n      ";
    std::string text = verb.examples;
    for (auto at = text.find(next_line); at != std::string::npos; at = text.find(next_line, at + next_line.size())) {
        if (text[at - 1] == '\\') { continue; }
        text.insert(at, " \\");
        at += 2;
    }
    return text;
}

/// Summary, usage and positional arguments.
std::string beginning_of(Verb const& verb) {
    std::string const first = "headroom " + std::string{verb.name} + ": " + verb.summary;
    std::string out = join(wrap(first, page_width()), "\n  ") + "\n\nusage: headroom " + verb.name;
    for (Positional const& positional : verb.positionals) { out += std::string{" "} + positional.name; }
    out += verb.takes_command ? " [OPTIONS] -- COMMAND\n" : " [OPTIONS]\n";
    for (Positional const& positional : verb.positionals) {
        out += "\n";
        add_entry(out, positional.name, positional.help);
    }
    return out;
}

/// Option with the form of its value: "--workers COUNTS".
std::string option_head(Option const& option) {
    std::string const placeholder = option.placeholder;
    return option.name + (option.takes == Takes::perhaps_value ? " [" + placeholder + "]"
                          : placeholder.empty()                ? ""
                                                               : " " + placeholder);
}

/// Whether a word of the text is this option.
bool uses(std::string_view text, std::string_view option) {
    for (auto at = text.find(option); at != std::string_view::npos; at = text.find(option, at + 1)) {
        auto const end = at + option.size();
        if (end == text.size() || std::string_view{" =\n"}.find(text[end]) != std::string_view::npos) { return true; }
    }
    return false;
}

/// The first thing that a help text says, on one line next to an option's name.
std::string first_words(std::string_view help) {
    std::size_t const room = page_width() - 30;
    auto const lines = wrap(std::string{help.substr(0, std::min(help.find(" ("), help.find(';')))}, room - 4);
    return lines.size() > 1 ? lines.front() + " ..." : lines.empty() ? "" : lines.front();
}

std::size_t lines_in(std::string const& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// Examples apart, with the lines that they go on in.
std::vector<std::string> separate_examples(std::string const& text) {
    std::vector<std::string> examples;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        bool const goes_on = line.starts_with("   ") && !examples.empty();
        if (goes_on) {
            examples.back() += "\n" + line;
        } else {
            examples.push_back(line);
        }
    }
    return examples;
}

} // namespace

std::string short_help_of(Verb const& verb) {
    constexpr std::size_t screen = 24, most_options = 9;
    std::string out = beginning_of(verb) + "\n";
    std::size_t all = 0, shown = 0;
    for (Option const& option : verb.all_options()) {
        ++all;
        if (shown == most_options || !uses(verb.examples, option.name)) { continue; }
        add_entry(out, option_head(option), first_words(option.help));
        ++shown;
    }
    std::string const last = "\nheadroom " + std::string{verb.name} + " --help has all " + std::to_string(all) +
                             " options and more examples.\n";
    std::string examples = "\nExamples\n";
    for (std::string const& one : separate_examples(examples_of(verb))) {
        if (lines_in(out) + lines_in(examples) + lines_in(one) + 1 + lines_in(last) > screen) { break; }
        examples += one + "\n";
    }
    return out + examples + last;
}

std::string help_of(Verb const& verb) {
    std::string out = beginning_of(verb);
    std::vector<std::string> groups;
    for (Option const& option : verb.all_options()) {
        if (std::ranges::find(groups, option.group) == groups.end()) { groups.emplace_back(option.group); }
    }
    std::stable_partition(groups.begin(), groups.end(), [](std::string const& group) { return group != "Output"; });
    for (std::string const& group : groups) {
        out += "\n" + group + "\n";
        for (Option const& option : verb.all_options()) {
            if (group == option.group) { add_entry(out, option_head(option), option.help); }
        }
    }
    add_entry(out, "-h", "print one screen of this and exit");
    add_entry(out, "--help", "print this and exit");
    return out + "\nExamples\n" + examples_of(verb) + "\n";
}

std::vector<Verb> subjects_of(std::string const& name) {
    std::vector<Verb> subjects;
    for (Verb const& verb : verbs()) {
        if (std::string_view{verb.name}.starts_with(name + " ")) { subjects.push_back(verb); }
    }
    return subjects;
}

std::string overview() {
    std::string out = "headroom: will more machines help, how much, where does it stop, at what cost?\n\n"
                      "usage: headroom VERB [ARGUMENTS]\n\n";
    std::string before;
    for (Verb const& verb : verbs()) {
        std::string const whole = verb.name, name = whole.substr(0, whole.find(' '));
        if (name == before) { continue; }
        before = name;
        std::vector<std::string> subjects;
        for (Verb const& subject : subjects_of(name)) { subjects.emplace_back(subject.name + name.size() + 1); }
        std::string const words = subjects.empty() ? verb.summary : "what is real, timed: " + join(subjects, ", ");
        out.append("  ").append(name).append(12 - name.size(), ' ').append(words).append("\n");
    }
    if (auto const absent = absent_verbs(); !absent.empty()) {
        std::string const how = absent.size() > verbs_of_the_program ? "make build adds them" : "it needs cpp-httplib";
        out += "\n  " +
               join(wrap("not in this program, " + how + ": " + join(absent, ", "), page_width() - 2), "\n  ") + "\n";
    }
    return out + "\n  headroom VERB --help      options of a verb, with examples\n"
                 "  headroom --version        version and catalog\n\n"
                 "Examples:\n"
                 "  headroom plan llama-3-70b --cluster dgx-h100 --workers 8..1024 --tokens 2T\n"
                 "  headroom predict examples/config.json --cluster dgx-a100 --workers 64 --tp 8\n\n"
                 "Exit codes: 0 done, 1 internal fault, 2 usage, 3 no feasible answer, 4 input\n"
                 "unreadable, 5 too little data, 99 a gate (--require) failed, 130 interrupted\n"
                 "(what was finished is written).\n";
}

} // namespace headroom::cli
