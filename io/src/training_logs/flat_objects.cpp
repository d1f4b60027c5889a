#include "tables/cell_text.hpp"
#include "training_logs/log_text.hpp"

#include <algorithm>
#include <vector>

namespace headroom::io {
namespace {

/// Objects of a text, one character after the other.
class ObjectScanner {
public:
    ObjectScanner(std::string_view text, std::function<void(FlatObject const&)> const& take, std::size_t begin = 0)
        : text_{text}, take_{take}, begin_{begin} {}

    ObjectRest scan() {
        while (at_ < text_.size()) {
            char const c = text_[at_];
            if (c == '{') {
                open_object();
            } else if (c == '}') {
                close_object();
            } else if (open_.empty()) {
                outside(c);
            } else {
                inside(c);
            }
        }
        rest_.whole = open_.empty();
        return rest_;
    }

private:
    static constexpr std::size_t deepest = 64;

    void open_object() {
        if (open_.size() >= deepest) { open_.clear(); } // no log nests so: what follows is taken afresh
        FlatObject object;
        object.begin = begin_ + at_++;
        object.depth = static_cast<int>(open_.size()) + 1;
        object.name = expects_value_ ? key_ : std::string_view{};
        open_.push_back(std::move(object));
        key_ = {};
        expects_value_ = false;
    }

    void close_object() {
        ++at_;
        if (open_.empty()) { return; }
        FlatObject const object = std::move(open_.back());
        open_.pop_back();
        key_ = {};
        expects_value_ = false;
        if (!object.pairs.empty() || open_.empty()) { take_(object); }
    }

    /// A character between two objects.
    void outside(char c) {
        bool const separates = std::string_view{" \t\r\n,[]"}.find(c) != std::string_view::npos;
        if (!separates && !line_counted_) {
            line_counted_ = true;
            if (rest_.lines++ == 0) {
                rest_.first_line = 1 + static_cast<std::uint64_t>(std::ranges::count(text_.substr(0, at_), '\n'));
            }
        }
        if (c == '\n') { line_counted_ = false; }
        ++at_;
    }

    /// A character inside of an object.
    void inside(char c) {
        if (c == '"' || c == '\'') {
            token(quoted());
        } else if (c == ':') {
            expects_value_ = !key_.empty();
            ++at_;
        } else if (c == ',' || c == '[' || c == ']') {
            key_ = {};
            expects_value_ = false;
            ++at_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            ++at_;
        } else {
            std::size_t const end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"'", at_), text_.size());
            std::string_view const bare = text_.substr(at_, end - at_);
            at_ = end;
            token(bare);
        }
    }

    /// The text between quotes, which may hold escaped ones; to the end of the line where it is not closed.
    std::string_view quoted() {
        char const quote = text_[at_];
        std::size_t const begin = ++at_;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
        }
        at_ = std::min(at_, text_.size());
        std::string_view const content = text_.substr(begin, at_ - begin);
        if (at_ < text_.size()) { ++at_; }
        return content;
    }

    void token(std::string_view text) {
        FlatObject& object = open_.back();
        if (!expects_value_) {
            key_ = text;
        } else {
            if (object.pairs.size() < FlatObject::most_keys) { object.pairs.push_back({key_, text}); }
            key_ = {};
            expects_value_ = false;
        }
    }

    std::string_view text_;
    std::function<void(FlatObject const&)> const& take_;
    std::size_t begin_; ///< of the text in the whole
    std::size_t at_ = 0;
    ObjectRest rest_;
    bool line_counted_ = false;
    std::vector<FlatObject> open_;
    std::string_view key_;
    bool expects_value_ = false;
};

/// Whether the first line with text is one whole object.
bool is_of_lines(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    auto const end = text.find('\n');
    if (!text.starts_with('{') || end == std::string_view::npos) { return false; }
    ObjectRest const rest = ObjectScanner{text.substr(0, end), [](FlatObject const&) {}}.scan();
    return rest.whole && rest.lines == 0;
}

ObjectRest scan_lines(std::string_view text, std::function<void(FlatObject const&)> const& take) {
    ObjectRest all;
    std::uint64_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t const end = std::min(text.find('\n', begin), text.size());
        ++number;
        ObjectRest const rest = ObjectScanner{text.substr(begin, end - begin), take, begin}.scan();
        all.whole = rest.whole;
        if ((rest.lines > 0 || !rest.whole) && all.lines++ == 0) { all.first_line = number; }
        begin = end + 1;
    }
    return all;
}

} // namespace

std::optional<std::string_view> FlatObject::text(std::string_view key) const {
    auto const found = std::ranges::find(pairs, key, &Pair::key);
    return found == pairs.end() ? std::nullopt : std::optional{found->value};
}

std::optional<PrintedNumber> FlatObject::number(std::string_view key) const {
    auto const value = text(key);
    return value ? printed_number(trimmed_line(*value)) : std::nullopt;
}

ObjectRest scan_objects(std::string_view text, std::function<void(FlatObject const&)> const& take) {
    return is_of_lines(text) ? scan_lines(text, take) : ObjectScanner{text, take}.scan();
}

} // namespace headroom::io
