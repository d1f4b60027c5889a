#pragma once

#include "headroom/document/json.hpp"

namespace headroom::cli::serve {

/// The addresses of the server as an OpenAPI 3.1 document: fields from the options of each verb, results from its field
/// tables.
document::Json openapi();

} // namespace headroom::cli::serve
