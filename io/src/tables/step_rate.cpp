#include "tables/step_rate.hpp"

#include "tables/cell_text.hpp"
#include "tables/units.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::io {
namespace {

/// Part that a word has in the name of a rate.
struct RateWord {
    std::string_view words;
    char part;
};
constexpr std::array rate_words{
    RateWord{"tokens token tok toks", 'T'},
    RateWord{"tps", 't'}, // of all to some, of one accelerator to others
    RateWord{"samples sample seqs seq sequences examples example images image imgs img", 'S'},
    RateWord{"steps step it its iter iters iteration iterations batches batch updates", 'N'},
    RateWord{"gpu device npu core chip hpu tpu rank accelerator worker card", 'G'},
    RateWord{"global total overall", 'A'},
    RateWord{"/ per", '/'},
    RateWord{"train training perf performance throughput timing time speed metrics interval tgs", ' '}, // say nothing
};

/// The parts of a name, one letter a word, 's' of a unit of time; empty where it has a word of no rate, or two units.
std::string rate_parts(std::string_view head, double& seconds) {
    std::string parts, word;
    for (std::size_t i = 0; i <= head.size(); ++i) {
        char const c = i < head.size() ? head[i] : ' ';
        bool const letter = (lowered(c) >= 'a' && lowered(c) <= 'z') || is_decimal_digit(c);
        bool const capital = letter && c != lowered(c) && i > 0 && head[i - 1] == lowered(head[i - 1]);
        if ((!letter || capital) && !word.empty()) {
            auto const of =
                std::ranges::find_if(rate_words, [&](auto const& row) { return is_word_of(row.words, word); });
            bool const alone = word.size() > 1 || word == "s" || word == "h"; // "m" and "d" may be other words
            auto const unit =
                of == rate_words.end() && alone ? unit_named(CellMeasure::time, word, true) : std::nullopt;
            if (of == rate_words.end() && (!unit || parts.find('s') != parts.npos)) { return {}; }
            if (unit) { seconds = unit->base(1.0); }
            parts += unit ? 's' : of->part;
            word.clear();
        }
        if (letter) { word += lowered(c); }
        if (c == '/') { parts += '/'; }
    }
    return parts;
}

} // namespace

std::optional<StepRate> step_rate(std::string_view head) {
    double seconds = 1.0;
    if (same_caseless(trimmed_line(head), "TGS")) { // tokens a GPU and second
        return StepRate{.figure = StepFigure::tokens_per_second_per_accelerator, .scope_stated = true, .rank = 5500};
    }
    std::string parts = rate_parts(head, seconds);
    auto const drop = [&](std::string_view signs) {
        parts.erase(0, std::min(parts.find_first_not_of(signs), parts.size()));
    };
    drop(" /");
    bool const of_all = parts.starts_with('A') || parts.ends_with('A'), of_one = parts.starts_with('G');
    if (of_all || of_one) { drop("AG /"); }
    parts.erase(parts.find_last_not_of("A ") + 1);
    if (parts == "s/N") { return of_one ? std::nullopt : std::optional{StepRate{.scale = seconds, .rank = 500}}; }
    struct Shape {
        std::string_view parts;
        bool one;
        StepFigure figure;
        int rank;
    };
    static constexpr std::array shapes{
        Shape{"N/s", false, StepFigure::steps_per_second, 3500},
        Shape{"T/s", false, StepFigure::tokens_per_second, 4500},
        Shape{"T/s", true, StepFigure::tokens_per_second_per_accelerator, 5500},
        Shape{"t", true, StepFigure::tokens_per_second_per_accelerator, 5500},
        Shape{"S/s", false, StepFigure::samples_per_second, 6500},
        Shape{"S/s", true, StepFigure::samples_per_second_per_accelerator, 7500},
    };
    bool const behind = parts.ends_with("/G"), between = parts.find("/G/") != parts.npos;
    if (behind) { parts.resize(parts.size() - 2); }
    if (between) { parts.erase(parts.find("/G/"), 2); }
    bool const one = of_one || behind || between;
    auto const shape = std::ranges::find_if(shapes, [&](Shape const& s) { return s.parts == parts && s.one == one; });
    if (shape == shapes.end() || (one && of_all)) { return std::nullopt; }
    bool const stated = one || of_all || shape->figure == StepFigure::steps_per_second;
    return StepRate{.figure = shape->figure, .scale = 1.0 / seconds, .scope_stated = stated, .rank = shape->rank};
}

} // namespace headroom::io
