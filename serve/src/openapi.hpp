#pragma once

#include <string>

namespace headroom::serve {

/// The addresses of the server as an OpenAPI 3.1 document: fields from the options of each verb, results from its field
/// tables.
std::string openapi();

} // namespace headroom::serve
