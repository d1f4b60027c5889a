#pragma once

#include <string_view>

namespace headroom::io {

/// Whether a word names a figure that lines of training state next to a time, or is of no figure: "loss", "lr", "info". Such a word
/// with a number makes no other time of the one behind it.
bool is_known_word(std::string_view word);
/// Whether all words of a text are known; letters directly behind a digit are no word.
bool has_known_words_alone(std::string_view text);
/// Whether a label has a number as one of its words: "stage 1 time".
bool has_number(std::string_view label);

} // namespace headroom::io
