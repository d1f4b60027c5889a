#include "training_logs/metrics_columns.hpp"

#include "tables/cell_text.hpp"
#include "tables/time_stamp.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::io {
namespace {

/// Names of a column, `normalised`, parted by blanks, the surest first; its scale to base units.
struct MetricsRow {
    std::string_view names;
    double scale = 1.0;
    StepFigure figure = StepFigure::seconds;
    enum class Sign { none, no_unit, either, either_no_unit } sign = Sign::none;
};
using Sign = MetricsRow::Sign;

constexpr std::array step_rows{MetricsRow{
    "trainerglobalstep globalstep trainglobalstep numupdates optimizerstep optimizersteps optstep "
    "updatestep completedsteps step iteration iter steps iterations globalstepmaxsteps update updates stepi it"}};
constexpr std::array micro_rows{
    MetricsRow{"microstep microbatch microbatchidx microiter batchidx iteration iter iterations"}};
/// Times of a step, and rates that have names of their own; `rate_of` reads the others.
constexpr std::array time_rows{
    MetricsRow{"elapsedtimeperiterationms iterationtimems steptimems timeperstepms persteptimems timemetricsendtoendms "
               "iterms itertimems timeperiterationms dtms stepdurationms stepms timeperbatchms timeperiterms",
               1e-3},
    MetricsRow{"steptimeus itertimeus iterationtimeus", 1e-6},
    MetricsRow{
        "trainsteptiminginss steptimes trainsteptimes trainsteptiminginsec trainsteptimingins itertimes "
        "iterationtimes timepersteps persteptimes timemetricsendtoends steptimesec steptimeseconds itertimesec "
        "iterationtimesec iterationtimeseconds timeperiterations dts stepdurations batchtimes batchtimesec updatetimes "
        "stepdurationsec trainstepdurationsec timeperbatchs timeperiters"},
    MetricsRow{"perfsteptime timingperstep iterationtime itertime steptime trainsteptime timeperstep timeperiteration "
               "trainiterationtime batchtime timeperbatch updatetime",
               1.0, StepFigure::seconds, Sign::no_unit},
    MetricsRow{"throughputdevicebatchespersec", 1.0, StepFigure::steps_per_second_per_accelerator}, // Composer
    MetricsRow{"throughputdevicebatchespersecond throughputdevicebps ups", 1.0,
               StepFigure::steps_per_second}, // OLMo counts its own batches, fairseq updates
    MetricsRow{"deviceitemspersec throughputtps throughputdeviceitemspersec tgs", 1.0,
               StepFigure::tokens_per_second_per_accelerator},
    MetricsRow{"steptimens itertimens iterationtimens", 1e-9},
};
constexpr std::array clock_rows{
    MetricsRow{"runtime timestamp walltime relativetimeprocess timetotal datetime date"},
    MetricsRow{"time elapsed elapsedtime timeelapsed traintime wall", 1.0, StepFigure::seconds, Sign::either_no_unit},
    MetricsRow{"times elapseds elapsedtimes timeelapseds walls elapsedsec elapsedseconds durations traintimes seconds",
               1.0, StepFigure::seconds, Sign::either},
    MetricsRow{"timems elapsedms elapsedtimems durationms", 1e-3, StepFigure::seconds, Sign::either},
    MetricsRow{"elapsedmin elapsedminutes elapsedtimemin timeelapsedmin", 60.0},
    MetricsRow{"elapsedh elapsedhours elapsedtimehours", 3600.0},
};
constexpr std::array memory_rows{
    MetricsRow{"maxmemoryallocated maxmemoryreserved cudamaxmemoryreserved"},
    MetricsRow{"memorymaxreservedgib memorymaxactivegib memorymaxallocatedgib", 1073741824.0},
    MetricsRow{"memorypeakreservedmem", 1e9},
};
constexpr std::array batch_rows{
    MetricsRow{"globalbatchsize totalbatchsize effectivebatchsize totaltrainbatchsize batchsize"}};

/// Groups of metrics that say nothing about what is timed: "perf/step_time" is "step_time", "eval/step_time" is not.
constexpr std::array<std::string_view, 10> groups{"train", "training", "perf",   "performance", "throughput",
                                                  "time",  "timing",   "timers", "speed",       "metrics"};

/// Words of a head that make it one of an evaluation; "valid" alone may be of tokens.
constexpr std::array<std::string_view, 4> evaluating{"val", "eval", "validation", "evaluation"};
constexpr std::array<std::string_view, 8> of_valid{"", "loss", "perplexity", "ppl", "acc", "accuracy", "time", "score"};

std::string_view first_word(std::string_view head, std::size_t& end) {
    end = std::min(head.find_first_of("_/- |.:"), head.size());
    return head.substr(0, end);
}

bool names_it(std::string_view names, std::string_view name, int& rank) {
    for (rank = 0; !names.empty(); ++rank) {
        if (next_word(names) == name) { return true; }
    }
    return false;
}

/// The rank of a head among the names of a row; its group is left out where the whole is none of them.
bool row_has(MetricsRow const& row, std::string_view head, int& rank) {
    if (names_it(row.names, normalised(head), rank)) { return true; }
    auto const slash = head.find('/');
    bool const grouped = slash != std::string_view::npos && is_metrics_group(head.substr(0, slash));
    return grouped && row_has(row, head.substr(slash + 1), rank);
}

template <std::size_t size>
std::optional<MetricsName> found_in(std::array<MetricsRow, size> const& rows, std::string_view head) {
    int rank = 0;
    for (std::size_t r = 0; r < size; ++r) {
        if (row_has(rows[r], head, rank)) {
            Sign const sign = rows[r].sign;
            return MetricsName{.rank = static_cast<int>(r) * 1000 + rank,
                               .scale = rows[r].scale,
                               .figure = rows[r].figure,
                               .unit_stated = sign != Sign::no_unit && sign != Sign::either_no_unit,
                               .either = sign == Sign::either || sign == Sign::either_no_unit};
        }
    }
    return std::nullopt;
}

/// Quantity of a rate by the words of its name.
std::optional<MetricsName> rate_of(std::string_view head) {
    if (normalised(head).find("trainspeed") != std::string::npos) {
        return std::nullopt;
    } // ms-swift: a mean since the begin
    auto const rate = step_rate(head);
    if (!rate) { return std::nullopt; }
    return MetricsName{
        .rank = rate->rank, .scale = rate->scale, .figure = rate->figure, .scope_stated = rate->scope_stated};
}

/// Half a unit of the last digit of the seconds in a date or a clock.
double rounding_of(std::string_view text) {
    auto const mark = text.find_last_of(".,");
    if (mark == std::string_view::npos) { return 0.5; }
    auto const end = std::min(text.find_first_not_of("0123456789", mark + 1), text.size());
    return 0.5 * std::pow(0.1, static_cast<double>(end - mark - 1));
}

/// The last words of a name from `at` on, put together.
std::string joined_from(std::vector<std::string> const& words, std::size_t at) {
    std::string text;
    for (std::size_t i = at; i < words.size(); ++i) { text += (i > at ? "_" : "") + words[i]; }
    return text;
}

std::vector<std::string> words_of_name(std::string_view name) {
    std::vector<std::string> words(1);
    for (char const c : name) {
        bool const parts = c == '_' || c == '-' || c == ' ' || c == '.' || c == '(' || c == ')';
        if (!parts) { words.back() += lowered(c); }
        if (parts && !words.back().empty()) { words.emplace_back(); }
    }
    if (words.back().empty()) { words.pop_back(); }
    return words;
}

} // namespace

