#include "headroom/training/kernel.hpp"

#include <string>

namespace headroom::training {

double recipe_factor(Precision precision, Framework const& framework) {
    constexpr double finer = 0.87;
    return precision == Precision::fp8 && framework.fp8_recipe != Fp8Recipe::tensorwise ? finer : 1.0;
}

std::string explain_recipe(TermBook& book, Precision precision, Framework const& framework) {
    double const factor = recipe_factor(precision, framework);
    if (factor == 1.0) { return {}; }
    book.add(TermKind::framework, "fp8_recipe_factor", "", "rate with finer scales over one scale a tensor", factor);
    return " * fp8_recipe_factor";
}

} // namespace headroom::training
