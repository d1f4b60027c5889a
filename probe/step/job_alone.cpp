// One process, where there is no MPI.

#include "job.hpp"

namespace headroom::training {

Job::Job(int& /*count*/, char**& /*arguments*/) {}
Job::~Job() = default;

bool Job::has_mpi() { return false; }

template <class Real> void Job::add_up(std::span<Real> /*values*/, AllReduce /*how*/) {}
void Job::take_largest(std::span<double> /*values*/) {}
template <class Real> void Job::hand_out(std::span<Real> /*values*/) {}
void Job::wait_for_all() {}

template void Job::add_up(std::span<float>, AllReduce);
template void Job::add_up(std::span<double>, AllReduce);
template void Job::hand_out(std::span<float>);
template void Job::hand_out(std::span<double>);

} // namespace headroom::training
