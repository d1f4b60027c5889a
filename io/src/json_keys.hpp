#pragma once

#include "records/record.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// The object at the root of a JSON text, read key by key; it remembers which keys were asked for.
/// A key may be nested: "attn_config.alibi". A null counts as absent.
class JsonKeys {
public:
    /// Errors: InputError{unreadable} when the text is not JSON or too large; InputError{usage} when it is no
    /// object, repeats a key or nests too deeply. NaN and Infinity are texts.
    JsonKeys(std::string_view text, std::string_view where);
    ~JsonKeys();
    JsonKeys(JsonKeys const&) = delete;
    JsonKeys& operator=(JsonKeys const&) = delete;

    [[nodiscard]] bool has(std::string_view key) const;
    /// Whether a key holds more than null, false, zero or nothing at all.
    [[nodiscard]] bool says_something(std::string_view key) const;
    /// Whether a key holds an object.
    [[nodiscard]] bool has_object(std::string_view key) const;
    /// Whether the file itself has the key, with any value.
    [[nodiscard]] bool states(std::string_view key) const;
    [[nodiscard]] bool is_text(std::string_view key) const;
    [[nodiscard]] bool has_list(std::string_view key) const;
    /// Members of an object that stand in for keys that the file leaves out: `"hidden_size": 4096, ...`.
    void set_defaults(std::string_view members);
    /// Keys asked for that had such a default, with its text.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> defaulted() const;
    /// From here on keys are those of this nested object.
    void enter(std::string_view key);
    /// Path of the object entered: "text_config.".
    [[nodiscard]] std::string const& prefix() const;

    /// Errors: InputError{usage} on a wrong type or a number out of range. A list of one number repeated is that number.
    std::optional<int> whole(std::string_view key, Range range);
    /// The number under the first of several names that the file states, else of one with a default.
    std::optional<int> whole(std::initializer_list<std::string_view> names, Range range);
    std::optional<bool> flag(std::string_view key);
    std::optional<std::string> text(std::string_view key);

    /// The texts, or numbers, of a list; empty when it is absent.
    std::vector<std::string> texts(std::string_view key);
    std::vector<int> wholes(std::string_view key, Range range);
    std::optional<double> real(std::string_view key);
    /// The numbers of a text such as "3,4,5". Errors: InputError{usage} on any other text.
    std::vector<int> listed_in_text(std::string_view key);
    std::vector<double> reals(std::string_view key);
    /// Numbers and switches of one object in each entry of a list of layers; 0 where a number is not stated.
    struct Part {
        std::vector<double> numbers;
        bool absent = false, linear = false;
    };
    std::vector<Part> parts(std::string_view list, std::string_view part,
                            std::initializer_list<std::string_view> numbers);
    /// Number of elements of a list or an object.
    std::size_t size(std::string_view key);

    [[noreturn]] void fail(std::string_view key, std::string problem, std::string why = {},
                           std::string hint = {}) const;

    [[nodiscard]] std::vector<std::string> used() const;
    [[nodiscard]] std::vector<std::string> ignored() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace headroom::io
