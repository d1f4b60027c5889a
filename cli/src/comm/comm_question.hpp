#pragma once

#include "arguments.hpp"

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
[[noreturn]] void refuse(network::CommRefused const& refused, network::CommQuestion const& question);

} // namespace headroom::cli
