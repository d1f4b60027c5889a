#pragma once

#include "headroom/fit/communication_validation.hpp"
#include "headroom/issue.hpp"

#include <string>
#include <vector>

namespace headroom::fit {

/// Answer of `headroom validate --communication`: measured collectives, predicted and compared.
struct CommunicationAnswer {
    std::string table_name;
    CommunicationValidation validation;
    std::vector<Issue> not_read = {};
    /// Rows that could not be read.
    [[nodiscard]] int unread() const;
};
FieldTable const& field_table_of(CommunicationAnswer const*);
FieldTable const& field_table_of(CommunicationComparison const*);

} // namespace headroom::fit
