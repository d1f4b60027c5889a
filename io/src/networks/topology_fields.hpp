#pragma once

#include "headroom/quantity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The `key=value` fields after the kind of a network. Each must be asked for; a value is left alone where its key is
/// absent. Errors: InputError{usage} at `where`.
class TopologyFields {
public:
    /// `text`: fields with commas between them. The first may be one without a key: the sides of a torus.
    TopologyFields(std::string_view text, std::string_view where);

    [[nodiscard]] std::string_view sides() const { return sides_; }
    bool read(std::string_view key, int& value);
    bool read(std::string_view key, double& ratio);
    bool read(std::string_view key, bool& value);
    bool read(std::string_view key, std::string& word, std::vector<std::string> const& choices);
    template <int B, int F, int T, int D, int J> bool read(std::string_view key, Quantity<B, F, T, D, J>& value) {
        auto const text = find(key);
        if (text) { value = parse<Quantity<B, F, T, D, J>>(*text, place(key)); }
        return text != nullptr;
    }
    /// Refuses fields that no reader asked for.
    void refuse_the_rest() const;

private:
    struct Field {
        std::string key, value;
    };
    std::string const* find(std::string_view key);
    [[nodiscard]] std::string place(std::string_view key) const;

    std::string where_, sides_;
    std::vector<Field> fields_;
    std::vector<std::string> asked_;
};

} // namespace headroom::io
