#pragma once

#include "headroom/probe/comm.hpp"

#include <memory>

namespace headroom::probe {

/// Lets algorithms be forced where the library has a way; before MPI is initialised, in every process alike. What the
/// user set stays.
void allow_forced_algorithms();

/// The processes of MPI_COMM_WORLD, between MPI_Init and MPI_Finalize. Collective: every process makes one at the same time;
/// the first one then asks by `measure`, the others `serve` until it is gone.
class MpiJob final : public CommJob {
public:
    MpiJob();
    ~MpiJob() override;
    [[nodiscard]] network::CommWorld const& world() const override;
    void measure(CommRequest const& request, Heard const& heard) override;
    void set_patience(double seconds) override;
    [[nodiscard]] double clock_error_seconds() const override;
    /// Carries out orders of the first process; called by every other one.
    void serve();
    /// Ends the others' `serve`; called by the first process.
    void dismiss();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace headroom::probe
