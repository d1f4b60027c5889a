#pragma once

#include "records/record.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The object at the root of a JSON text, read key by key; it remembers which keys were asked for.
/// A key may be nested: "attn_config.alibi". A null counts as absent.
class JsonKeys {
public:
    /// Errors: InputError{unreadable} when the text is not JSON or too large; InputError{usage} when it is no
    /// object, repeats a key, nests too deeply or holds NaN.
    JsonKeys(std::string_view text, std::string_view where);
    ~JsonKeys();
    JsonKeys(JsonKeys const&) = delete;
    JsonKeys& operator=(JsonKeys const&) = delete;

    [[nodiscard]] bool has(std::string_view key) const;
    /// Whether a key holds more than null, false, zero or nothing at all.
    [[nodiscard]] bool says_something(std::string_view key) const;
    /// Whether a key holds an object.
    [[nodiscard]] bool has_object(std::string_view key) const;
    /// From here on keys are those of this nested object.
    void enter(std::string_view key);

    /// Errors: InputError{usage} on a wrong type or a number out of range.
    std::optional<int> whole(std::string_view key, Range range);
    std::optional<bool> flag(std::string_view key);
    std::optional<std::string> text(std::string_view key);

    /// The texts, or numbers, of a list; empty when it is absent.
    std::vector<std::string> texts(std::string_view key);
    std::vector<int> wholes(std::string_view key, Range range);
    /// How many elements a list or an object has.
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
