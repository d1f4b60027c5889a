#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A field of an object: "data.value" and 12.5 as it stands, "error" and its text without quotes and escapes.
struct ReadField {
    std::string_view value;
    bool is_nested = false; ///< an array, whose value is "[]"
};

/// Values of the fields of one object, found by their names; objects within objects have names with points.
/// Views hold until the next object is read. Of names that come twice the last one counts.
class JsonFields {
public:
    JsonFields();
    ~JsonFields();
    JsonFields(JsonFields&&) noexcept;
    JsonFields& operator=(JsonFields&&) noexcept;

    /// All fields of an object, with their names, for choosing among them. False where it is no JSON object.
    bool read_all(std::string_view text);
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    [[nodiscard]] std::vector<ReadField> const& fields() const { return fields_; }

    /// Only these from here on, in this order.
    void want(std::vector<std::string> names);
    /// False where it is no JSON object. A field that is missing has no value: `data()` is null.
    bool read_wanted(std::string_view text);
    /// Facts of the object that was read last: whether a wanted name came twice, and a number for the set of all its names.
    [[nodiscard]] bool repeats() const { return repeats_; }
    [[nodiscard]] std::size_t shape() const { return shape_; }

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
    std::vector<std::string> names_;
    std::vector<ReadField> fields_;
    bool repeats_ = false;
    std::size_t shape_ = 0;
};

} // namespace headroom::io
