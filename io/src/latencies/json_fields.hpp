#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A field of an object, as it stands: "data.value" and 12.5, "error" and the text without its quotes.
struct ReadField {
    std::string_view value;
    bool is_text = false, is_nested = false; ///< nested: an array
};

/// Values of the fields of one object, found by their names; objects within objects have names with points.
/// Escapes in texts and names stay as they are.
class JsonFields {
public:
    /// All fields of an object, with their names, for choosing among them. False where it is no JSON object.
    bool read_all(std::string_view text);
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    [[nodiscard]] std::vector<ReadField> const& fields() const { return fields_; }

    /// Only these from here on, in this order.
    void want(std::vector<std::string> names);
    /// False where it is no JSON object. A field that is missing has no value: `data()` is null.
    bool read_wanted(std::string_view text);

private:
    bool object(int depth);
    bool value(int depth);
    bool text_value(std::string_view& inside);
    bool plain_value();
    bool array(int depth);
    void blanks();
    bool take(char c);
    void keep(ReadField field);

    std::string_view text_;
    std::size_t at_ = 0;
    std::string path_;
    bool all_ = true;
    std::vector<std::string> names_;
    std::vector<ReadField> fields_;
};

} // namespace headroom::io
