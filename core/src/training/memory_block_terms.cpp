#include "lora_matrices.hpp"
#include "memory_blocks.hpp"

#include <algorithm>

namespace headroom::training {
namespace {

/// Adds what the blocks of a model keep to the terms of an explanation.
class ActivationTerms {
public:
    ActivationTerms(TermBook& book, StepSetting const& setting, LayerShape const& shape)
        : book_{book},
          model_{setting.model},
          framework_{setting.framework},
          shape_{shape},
          sizes_{activation_sizes(setting.model, shape, setting.framework)} {
        auto const& a = sizes_;
        book_.add(TermKind::model, "hidden", "", "hidden size of " + model_.name, a.hidden);
        book_.add(TermKind::model, "branches", "", "2 of gated feed-forward blocks, else 1", a.branches);
        book_.add(TermKind::option, "linear_input_bytes", "B", "--precision", a.linear);
        book_.add(TermKind::framework, "mask_bytes", "B", "dropout of framework " + framework_.name, a.masks);
        book_.add(TermKind::option, "hidden_ranks", "", "tp with --sequence-parallel, else 1", a.spread);
        book_.add(TermKind::framework, "norm_copy_bytes", "B",
                  "copies that unfused norms of framework " + framework_.name + " keep", a.norm);
        book_.add(TermKind::framework, "activation_copy_bytes", "B",
                  "tensors that an unfused activation of framework " + framework_.name + " keeps", a.product);
        book_.add(TermKind::framework, "block_input_bytes", "B", "framework " + framework_.name, a.residual);
        if (framework_.attention == AttentionKernel::unfused) {
            book_.add(TermKind::framework, "score_bytes", "B",
                      "of a score that framework " + framework_.name + " keeps",
                      score_bytes(framework_, a.element).kept);
        }
        wide(true);
    }

    /// Adds one kind of block: NAME_kept_bytes, NAME_all_bytes and NAME_gradient_bytes.
    void add(std::string const& name, BlockKind const& kind) {
        TokenBytes sum;
        std::string kept, spared, gradients;
        auto const part = [&](char const* which, TokenBytes const& bytes, std::string const& formula) {
            std::string const of = name + "_" + which;
            book_.formula(of + "_token_bytes", "B", formula, bytes.kept);
            book_.add(TermKind::shape, of + "_gradient_token_bytes", "B", "gradients of the part's widest tensors",
                      bytes.gradients);
            kept += (kept.empty() ? "" : " + ") + of + "_token_bytes";
            gradients += ", " + of + "_gradient_token_bytes";
            if (bytes.spared > 0.0) {
                book_.formula(of + "_scores_token_bytes", "B", "score_bytes * " + of + "_heads / tp * attended",
                              bytes.spared);
                spared += " + " + of + "_scores_token_bytes";
            }
            sum.add(bytes);
        };
        if (scans(kind.mixer)) { part("scan", scan_token_bytes(model_, sizes_), scan(name)); }
        auto const attention = [&] { return attention_token_bytes(model_, kind, shape_, framework_, sizes_); };
        if (attends(kind.mixer)) { part("attention", attention(), attention_formula(name, "attention", kind)); }
        if (kind.cross) { part("cross_attention", attention(), attention_formula(name, "cross_attention", kind)); }
        if (kind.channel == Channel::dense) {
            dimension(name + "_width", ffn_of(model_, kind) / sizes_.tensor_ranks);
            std::string const product = trains(shape_, adapter_module::down) ? " + linear_input_bytes" : "";
            part("feed_forward", dense_token_bytes(model_, kind, shape_, sizes_),
                 wide(sizes_.trains_feed_forward) + " + (element_bytes * branches + activation_copy_bytes" + product +
                     ") * " + name + "_width");
        }
        if (kind.channel == Channel::experts) {
            part("experts", expert_token_bytes(model_, shape_, sizes_), experts(name));
        }
        if (auto const scaled = magnitude_token_bytes(model_, kind, shape_, sizes_); scaled.kept > 0.0) {
            dimension(name + "_adapted_width", scaled.kept / magnitude_cost::kept_bytes);
            part("magnitudes", scaled, "4 * " + name + "_adapted_width");
        }
        auto const one = one_block(model_, kind, shape_, framework_);
        book_.add(TermKind::model, name + "_tokens_over_tokens", "", "length of the decoder over the encoder's, else 1",
                  kind.decoder ? model_.decoder_length : 1.0);
        std::string const tokens = "tokens * " + name + "_tokens_over_tokens * ";
        book_.formula(name + "_all_bytes", "B", tokens + "(" + (kept.empty() ? "0" : kept) + spared + ")", one.all);
        if (by_parts(shape_)) {
            dimension(name + "_recomputed_token_bytes", sum.parts);
            book_.formula(name + "_kept_bytes", "B", name + "_all_bytes - " + tokens + name + "_recomputed_token_bytes",
                          one.kept);
        } else {
            book_.formula(name + "_kept_bytes", "B",
                          shape_.recompute == Recompute::none ? name + "_all_bytes"
                          : shape_.recompute == Recompute::selective
                              ? tokens + "(" + (kept.empty() ? "0" : kept) + ")"
                              : tokens + "block_input_bytes * hidden / hidden_ranks",
                          one.kept);
        }
        book_.formula(name + "_gradient_bytes", "B",
                      tokens + "(block_input_bytes * hidden / hidden_ranks + max(0" + gradients + "))", one.gradients);
    }

private:
    /// Name of the term of a norm's and its linear layers' inputs; these are kept where their weights are trained.
    std::string wide(bool trained) {
        std::string const name = trained ? "wide_token_bytes" : "frozen_wide_token_bytes";
        if (!book_.has(name)) {
            book_.formula(name, "B",
                          "(block_input_bytes + norm_copy_bytes" + std::string{trained ? " + linear_input_bytes" : ""} +
                              " + mask_bytes) * hidden / hidden_ranks",
                          wide_bytes(sizes_, trained));
        }
        return name;
    }

