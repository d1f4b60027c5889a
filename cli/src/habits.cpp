#include "program.hpp"

#include "headroom/error.hpp"
#include "headroom/io/habit_words.hpp"
#include "headroom/io/words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace headroom::cli {
namespace {

using io::HabitWord;

/// "trillion", "tokens": words of a number that a shell has parted from it.
bool continues_number(std::string_view word) {
    static constexpr std::array words{"trillion",  "billion", "million", "thousand", "tokens", "token",
                                      "sequences", "dollars", "days",    "weeks",    "months", "hours"};
    bool const is_option = word.starts_with('-');
    return !is_option && std::ranges::any_of(words, [&](char const* one) { return normalised(word) == one; });
}

bool begins_with_digit(std::string_view text) {
    return !text.empty() && (text.front() == '$' || (text.front() >= '0' && text.front() <= '9'));
}

/// One pass over the words, which are read from left to right.
class Reading {
public:
    Reading(Verb const& verb, std::vector<std::string> const& words, std::vector<std::string>& notes)
        : verb_{verb}, words_{words}, notes_{notes} {}

    std::vector<std::string> read() {
        while (at_ < words_.size()) {
            std::string const& word = words_[at_++];
            bool const is_option = word.starts_with("--") && word.size() > 2;
            if (is_option) {
                read_option(word);
            } else {
                out_.push_back(word);
            }
        }
        for (auto const& [option, value] : merged_) {
            out_.push_back(option);
            out_.push_back(value);
        }
        return std::move(out_);
    }

private:
    void read_option(std::string const& word) {
        auto const equals = word.find('=');
        std::string const name = word.substr(0, equals);
        std::optional<std::string> value;
        if (equals != std::string::npos) { value = word.substr(equals + 1); }
        if (Option const* option = verb_.option_named(name)) { return read_own(*option, name, value); }
        HabitWord const* habit = io::habit_word(name);
        std::string const target = habit == nullptr ? std::string{} : target_of(*habit);
        if (target.empty()) {
            out_.push_back(word); // the parser says that it is unknown
            return;
        }
        read_habit(*habit, name, target, value);
    }

    /// An option of the verb, whatever its hyphens; a field that is on or off may stand alone.
    void read_own(Option const& option, std::string const& name, std::optional<std::string> value) {
        bool const takes = option.takes == Takes::value || option.takes == Takes::values;
        bool const is_switch = std::string_view{option.placeholder} == "on|off";
        if (takes && !value && is_switch && !next_is_value()) { value = "on"; }
        if (takes && !value && at_ < words_.size() && begins_with_digit(words_[at_])) { value = whole_number(); }
        if (option.takes == Takes::value || option.takes == Takes::perhaps_value) { remember(option.name, name); }
        if (is_merged(option.name) && (value || next_is_value())) {
            return merge(option.name, value ? *value : words_[at_++], name);
        }
        out_.emplace_back(option.name);
        if (value) { out_.back() += "=" + *value; }
    }

    void read_habit(HabitWord const& habit, std::string const& name, std::string const& target,
                    std::optional<std::string> value) {
        if (!value && !habit.fixed.empty()) {
            bool const follows = next_is_value() && (io::switch_in(words_[at_]).has_value() ||
                                                     (habit.translate != nullptr && translates(habit, words_[at_])));
            value = follows ? words_[at_++] : std::string{"true"};
        } else if (!value) {
            if (at_ == words_.size()) {
                headroom::refuse(name, "needs a value", "it is " + target + " of headroom " + verb_.name);
            }
            value = begins_with_digit(words_[at_]) ? whole_number() : words_[at_++];
        }
        std::string const own = io::habit_value(habit, *value);
        if (!own.empty()) { set(target, own, name); }
        auto const more = io::habit_addition(habit, *value);
        if (!more.option.empty() && verb_.option_named(more.option) != nullptr) { set(more.option, more.value, name); }
        if (!habit.note.empty()) { notes_.push_back(name + ": " + std::string{habit.note}); }
    }

    void set(std::string const& option, std::string const& value, std::string const& name) {
        if (!option.starts_with('-')) { // a positional
            out_.push_back(value);
            return;
        }
        if (is_merged(option)) { return merge(option, value, name); }
        remember(option, name);
        out_.push_back(option + "=" + value);
    }

    /// Options that several names state together: "--lora" and "--lora-rank 8".
    static bool is_merged(std::string_view option) { return option == "--overlap" || option == "--train"; }

    static bool adapts(std::string_view value) { return value.starts_with("lora") || value.starts_with("dora"); }

    void merge(std::string const& option, std::string const& value, std::string const& name) {
        std::string& all = merged_[option];
        if (all.empty() || all == value) {
            all = value;
        } else if (option == "--overlap") {
            all += "," + value;
        } else if (adapts(all) && value == "lora") { // the rank was given before
        } else if (all == "lora" && adapts(value)) {
            all = value;
        } else if (adapts(all) && adapts(value) &&
                   (all == "dora" || value == "dora")) { // "--use-dora", "--lora-rank 8"
            std::string const& longer = all == "dora" ? value : all;
            all = "dora" + longer.substr(4);
        } else {
            headroom::refuse(name, "asks for " + value + " where " + all + " is asked for, too", "both are --train",
                             "keep one");
        }
    }

    /// Refuses two names of one option.
    void remember(std::string const& option, std::string const& name) {
        auto const [before, is_new] = given_.emplace(option, name);
        if (is_new) { return; }
        bool const same = normalised(before->second) == normalised(name);
        headroom::refuse(same ? name : name + " and " + before->second,
                         same ? "given twice" : "are the same option, " + option, "one of the two would be ignored",
                         "keep one");
    }

    [[nodiscard]] bool next_is_value() const { return at_ < words_.size() && !words_[at_].starts_with("-"); }
    [[nodiscard]] static bool translates(HabitWord const& habit, std::string const& word) {
        return io::habit_value(habit, word) != word;
    }

    /// "2 trillion tokens" of three words.
    std::string whole_number() {
        std::string text = words_[at_++];
        while (at_ < words_.size() && continues_number(words_[at_])) { text += " " + words_[at_++]; }
        return text;
    }

    /// The option or positional of this verb that a habit means; empty where it has none.
    [[nodiscard]] std::string target_of(HabitWord const& habit) const {
        for (std::string const& name : io::words::split(habit.options, ' ')) {
            if (verb_.option_named(name) != nullptr) { return name; }
            bool const is_positional = std::ranges::any_of(
                verb_.positionals, [&](Positional const& one) { return std::string_view{one.name} == name; });
            if (is_positional) { return name; }
        }
        return {};
    }

    Verb const& verb_;
    std::vector<std::string> const& words_;
    std::vector<std::string>& notes_;
    std::vector<std::string> out_;
    std::map<std::string, std::string> given_, merged_;
    std::size_t at_ = 0;
};

} // namespace

std::vector<std::string> in_own_words(Verb const& verb, std::vector<std::string> const& words,
                                      std::vector<std::string>& notes) {
    return Reading{verb, words, notes}.read();
}

} // namespace headroom::cli
