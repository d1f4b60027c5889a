#include "program.hpp"

#include "arguments.hpp"
#include "launch_files.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/allocation.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/configuration.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/streams.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <new>
#include <set>

namespace headroom::cli {
namespace {

std::span<MakeVerb const> held_verbs; ///< of this program

constexpr char const* how_to_add = "make build adds the other verbs";
constexpr char const* how_to_serve = "install libcpp-httplib-dev and build it again";

/// Texts of options, by name.
struct Parsed {
    std::map<std::string, std::vector<std::string>> values;
    std::map<std::string, CLI::Option*> known; ///< to the parser, which fills their values
    std::set<std::string> given;
};

/// The option that a word gives a plain value, `--tp=8`; null for any other word.
Option const* plain_option(Verb const& verb, std::string_view word) {
    auto const equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string_view::npos || equals + 1 == word.size()) { return nullptr; }
    char const first = word[equals + 1];
    bool const plain = std::isalnum(static_cast<unsigned char>(first)) != 0 || first == '.' || first == '/';
    Option const* const option = plain ? verb.option_spelled(word.substr(0, equals)) : nullptr;
    bool const takes_one =
        option != nullptr && (option->takes == Takes::value || option->takes == Takes::perhaps_value);
    return takes_one ? option : nullptr;
}

/// Takes options with a plain value out of the words: the parser spends more on each than a short answer takes. One that
/// follows an option without a value stays, for it parts that option from the next word.
void take_plain(std::vector<std::string>& words, Verb const& verb, Parsed& parsed) {
    if (std::ranges::count(words, "--") > 0) { return; }
    std::vector<std::string> rest;
    bool parts = false; // whether the word before is an option without a value
    for (std::string& word : words) {
        Option const* const option = parts ? nullptr : plain_option(verb, word);
        parts = word.starts_with('-') && word.find('=') == std::string::npos;
        if (option == nullptr) {
            rest.push_back(std::move(word));
            continue;
        }
        parsed.given.insert(option->name); // once: `in_own_words` refuses a second one
        parsed.values[option->name] = {word.substr(word.find('=') + 1)};
    }
    words = std::move(rest);
}

/// Options of the verb that some word names: the parser compares each option with all others.
void add_options(CLI::App& app, Verb const& verb, std::vector<std::string> const& words, Parsed& parsed) {
    std::set<std::string_view> named;
    for (std::string_view const word : words) { named.insert(word.substr(0, word.find('='))); }
    for (Option const& row : verb.all_options()) {
        if (!named.contains(row.name) && (row.alias == nullptr || !named.contains(row.alias))) { continue; }
        CLI::Option* option = nullptr;
        if (row.takes == Takes::nothing) {
            auto const valued = [&](std::string const& word) { return word.starts_with(row.name + std::string{"="}); };
            if (std::ranges::any_of(words, valued)) { refuse(row.name, "takes no value", "it is a switch", "omit it"); }
            option = app.add_flag(row.name, row.help);
        } else if (row.takes == Takes::values) { // given again, it is one more
            option = app.add_option(row.name, parsed.values[row.name], row.help);
            option->expected(1)->take_all()->allow_extra_args(false);
        } else {
            std::string const names = row.alias == nullptr ? row.name : row.name + std::string{","} + row.alias;
            option = app.add_option(names, parsed.values[row.name], row.help);
            option->expected(row.takes == Takes::perhaps_value ? 0 : 1, 1)->allow_extra_args(false);
        }
        parsed.known[row.name] = option;
    }
}

std::vector<std::string> option_names(Verb const& verb) {
    std::vector<std::string> names{"--help", "--version"};
    for (Option const& option : verb.all_options()) { names.emplace_back(option.name); }
    return names;
}

/// Whether an option of some verb has this name, or another tool calls one so.
bool option_named(std::string_view name) {
    return io::habit_word(name) != nullptr ||
           std::ranges::any_of(verbs(), [&](Verb const& verb) { return verb.option_named(name) != nullptr; });
}

/// The verbs that take an option; `otherwise` where none does.
std::string takers_of(std::string_view name, std::string const& otherwise) {
    std::vector<std::string> takers;
    for (Verb const& verb : verbs()) {
        if (verb.option_named(name) != nullptr) { takers.emplace_back(verb.name); }
    }
    if (takers.empty()) { return otherwise; }
    constexpr std::size_t most = 3;
    bool const more = takers.size() > most;
    takers.resize(std::min(takers.size(), most));
    return join(takers, ", ") + (takers.size() == 1 ? " takes it" : more ? " and others take it" : " take it");
}

/// The option that a word without one was meant for; empty where no option of the verb that is not given takes it.
std::string option_meant_by(std::string const& word, Verb const& verb, Parsed const& parsed) {
    io::Catalog const catalog;
    auto const names = [&](io::RecordKind kind) {
        return std::ranges::any_of(catalog.names_and_aliases(kind),
                                   [&](std::string const& name) { return normalised(name) == normalised(word); });
    };
    bool const is_number = word.find_first_not_of("0123456789") == std::string::npos && !word.empty();
    std::array const meanings{std::pair{"--cluster", io::names_machines(catalog, word)},
                              std::pair{"--framework", names(io::RecordKind::framework)},
                              std::pair{"--strategy", names(io::RecordKind::strategy)},
                              std::pair{"--optimizer", names(io::RecordKind::optimizer)},
                              std::pair{"--workers", is_number}};
    for (auto const& [option, means] : meanings) {
        bool const given = parsed.given.contains(option) || parsed.known.contains(option);
        if (means && verb.option_named(option) != nullptr && !given) { return option; }
    }
    return {};
}

/// Assigns the remaining words to the positionals; a word with a hyphen among them is an unknown option.
void add_positionals(Arguments& arguments, std::vector<std::string> const& rest, Verb const& verb,
                     Parsed const& parsed) {
    std::string const help = "see headroom " + std::string{verb.name} + " --help";
    for (std::string const& word : rest) {
        if (!word.starts_with('-') || word == "-") { continue; }
        std::string const name = word.substr(0, word.find('='));
        std::string const meant = option_named(name) ? std::string{} : misspelled(name, option_names(verb));
        refuse("command line", "unknown option " + headroom::quoted(name), verb.name + std::string{" does not take it"},
               meant.empty() ? takers_of(name, help) : "did you mean '" + meant + "'?");
    }
    std::size_t at = 0;
    for (Positional const& positional : verb.positionals) {
        if (at == rest.size()) { return; }
        auto const first = rest.begin() + static_cast<std::ptrdiff_t>(at);
        at = positional.many ? rest.size() : at + 1;
        arguments.add(positional.name, {first, rest.begin() + static_cast<std::ptrdiff_t>(at)});
    }
    if (at == rest.size()) { return; }
    std::string const option = option_meant_by(rest[at], verb, parsed);
    refuse("command line", "unexpected argument " + headroom::quoted(rest[at]), "",
           option.empty() ? help : "did you mean '" + option + " " + rest[at] + "'?");
}

/// A key that no verb, or not the verb of its table, knows.
[[noreturn]] void refuse_key(io::ConfigurationEntry const& entry, std::string const& place) {
    std::vector<std::string> known;
    for (Verb const& verb : verbs()) {
        if (!entry.table.empty() && verb.name != entry.table) { continue; }
        std::vector<std::string> const more = option_names(verb);
        known.insert(known.end(), more.begin(), more.end());
    }
    bool const may_be_absent = entry.table.empty() && !absent_verbs().empty();
    refuse(place, "unknown key " + headroom::quoted(entry.key),
           (entry.table.empty() ? may_be_absent ? "no verb of this program" : "no verb" : entry.table) + " takes it",
           did_you_mean(entry.key, known, may_be_absent ? how_to_add : "keys are option names"));
}

/// Every key belongs to an option, and every table to a verb, whatever verb is running. Keys of a verb that this program does
/// not hold are left to the program that does.
void check_entry(io::ConfigurationEntry const& entry, std::string const& place) {
    std::vector<std::string> const names{verb_names.begin(), verb_names.end()}, absent = absent_verbs();
    if (std::ranges::count(absent, entry.table) > 0) { return; }
    bool is_verb = entry.table.empty(), is_option = false;
    for (Verb const& verb : verbs()) {
        if (!entry.table.empty() && verb.name != entry.table) { continue; }
        is_verb = true;
        is_option = is_option || verb.option_named(entry.key) != nullptr;
    }
    if (!is_verb) {
        refuse(place, "unknown table " + headroom::quoted(entry.table), "a table is named after a verb",
               did_you_mean_one_of(entry.table, names));
    }
    if (!is_option) { refuse_key(entry, place); }
}

/// Options that write files: a configuration that nobody named does not set them.
constexpr std::array writing_options{"--out", "--html", "--timeline", "--memory-timeline", "--save-calibration"};

/// Values of the file for options that were not given; a key is an option's name without its hyphens. A key of
/// the verb's table goes before a plain one. Result: the options that it set.
std::vector<std::string> add_configuration(Arguments& arguments, Verb const& verb, std::string const& file,
                                           bool named) {
    std::vector<std::string> set;
    std::vector<io::ConfigurationEntry> entries = io::read_configuration(io::read_file(file), file);
    std::stable_partition(entries.begin(), entries.end(),
                          [](io::ConfigurationEntry const& entry) { return !entry.table.empty(); });
    std::set<std::string> settled; // an option that the verb's table switches off stays off
    for (io::ConfigurationEntry const& entry : entries) {
        std::string const& place = entry.place;
        check_entry(entry, place);
        Option const* option = verb.option_named(entry.key);
        if (option == nullptr || (!entry.table.empty() && entry.table != verb.name)) { continue; }
        bool const takes_nothing = option->takes == Takes::nothing;
        if (takes_nothing != entry.is_switch && !(entry.is_switch && option->takes == Takes::perhaps_value)) {
            refuse(place, headroom::quoted(entry.key) + (takes_nothing ? " takes no value" : " takes a value"), "",
                   takes_nothing ? "write true or false" : "see headroom " + std::string{verb.name} + " --help");
        }
        bool const is_settled = arguments.has(option->name) || std::string_view{option->name} == "--config" ||
                                !settled.insert(option->name).second;
        if (is_settled || (entry.is_switch && entry.values.front() == "false")) { continue; }
        if (!named && std::ranges::count(writing_options, std::string_view{option->name}) > 0) {
            refuse(place, headroom::quoted(entry.key) + " would write a file", "nobody named this file of options",
                   "name it: --config " + file);
        }
        set.emplace_back(option->name);
        if (option->takes == Takes::values) {
            arguments.add(option->name, entry.values);
            continue;
        }
        arguments.add(option->name,
                      entry.is_switch ? std::vector<std::string>{} : std::vector{join(entry.values, ",")});
    }
    arguments.mark_defaults(set);
    return set;
}

/// Options of --config, else of the file that is found; a note says which that one set.
void configure(Arguments& arguments, Verb const& verb, std::vector<std::string>& notes) {
    if (verb.option_spelled("--config") == nullptr) { return; }
    auto const given = arguments.text("--config");
    bool const calls_itself = io::captured() != nullptr; // a caller from Python states its options
    std::string const file = given ? *given : calls_itself ? std::string{} : io::found_configuration();
    if (file.empty()) { return; }
    auto const set = add_configuration(arguments, verb, file, given.has_value());
    if (!given && !set.empty()) { notes.push_back(file + " sets " + join(set, ", ") + "; --config '' leaves it out"); }
}

/// Options of this call as a file of options.
std::string configuration_of(Arguments const& arguments, Verb const& verb) {
    std::vector<io::ConfigurationEntry> entries;
    for (Option const& option : verb.all_options()) {
        std::string_view const name = option.name;
        if (name == "--config" || name == "--print-config" || !arguments.has(option.name)) { continue; }
        auto values = arguments.all(option.name);
        bool const is_switch = std::ranges::all_of(values, &std::string::empty); // it stands alone
        if (is_switch) { values = {"true"}; }
        entries.push_back({.table = verb.name,
                           .key = std::string{name.substr(2)},
                           .values = std::move(values),
                           .is_switch = is_switch,
                           .place = {}});
    }
    return io::written_configuration(entries, verb.name);
}

/// Takes what stands after the first `--` out of the words.
std::vector<std::string> cut_command(std::vector<std::string>& words) {
    auto const dashes = std::find(words.begin(), words.end(), "--");
    if (dashes == words.end()) { return {}; }
    std::vector<std::string> command(dashes + 1, words.end());
    words.erase(dashes, words.end());
    return command;
}

int run_verb(Verb const& verb, std::vector<std::string> words) {
    auto command = verb.takes_command ? cut_command(words) : std::vector<std::string>{};
    std::vector<std::string> notes;
    if (std::ranges::count(words, "-h") > 0) {
        io::write_file("-", short_help_of(verb));
        return Exit::done;
    }
    words = in_own_words(verb, words, notes);
    CLI::App app{verb.summary, "headroom " + std::string{verb.name}};
    app.allow_extras();
    app.set_help_flag("--help");
    Parsed parsed;
    take_plain(words, verb, parsed);
    add_options(app, verb, words, parsed);
    try {
        std::reverse(words.begin(), words.end());
        app.parse(std::move(words));
    } catch (CLI::CallForHelp const&) {
        io::write_file("-", help_of(verb));
        return Exit::done;
    } catch (CLI::ArgumentMismatch const& error) {
        std::string what = error.what();
        refuse("command line", what.substr(0, what.find(':')) + " needs one value, given once", "",
               "see headroom " + std::string{verb.name} + " --help");
    } catch (CLI::Error const& error) {
        refuse("command line", error.what(), "", "see headroom " + std::string{verb.name} + " --help");
    }
    Arguments arguments;
    add_positionals(arguments, app.remaining(), verb, parsed);
    for (auto const& [name, option] : parsed.known) {
        if (option->count() > 0) { parsed.given.insert(name); }
    }
    for (std::string const& name : parsed.given) { arguments.add(name, parsed.values[name]); }
    if (!command.empty()) { arguments.add("COMMAND", std::move(command)); }
    configure(arguments, verb, notes);
    auto const places = add_launch_files(arguments, verb);
    if (arguments.has("--print-config")) {
        io::write_file("-", configuration_of(arguments, verb));
        return Exit::done;
    }
    bool const answers = takes_launch_files(verb); // then the answer has the notes
    for (std::string const& text : notes) {
        if (answers) { arguments.note(text); }
        if (!answers && !arguments.has("--quiet")) { say("note: " + printable(text)); }
    }
    try {
        return verb.run(arguments);
    } catch (InputError const& error) { // a value of a launch file has its place there
        auto const place = places.find(error.text().where);
        if (place == places.end()) { throw; }
        ErrorText text = error.text();
        text.where = place->second + " " + text.where;
        throw InputError{error.fault(), std::move(text)};
    }
}

/// `headroom measure`, with a word behind it that is none of its subjects, or without one.
int explain_subjects(std::string const& name, std::vector<Verb> const& subjects,
                     std::vector<std::string> const& words) {
    std::string list;
    std::vector<std::string> names;
    for (Verb const& verb : subjects) {
        list += "  " + std::string{verb.name} + "\n      " + verb.summary + "\n";
        names.emplace_back(std::string_view{verb.name}.substr(name.size() + 1));
    }
    if (words.size() > 1 && words[1] != "--help" && words[1] != "-h") {
        refuse("command line", headroom::quoted(words[1]) + " is nothing to " + name, "",
               did_you_mean_one_of(words[1], names));
    }
    io::write_file("-", "headroom " + name + ": what of?\n\n" + list + "\n  headroom " + name +
                            " SUBJECT --help      its options, with examples\n");
    return words.size() > 1 ? Exit::done : Exit::usage;
}

int dispatch(std::vector<std::string> words) {
    if (words.empty()) {
        io::write_error(overview());
        return Exit::usage;
    }
    if (words.front() == "help" && words.size() == 2) { words = {words.back(), "--help"}; }
    std::string const name = words.front();
    if (name == "--help" || name == "-h" || name == "help") {
        io::write_file("-", overview());
        return Exit::done;
    }
    if (name == "--version" || std::find(words.begin(), words.end(), "--version") != words.end()) {
        io::write_file("-", "headroom " HEADROOM_VERSION " (catalog " + io::Catalog{}.hash() + ")\n");
        return Exit::done;
    }
    for (Verb const& verb : verbs()) {
        if (name == verb.name) { return run_verb(verb, {words.begin() + 1, words.end()}); }
        if (words.size() > 1 && name + " " + words[1] == verb.name) {
            return run_verb(verb, {words.begin() + 2, words.end()});
        }
    }
    if (auto const subjects = subjects_of(name); !subjects.empty()) { return explain_subjects(name, subjects, words); }
    for (std::string const& absent : absent_verbs()) {
        if ((absent + " ").starts_with(name + " ")) {
            bool const small = absent_verbs().size() > verbs_of_the_program;
            refuse("command line", headroom::quoted(name) + " is not in this program",
                   small ? "it was built by make plan" : "it was built without cpp-httplib",
                   small ? how_to_add : how_to_serve);
        }
    }
    std::vector<std::string> const names{verb_names.begin(), verb_names.end()};
    if (name.starts_with('-')) {
        refuse("command line", "unknown option " + headroom::quoted(name), "the verb comes first",
               "see headroom --help");
    }
    refuse("command line", "unknown verb " + headroom::quoted(name), "", did_you_mean_one_of(name, names));
}

} // namespace

