#pragma once

#include "headroom/training/simulation_agreement.hpp"

namespace headroom::io {

class Catalog;

/// Records over which the agreement of closed form and simulated step is measured. Six models: a dense one with grouped
/// queries, a larger plain one, mixtures with whole and with fine experts, a hybrid with scans, an encoder; four
/// clusters, six frameworks.
training::PlanMenu agreement_menu(Catalog const& catalog);

} // namespace headroom::io
