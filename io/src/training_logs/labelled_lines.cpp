#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

// Lines of software that no format knows, as the rows of a table: what stands before a number and behind it are its head.

namespace headroom::io {
namespace {

/// A number of a line, with the words before it and its unit.
struct Figure {
    std::string_view label, unit, behind; ///< `behind`: text behind the whole
    std::string cell;
    bool counts_batches = false; ///< "[ 50/1251 ( 4%)]", "100/1563 [==>": those of an epoch
    bool whole = true;           ///< no fraction, scale or time of day
    bool clock = false;          ///< "1:23:45", "1m 50s"
};

/// Head that stands for a label in the lines that have a mark: their software states no unit, or calls other things so. Empty: not
/// used.
struct MarkedLabel {
    std::string_view mark, label, unit, head;
};
constexpr std::array marked_labels{
    MarkedLabel{"data_time:", "time", "", "step_time_s"},      // mmcv, mmengine, detectron2: the mean of an iteration
    MarkedLabel{" data: ", "iter", "", "step_time_s"},         // Lingua
    MarkedLabel{" data: ", "time", "", "step_time_s"},         // torchvision's MetricLogger
    MarkedLabel{" Data: ", "time", "s", "step_time_s"},        // timm
    MarkedLabel{"\tData ", "time", "", "step_time_s"},         // examples of PyTorch
    MarkedLabel{"token/max", "time", "", "step_time_s"},       // BMTrain
    MarkedLabel{"Batch (t):", "batch (t)", "", "step_time_s"}, // open_clip, whose count is of samples
    MarkedLabel{"Iter(train)", "iter(train)", "", "iter"},     // mmengine
    MarkedLabel{"epoch:train:", "train_time", "", "step_time_s"},           // ESPnet
    MarkedLabel{"epoch:train:", "iter_time", "", ""},                       // time of its loader
    MarkedLabel{"logging_writer.py", "", "", "step"},                       // clu: "[100] collection=train, ..."
    MarkedLabel{"timing_s/step", "timing_s/step", "", "step_time_s"},       // verl
    MarkedLabel{"avg_batch_cost:", "avg_batch_cost", "sec", "step_time_s"}, // Paddle
};

/// Words in front of a label that say nothing about its quantity.
constexpr std::array<std::string_view, 10> plain_words{"info", "debug", "train",      "training", "speed",
                                                       "rate", "steps", "throughput", "current",  "performance"};
/// Words that make a number behind "step" none of a step that was done.
constexpr std::array<std::string_view, 20> other_steps{
    "total", "max",    "warmup", "save", "logging", "eval",      "per",  "every", "of",           "last",
    "best",  "resume", "from",   "num",  "val",     "remaining", "test", "valid", "accumulation", "checkpoint"};
constexpr std::array<std::string_view, 8> evaluating{"val",        "eval", "valid",   "validation",
                                                     "evaluation", "test", "testing", "validating"};
constexpr std::array<std::string_view, 8> seconds_units{"ms", "s", "sec", "secs", "second", "seconds", "us", "min"};

template <std::size_t size> bool has(std::array<std::string_view, size> const& words, std::string_view word) {
    return std::ranges::any_of(words, [&](std::string_view one) { return same_caseless(one, word); });
}

bool is_letter(char c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }
bool is_word_sign(char c) { return is_letter(c) || is_decimal_digit(c) || c == '_'; }

/// The words directly before a number: behind the last separator, number or gap.
std::string_view label_before(std::string_view text) {
    std::size_t const end = text.find_last_not_of(" =:'\"[#") + 1;
    text = text.substr(0, end);
    if (text.empty() || !(is_word_sign(text.back()) || text.back() == ')')) { return {}; }
    constexpr std::size_t longest = 64;
    std::size_t begin = end, depth = 0;
    for (; begin > 0 && end - begin < longest; --begin) {
        char const c = text[begin - 1];
        if (c == ')') { ++depth; }
        if (c == '(' && depth-- == 0) { break; }
        if (is_word_sign(c)) { continue; }
        bool const gap = c == ' ' && begin > 1 && (text[begin - 2] == ' ' || text[begin - 2] == '-');
        if (gap || std::string_view{"|,;:{}[]<>\t\"'="}.find(c) != std::string_view::npos) { break; }
    }
    std::string_view label = trimmed_line(text.substr(begin));
    for (std::string_view rest = label; !rest.empty();) {
        if (is_decimal_digit(next_word(rest).front())) { label = trimmed_line(rest); }
    }
    return label;
}

/// The unit that a text begins with: a word directly behind a number, or one behind a blank that is a unit.
std::string_view unit_of(std::string_view text) {
    if (text.starts_with('%')) { return text.substr(0, 1); }
    std::size_t const blank = text.starts_with(' ') ? 1 : 0;
    auto end = blank;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '/')) { ++end; }
    std::string_view const word = text.substr(blank, end - blank);
    bool const rate = word.find('/') != word.npos && step_rate(word);
    if (blank > 0 && !rate && !has(seconds_units, word)) { return {}; }
    constexpr std::string_view per = " per ";
    if (rate && text.substr(end).starts_with(per)) { // "tokens/s per GPU"
        end += per.size();
        while (end < text.size() && is_letter(text[end])) { ++end; }
    }
    return text.substr(blank, end - blank);
}

