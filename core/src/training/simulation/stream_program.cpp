#include "headroom/training/stream_simulation.hpp"

namespace headroom::training {

using namespace headroom::laws;

std::string_view name_of(WorkKind kind) {
    switch (kind) {
    case WorkKind::gemm: return "gemm";
    case WorkKind::attention: return "attention";
    case WorkKind::memory: return "memory";
    case WorkKind::launch: return "launch";
    case WorkKind::tensor: return "tensor";
    case WorkKind::context: return "context";
    case WorkKind::experts: return "experts";
    case WorkKind::pipeline: return "pipeline";
    case WorkKind::data: return "data";
    case WorkKind::optimizer: return "optimizer";
    case WorkKind::offload: return "offload";
    case WorkKind::count_: break;
    }
    return {};
}

void StreamProgram::reserve(std::size_t tasks) {
    cost.reserve(tasks), stream.reserve(tasks), kind.reserve(tasks), name.reserve(tasks), edges.reserve(2 * tasks);
}

TaskId StreamProgram::add(StreamId on, WorkKind what, Ticks ticks, std::uint32_t name_index) {
    cost.push_back(ticks);
    stream.push_back(on);
    kind.push_back(what);
    name.push_back(name_index);
    return static_cast<TaskId>(cost.size() - 1);
}

} // namespace headroom::training