bool is_metrics_group(std::string_view name) { return std::ranges::find(groups, normalised(name)) != groups.end(); }

namespace {

constexpr std::string_view forward_words = "forward fwd", backward_words = "backward bwd";

} // namespace

std::vector<std::string> heads_of_pass(std::string_view step, bool backward) {
    std::string const plain = normalised(metric_of(step));
    std::vector<std::string> heads;
    for (std::string_view const word : {"iteration", "iter", "step"}) {
        auto const at = plain.find(word);
        if (at == std::string::npos) { continue; }
        for (std::string_view left = backward ? backward_words : forward_words; !left.empty();) {
            heads.push_back(plain.substr(0, at) + std::string{next_word(left)} + plain.substr(at + word.size()));
        }
        break;
    }
    return heads;
}

bool is_of_pass(std::string_view head) {
    std::string const plain = normalised(head);
    for (std::string_view left : {forward_words, backward_words}) {
        while (!left.empty()) {
            std::string_view const word = next_word(left);
            if (plain == word || plain == std::string{word} + "time" || plain == "time" + std::string{word}) {
                return true;
            }
        }
    }
    return false;
}

bool is_small(std::string_view head) {
    std::string const name = normalised(metric_of(head));
    return name.ends_with("loss") || name.ends_with("learningrate") || name == "lr" || name.ends_with("/lr");
}