/// Length of "1:23:45.6" or "1m 50s" at the beginning of a text; 0: it begins with another number.
std::size_t clock_length(std::string_view text) {
    std::size_t const end = std::min(text.find_first_not_of("0123456789:."), text.size());
    if (text.substr(0, end).find(':') != text.npos && clock_duration(text.substr(0, end))) { return end; }
    std::string_view units{"dhms"}; // each smaller than the one before
    std::size_t at = 0, parts = 0;
    while (at < text.size()) {
        std::size_t const letter = at + number_length(text.substr(at));
        std::size_t const unit = letter > at && letter < text.size() ? units.find(text[letter]) : units.npos;
        if (unit == units.npos || (letter + 1 < text.size() && is_letter(text[letter + 1]))) { break; }
        units.remove_prefix(unit + 1);
        ++parts;
        at = letter + 1;
        if (at + 1 < text.size() && text[at] == ' ' && is_decimal_digit(text[at + 1])) { ++at; }
    }
    return parts > 1 ? at : 0;
}

/// Length of "/ 5000" behind a count; 0: no total stands there.
std::size_t total_length(std::string_view text) {
    std::size_t const slash = std::min(text.find_first_not_of(' '), text.size());
    if (!text.substr(slash).starts_with('/')) { return 0; }
    std::size_t const begin = std::min(text.find_first_not_of(' ', slash + 1), text.size());
    std::size_t const end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    return end > begin ? end : 0;
}

/// The next figure from `at` on; false at the end of the line.
bool next_figure(std::string_view line, std::size_t& at, Figure& figure) {
    for (; at < line.size(); ++at) {
        if (!is_decimal_digit(line[at])) { continue; }
        std::size_t begin = at;
        if (begin > 0 && line[begin - 1] == '.') { --begin; }
        char const before = begin > 0 ? line[begin - 1] : ' ';
        std::string_view const rest = line.substr(begin);
        std::size_t length = clock_length(rest);
        figure = {};
        figure.clock = length > 0;
        if (length == 0) { length = std::max<std::size_t>(number_length(rest), 1); }
        figure.cell = rest.substr(0, length);
        if (figure.clock) { std::erase(figure.cell, ' '); }
        if (figure.cell.ends_with('.')) { figure.cell.pop_back(); }
        if (figure.cell.starts_with('.')) { figure.cell.insert(0, "0"); }
        at = begin + length;
        bool const negative =
            before == '-' && begin > 1 && !is_decimal_digit(line[begin - 2]) && line[begin - 2] != ' ';
        std::string_view const front = trimmed_line(line.substr(0, begin));
        bool const scatter = front.ends_with("±") || front.ends_with("+/-") || front.ends_with("+-");
        if (is_word_sign(before) || negative || scatter) { // a part of a word, or how far a number scatters
            while (at < line.size() && is_word_sign(line[at])) { ++at; }
            continue;
        }
        figure.label = label_before(line.substr(0, begin));
        figure.whole = !figure.clock && figure.cell.find_first_not_of("0123456789,") == std::string::npos;
        if (std::size_t const total = figure.whole ? total_length(line.substr(at)) : 0; total > 0) {
            std::string_view const behind = line.substr(at + total);
            std::size_t const open = line.find_last_not_of(' ', begin > 0 ? begin - 1 : 0);
            bool const bracket = begin > 0 && open != line.npos && line[open] == '[' &&
                                 (behind.starts_with(']') || behind.starts_with(" ("));
            bool const bar = trimmed_line(line.substr(0, begin)).empty() &&
                             (behind.starts_with(" [") || behind.starts_with(" ━") || behind.starts_with(" - "));
            figure.counts_batches = bracket || bar;
            at += total;
        } else if (!figure.clock) {
            std::string_view behind = line.substr(at);
            bool const scaled = !behind.empty() && std::string_view{"kKM"}.find(behind[0]) != behind.npos &&
                                (behind.size() == 1 || !is_letter(behind[1]));
            if (scaled) {
                figure.cell += behind[0] == 'M' ? "e6" : "e3";
                figure.whole = false;
                behind.remove_prefix(1);
            }
            figure.unit = unit_of(behind);
        }
        figure.behind = line.substr(std::min(at, line.size()));
        return true;
    }
    return false;
}

