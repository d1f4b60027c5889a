#pragma once

#include <string>
#include <string_view>

namespace headroom::io::launch {

/// "train.py" of "/opt/model/train.py".
std::string base_name(std::string_view word);

/// Whether options of the program start no training.
bool is_helper(std::string_view word);

/// Whether the name says that it trains: "pretrain_gpt.py".
bool trains_by_name(std::string_view program);

/// Whether the name says that it does something else: it prepares, converts, evaluates.
bool does_other_work(std::string_view program);

/// Programs of llm.c, which have short options.
bool is_llm_c(std::string_view program);

} // namespace headroom::io::launch
