#pragma once

#include "headroom/fit/scaling_fit.hpp"

#include <span>

namespace headroom::fit {

/// Worker counts that Extra-P asks for before it models anything.
inline constexpr std::size_t fewest_for_normal_form = 5;

struct NormalForm {
    TermExponents term; ///< without a term where no term predicts better than the mean
    CrossValidation validation;
};

/// The term that Extra-P's single-parameter modeler chooses: each count is left out and predicted from the others, and
/// the term with the least symmetric error wins over the constant. A term that moves no point by 0.05 % is passed
/// over; a constant part below 0.05 % of the least value counts as none.
/// Holds for:  counts from 1 (above 1 with terms that fall). Source: [Calotoiu2013], [ExtraP]
NormalForm choose_normal_form(std::span<ScalingSample const> points, bool negative_exponents);

/// "c0 + c1 K^(5/4) log2(K)".
std::string normal_form_words(TermExponents const& term);

} // namespace headroom::fit