/// The last words of a label, as many as name a step: "INFO global step".
std::string step_head(std::string_view label) {
    auto const last = label.rfind(' ');
    std::string_view const word = label.substr(last + 1);
    std::string_view front = last == label.npos ? std::string_view{} : label.substr(0, last);
    for (std::string_view rest = front; !rest.empty();) {
        if (has(other_steps, next_word(rest))) { return {}; }
    }
    for (std::string_view const one : {label, word}) {
        if (!metrics_name(MetricsKind::step, one)) { continue; }
        std::string const name = normalised(one); // "Step" is "step"
        return metrics_name(MetricsKind::step, name) ? name : normalised(one.substr(one.rfind('/') + 1));
    }
    return {};
}

bool has_bracket(Figure const& figure) { return figure.behind.starts_with(" [") || figure.behind.starts_with("  ["); }

bool is_epoch(Figure const& figure) {
    std::string const name = normalised(figure.label);
    bool const of_timm = name == "train" && has_bracket(figure);
    return name == "epoch" || name == "trainepoch" || name == "trainingepoch" || name == "epochtrain" || of_timm ||
           figure.unit == "epoch";
}

/// The head of a time or a rate; empty for all else.
std::string time_head(Figure const& figure) {
    std::string_view label = figure.label;
    for (; !label.empty(); next_word(label)) {
        std::string head{label};
        if (!figure.unit.empty()) { head += fmt::format(" ({})", figure.unit); }
        bool const clock = metrics_name(MetricsKind::clock, head).has_value();
        if (clock || (!figure.clock && metrics_name(MetricsKind::time, head))) { return head; }
        std::string_view rest = label;
        if (!has(plain_words, next_word(rest))) { return {}; }
    }
    bool const rate = figure.unit.find('/') != figure.unit.npos && metrics_name(MetricsKind::time, figure.unit);
    return rate ? std::string{figure.unit} : std::string{};
}

/// The row of `marked_labels` that a figure of a line has; null where there is none.
MarkedLabel const* marked(Figure const& figure, std::string_view line) {
    auto const is = [&](MarkedLabel const& row) {
        bool const bracket = !row.label.empty() || figure.behind.starts_with("] ");
        return bracket && figure.unit == row.unit && same_caseless(figure.label, row.label) &&
               line.find(row.mark) != line.npos;
    };
    auto const row = std::ranges::find_if(marked_labels, is);
    return row == marked_labels.end() ? nullptr : &*row;
}

