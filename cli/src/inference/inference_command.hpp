#pragma once

#include "inference/inference_report.hpp"

namespace headroom::cli {

/// Writes the command that starts a replica of the recommended plan, where --emit asks for it: false where it does not.
/// Errors: InputError{usage} where nothing can serve.
bool write_command(Arguments const& arguments, serving::InferenceAnswer const& report, io::Catalog const& catalog,
                   Output const& output);

} // namespace headroom::cli
