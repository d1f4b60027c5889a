#include "latencies/json_fields.hpp"

#include <algorithm>
#include <functional>
#include <simdjson.h>
#include <utility>

namespace headroom::io {
namespace {

namespace document = simdjson::ondemand;

constexpr int deepest = 32;
constexpr std::size_t most_fields = 4096;

/// Walks one object to its end, so that nothing in it goes unread, and keeps values by their names.
class Walk {
public:
    Walk(std::vector<std::string>& names, std::vector<ReadField>& fields, std::string& path, bool all)
        : names_{names}, fields_{fields}, path_{path}, all_{all} {}

    [[nodiscard]] bool repeats() const { return repeats_; }
    [[nodiscard]] std::size_t shape() const { return shape_; }

    bool object(document::object object, int depth) { // NOLINT(misc-no-recursion)
        std::size_t const before = path_.size();
        for (auto found : object) {
            document::field field;
            std::string_view name;
            if (std::move(found).get(field) != simdjson::SUCCESS ||
                field.unescaped_key().get(name) != simdjson::SUCCESS) {
                return false;
            }
            if (before > 0) { path_ += '.'; }
            path_ += name;
            if (!value(field.value(), depth)) { return false; }
            path_.resize(before);
        }
        return true;
    }

private:
    /// An array has a place, and what is within it no names.
    bool array(document::array array, int depth) { // NOLINT(misc-no-recursion)
        ++arrays_;
        for (auto found : array) {
            document::value element;
            if (simdjson::simdjson_result<document::value>{found}.get(element) != simdjson::SUCCESS ||
                !value(element, depth)) {
                return false;
            }
        }
        --arrays_;
        keep({.value = "[]", .is_nested = true});
        return true;
    }

    bool value(document::value value, int depth) { // NOLINT(misc-no-recursion)
        document::json_type type{};
        if (depth == deepest || value.type().get(type) != simdjson::SUCCESS) { return false; }
        if (type == document::json_type::object) {
            document::object inner;
            return value.get_object().get(inner) == simdjson::SUCCESS && object(inner, depth + 1);
        }
        if (type == document::json_type::array) {
            document::array inner;
            return value.get_array().get(inner) == simdjson::SUCCESS && array(inner, depth + 1);
        }
        std::string_view text = value.raw_json_token(); // with what stands before the next token
        text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
        if (!is_one(value, type, text)) { return false; }
        keep({.value = text});
        return true;
    }

    /// Whether a value that is neither an object nor an array is what it begins as; a text goes without its quotes.
    static bool is_one(document::value& value, document::json_type type, std::string_view& text) {
        double number = 0.0;
        bool truth = false;
        switch (type) {
        case document::json_type::string: return value.get_string().get(text) == simdjson::SUCCESS;
        case document::json_type::number: return value.get_double().get(number) == simdjson::SUCCESS;
        case document::json_type::boolean: return value.get_bool().get(truth) == simdjson::SUCCESS;
        default: return value.is_null().get(truth) == simdjson::SUCCESS && truth;
        }
    }

    void keep(ReadField field) {
        if (arrays_ > 0) { return; }
        shape_ += std::hash<std::string_view>{}(path_);
        if (all_ && names_.size() < most_fields) {
            names_.push_back(path_);
            fields_.push_back(field);
        }
        for (std::size_t i = 0; !all_ && i < names_.size(); ++i) {
            if (names_[i] != path_) { continue; }
            repeats_ = repeats_ || fields_[i].value.data() != nullptr;
            fields_[i] = field;
        }
    }

    std::vector<std::string>& names_;
    std::vector<ReadField>& fields_;
    std::string& path_;
    bool all_, repeats_ = false;
    int arrays_ = 0;
    std::size_t shape_ = 0; ///< a sum over names, whatever their order
};

} // namespace

struct JsonFields::Parser {
    document::parser parser{};
    std::string text = {}, path = {};

    /// The library reads some bytes behind a text: it gets one of our own that has them.
    bool read(std::string_view line, Walk& walk) {
        path.clear();
        text.reserve(line.size() + simdjson::SIMDJSON_PADDING);
        text = line;
        document::document found;
        document::object object;
        return parser.iterate(text.data(), text.size(), text.capacity()).get(found) == simdjson::SUCCESS &&
               found.get_object().get(object) == simdjson::SUCCESS && walk.object(object, 0) &&
               found.current_location().error() == simdjson::OUT_OF_BOUNDS; // nothing stands behind it
    }
};

JsonFields::JsonFields() : parser_{std::make_unique<Parser>()} {}
JsonFields::~JsonFields() = default;
JsonFields::JsonFields(JsonFields&&) noexcept = default;
JsonFields& JsonFields::operator=(JsonFields&&) noexcept = default;

bool JsonFields::read_all(std::string_view text) {
    names_.clear();
    fields_.clear();
    Walk walk{names_, fields_, parser_->path, true};
    bool const whole = parser_->read(text, walk);
    shape_ = walk.shape();
    return whole;
}

void JsonFields::want(std::vector<std::string> names) {
    names_ = std::move(names);
    fields_.resize(names_.size());
}

bool JsonFields::read_wanted(std::string_view text) {
    std::ranges::fill(fields_, ReadField{});
    Walk walk{names_, fields_, parser_->path, false};
    bool const whole = parser_->read(text, walk);
    repeats_ = walk.repeats();
    shape_ = walk.shape();
    return whole;
}

} // namespace headroom::io