    void dimension(std::string const& name, double value) {
        book_.add(TermKind::shape, name, "", "from model and strategy", value);
    }

    std::string scan(std::string const& name) {
        auto const scan = scan_sizes(model_);
        double between = 0.0;
        for (auto const& one : scan.between) { between += one.out; }
        dimension(name + "_scan_width", scan.projected + between + 2.0 * scan.inner);
        return "wide_token_bytes + element_bytes * " + name + "_scan_width / tp";
    }

    std::string attention_formula(std::string const& block, std::string const& part, BlockKind const& kind) {
        auto const sum = attention_token_bytes(model_, kind, shape_, framework_, sizes_);
        std::string const name = block + "_" + part;
        auto const shape = attention_shape(model_, kind);
        bool const unfused = framework_.attention == AttentionKernel::unfused,
                   latent = kind.mixer == Mixer::latent_attention;
        double const output =
            (latent ? model_.heads * static_cast<double>(model_.latent.value_dim) : shape.heads * shape.value_dim) /
            sizes_.tensor_ranks;
        bool const copies = sizes_.linear < sizes_.element && !sizes_.narrow;
        double const rest = wide_bytes(sizes_, sizes_.trains_attention) + (copies ? sizes_.linear * output : 0.0) +
                            (unfused ? 0.0 : statistics_bytes * shape.heads / sizes_.tensor_ranks);
        dimension(name + "_heads", shape.heads);
        book_.add(TermKind::shape, "attended", "", "tokens that one token could see", shape_.attended);
        dimension(name + "_width", (sum.kept - rest) / sizes_.element); // of queries, keys, values and outputs
        std::string formula = wide(sizes_.trains_attention) + " + element_bytes * " + name + "_width";
        if (copies) {
            dimension(name + "_output", output);
            formula += " + linear_input_bytes * " + name + "_output";
        }
        return unfused ? formula : formula + " + 4 * " + name + "_heads / tp";
    }

