#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/simulation_agreement.hpp"

namespace headroom::io {

/// The records that the agreement of closed form and simulated step is stated over: six models (dense ones small and
/// large, mixtures with whole and with fine experts, an encoder), four clusters, six stacks.
PlanMenu agreement_menu(Catalog const& catalog);

} // namespace headroom::io
