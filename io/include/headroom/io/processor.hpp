#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/laws/roofline.hpp"
#include "headroom/measure/measured_roofline.hpp"
#include "headroom/trace/rank_digest.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// A machine file, docs/guide/roofline.md describes it: the keys of an accelerator record, and what a CPU has besides.
/// Errors: InputError{usage} at the key; InputError{unreadable} when it is not TOML.
laws::Processor read_processor(std::string_view toml, std::string_view where);

/// The machine of an accelerator, a node or a host of the catalog, of a machine file or of a cluster file.
/// Errors: those of the readers; an unknown name is reported at `option`, with the nearest.
laws::NamedMachine load_machine(Catalog const& catalog, std::string const& what, std::string_view option);

/// Words on traces that were recorded on another accelerator than the machine's, as far as the catalog knows both; empty
/// where they were not.
std::string traced_elsewhere(Catalog const& catalog, laws::NamedMachine const& machine,
                             std::vector<trace::RankDigest> const& ranks);

/// A machine file with the ceilings of a measured roofline. `program` says by which version they were measured.
/// Errors: InputError{insufficient} where no bandwidth of main memory or no peak was measured.
std::string machine_file(measure::MeasuredRooflineAnswer const& answer, std::string_view program);

} // namespace headroom::io