/// The head of a figure without a mark; empty where it says nothing about steps and times.
std::string head_of(Figure const& figure) {
    if (is_epoch(figure)) { return "epoch"; }
    std::string step = figure.whole && figure.unit.empty() ? step_head(figure.label) : std::string{};
    if (!step.empty()) { return step; }
    if (figure.counts_batches || (figure.unit == "batch" && figure.label.empty()) ||
        (figure.whole && same_caseless(figure.label, "batch"))) {
        return "batch";
    }
    if (figure.whole && figure.unit.empty() && !figure.label.empty()) {
        std::string const plain = normalised(figure.label);
        if (plain == "globalbatchsize" || plain == "numsamplesinbatch") { return "global_batch_size"; }
        if (metrics_name(MetricsKind::micro, figure.label)) { return std::string{figure.label}; }
    }
    return time_head(figure);
}

/// All of a figure that its meaning depends on.
std::string key_of(Figure const& figure, MarkedLabel const* row) {
    if (row != nullptr) { return "\n" + std::string{row->head}; }
    std::string key;
    key.reserve(figure.label.size() + figure.unit.size() + 6);
    key.append(figure.label).append(1, '\n').append(figure.unit).append(1, '\n');
    for (bool const part : {figure.whole, figure.clock, figure.counts_batches, has_bracket(figure)}) {
        key += part ? '1' : '0';
    }
    return key;
}

/// Whether a text has a word of evaluations.
bool evaluates(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_letter(text[end])) { ++end; }
        bool const alone = (at == 0 || !is_word_sign(text[at - 1])) &&
                           (end == text.size() || (!is_word_sign(text[end]) && text[end] != '.' && text[end] != '/'));
        if (end > at && alone && has(evaluating, text.substr(at, end - at))) { return true; }
        at = end + 1;
    }
    return false;
}

bool is_of_training(std::string_view line) {
    static constexpr std::array<std::string_view, 6> signs{
        "loss", "Loss", "lr=", "lr:", "learning_rate", "learning rate"};
    return std::ranges::any_of(signs, [&](std::string_view sign) { return line.find(sign) != line.npos; });
}

bool may_have_figures(std::string_view line) {
    constexpr std::size_t longest = 4000;
    static constexpr std::array<std::string_view, 8> parts{"tep",  "ter",   "TER", "TEP",
                                                           "poch", "pdate", "ime", "hroughput"};
    bool const bar = line.find("%|") != line.npos; // its rate is smoothed
    return line.size() <= longest && !bar &&
           std::ranges::any_of(parts, [&](std::string_view part) { return line.find(part) != line.npos; });
}

} // namespace

/// Meaning of a figure, by its words: lines repeat them.
LabelledLines::Meaning const& LabelledLines::meaning_of(std::string const& key,
                                                        std::function<std::string()> const& head) {
    constexpr std::size_t most = 4096;
    if (meanings_.size() >= most && !meanings_.contains(key)) { meanings_.clear(); }
    auto const [at, begins] = meanings_.try_emplace(key);
    Meaning& meaning = at->second;
    if (!begins) { return meaning; }
    meaning.head = head();
    auto const time = metrics_name(MetricsKind::time, meaning.head);
    meaning.step = metrics_name(MetricsKind::step, meaning.head).has_value();
    meaning.times = time || metrics_name(MetricsKind::clock, meaning.head);
    meaning.rate = time && time->figure != StepFigure::seconds;
    return meaning;
}

/// The column of a head, a new one where there is none.
std::size_t LabelledLines::column(std::string_view head) {
    auto const place = static_cast<std::size_t>(std::ranges::find(heads_, head) - heads_.begin());
    if (place == heads_.size()) { heads_.emplace_back(head); }
    return place;
}

