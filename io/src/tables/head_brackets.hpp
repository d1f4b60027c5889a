#pragma once

#include "tables/columns.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::io {

/// Text in the brackets that end a head, read part by part: "ms" and "lower is better" of "time (ms, lower is better)".
struct HeadBracket {
    std::string_view stem;             ///< head before the brackets
    std::optional<CellUnit> unit = {}; ///< "ms", "in ms", "ms/step"
    int rank = 0;                      ///< of the reader's words among the remarks: "min", "max"
    std::string unread = {};           ///< first part that is neither a unit nor a remark that changes nothing
};

/// Brackets at the end of a head; empty where there are none. A remark is in the table of remarks or in `row.remarks`.
std::optional<HeadBracket> bracket_of(std::string_view head, ColumnRow const& row,
                                      std::span<HeadWords const> words = {});

/// Rank that a word adds when it is passed over; empty for other words.
std::optional<int> rank_of_word(std::span<HeadWords const> words, std::string_view word);

/// Whether a word is a model name of accelerators, alone or in a head: "H100", "MI250X".
bool names_hardware(std::string_view word);

} // namespace headroom::io
