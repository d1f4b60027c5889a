#include "memory_terms.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

/// Logits that a rank computes of a micro-batch.
double logits_of(Model const& model, LayerShape const& shape, Framework const& framework) {
    double const share = model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
    double const words = laid_out_vocabulary(model, shape.tp, framework);
    return tokens_of(shape) * share * words / shape.tp * (1.0 + model.prediction_layers);
}

} // namespace

double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    if (!model.has_head) { return 0.0; }
    double const share = model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0);
    double const tokens = tokens_of(shape) * share, element = element_bytes(shape.precision);
    double const words = laid_out_vocabulary(model, shape.tp, framework);
    double const heads = 1.0 + model.prediction_layers;
    if (!framework.tiled_loss || model.hidden == 0) {
        return logits_of(model, shape, framework) * (element + framework.logit_copy_bytes);
    }
    // a tile of logits is as large as the hidden vectors of all tokens, whose gradients are kept, too
    double const tiles = std::max(1.0, std::ceil(words / model.hidden));
    return tokens * (words / shape.tp / tiles * element + element * model.hidden) * heads;
}

double returned_logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework) {
    constexpr double wide = 4.0;
    bool const returns = model.has_head && framework.holds_outputs && !framework.tiled_loss;
    return returns ? wide * logits_of(model, shape, framework) : 0.0;
}

void explain_logits(TermBook& book, StepSetting const& setting, LayerShape const& shape, ShapeActivations const& kept) {
    Model const& model = setting.model;
    if (!model.has_head) { return book.formula("logit_bytes", "B", "0", kept.logits); }
    auto const fact = [&](char const* name, char const* origin, double one) {
        book.add(TermKind::model, name, "", origin, one);
    };
    fact("head_tokens_over_tokens", "tokens that reach the output projection",
         model.head_share * (model.encoder_layers > 0 ? model.decoder_length : 1.0));
    fact("vocabulary", "as the framework lays it out", laid_out_vocabulary(model, shape.tp, setting.framework));
    book.add(TermKind::framework, "logit_copy_bytes", "B", "framework " + setting.framework.name,
             setting.framework.logit_copy_bytes);
    fact("heads", "output projections: one, and one for each block for later tokens", 1.0 + model.prediction_layers);
    bool const tiled = setting.framework.tiled_loss && model.hidden != 0;
    book.formula("logit_bytes", "B",
                 "tokens * head_tokens_over_tokens * heads * " +
                     std::string{tiled ? "(vocabulary / tp / max(1, ceil(vocabulary / hidden)) * element_bytes + "
                                         "element_bytes * hidden)"
                                       : "vocabulary / tp * (element_bytes + logit_copy_bytes)"},
                 kept.logits);
    if (kept.returned > 0.0) {
        book.formula("returned_logit_bytes", "B", "tokens * head_tokens_over_tokens * heads * vocabulary / tp * 4",
                     kept.returned);
    }
}

} // namespace headroom::training
