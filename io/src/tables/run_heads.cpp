#include "tables/run_heads.hpp"

#include "tables/cell_text.hpp"
#include "tables/quotient.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

/// Words that mean one; "-" leaves them out.
struct Synonym {
    std::string_view meant, written;
};
constexpr std::array synonyms{
    Synonym{"gpu", "gpu device chip card accelerator npu hpu tpu xpu"},
    Synonym{"gpus", "gpus devices chips cards accelerators npus hpus tpus xpus"},
    Synonym{"n", "n num number nr no count"},
    Synonym{"-", "of the measured train training config cfg size dim degree"},
    Synonym{"seq", "seq sequence"},
    Synonym{"context", "context ctx"},
    Synonym{"len", "len length window"},
    Synonym{"tokens", "tokens token"},
    Synonym{"batch", "batch bs bsz batchsize"},
    Synonym{"global", "global total effective overall"},
    Synonym{"micro", "micro local \xC2\xB5"},
    Synonym{"accum", "accum accumulation accumulate"},
    Synonym{"grad", "grad gradient"},
    Synonym{"act", "act activation"},
    Synonym{"ckpt", "ckpt checkpointing"},
    Synonym{"recompute", "recompute recomputation remat rematerialization"},
    Synonym{"parallel", "parallel parallelism"},
    Synonym{"node", "node host machine server instance vm"},
    Synonym{"nodes", "nodes hosts machines servers instances vms"},
    Synonym{"steps", "steps step iterations"},
};

/// Other heads of a column, in the words that synonyms mean and in any order, parted by commas; the first stands for all in
/// messages.
struct OtherHeads {
    std::string_view column, heads;
};
constexpr std::array other_heads{
    OtherHeads{"id", "run, run id, run name, experiment"},
    OtherHeads{"model_name", "model, base model, model id, model name or path, llm, network"},
    OtherHeads{"accelerator",
               "gpu, gpu type, gpu model, gpu name, hardware, hw, node, node type, gpus, slice, gpu slice"},
    OtherHeads{"accelerators_total", "gpus, n gpus, n gpu, global gpus, world, worldsize, nodes x gpus, nodes gpus"},
    OtherHeads{"accelerators_per_node", "gpus per node, gpu per node, n gpus per node"},
    OtherHeads{"nodes", "nodes, n nodes, n node, node"},
    OtherHeads{"seq_len", "seq len, seq, max seq len, max len, cutoff len, block len, context, context len, max "
                          "context len, seq len tokens, context tokens, "
                          "seqlength, sequencelen, sequencelength, contextlength, maxseqlength"},
    OtherHeads{"global_batch_sequences", "globalbatchsize, global batch, gbs"},
    OtherHeads{"global_batch_tokens",
               "batch tokens, global batch tokens, tokens per batch, tokens per step, tokens per iteration, "
               "batch in tokens, global batch in tokens"},
    OtherHeads{"layers", "n layers"},
    OtherHeads{"hidden", "hidden, d model"},
    OtherHeads{"heads", "n heads, attention heads, n attention heads"},
    OtherHeads{"kv_heads", "n kv heads, query groups, n query groups"},
    OtherHeads{"ffn_hidden", "ffn, intermediate"},
    OtherHeads{"vocab", "vocab, vocabulary"},
    OtherHeads{"batch", "batch"}, // of all or of an accelerator: no column
    OtherHeads{"micro_batch", "micro batch, mbs, batch per gpu, micro batch per gpu, microbatchsize"},
    OtherHeads{"grad_accum", "gas, ga, grad accum, accum, grad accum steps, accum steps, accum grad batches, "
                             "grad acc, acc steps, grad acc steps"},
    OtherHeads{"dp", "data parallel, dp"},
    OtherHeads{"tp", "tensor parallel, tensor model parallel, tp"},
    OtherHeads{"pp", "pipeline parallel, pipeline model parallel, pp"},
    OtherHeads{"cp", "context parallel, cp"},
    OtherHeads{"sp", "seq parallel"},
    OtherHeads{"ep", "expert parallel, expert model parallel, ep"},
    OtherHeads{"virtual_pp", "vpp, vp, virtual pipeline, virtual pipeline parallel"},
    OtherHeads{"precision", "dtype, data type, datatype, mixed precision, compute dtype"},
    OtherHeads{"zero_stage_or_fsdp",
               "zero stage, zero, sharding, sharding strategy, deepspeed, deepspeed stage, fsdp, strategy"},
    OtherHeads{"activation_recompute",
               "recompute, act recompute, ckpt, act ckpt, grad ckpt, recompute granularity, ac, gc"},
    OtherHeads{"optimizer", "optim"},
    OtherHeads{"attention_kernel", "attention, attn, attention implementation, attn implementation, attention backend"},
    OtherHeads{"framework", "software, library, codebase"},
    OtherHeads{"compile", "torch compile"},
    OtherHeads{"train", "method, finetuning, finetuning type, finetuning method, tuning, tuning method, peft"},
    OtherHeads{"measured_tflops_per_gpu", "tflops per gpu, tflop per s per gpu, tflops per s per gpu"},
    OtherHeads{"measured_mfu_pct", "mfu, model flops utilization"},
    OtherHeads{"measured_hfu_pct", "hfu"},
};