bool is_evaluation(std::string_view head) {
    head = metric_of(head);
    std::size_t end = 0;
    std::string const word = normalised(first_word(head, end));
    if (std::ranges::find(evaluating, word) != evaluating.end()) { return true; }
    if (word != "valid") { return false; }
    std::string const rest = normalised(head.substr(end));
    return std::ranges::find(of_valid, rest) != of_valid.end();
}

bool is_part_of_data(std::string_view head) {
    constexpr std::string_view names = "split phase mode stage subset set part loop kind type event";
    int rank = 0;
    return names_it(names, normalised(metric_of(head)), rank);
}

bool is_evaluated_part(std::string_view cell) {
    cell = trimmed_line(cell);
    return is_evaluation(cell) || same_caseless(cell, "test");
}

std::optional<MetricsName> metrics_tag(std::string_view file) {
    file = file.substr(file.find_last_of('/') + 1);
    if (file.ends_with(".csv")) { file.remove_suffix(4); }
    auto const words = words_of_name(file);
    for (std::size_t at = 0; at < words.size(); ++at) {
        auto const name = metrics_name(MetricsKind::time, joined_from(words, at));
        if (!name || name->figure != StepFigure::seconds) { continue; }
        auto const says_nothing_else = [](std::string const& word) {
            bool const digits = word.find_first_not_of("0123456789") == word.npos;
            return digits || word == "run" || word == "tag" || word == "tb" ||
                   std::ranges::find(groups, word) != groups.end();
        };
        std::size_t begin = at; // behind "tag", or all of the name
        while (begin > 0 && words[begin - 1] != "tag") { --begin; }
        bool const plain = std::all_of(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                       words.begin() + static_cast<std::ptrdiff_t>(at), says_nothing_else);
        return plain ? name : std::nullopt;
    }
    return std::nullopt;
}

std::optional<PrintedNumber> clock_value(std::string_view cell) {
    cell = trimmed_line(cell);
    if (auto const date = date_and_time(cell)) {
        return PrintedNumber{static_cast<double>(*date) * 1e-9, rounding_of(cell)};
    }
    auto seconds = clock_duration(cell);
    std::string joined{cell};
    std::erase(joined, ' '); // "1m 3s"
    if (!seconds) { seconds = printed_duration(joined); }
    if (seconds) { return PrintedNumber{*seconds, rounding_of(cell)}; }
    return std::nullopt;
}

std::optional<MetricsName> metrics_name(MetricsKind kind, std::string_view head) {
    head = metric_of(head);
    switch (kind) {
    case MetricsKind::step: return found_in(step_rows, head);
    case MetricsKind::micro: return found_in(micro_rows, head);
    case MetricsKind::time: {
        auto const found = found_in(time_rows, head);
        bool const seconds = head.ends_with("(s)"); // "up (s)" is no rate of updates, "ups"
        return found && !(seconds && found->figure != StepFigure::seconds) ? found : rate_of(head);
    }
    case MetricsKind::clock: return found_in(clock_rows, head);
    case MetricsKind::memory: return found_in(memory_rows, head);
    case MetricsKind::batch: break;
    }
    return found_in(batch_rows, head);
}

std::string_view metric_of(std::string_view head) {
    auto const dash = head.rfind(run_mark);
    return dash == std::string_view::npos ? head : head.substr(dash + run_mark.size());
}

std::string_view run_of(std::string_view head) { return head.substr(0, std::min(head.rfind(run_mark), head.size())); }

bool is_extreme(std::string_view head) { return head.ends_with("__MIN") || head.ends_with("__MAX"); }

std::vector<std::string> runs_of(std::vector<std::string> const& heads) {
    std::vector<std::string> runs;
    for (std::string const& head : heads) {
        bool const of_run = head.find(run_mark) != head.npos && !is_extreme(head);
        bool const counts = of_run && (metrics_name(MetricsKind::time, head) || metrics_name(MetricsKind::clock, head));
        if (counts && std::ranges::find(runs, run_of(head)) == runs.end()) { runs.emplace_back(run_of(head)); }
    }
    return runs;
}

} // namespace headroom::io
