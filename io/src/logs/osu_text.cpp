#include "logs/log_formats.hpp"
#include "logs/log_hints.hpp"

#include "headroom/error.hpp"
#include "headroom/network/link_class.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {

using namespace headroom::network;

namespace {

/// Collective that a title of the benchmarks names, and whether its size is one rank's share.
struct Operation {
    std::string_view title; ///< between "OSU MPI" and "Latency Test", `normalised`
    Collective collective;
    bool per_rank; ///< the size is one rank's share
};
constexpr std::array operations{
    Operation{"", Collective::point_to_point, false},
    Operation{"allreduce", Collective::all_reduce, false},
    Operation{"reduce", Collective::reduce, false},
    Operation{"broadcast", Collective::broadcast, false},
    Operation{"bcast", Collective::broadcast, false},
    Operation{"reducescatter", Collective::reduce_scatter, false},
    Operation{"reducescatterblock", Collective::reduce_scatter, false},
    Operation{"allgather", Collective::all_gather, true},
    Operation{"gather", Collective::gather, true},
    Operation{"scatter", Collective::scatter, true},
    Operation{"alltoall", Collective::all_to_all, true},
    Operation{"alltoallpersonalizedexchange", Collective::all_to_all, true},
    Operation{"barrier", Collective::barrier, false},
};

/// The words of "# OSU MPI-CUDA Allreduce Latency Test v7.0" between the library and the kind of test.
struct Title {
    bool known = false, latency = false, stream = false;
    bool mpi = false, other_library = false; ///< NCCL and RCCL are neither
    bool device = false;                     ///< buffers of accelerators
    std::string name;
};

Title read_title(std::string_view line) {
    Title title;
    std::string_view rest = line.substr(1);
    if (next_word(rest) != "OSU") { return title; }
    title.known = true;
    std::string_view const library = next_word(rest);
    if (library == "MPI-CUDA" && rest.starts_with("MANAGED")) { next_word(rest); }
    title.mpi = library.starts_with("MPI");
    title.device = library.find('-') != std::string_view::npos || !title.mpi;
    title.other_library = !title.mpi && !library.starts_with("NCCL") && !library.starts_with("RCCL");
    auto const latency = rest.find("Latency"), bandwidth = rest.find("Bandwidth");
    title.latency = latency != std::string_view::npos;
    title.stream = bandwidth != std::string_view::npos;
    if (title.latency) { title.name = normalised(rest.substr(0, latency)); }
    return title;
}

class Reader {
public:
    Reader(std::string_view text, LogBuilder& log) : lines_{text}, log_{log} {}

    std::size_t read() {
        for (std::string_view line; lines_.next(line);) {
            if (line.starts_with('#')) {
                comment(line);
            } else if (!line.empty()) {
                other(line);
            }
        }
        return lines_.number();
    }

private:
    void comment(std::string_view line) {
        Title const title = read_title(line);
        if (title.known) {
            title_ = title;
            sizes_ = times_ = validated_ = false;
            shape_ = run_shape(command_, log_);
            return;
        }
        auto const latency = line.find("Latency");
        bool const header = latency != std::string_view::npos && find_caseless(line, "(us)") != std::string_view::npos;
        if (!header && line.find("Bandwidth") == std::string_view::npos) { return; }
        times_ = header;
        sizes_ = line.find("Size") < latency;
        validated_ = line.find("Validation") != std::string_view::npos;
    }

    void other(std::string_view line) {
        std::string_view rest = line;
        auto const first = printed_number(next_word(rest));
        if (!first || !title_.known) {
            RunHints const command = hints_of_command(line);
            if (command.ranks > 0) { command_ = command; }
            if (title_.known) { leave_out(Unused::other_text, line); }
            return;
        }
        if (title_.stream) { return leave_out(Unused::not_a_latency, line); }
        auto const operation = std::ranges::find(operations, std::string_view{title_.name}, &Operation::title);
        bool const known = operation != operations.end() && title_.latency && times_ && !title_.other_library;
        if (!known) { return leave_out(Unused::other_collective, line); }
        if (!title_.mpi && operation->collective == Collective::reduce_scatter) {
            return leave_out(Unused::unknown_size, line);
        }
        take(*operation, *first, rest, line);
    }

    /// The words after the first of a line of results.
    void take(Operation const& operation, PrintedNumber first, std::string_view rest, std::string_view line) {
        bool const barrier = operation.collective == Collective::barrier;
        if (!barrier && !sizes_) { return leave_out(Unused::unreadable, line); }
        bool const last = rest.find_first_of(" \t") == std::string_view::npos;
        if (lines_.unfinished() && last) { return leave_out(Unused::truncated, line); }
        if (rest.empty() && !barrier) { return leave_out(Unused::truncated, line); }
        if (rest.starts_with("N/A") || rest.starts_with("nan")) { return leave_out(Unused::not_available, line); }
        auto const time = barrier ? std::optional{first} : printed_number(next_word(rest));
        if (!time || !only_numbers(rest)) { return leave_out(Unused::unreadable, line); }
        if (validated_ && rest.find("Fail") != std::string_view::npos) {
            return leave_out(Unused::wrong_results, line);
        }
        add(operation, first.value, time->value, line);
    }

    void add(Operation const& operation, double size, double micros, std::string_view line) {
        bool const pair = operation.collective == Collective::point_to_point;
        int const ranks = pair ? 2 : shape_.ranks;
        if (ranks == 0) { return leave_out(Unused::no_ranks, line); }
        MeasuredCollective one;
        one.collective = operation.collective;
        one.ranks = ranks;
        one.nodes = pair ? std::min(2, shape_.nodes) : shape_.nodes;
        bool const barrier = operation.collective == Collective::barrier;
        one.size = TotalBytes{Bytes{barrier ? 0.0 : size * (operation.per_rank ? ranks : 1)}};
        one.time = Seconds{micros * 1e-6};
        if (one.nodes == 1 && !title_.device) { one.interconnect = host_memory_words; }
        one.line = lines_.number();
        log_.add(std::move(one), {}, line);
    }

    /// Numbers, and the word of a check: another line was written into this one where there is more.
    static bool only_numbers(std::string_view rest) {
        while (!rest.empty()) {
            std::string_view const word = next_word(rest);
            if (!printed_number(word) && word != "Pass" && word != "Fail" && word != "N/A") { return false; }
        }
        return true;
    }

    void leave_out(Unused why, std::string_view line) { log_.leave_out(why, lines_.number(), line); }

    LogLines lines_;
    LogBuilder& log_;
    Title title_;
    RunHints command_;
    RunShape shape_;
    bool sizes_ = false, times_ = false, validated_ = false;
};

} // namespace

bool looks_like_osu(std::string_view text) {
    LogLines lines{text};
    for (std::string_view line; lines.next(line);) {
        if (line.starts_with('#') && read_title(line).known) { return true; }
    }
    return false;
}

ReadLog read_osu(std::string_view text, LogBuilder& log) { return {"osu", Reader{text, log}.read()}; }

} // namespace headroom::io