void LabelledLines::take(std::uint64_t number, std::string_view line, std::string_view whole) {
    constexpr std::size_t most_heads = 100;
    trains_ = trains_ || is_of_training(line);
    if (rows_.size() >= most_logged_steps || heads_.size() >= most_heads || !may_have_figures(line)) { return; }
    Row row{.line = number};
    std::string batches;
    std::size_t batches_at = 0;
    bool steps = false;
    Figure figure;
    for (std::size_t at = 0; next_figure(line, at, figure);) {
        MarkedLabel const* const row_of = marked(figure, line);
        Meaning const& meaning = meaning_of(
            key_of(figure, row_of), [&] { return row_of != nullptr ? std::string{row_of->head} : head_of(figure); });
        std::string const& head = meaning.head;
        if (head.empty()) { continue; }
        if (head == "batch") {
            batches = figure.cell;
            batches_at = at;
            continue;
        }
        row.times = row.times || meaning.times;
        if (meaning.step && !steps && evaluates(line.substr(0, at))) { return add_evaluation(number); }
        steps = steps || meaning.step;
        if (meaning.rate) { std::erase(figure.cell, ','); } // of times it may be a mark
        std::size_t const place = column(head);
        if (std::ranges::find(row.cells, place, &Cell::first) == row.cells.end()) {
            row.cells.emplace_back(place, figure.cell);
        }
    }
    if (!batches.empty() && !steps) {
        if (evaluates(line.substr(0, batches_at))) { return add_evaluation(number); }
        row.cells.emplace_back(column("iter"), batches);
        row.batches = steps = true;
    }
    if (row.cells.empty()) { return; }
    if (steps) {
        row.trains = is_of_training(line);
        row.stamp = stamp_of(whole);
    }
    bool const idle = !rows_.empty() && !rows_.back().times && !rows_.back().evaluates && !rows_.back().trains;
    if (steps && idle) { rows_.pop_back(); } // a step of which no line says more
    join(std::move(row), steps);
}

/// A line without a step goes on about the one before it: a block of lines about one step.
void LabelledLines::join(Row row, bool steps) {
    constexpr std::uint64_t longest_block = 40;
    std::size_t const epoch = column("epoch");
    auto const of_epoch = std::ranges::find(row.cells, epoch, &Cell::first);
    if (of_epoch != row.cells.end()) {
        epoch_ = of_epoch->second;
    } else if (steps && !epoch_.empty()) {
        row.cells.emplace_back(epoch, epoch_);
    }
    if (steps) { return rows_.push_back(std::move(row)); }
    if (!row.times || rows_.empty() || row.line - rows_.back().line > longest_block) { return; }
    Row& block = rows_.back();
    for (Cell& cell : row.cells) {
        bool const there = std::ranges::find(block.cells, cell.first, &Cell::first) != block.cells.end();
        if (!there && cell.first != epoch) { block.cells.push_back(std::move(cell)); }
    }
    block.times = true;
}

void LabelledLines::add_evaluation(std::uint64_t number) {
    if (rows_.empty()) { return; }
    Row row{.line = number, .evaluates = true};
    row.cells.emplace_back(column("eval row"), "1");
    if (!rows_.back().evaluates) { rows_.push_back(std::move(row)); }
}

bool LabelledLines::shows_steps() const {
    return trains_ && std::ranges::any_of(rows_, [](Row const& row) { return row.times || (row.stamp && row.trains); });
}

bool LabelledLines::counts_batches() const {
    return std::ranges::any_of(rows_, [](Row const& row) { return row.batches && (row.times || row.trains); });
}

/// Whether the stamps of lines are a clock: the last is later than the first.
bool LabelledLines::has_clock() const {
    double first = 0.0, last = 0.0;
    for (Row const& row : rows_) {
        if (!row.stamp) { continue; }
        if (first == 0.0) { first = row.stamp->seconds; }
        last = row.stamp->seconds;
    }
    return last > first;
}

std::string LabelledLines::heads() const {
    return fmt::format("{}\t{}", fmt::join(heads_, "\t"), has_clock() ? "timestamp" : "");
}

void LabelledLines::each(std::function<void(std::uint64_t, std::string const&)> const& take) const {
    bool const clocked = has_clock();
    bool const timed = std::ranges::any_of(rows_, &Row::times);
    for (Row const& row : rows_) {
        bool const of_stamps = !timed && row.stamp && row.trains;
        if (!row.times && !of_stamps && !row.evaluates) { continue; }
        std::vector<std::string> cells(heads_.size() + 1);
        for (auto const& [place, cell] : row.cells) { cells[place] = cell; }
        if (row.stamp && clocked) {
            cells.back() = fmt::format("{:.{}f}", row.stamp->seconds, row.stamp->half_unit < 0.5 ? 3 : 0);
        }
        take(row.line, fmt::format("{}", fmt::join(cells, "\t")));
    }
}

} // namespace headroom::io
