#include "headroom/document/fields.hpp"

namespace headroom::document {
namespace {

/// Takes the issues out of one field, or out of the fields of an inlined object.
class IssueWriter final : public FieldWriter {
public:
    explicit IssueWriter(std::vector<Issue>& found) : found_{found} {}
    void object(FieldTable const& table, void const* value) override {
        if (&table == &field_table_of(static_cast<Issue const*>(nullptr))) {
            found_.push_back(*static_cast<Issue const*>(value));
        } else if (inlined_) {
            append_issues(table, value);
        }
    }
    void append_issues(FieldTable const& table, void const* value) {
        for (Field const& row : table.rows) {
            inlined_ = row.inlined();
            if (inlined_ || row.name == "issues") { row.write(value, *this); }
        }
    }
    void null() override {}
    void boolean(bool) override {}
    void integer(std::int64_t) override {}
    void number(double) override {}
    void text(std::string_view) override {}
    void begin_list() override {}
    void end_list() override {}
    void begin_map() override {}
    void key(std::string_view) override {}
    void end_map() override {}

private:
    std::vector<Issue>& found_;
    bool inlined_ = false;
};

} // namespace

std::vector<Issue> issues_of_fields(FieldTable const& table, void const* object) {
    std::vector<Issue> found;
    IssueWriter{found}.append_issues(table, object);
    return found;
}

} // namespace headroom::document
