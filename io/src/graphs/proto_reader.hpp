#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The bytes of a binary file and its name: what errors say about a place in it.
struct ProtoFile {
    std::string_view bytes;
    std::string where;
    /// Errors: InputError{unreadable} at "where: byte N", always; `at` points into the bytes.
    [[noreturn]] void fail(char const* at, std::string problem, std::string why = {}, std::string hint = {}) const;
};

/// One message of a protobuf file, field by field. Nothing is copied but numbers.
/// Errors: InputError{unreadable} with the byte: a field cut short, or of another type than it should be.
class ProtoReader {
public:
    ProtoReader(std::string_view message, ProtoFile const& file)
        : file_{&file}, reader_{message.data(), message.size()}, field_{message.data()} {}

    bool next();
    [[nodiscard]] std::uint32_t tag() const { return reader_.tag(); }
    void skip();
    std::string_view bytes();
    /// Text of a field; refused when it is not UTF-8.
    std::string_view text();
    ProtoReader message() { return {bytes(), *file_}; }
    std::uint64_t whole();
    std::int64_t signed_whole() { return static_cast<std::int64_t>(whole()); }
    float number();
    double fixed64();
    /// A packed list of more bytes.
    [[nodiscard]] bool is_list_longer_than(std::size_t bytes) const;
    /// One number, or a packed list of them, added to `numbers`.
    void wholes(std::vector<std::uint64_t>& numbers);
    void wholes(std::vector<std::int64_t>& numbers);
    void numbers(std::vector<float>& numbers);
    /// Where the field begins.
    [[nodiscard]] char const* place() const { return field_; }
    [[nodiscard]] ProtoFile const& file() const { return *file_; }

private:
    void require(protozero::pbf_wire_type type) const;
    template <class Number> void whole_list(std::vector<Number>& numbers);
    ProtoFile const* file_;
    protozero::pbf_reader reader_;
    char const* field_; ///< where the field begins
};

} // namespace headroom::io
