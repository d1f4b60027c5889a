#include "graphs/proto_reader.hpp"

#include "graphs/graph_draft.hpp"
#include "records/record.hpp"

#include <fmt/format.h>

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace headroom::io {

using protozero::pbf_wire_type;

namespace {

/// Runs `read` and reports exceptions of protozero in words.
template <class Read> auto guarded(ProtoFile const& file, char const* at, Read read) {
    try {
        return read();
    } catch (protozero::end_of_buffer_exception const&) {
        file.fail(at, "a field is cut short", "its message ends before it does");
    } catch (protozero::exception const&) { file.fail(at, "not valid protobuf", "no field begins so"); }
}

} // namespace

void ProtoFile::fail(char const* at, std::string problem, std::string why, std::string hint) const {
    unreadable_error(fmt::format("{}: byte {}", where, at - bytes.data()), std::move(problem), std::move(why),
                     std::move(hint));
}

void ProtoReader::require(pbf_wire_type type) const {
    if (reader_.wire_type() != type) {
        file_->fail(field_, fmt::format("field {} is of another type than it should be", tag()), "not of this format");
    }
}

bool ProtoReader::next() {
    field_ = reader_.data().data();
    return guarded(*file_, field_, [&] { return reader_.next(); });
}

void ProtoReader::skip() {
    guarded(*file_, field_, [&] { reader_.skip(); });
}

std::string_view ProtoReader::bytes() {
    require(pbf_wire_type::length_delimited);
    auto const view = guarded(*file_, field_, [&] { return reader_.get_view(); });
    return {view.data(), view.size()};
}

std::string_view ProtoReader::text() {
    std::string_view const text = bytes();
    if (first_not_text(text) != std::string_view::npos) {
        file_->fail(field_, "a name that is not text", "it is not valid UTF-8, or holds a zero byte");
    }
    return text;
}

std::uint64_t ProtoReader::whole() {
    require(pbf_wire_type::varint);
    return guarded(*file_, field_, [&] { return reader_.get_uint64(); });
}

float ProtoReader::number() {
    require(pbf_wire_type::fixed32);
    return guarded(*file_, field_, [&] { return reader_.get_float(); });
}

double ProtoReader::fixed64() {
    require(pbf_wire_type::fixed64);
    return guarded(*file_, field_, [&] { return reader_.get_double(); });
}

bool ProtoReader::is_list_longer_than(std::size_t bytes) const {
    ProtoReader ahead = *this;
    return reader_.wire_type() == pbf_wire_type::length_delimited && ahead.bytes().size() > bytes;
}

template <class Number> void ProtoReader::whole_list(std::vector<Number>& numbers) {
    if (reader_.wire_type() != pbf_wire_type::length_delimited) {
        numbers.push_back(static_cast<Number>(whole()));
        return;
    }
    std::string_view const list = bytes();
    char const* at = list.data();
    char const* const end = at + list.size();
    guarded(*file_, field_, [&] {
        while (at != end) { numbers.push_back(static_cast<Number>(protozero::decode_varint(&at, end))); }
    });
}

void ProtoReader::wholes(std::vector<std::uint64_t>& numbers) { whole_list(numbers); }
void ProtoReader::wholes(std::vector<std::int64_t>& numbers) { whole_list(numbers); }

void ProtoReader::numbers(std::vector<float>& numbers) {
    if (reader_.wire_type() == pbf_wire_type::fixed32) { return numbers.push_back(number()); }
    require(pbf_wire_type::length_delimited);
    guarded(*file_, field_, [&] {
        for (float const number : reader_.get_packed_float()) { numbers.push_back(number); }
    });
}

} // namespace headroom::io
