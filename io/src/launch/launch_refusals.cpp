#include "launch/launch_refusals.hpp"

#include "launch/launch_mapping.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

/// A method of training and the reason for which its step is another.
struct MethodRow {
    Text names, reason;
};
constexpr Text generates = "reinforcement learning: its step generates text and has several models";
constexpr Text compares =
    "training by preferences: its step has two answers to each question, and mostly a second model";
constexpr std::array methods{
    MethodRow{"ppo grpo rloo gspo dapo reinforce remax rlhf", generates},
    MethodRow{"dpo kto orpo simpo ipo cpo rm reward bco", compares},
};

Text reason_of(Text name) {
    std::string const wanted = normalised(name);
    for (MethodRow const& row : methods) {
        for (std::string const& one : words::split(row.names, ' ')) {
            if (one == wanted) { return row.reason; }
        }
    }
    return {};
}

[[noreturn]] void refuse_method(std::string const& where, Text what, Text reason) {
    unreadable_error(where, fmt::format("{}: {}", what, reason), {},
                     "the step of pretraining and of supervised fine-tuning is modelled: give its options");
}

} // namespace

void refuse_other_steps(std::vector<Entry> const& entries, Text path) {
    for (Entry const& entry : entries) {
        if (is_one_of(entry.key, {"#SBATCH hetjob", "#SBATCH packjob"})) {
            unreadable_error(fmt::format("{}:{}", path, entry.line), "a heterogeneous job",
                             entry.key + " parts components, each with nodes of its own",
                             "give the component that trains alone, without this line");
        }
        std::string const name = normalised(last_part(entry.key));
        bool const names_method = name == "stage" || name == "rl" || name == "rlhftype" || name == "advestimator";
        bool const of_verl = entry.key.starts_with("actor_rollout_ref.");
        Text const reason = of_verl ? generates : names_method ? reason_of(entry.value) : Text{};
        if (name == "advestimator" || !reason.empty()) {
            refuse_method(fmt::format("{}:{}", path, entry.line), entry.key + " " + entry.value,
                          reason.empty() ? generates : reason);
        }
    }
}

void refuse_other_programs(std::vector<std::string> const& programs, Text path) {
    for (std::string const& program : programs) {
        std::string word;
        for (char const c : program + ".") {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
                word += c;
                continue;
            }
            Text const reason = reason_of(word);
            if (!reason.empty()) { refuse_method(std::string{path}, program, reason); }
            word.clear();
        }
    }
}

void refuse_python(Text text, Text path) {
    bool const python = path.ends_with(".py") || text.starts_with("import ") || text.starts_with("from ") ||
                        text.find("\nimport ") != Text::npos ||
                        (text.find("\nfrom ") != Text::npos && text.find(" import ") != Text::npos);
    if (python) {
        unreadable_error(path, "a program in Python", "only Python knows its values",
                         "give them as options: --tp, --micro-batch, --global-batch and the like");
    }
}

} // namespace headroom::io::launch
