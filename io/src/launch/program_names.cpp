#include "launch/program_names.hpp"

#include "launch/shell_conditions.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace headroom::io::launch {

namespace {

using Text = std::string_view;

std::string in_small_letters(Text program) {
    std::string name = base_name(program);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

} // namespace

std::string base_name(Text word) {
    auto const slash = word.rfind('/');
    return std::string{slash == Text::npos ? word : word.substr(slash + 1)};
}

bool is_helper(std::string_view word) {
    return is_one_of(
        base_name(word),
        {"echo",  "printf", "mkdir",    "cd",       "rm",     "cp",   "mv",     "ls",         "cat",
         "tee",   "grep",   "sed",      "awk",      "git",    "pip",  "pip3",   "apt",        "apt-get",
         "wget",  "curl",   "rsync",    "module",   "source", ".",    "ulimit", "nvidia-smi", "huggingface-cli",
         "hf",    "wandb",  "kubectl",  "scontrol", "set",    "trap", "wait",   "kill",       "sleep",
         "find",  "tar",    "hostname", "read",     "exit",   "ssh",  "pdsh",   "scp",        "make",
         "getopt"});
}

bool trains_by_name(Text program) {
    std::string const name = in_small_letters(program);
    return name.find("train") != std::string::npos || name.find("tune") != std::string::npos ||
           name.find("sft") != std::string::npos;
}

bool does_other_work(Text program) {
    if (trains_by_name(program)) { return false; }
    std::string const name = in_small_letters(program);
    return std::ranges::any_of(std::array<Text, 14>{"preprocess", "prepare", "convert", "eval", "infer", "generat",
                                                    "download", "merge", "tokeniz", "checkpoint", "export", "serve",
                                                    "benchmark", "test_"},
                               [&](Text part) { return name.find(part) != std::string::npos; });
}

bool is_llm_c(Text program) {
    return is_one_of(base_name(program), {"train_gpt2cu", "train_gpt2fp32cu", "train_llama3cu"});
}

} // namespace headroom::io::launch
