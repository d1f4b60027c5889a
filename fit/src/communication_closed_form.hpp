#pragma once

// A group's closed form as two numbers a level: messages one after the other, and bytes.

#include "headroom/fit/communication_fit.hpp"
#include "headroom/network/library_collectives.hpp"

namespace headroom::fit {

/// The ranks of a group on its nodes.
network::Group group_of(CommunicationFit const& fit);

/// Whether some closed form is known: the algorithm is not named, or its name is one of the tables'.
bool has_form(CommunicationFit const& fit);

/// Closed forms that rows without a named algorithm may follow: those of a library, which predictions of training price by, or
/// of all algorithms, as MPI libraries choose among them and `comm` lists them.
enum class Forms { library, all };

/// T = given + messages alpha + bytes beta, for alpha and beta of one level; homogeneous of degree one in all four
/// constants, so that the three parts add up exactly. Where no algorithm is named, the fastest at `fabric`.
struct FormShare {
    double messages = 0.0, bytes = 0.0, given = 0.0;
};
FormShare share_of(CommunicationFit const& fit, Bytes size, network::Fabric fabric, bool scale_out, Forms forms);

} // namespace headroom::fit