    std::string experts(std::string const& name) {
        auto const& moe = model_.moe;
        double const f = moe.ffn > 0 ? moe.ffn : model_.ffn;
        dimension(name + "_expert_copies", moe.top_k * shape_.expert_load);
        dimension(name + "_expert_input", moe.latent > 0 ? moe.latent : sizes_.hidden);
        dimension(name + "_expert_width", f);
        dimension(name + "_shared_width",
                  moe.shared_experts * static_cast<double>(moe.shared_ffn > 0 ? moe.shared_ffn : f));
        dimension(name + "_experts", moe.experts);
        std::string const between = sizes_.narrow
                                        ? "linear_input_bytes * branches * "
                                        : "(element_bytes * branches + activation_copy_bytes + linear_input_bytes) * ";
        return "wide_token_bytes + (" + name + "_expert_copies * (linear_input_bytes * " + name +
               "_expert_input * etp + " + between + name + "_expert_width) + " + between + name +
               "_shared_width + element_bytes * " + name + "_experts) / tp";
    }

    TermBook& book_;
    Model const& model_;
    Framework const& framework_;
    LayerShape const& shape_;
    ActivationSizes sizes_;
};

} // namespace

void explain_activations(TermBook& book, StepSetting const& setting, LayerShape const& shape,
                         ShapeActivations const& kept) {
    Model const& model = setting.model;
    auto const& block = kept.block;
    ActivationTerms terms{book, setting, shape};
    explain_logits(book, setting, shape, kept);
    if (!model.operators.empty()) {
        book.add(TermKind::algorithm, "operator_output_bytes", "B", "outputs that the operators of a micro-batch keep",
                 block.kept, {"micro_batch", "element_bytes"});
        book.formula("kept_block_bytes", "B", "operator_output_bytes", block.kept);
        return;
    }
    double const layers = depth_of(model);
    double const trained = shape.trained == Trained::last_layers ? std::min(1.0, shape.trained_layers / layers) : 1.0;
    book.add(TermKind::option, "trained_blocks_share", "", "blocks with a backward pass, by --train", trained);
    book.add(TermKind::option, "recomputed_blocks_share", "", "blocks that --recompute is for", block.recomputed);
    std::string kept_sum, all_sum, again = "0", gradients = "0";
    BlockBytes mean;
    for (std::size_t i = 0; i < setting.blocks.size(); ++i) {
        auto const& run = setting.blocks[i];
        std::string const name = setting.blocks.size() == 1 ? "activations" : "activations_" + std::to_string(i + 1);
        terms.add(name, run.kind);
        book.add(TermKind::model, name + "_blocks_share", "", "blocks of this kind over all", run.count / layers);
        kept_sum += (i > 0 ? " + " : "") + name + "_blocks_share * " + name + "_kept_bytes";
        all_sum += (i > 0 ? " + " : "") + name + "_blocks_share * " + name + "_all_bytes";
        again += ", " + name + "_all_bytes - " + name + "_kept_bytes";
        gradients += ", " + name + "_gradient_bytes";
        auto const one = one_block(model, run.kind, shape, setting.framework);
        mean.kept += one.kept * run.count / layers, mean.all += one.all * run.count / layers;
    }
    book.formula("mean_kept_bytes", "B", kept_sum, mean.kept);
    book.formula("mean_all_bytes", "B", all_sum, mean.all);
    book.formula("kept_block_bytes", "B",
                 "recomputed_blocks_share * mean_kept_bytes + (trained_blocks_share - recomputed_blocks_share) * "
                 "mean_all_bytes",
                 block.kept);
    book.formula("recomputed_block_bytes", "B", "max(" + again + ")", block.again);
    book.formula("spared_block_bytes", "B", "mean_all_bytes - mean_kept_bytes", block.spared);
    book.formula("gradient_block_bytes", "B", trained > 0.0 ? "max(" + gradients + ")" : "0", block.gradients);
    if (model.prediction_layers > 0 && model.layers > 0) {
        terms.add("later_tokens", last_block(model));
        book.add(TermKind::model, "prediction_blocks", "", "blocks that predict later tokens", model.prediction_layers);
        book.formula(
            "later_tokens_bytes", "B",
            "prediction_blocks * (later_tokens_kept_bytes + tokens * element_bytes * 2 * hidden / hidden_ranks)",
            block.ahead);
    }
}

} // namespace headroom::training