int exit_code(Fault fault) {
    switch (fault) {
    case Fault::usage: return Exit::usage;
    case Fault::unreadable: return Exit::unreadable;
    case Fault::insufficient: return Exit::insufficient;
    case Fault::impossible: return Exit::infeasible;
    }
    return Exit::internal;
}

std::vector<Verb> verbs() {
    std::vector<Verb> all;
    for (MakeVerb const make : held_verbs) { all.push_back(make()); }
    return all;
}

std::vector<std::string> absent_verbs() {
    std::vector<std::string> absent{verb_names.begin(), verb_names.end()};
    for (Verb const& verb : verbs()) { std::erase(absent, verb.name); }
    return absent;
}

void hold_verbs(std::span<MakeVerb const> held) { held_verbs = held; }

int run_words(std::vector<std::string> words, ErrorText* error) {
    auto const complain = [error](ErrorText text, int code) {
        std::string line = error_line(text);
        std::ranges::replace(line, '\n', ' ');
        say(line);
        if (error != nullptr) { *error = std::move(text); }
        return code;
    };
    try {
        return dispatch(std::move(words));
    } catch (InputError const& fault) { // a reader may take missing memory for a fault of its text
        if (io::allocation_failed()) { throw std::bad_alloc{}; }
        return complain(fault.text(), exit_code(fault.fault()));
    } catch (Interrupted const&) {
        return complain({.where = "headroom", .problem = "interrupted", .why = "nothing was finished"},
                        Exit::interrupted);
    }
}

} // namespace headroom::cli
