#pragma once

#include "arguments.hpp"
#include "output.hpp"

#include "headroom/document/sizes.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/network/comm_answer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A question with the choices that only concern its presentation.
struct CommRequest {
    network::CommQuestion question;
    std::string calibration;      ///< name of the constants; empty: nothing calibrated
    bool all = false;             ///< show every algorithm
    std::string schedule_file;    ///< empty: none is written
    std::size_t unused_lines = 0; ///< of the logs of measured times
};

/// Errors: InputError{usage} where options contradict each other.
CommRequest read_request(Arguments const& arguments, io::Catalog const& catalog);
network::CommNetwork read_network(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration);

/// A size above zero. Errors: InputError{usage} at `where`.
Bytes read_size(std::string const& text, std::string const& where);
network::CommLevers read_levers(Arguments const& arguments);
std::optional<network::CommContention> read_contention(Arguments const& arguments, network::CommNetwork const& network);

/// Options that belong to another question would be ignored: refuses `option` where it is given and does not belong.
void check_belongs(Arguments const& arguments, std::string const& option, bool belongs, std::string const& to);

/// The refusal of a question in words.
/// Errors: InputError always.
[[noreturn]] void refuse_comm(network::CommRefused const& refused, network::CommQuestion const& question);

/// An answer with everything that its presentation needs.
struct CommReport {
    CommRequest const& request;
    network::CommAnswer answer;
    std::string footer; ///< catalog and calibration
};

/// The messages of the algorithm that `--schedule` names, or of the fastest that has any, as a Chrome trace.
std::string schedule_of(network::CommAnswer const& answer);

/// Algorithms that a table shows without --all.
std::size_t shown_places(CommReport const& report);

Document document_of(CommReport const& report);

/// Meaning of the bytes of a size for the collective in question; empty where none has any.
std::string size_convention(network::CommQuestion const& question);

std::string network_words(network::CommNetwork const& network);
/// The fastest at the largest size and number of ranks; of a sweep also how often which algorithm is.
std::string verdict(CommReport const& report);
std::string compression_words(CommReport const& report);
std::string lever_words(CommReport const& report);
std::string measured_words(CommReport const& report);
/// Number of rows that the table does not show; empty when it shows all.
std::string more_words(CommReport const& report);
/// Algorithms that have no row, by reason; empty when there are none.
std::string left_out_words(CommReport const& report);
/// NCCL's time at the largest case, against the best row.
std::string nccl_words(CommReport const& report);

Table rows_table(CommReport const& report);
Table parts_table(CommReport const& report);
Table crossover_table(CommReport const& report);
Table nccl_table(CommReport const& report);
Table compression_table(CommReport const& report);
Table lever_table(CommReport const& report);
Table contention_table(CommReport const& report);
Table measured_table(CommReport const& report);
Table simulated_table(CommReport const& report);

/// The algorithms side by side: over sizes at the most ranks, and over ranks at the largest size. One that would have
/// a single point is left out.
std::vector<Chart> comm_charts(network::CommAnswer const& answer);

} // namespace headroom::cli
