#pragma once

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"
#include "headroom/quantity.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

enum class Presence { optional, required };

/// Inclusive limits of a number.
struct Range {
    double low = 0.0;
    double high = std::numeric_limits<double>::max();
};

/// A name in a file and the value it stands for.
template <class T> using Choice = std::pair<std::string_view, T>;

class Section;

/// A TOML document whose every key must be asked for: what nobody asked for is a mistake of its author.
/// Errors name `where` and the line. A document is small (at most `record_limit`) and flat.
class Record {
public:
    /// Errors: InputError{unreadable} when the text is not TOML, too large or nested too deeply.
    Record(std::string_view text, std::string_view where);
    ~Record();
    Record(Record const&) = delete;
    Record& operator=(Record const&) = delete;

    [[nodiscard]] Section root();
    /// Errors: InputError{usage} on the first key that was not asked for, with the nearest that was.
    void refuse_the_rest() const;

private:
    friend class Section;
    struct State;
    std::unique_ptr<State> state_;
};
inline constexpr std::size_t record_limit = 4u << 20; ///< bytes

/// Mark that editors may put at the start of a UTF-8 text; readers pass over it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// One table of a record. `read` writes the value of a key when it is there, and leaves the value alone
/// when it is not; each returns whether it was there.
/// Errors: InputError{usage} on a wrong type, a value out of range, or a required key that is missing.
class Section {
public:
    [[nodiscard]] bool has(std::string_view key) const;
    [[nodiscard]] bool is_table(std::string_view key) const;
    /// "path:line" of a key; of the table when there is no such key.
    [[nodiscard]] std::string place(std::string_view key) const;
    /// Throws at the place of a key.
    [[noreturn]] void fail(std::string_view key, std::string problem, std::string why = {},
                           std::string hint = {}) const;

    bool read(std::string_view key, std::string& value, Presence presence = Presence::optional);
    bool read(std::string_view key, std::vector<std::string>& values, Presence presence = Presence::optional);
    /// A text, a number, a switch, or a list of texts and numbers, as words. Errors: InputError{usage} on all else.
    void read_words(std::string_view key, std::vector<std::string>& words, bool& is_switch);
    bool read(std::string_view key, bool& value, Presence presence = Presence::optional);
    bool read(std::string_view key, int& value, Range range, Presence presence = Presence::optional);
    bool read(std::string_view key, double& value, Range range, Presence presence = Presence::optional);

    /// A quantity written with its unit: "80 GiB". A bare number is an error, and so is zero when required.
    template <int B, int F, int T, int D, int J>
    bool read(std::string_view key, Quantity<B, F, T, D, J>& value, Presence presence = Presence::optional) {
        double base = 0.0;
        if (!read_base(key, {B, F, T, D, J}, base, presence)) { return false; }
        value = Quantity<B, F, T, D, J>{base};
        return true;
    }

    /// One of a list of words.
    template <class T>
    bool read(std::string_view key, T& value, std::span<Choice<T> const> choices,
              Presence presence = Presence::optional) {
        std::string word;
        if (!read(key, word, presence)) { return false; }
        std::vector<std::string> names;
        for (auto const& [name, meaning] : choices) {
            if (word == name) {
                value = meaning;
                return true;
            }
            names.emplace_back(name);
        }
        fail_choice(key, word, names);
    }

    /// Accepts a key without using it: text, number, date or list for people.
    void skip(std::initializer_list<std::string_view> keys);

    /// Sub-tables; an absent one is empty.
    [[nodiscard]] Section section(std::string_view key);
    [[nodiscard]] std::vector<Section> sections(std::string_view key);
    [[nodiscard]] std::vector<std::string> keys() const;

private:
    friend class Record;
    Section(Record::State* state, std::size_t table) : state_{state}, table_{table} {}
    bool read_base(std::string_view key, Dimension dimension, double& base, Presence presence);
    [[noreturn]] void fail_choice(std::string_view key, std::string const& word,
                                  std::vector<std::string> const& names) const;

    Record::State* state_;
    std::size_t table_;
};

/// Throws InputError{unreadable} at the end of the grammar `where: problem (why). hint`; `refuse` throws InputError{usage}.
[[noreturn]] void unreadable_error(std::string_view where, std::string problem, std::string why = {},
                                   std::string hint = {});
/// The candidates in one sentence: "one of a, b and c", with the middle cut when there are many.
std::string one_of(std::vector<std::string> const& candidates);

} // namespace headroom::io
