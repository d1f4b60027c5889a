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
    RateWord{"global total overall aggregate aggregated", 'A'},
    RateWord{"/ per", '/'},
    RateWord{"train training perf performance throughput timing time speed metrics interval tgs", ' '}, // say nothing
};

/// Thousands that a word stands for: "k" and "ktok" are 1000; 1 of other words. `rest`: the word without them.
double multiple_of(std::string_view word, std::string_view& rest) {
    struct Multiple {
        std::string_view words;
        char letter;
        double factor;
    };
    constexpr std::array multiples{Multiple{"k thousand thousands kilo 1000 x1000 1k", 'k', 1e3},
                                   Multiple{"m million millions mega", 'm', 1e6},
                                   Multiple{"b billion billions", 'b', 1e9}};
    for (Multiple const& one : multiples) {
        bool const whole = is_word_of(one.words, word);
        bool const joined =
            !word.empty() && word[0] == one.letter && is_word_of("tok toks token tokens", word.substr(1));
        if (!whole && !joined) { continue; }
        rest = whole ? std::string_view{} : word.substr(1);
        return one.factor;
    }
    return 1.0;
}

/// A name in parts.
struct RateName {
    std::string parts; ///< one letter a word, 's' of a unit of time; empty where it has a word of no rate, or two units
    double seconds = 1.0; ///< of the unit of time
    double multiple = 1.0;
};

/// Adds the part of a word; false where it has none. A lone letter of thousands stands before what it counts.
bool add_part(RateName& name, std::string_view word) {
    std::string_view rest = word;
    if (double const multiple = multiple_of(word, rest); multiple != 1.0) {
        if (name.multiple != 1.0) { return false; }
        name.multiple = multiple;
        if (!rest.empty()) { name.parts += 'T'; }
        if (rest.empty()) { name.parts += word.size() > 1 ? 'k' : 'K'; }
        return true;
    }
    auto const of = std::ranges::find_if(rate_words, [&](auto const& row) { return is_word_of(row.words, word); });
    bool const alone = word.size() > 1 || word == "s" || word == "h"; // "m" and "d" may be other words
    auto const unit = of == rate_words.end() && alone ? unit_named(CellMeasure::time, word, true) : std::nullopt;
    if (of == rate_words.end() && (!unit || name.parts.find('s') != std::string::npos)) { return false; }
    if (unit) { name.seconds = unit->base(1.0); }
    name.parts += unit ? 's' : of->part;
    return true;
}

/// Takes the thousands off parts; false where they stand at no place of theirs.
bool take_multiple(RateName& name) {
    auto const at = name.parts.find_first_of("kK");
    if (at == std::string::npos) { return true; }
    auto const next = name.parts.find_first_not_of(' ', at + 1);
    bool const before = next != std::string::npos && (name.parts[next] == 'T' || name.parts[next] == 'S');
    bool const last = next == std::string::npos && name.parts[at] == 'k';
    name.parts.erase(at, 1);
    return before || last;
}

RateName rate_name(std::string_view head) {
    RateName name;
    std::string word;
    for (std::size_t i = 0; i <= head.size(); ++i) {
        char const c = i < head.size() ? head[i] : ' ';
        bool const letter = (lowered(c) >= 'a' && lowered(c) <= 'z') || is_decimal_digit(c);
        bool const thousands =
            word.size() == 1 && std::string_view{"kmb"}.find(word[0]) != std::string_view::npos; // "kTok"
        bool const capital = letter && c != lowered(c) && i > 0 && head[i - 1] == lowered(head[i - 1]) && !thousands;
        if ((!letter || capital) && !word.empty()) {
            if (!add_part(name, word)) { return {}; }
            word.clear();
        }
        if (letter) { word += lowered(c); }
        if (c == '/') { name.parts += '/'; }
    }
    return take_multiple(name) ? name : RateName{};
}

} // namespace

std::optional<StepRate> step_rate(std::string_view head) {
    if (same_caseless(trimmed_line(head), "TGS")) { // tokens a GPU and second
        return StepRate{.figure = StepFigure::tokens_per_second_per_accelerator, .scope_stated = true, .rank = 5500};
    }
    RateName const name = rate_name(head);
    std::string parts = name.parts;
    auto const drop = [&](std::string_view signs) {
        parts.erase(0, std::min(parts.find_first_not_of(signs), parts.size()));
    };
    drop(" /");
    bool const of_all = parts.starts_with('A') || parts.ends_with('A'), of_one = parts.starts_with('G');
    if (of_all || of_one) { drop("AG /"); }
    parts.erase(parts.find_last_not_of("A ") + 1);
    if (parts == "s/N" && name.multiple == 1.0) {
        return of_one ? std::nullopt : std::optional{StepRate{.scale = name.seconds, .rank = 500}};
    }
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
    return StepRate{
        .figure = shape->figure, .scale = name.multiple / name.seconds, .scope_stated = stated, .rank = shape->rank};
}

} // namespace headroom::io
