#pragma once

namespace headroom::document {}
namespace headroom::laws {}
namespace headroom::measure {}
namespace headroom::network {}
namespace headroom::serving {}
namespace headroom::trace {}
namespace headroom::training {}

namespace headroom::cli {

// The command line speaks of every room.
using namespace headroom::document;
using namespace headroom::laws;
using namespace headroom::measure;
using namespace headroom::network;
using namespace headroom::serving;
using namespace headroom::trace;
using namespace headroom::training;

} // namespace headroom::cli
