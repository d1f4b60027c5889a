#pragma once

#include "tail/tail_question.hpp"

#include <string>
#include <vector>

namespace headroom::cli {

/// Reads every path: files of samples each as a part, traces all as one, "store:ID" out of the store.
/// Errors: InputError of the first that cannot be read; InputError{usage} where they mix units.
std::vector<serving::TailPart> read_parts(std::vector<std::string> const& paths, TailRequest const& request,
                                          bool quiet);

} // namespace headroom::cli
