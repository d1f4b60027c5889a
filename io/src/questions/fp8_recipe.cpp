#include "questions/fp8_recipe.hpp"

#include "headroom/error.hpp"
#include "headroom/io/words.hpp"
#include "headroom/precision.hpp"

namespace headroom::io {

void refuse_idle_recipe(training::PartialStrategy const& given, training::Framework const& framework) {
    if (!given.fp8_recipe || given.precision.value_or(framework.precision) == Precision::fp8) { return; }
    refuse("--fp8-recipe", "has no effect", "products are not in FP8", "add --precision fp8, or leave it out");
}

} // namespace headroom::io