/// Words that brackets behind a head may hold: the things that the column counts.
struct Remarks {
    std::string_view column, words;
};
constexpr std::array bracket_remarks{
    Remarks{"seq_len", "tokens token"},
    Remarks{"global_batch_sequences", "sequences sequence seqs seq samples"},
    Remarks{"micro_batch", "sequences sequence seqs seq samples"},
    Remarks{"grad_accum", "steps"},
};

/// A head without brackets that hold such a word: "GBS (seqs)".
std::string_view without_remark(std::string_view column, std::string_view head) {
    auto const open = head.find_last_of("([");
    if (open == head.npos || open == 0 || !(head.ends_with(')') || head.ends_with(']'))) { return head; }
    std::string_view const inside = trimmed_line(head.substr(open + 1, head.size() - open - 2));
    for (std::string_view words = remarks_of(column); !words.empty();) {
        if (same_caseless(next_word(words), inside)) { return trimmed_line(head.substr(0, open)); }
    }
    return head;
}

std::string_view meaning_of(std::string_view word) {
    auto const found = std::ranges::find_if(synonyms, [word](Synonym const& one) {
        for (std::string_view left = one.written; !left.empty();) {
            if (next_word(left) == word) { return true; }
        }
        return false;
    });
    return found == synonyms.end() ? word : found->meant == "-" ? std::string_view{} : found->meant;
}

/// Words of a head by their meaning, sorted, each once; a "#" is a count.
std::vector<std::string> meant_words(std::string_view head) {
    std::vector<std::string> words;
    auto const written = words_in(head);
    bool const model_size = written == std::vector<std::string>{"model", "size"};
    if (head.find('#') != std::string_view::npos) { words.emplace_back("n"); }
    for (std::string const& word : written) {
        std::string_view rest = word;
        for (std::string_view const count : {"num", "n"}) { // "ngpus", "nnodes"
            std::string_view const counted = meaning_of(word.starts_with(count) ? rest.substr(count.size()) : "");
            if (counted != "gpus" && counted != "nodes") { continue; }
            words.emplace_back("n");
            rest = counted;
            break;
        }
        std::string_view const meant = model_size ? rest : meaning_of(rest);
        if (!meant.empty()) { words.emplace_back(meant); }
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

/// A way to write a head: its words by their meaning, and its letters without blanks.
struct Phrase {
    std::vector<std::string> words;
    std::string together;
};

/// Phrases of a column, worked out once: every cell of a table may be asked about.
std::vector<Phrase> const& phrases_of(std::string_view column) {
    static auto const all = [] {
        std::map<std::string_view, std::vector<Phrase>> of;
        for (OtherHeads const& row : other_heads) {
            for (std::string_view heads = row.heads; !heads.empty();) {
                std::size_t const end = std::min(heads.find(','), heads.size());
                std::string_view const phrase = trimmed_line(heads.substr(0, end));
                heads.remove_prefix(std::min(end + 1, heads.size()));
                std::string together{phrase};
                std::erase(together, ' ');
                of[row.column].push_back({.words = meant_words(phrase), .together = std::move(together)});
            }
        }
        return of;
    }();
    static std::vector<Phrase> const none;
    auto const found = all.find(column);
    return found == all.end() ? none : found->second;
}

} // namespace

std::optional<int> place_of_head(std::string_view column, std::string_view head) {
    auto const& phrases = phrases_of(column);
    if (phrases.empty()) { return std::nullopt; }
    head = without_remark(column, head);
    std::string plain; // "nGPUs", "seqlen": words that stand together
    for (char const c : head) {
        if (is_decimal_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z')) { plain += lowered(c); }
    }
    auto const words = meant_words(head);
    auto const found =
        std::ranges::find_if(phrases, [&](Phrase const& one) { return one.words == words || one.together == plain; });
    if (found == phrases.end()) { return std::nullopt; }
    return static_cast<int>(found - phrases.begin());
}

std::string_view remarks_of(std::string_view column) {
    auto const row = std::ranges::find(bracket_remarks, column, &Remarks::column);
    return row == bracket_remarks.end() ? std::string_view{} : row->words;
}

bool speaks_of_batch(std::string_view head) {
    constexpr std::array<std::string_view, 7> short_words{"bs", "bsz", "gbs", "mbs", "gas", "ga", "acc"};
    return std::ranges::any_of(words_in(head), [&](std::string const& word) {
        bool const whole = std::ranges::find(short_words, word) != short_words.end();
        return whole || word.starts_with("accum") || word.find("batch") != word.npos;
    });
}

bool is_head_of(std::string_view column, std::string_view head) { return place_of_head(column, head).has_value(); }

std::string usual_head(std::string_view column) {
    auto const row = std::ranges::find(other_heads, column, &OtherHeads::column);
    std::string head{row == other_heads.end() ? std::string_view{} : row->heads.substr(0, row->heads.find(','))};
    std::erase(head, ' ');
    return head;
}

std::string_view without_group(std::string_view head) {
    for (std::string_view const group :
         {"config", "summary", "args", "params", "perf", "train", "metrics", "hparams"}) {
        bool const begins = head.size() > group.size() + 1 && same_caseless(head.substr(0, group.size()), group);
        if (begins && (head[group.size()] == '.' || head[group.size()] == '/')) {
            return head.substr(group.size() + 1);
        }
    }
    return head;
}

} // namespace headroom::io
