#pragma once

#include "step_limit_inputs.hpp"

namespace headroom::training::simulation {

// Each of these is a part of the step about which the closed form and the simulation may disagree, in seconds.

/// What meets traffic that shares its adapter: in so far as both are long; at the end of the rows; at most; by chance, were
/// either under way at any time alike.
double adapter_is_shared(Inputs const& in);
double adapter_is_shared_at_the_end(Inputs const& in);
double hidden_meets_others(Inputs const& in);
double hidden_meets_shown(Inputs const& in);
double shown_meets_others(Inputs const& in);
double hidden_meets_by_chance(Inputs const& in);
double adapter_in_rows(Inputs const& in);
double traffic_in_rows(Inputs const& in);
double keys_and_tokens_share_the_adapter(Inputs const& in);
double transfers_leave(Inputs const& in);
double transfers_meet_by_chance(Inputs const& in);
double meets_every_micro_batch(Inputs const& in);

/// Traffic beside kernels that wait, or behind passes.
double slowdown_beside_collectives(Inputs const& in);
double reduction_beside_collectives(Inputs const& in);
double traffic_beside_a_late_host(Inputs const& in);
double waiting_traffic(Inputs const& in);
double waiting_by_chance(Inputs const& in);
double hidden_behind_passes(Inputs const& in);
double last_bucket_behind_passes(Inputs const& in);
double waits_while_it_hides(Inputs const& in);

/// Blocks, halves of passes and stages that differ.
double kinds_are_uneven(Inputs const& in);
double kinds_reduce_in_turn(Inputs const& in);
double halves_hide_less(Inputs const& in);
double traffic_of_few_blocks(Inputs const& in);
double step_of_few_blocks(Inputs const& in);
double rows_of_few_blocks(Inputs const& in);
double copies_of_few_blocks(Inputs const& in);
double compresses_gradients(Inputs const& in);
double all_wait_for_one(Inputs const& in);

/// Copies to the host and from it.
double copies_shown(Inputs const& in);
double host_shows(Inputs const& in);
double copies_of_a_step(Inputs const& in);
double copies_beside_a_late_host(Inputs const& in);
double copies_beside_gradients(Inputs const& in);
double copies_beside_shown_traffic(Inputs const& in);
double state_copies_beside_gradients(Inputs const& in);

} // namespace headroom::training::simulation
