#include "launch/launch_formats.hpp"

#include <algorithm>
#include <array>

namespace headroom::io::launch {

namespace {

/// Words in keys that change neither the time of a step nor its memory.
constexpr std::array neutral_words{"lr",
                                   "learning_rate",
                                   "weight_decay",
                                   "warmup",
                                   "seed",
                                   "save",
                                   "load",
                                   "log",
                                   "eval",
                                   "wandb",
                                   "tensorboard",
                                   "checkpoint_dir",
                                   "ckpt",
                                   "output",
                                   "clip",
                                   "beta",
                                   "eps",
                                   "decay",
                                   "init",
                                   "dropout",
                                   "dataset",
                                   "data_path",
                                   "tokenizer",
                                   "vocab_file",
                                   "merge_file",
                                   "split",
                                   "scheduler",
                                   "interval",
                                   "master",
                                   "rdzv",
                                   "main_process",
                                   "machine_rank",
                                   "node_rank",
                                   "job",
                                   "account",
                                   "partition",
                                   "mail",
                                   "time",
                                   "mem",
                                   "cpus",
                                   "exclusive",
                                   "description",
                                   "print_args",
                                   "dump",
                                   "report",
                                   "steps_per_print",
                                   "profil",
                                   "metrics",
                                   "comm.",
                                   "experiment",
                                   "hub",
                                   "push",
                                   "template",
                                   "val_set",
                                   "val_",
                                   "wall_clock",
                                   "main_training_function",
                                   "downcast",
                                   "rdzv",
                                   "same_network",
                                   "use_cpu",
                                   "debug",
                                   "tpu_",
                                   "lora_alpha",
                                   "num_workers",
                                   "run_name",
                                   "preprocessing",
                                   "overwrite",
                                   "plot",
                                   "dataloader",
                                   "validation",
                                   "exit",
                                   "distributed_backend"};

} // namespace

std::string_view neutral_reason(std::string_view key) {
    std::string name{key};
    std::ranges::replace(name, '-', '_');
    constexpr std::string_view arguments = "init_args."; // of a class, whose own names count
    for (std::size_t at = 0; (at = name.find(arguments)) != std::string::npos;) { name.erase(at, arguments.size()); }
    for (char& c : name) { c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    bool const is_neutral = std::ranges::any_of(neutral_words, [&](char const* word) {
        auto const at = name.find(word);
        bool const begins =
            at != std::string::npos && (at == 0 || name[at - 1] == '_' || name[at - 1] == '.' || name[at - 1] == ' ');
        return begins;
    });
    return is_neutral ? "no effect on the time and the memory of a step" : std::string_view{};
}

} // namespace headroom::io::launch
