// collective_times: what Headroom says a collective costs, for whoever compares it with something else
//
// Reads lines    collective,algorithm,ranks,bytes,alpha_seconds,beta_seconds_per_byte,gamma_seconds_per_byte
// Prints lines   collective,algorithm,ranks,bytes,closed_form_seconds,simulated_seconds
// with bytes counted as `TotalBytes`. A line that no row of the table answers gets two dashes.

#include "headroom/network/collective_algorithm.hpp"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace headroom;
using namespace headroom::network;

struct Question {
    std::string collective, algorithm;
    int ranks = 1;
    CollectiveCall call;
};

std::vector<std::string> fields_of(std::string const& line) {
    std::vector<std::string> fields;
    std::istringstream text{line};
    for (std::string field; std::getline(text, field, ',');) { fields.push_back(field); }
    return fields;
}

Question question_of(std::vector<std::string> const& fields) {
    Question question{.collective = fields[0], .algorithm = fields[1], .ranks = std::stoi(fields[2]), .call = {}};
    Link const link{.latency = Seconds{std::stod(fields[4])}, .bandwidth = BytesPerSecond{1.0 / std::stod(fields[5])}};
    question.call = {.size = {Bytes{std::stod(fields[3])}},
                     .layout = Layout::uniform(Ranks{question.ranks}, link),
                     .reduction = SecondsPerByte{std::stod(fields[6])}};
    return question;
}

CollectiveAlgorithm const* row_of(Question const& question) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (name_of(row.collective) == question.collective && row.name == question.algorithm &&
            has_closed_form(row, question.call.layout)) {
            return &row;
        }
    }
    return nullptr;
}

void answer(Question const& question) {
    std::printf("%s,%s,%d,%.0f,", question.collective.c_str(), question.algorithm.c_str(), question.ranks,
                question.call.size.size.base());
    CollectiveAlgorithm const* const row = row_of(question);
    if (row == nullptr) {
        std::puts("-,-");
        return;
    }
    Seconds const closed = row->time(question.call).total();
    Seconds const simulated =
        simulate(*row->schedule(question.call), question.call.layout, question.call.reduction).total();
    std::printf("%.12g,%.12g\n", closed.base(), simulated.base());
}

} // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::vector<std::string> const fields = fields_of(line);
        if (fields.size() != 7) {
            std::fprintf(stderr, "collective_times: not seven fields: %s\n", line.c_str());
            return 2;
        }
        answer(question_of(fields));
    }
    return 0;
}
