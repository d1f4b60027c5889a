#pragma once

#include "headroom/io/catalog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Name or alias of a model's record.
struct ModelSpelling {
    std::string_view record, written;
};

/// Reads "org/Llama-3-8B-Instruct" as llama-3-8b. Dropped are an organisation and the words of tuning and packing
/// (instruct, chat, hf ...), from the last one; separators, and the dot of a version, do not count. Sizes, versions, formats
/// and all other words stay. A name that two records have is none.
ModelNameReading read_model_name(std::string_view name, std::vector<ModelSpelling> const& known);

/// Records whose names continue with a size or a word after `name`, in order of size: "llama-3" has llama-3-8b, llama-3-70b.
std::vector<std::string> models_that_begin_with(std::string_view name, std::vector<ModelSpelling> const& known);

} // namespace headroom::io
