// The verbs that all processes of an MPI job work on together. The first one is the program: it reads the command line, asks
// the others for their parts, and prints. The others do what they are asked for until the first one ends.
//
//     headroom trace            each reads its part of the files
//     headroom measure comm     each sends and receives while a clock runs

#include "program.hpp"
#include "trace/trace_reading.hpp"
#include "verb.hpp"

#include "headroom/probe/mpi_job.hpp"

#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <algorithm>
#include <cstdio>
#include <exception>
#include <mpi.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

/// Request of the first process to all, apart from the names of the files. The same program runs on every node, so it
/// is sent as it lies in memory.
struct TraceRequest {
    bool goes_on = false; ///< false: there is no more to do
    bool has_step = false, wants_path = true;
    TraceSlice window;
    std::int64_t step = 0;
    std::int32_t threads = 1, shard = 0, shards = 1;
    std::uint64_t block = 0, text_limit = 0;
    double ratio_limit = 0.0;
    std::uint64_t names = 0; ///< bytes of the name of steps and of the files, each ended by a zero
};
static_assert(std::is_trivially_copyable_v<TraceRequest>);

constexpr std::uint64_t largest_message = std::uint64_t{1} << 30; ///< counts are 32 bits

int job_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
int job_size() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// Number of processes of the job on this machine.
int neighbours() {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    int size = 1;
    MPI_Comm_size(here, &size);
    MPI_Comm_free(&here);
    return size;
}

void broadcast(void* bytes, std::uint64_t size) {
    auto* at = static_cast<char*>(bytes);
    for (; size > 0;) {
        std::uint64_t const piece = std::min(size, largest_message);
        MPI_Bcast(at, static_cast<int>(piece), MPI_BYTE, 0, MPI_COMM_WORLD);
        at += piece;
        size -= piece;
    }
}

void send(std::string const& bytes) {
    std::uint64_t const size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    for (std::uint64_t at = 0; at < size; at += largest_message) {
        MPI_Send(bytes.data() + at, static_cast<int>(std::min(size - at, largest_message)), MPI_BYTE, 0, 0,
                 MPI_COMM_WORLD);
    }
}

std::string receive(int from) {
    std::uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string bytes(size, '\0');
    for (std::uint64_t at = 0; at < size; at += largest_message) {
        MPI_Recv(bytes.data() + at, static_cast<int>(std::min(size - at, largest_message)), MPI_BYTE, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return bytes;
}

using Progress = std::function<bool(std::uint64_t, std::uint64_t)>;

/// This process's part of what is asked: of every part that was asked for, a part again.
io::TraceSet read_mine(TraceRequest const& request, std::string const& step_name, io::TraceFiles const& files,
                       Progress const& progress) {
    DigestQuestion question{.wants_path = request.wants_path, .step_name = step_name, .window = request.window};
    if (request.has_step) { question.step = request.step; }
    io::TraceReading const reading{.threads = request.threads,
                                   .block = request.block,
                                   .text_limit = request.text_limit,
                                   .ratio_limit = request.ratio_limit};
    io::TraceShard const shard{request.shard + request.shards * job_rank(), request.shards * job_size()};
    return io::read_trace_set(files, question, reading, shard, progress);
}

/// The first process's side of a request: asks, reads its own part, and joins all.
io::TraceSet read_together(io::TraceFiles const& files, DigestQuestion const& question, io::TraceReading const& reading,
                           io::TraceShard shard, Progress const& progress, int processes_here) {
    std::string names = question.step_name + '\0';
    for (auto const& file : files.files) { names += file.string() + '\0'; }
    TraceRequest request{.goes_on = true,
                         .has_step = question.step.has_value(),
                         .wants_path = question.wants_path,
                         .window = question.window,
                         .step = question.step.value_or(0),
                         .threads = std::max(1, reading.threads / processes_here),
                         .shard = shard.index,
                         .shards = std::max(1, shard.of),
                         .block = reading.block,
                         .text_limit = reading.text_limit,
                         .ratio_limit = reading.ratio_limit,
                         .names = names.size()};
    broadcast(&request, sizeof request);
    broadcast(names.data(), names.size());
    std::vector<io::TraceSet> parts;
    std::exception_ptr failure; // the others send their parts all the same, and would wait for ever
    try {
        parts.push_back(read_mine(request, question.step_name, files, progress));
    } catch (...) { failure = std::current_exception(); }
    for (int process = 1; process < job_size(); ++process) {
        std::string const bytes = receive(process);
        parts.push_back(io::read_trace_part(bytes, "process " + std::to_string(process)));
    }
    if (failure) { std::rethrow_exception(failure); }
    io::TraceSet whole = io::merge_trace_sets(std::move(parts));
    if (request.shards == 1) {
        io::name_missing_parts(whole);
        return whole;
    }
    std::erase_if(whole.shards, [&](io::TraceShard one) { return one.of == request.shards * job_size(); });
    whole.shards.push_back({request.shard, request.shards}); // the processes' parts together
    return whole;
}

/// The others' side: until there is no more to do.
void serve() {
    for (;;) {
        TraceRequest request;
        broadcast(&request, sizeof request);
        if (!request.goes_on) { return; }
        std::string names(request.names, '\0');
        broadcast(names.data(), names.size());
        io::TraceFiles files;
        std::string const step_name = names.c_str();
        for (std::size_t at = step_name.size() + 1; at < names.size(); at += files.files.back().native().size() + 1) {
            files.files.emplace_back(names.data() + at);
        }
        send(io::write_trace_part(read_mine(request, step_name, files, {})));
    }
}

int lead(int argc, char** argv, int processes_here) {
    trace_set_reader() = [processes_here](io::TraceFiles const& files, DigestQuestion const& question,
                                          io::TraceReading const& reading, io::TraceShard shard,
                                          Progress const& progress) {
        return read_together(files, question, reading, shard, progress, processes_here);
    };
    int const code = run_program(argc, argv, all_verbs());
    TraceRequest none;
    broadcast(&none, sizeof none);
    return code;
}

bool is_measurement(int argc, char** argv) {
    using namespace std::string_view_literals;
    return argc > 2 && argv[1] == "measure"sv && argv[2] == "comm"sv;
}

/// Every process, the first and the others.
int measure(int argc, char** argv) {
    probe::MpiJob job;
    if (job_rank() != 0) {
        job.serve();
        return Exit::done;
    }
    probe::comm_job() = &job;
    int const code = run_program(argc, argv, all_verbs());
    probe::comm_job() = nullptr;
    job.dismiss();
    return code;
}

/// Every process of `headroom trace`, and of the verbs that know nothing of jobs.
int read_traces(int argc, char** argv) {
    int const processes_here = neighbours();
    if (job_rank() == 0) { return lead(argc, argv, processes_here); }
    serve();
    return Exit::done;
}

} // namespace
} // namespace headroom::cli

int main(int argc, char** argv) {
    using namespace headroom::cli;
    bool const measures = is_measurement(argc, argv);
    if (measures) { headroom::probe::allow_forced_algorithms(); }
    int provided = 0, code = 0;
    // Messages are measured as benchmarks of MPI do it: other levels cost each a third more, and no other thread calls MPI.
    MPI_Init_thread(&argc, &argv, measures ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED, &provided);
    try {
        code = measures ? measure(argc, argv) : read_traces(argc, argv);
    } catch (std::exception const& error) { // the others would wait for it for ever
        std::fprintf(stderr, "headroom-mpi: internal fault in process %d (%s)\n", job_rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
