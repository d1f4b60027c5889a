#include "verb.hpp"

namespace headroom::cli {

std::span<MakeVerb const> all_verbs() {
    static constexpr std::array all{plan_verb,         predict_verb,
                                    finetune_verb,     support_verb,
                                    inference_verb,    validate_verb,
                                    laws_verb,         graph_verb,
                                    roofline_verb,     comm_verb,
                                    tail_verb,         queue_verb,
                                    trace_verb,        measure_roofline_verb,
                                    measure_comm_verb, measure_scaling_verb,
                                    history_verb,      calibrate_verb,
                                    catalog_verb,      schema_verb};
    static_assert(all.size() + verbs_of_the_program == verb_names.size());
    return all;
}

} // namespace headroom::cli
