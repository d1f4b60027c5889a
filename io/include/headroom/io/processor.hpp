#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/roofline.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// What a person names a machine by: a processor, and the cluster that it is part of where one is named.
struct Machine {
    Processor processor;
    std::optional<Cluster> cluster;
    std::string origin; ///< "catalog accelerator", "catalog host" or the path of a file
};

/// A machine file, docs/guide/roofline.md describes it: the keys of an accelerator record, and what a CPU has besides.
/// Errors: InputError{usage} at the key; InputError{unreadable} when it is not TOML.
Processor read_processor(std::string_view toml, std::string_view where);

/// The machine of an accelerator, a node or a host of the catalog, of a machine file or of a cluster file.
/// Errors: those of the readers; an unknown name is reported at `option`, with the nearest.
Machine load_machine(Catalog const& catalog, std::string const& what, std::string_view option);

} // namespace headroom::io
