#include "records/record.hpp"
#include "tables/cell_text.hpp"
#include "training_logs/label_words.hpp"
#include "training_logs/line_figures.hpp"
#include "training_logs/log_checks.hpp"
#include "training_logs/training_log_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

// Lines of software that no format knows, as the rows of a table: what stands before a number and behind it are its head.

namespace headroom::io {
namespace {

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
    MarkedLabel{"epoch:train:", "train_time", "", "step_time_s"},         // ESPnet
    MarkedLabel{"epoch:train:", "iter_time", "", ""},                     // time of its loader
    MarkedLabel{"logging_writer.py", "", "", "step"},                     // clu: "[100] collection=train, ..."
    MarkedLabel{"timing_s/step", "timing_s/step", "", "step_time_s"},     // verl
    MarkedLabel{"avg_batch_cost:", "avg_batch_cost", "s", "step_time_s"}, // Paddle
};

/// Words in front of a label that say nothing about its quantity.
constexpr std::array<std::string_view, 11> plain_words{
    "info", "debug", "train", "training", "speed", "rate", "steps", "throughput", "current", "performance", "latency"};
/// Words that make a number behind "step" none of a step that was done.
constexpr std::array<std::string_view, 23> other_steps{
    "total", "max",   "warmup",       "save",       "logging", "eval", "per", "every",
    "of",    "last",  "best",         "resume",     "from",    "num",  "val", "remaining",
    "test",  "valid", "accumulation", "checkpoint", "micro",   "mini", "sub"};
constexpr std::array<std::string_view, 8> evaluating{"val",        "eval", "valid",   "validation",
                                                     "evaluation", "test", "testing", "validating"};
template <std::size_t size> bool holds_word(std::array<std::string_view, size> const& words, std::string_view word) {
    return std::ranges::any_of(words, [&](std::string_view one) { return same_caseless(one, word); });
}

/// The last words of a label, as many as name a step: "INFO global step".
std::string step_head(std::string_view label) {
    auto const last = label.rfind(' ');
    std::string_view const word = label.substr(last + 1);
    std::string_view front = last == label.npos ? std::string_view{} : label.substr(0, last);
    for (std::string_view rest = front; !rest.empty();) {
        if (holds_word(other_steps, next_word(rest))) { return {}; }
    }
    for (std::string_view const one : {label, word}) {
        if (!metrics_name(MetricsKind::step, one)) { continue; }
        std::string const name = normalised(one); // "Step" is "step"
        return metrics_name(MetricsKind::step, name) ? name : normalised(one.substr(one.rfind('/') + 1));
    }
    return {};
}

bool has_bracket(LineFigure const& figure) {
    return figure.behind.starts_with(" [") || figure.behind.starts_with("  [");
}

bool is_epoch(LineFigure const& figure) {
    std::string const name = normalised(figure.label);
    bool const of_timm = name == "train" && has_bracket(figure);
    return name == "epoch" || name == "trainepoch" || name == "trainingepoch" || name == "epochtrain" || of_timm ||
           figure.unit == "epoch";
}

/// Whether a time stands behind "took" alone: "step 5 took 3.6 s", not "10 steps took 36 s".
bool is_taken(LineFigure const& figure) { return same_caseless(figure.label, "took") && has_time_unit(figure); }

/// Whether no word stands between a place and the "took" before another: "epoch 5 took 360 s" is of no step.
bool follows(std::string_view line, std::size_t at, std::size_t place) {
    auto const took = line.substr(0, at).rfind("took");
    return took != line.npos && place <= took &&
           std::ranges::none_of(line.substr(place, took - place), is_latin_letter);
}

/// The head of a time or a rate; empty for all else.
std::string time_head(LineFigure const& figure) {
    std::string_view label = figure.label;
    if (is_bare_time(figure)) { return fmt::format("time ({})", figure.unit); }
    if (is_taken(figure)) { return fmt::format("step_time ({})", figure.unit); }
    if (has_number(label)) { return {}; } // of a stage, a rank, the last ten steps
    constexpr std::string_view per_step = "time/";
    for (; !label.empty(); next_word(label)) {
        bool const per = has_time_unit(figure) && same_caseless(label.substr(0, per_step.size()), per_step);
        std::string head = per ? "time per " + std::string{label.substr(per_step.size())} : std::string{label};
        if (!figure.unit.empty()) { head += fmt::format(" ({})", figure.unit); }
        bool const clock = metrics_name(MetricsKind::clock, head).has_value();
        if (clock || (!figure.clock && metrics_name(MetricsKind::time, head))) { return head; }
        std::string_view rest = label;
        if (!holds_word(plain_words, next_word(rest))) { return {}; }
    }
    bool const rate = figure.unit.find('/') != figure.unit.npos && metrics_name(MetricsKind::time, figure.unit);
    return rate ? std::string{figure.unit} : std::string{};
}

/// The row of `marked_labels` that a figure of a line holds_word; null where there is none.
MarkedLabel const* marked(LineFigure const& figure, std::string_view line) {
    auto const is = [&](MarkedLabel const& row) {
        bool const bracket = !row.label.empty() || figure.behind.starts_with("] ");
        return bracket && figure.unit == row.unit && same_caseless(figure.label, row.label) &&
               line.find(row.mark) != line.npos;
    };
    auto const row = std::ranges::find_if(marked_labels, is);
    return row == marked_labels.end() ? nullptr : &*row;
}

/// The head of a figure without a mark; empty where it says nothing about steps and times.
std::string head_of(LineFigure const& figure) {
    if (is_epoch(figure)) { return "epoch"; }
    bool const count = figure.whole && (figure.unit.empty() || (has_time_unit(figure) && is_before_number(figure)));
    std::string step = count ? step_head(figure.label) : std::string{};
    if (!step.empty()) { return step; }
    if (figure.counts_batches || (figure.unit == "batch" && figure.label.empty()) ||
        (figure.whole && same_caseless(figure.label, "batch"))) {
        return "batch";
    }
    if (figure.whole && figure.unit.empty() && !figure.label.empty()) {
        std::string const plain = normalised(figure.label);
        static constexpr std::array<std::string_view, 4> batches{"globalbatchsize", "totalbatchsize",
                                                                 "effectivebatchsize", "numsamplesinbatch"};
        if (std::ranges::find(batches, plain) != batches.end()) { return "global_batch_size"; }
        if (metrics_name(MetricsKind::micro, figure.label)) { return std::string{figure.label}; }
    }
    if (is_of_pass(figure.label) && has_time_unit(figure)) { return fmt::format("{} ({})", figure.label, figure.unit); }
    return time_head(figure);
}

/// All of a figure that its meaning depends on.
std::string key_of(LineFigure const& figure, MarkedLabel const* row) {
    if (row != nullptr) { return "\n" + std::string{row->head}; }
    std::string key;
    key.reserve(figure.label.size() + figure.unit.size() + 8);
    key.append(figure.label).append(1, '\n').append(figure.unit).append(1, '\n');
    for (bool const part : {figure.whole, figure.clock, figure.counts_batches, has_bracket(figure),
                            is_bare_time(figure), is_before_number(figure)}) {
        key += part ? '1' : '0';
    }
    return key;
}

/// Whether a text holds_word a word of evaluations.
bool evaluates(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_latin_letter(text[end])) { ++end; }
        bool const alone = (at == 0 || !is_name_sign(text[at - 1])) &&
                           (end == text.size() || (!is_name_sign(text[end]) && text[end] != '.' && text[end] != '/'));
        if (end > at && alone && holds_word(evaluating, text.substr(at, end - at))) { return true; }
        at = end + 1;
    }
    return false;
}

/// Whether the commas of a figure may show what commas part in the log: not those of what may be a list ("gpus 0,1").
bool shows_marks(LineFigure const& figure) {
    auto const comma = figure.cell.find(',');
    bool const groups = comma != figure.cell.npos && figure.cell.find(',', comma + 1) != figure.cell.npos;
    return !figure.clock && (comma == figure.cell.npos || groups || !figure.unit.empty() || is_small(figure.label));
}

bool is_of_training(std::string_view line) {
    static constexpr std::array<std::string_view, 7> signs{
        "loss", "Loss", "LOSS", "lr=", "lr:", "learning_rate", "learning rate"};
    return std::ranges::any_of(signs, [&](std::string_view sign) { return line.find(sign) != line.npos; });
}

/// Whether a line holds_word a metric of evaluations: "val_loss", "eval_runtime".
bool has_evaluated(std::string_view line) {
    for (std::string_view const part : {"val_", "eval_"}) {
        auto const at = line.find(part);
        if (at != line.npos && (at == 0 || !is_name_sign(line[at - 1]))) { return true; }
    }
    return false;
}

bool has_any(std::string_view line, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return line.find(part) != line.npos; });
}

/// Whether a line with a metric of evaluations has one of training, too.
bool has_training_too(std::string_view line) {
    for (auto loss = line.find("loss"); loss != line.npos; loss = line.find("loss", loss + 1)) {
        std::string_view const front = line.substr(0, loss);
        if (!front.ends_with("val_") && !front.ends_with("eval_")) { return true; }
    }
    return has_any(line, {"train", "Train", "lr=", "lr:", "lr ", "learning"});
}

constexpr std::string_view evaluation_head = "eval row", checkpoint_head = "checkpoint row";

/// The head that stands for a line about an evaluation or a checkpoint and not about training, too; empty for all else.
std::string_view mark_of(std::string_view line) {
    auto const in = [&](std::string_view part) { return line.find(part) != line.npos; };
    if (saves_checkpoint(line)) { return checkpoint_head; }
    bool const may = in("val") || in("Val") || in("VAL") || in("est");
    auto const loss = line.find("loss");
    bool const trains = in("train") || in("Train") || (loss != line.npos && line.find("loss", loss + 1) != line.npos);
    return may && !trains && (evaluates(line) || has_evaluated(line)) ? evaluation_head : std::string_view{};
}

bool names_figures(std::string_view line) {
    return has_any(line, {"tep", "ter", "TER", "TEP", "poch", "pdate", "ime", "hroughput", "oken"});
}
bool may_have_figures(std::string_view line) {
    constexpr std::size_t longest = 4000;
    bool const bar = line.find("%|") != line.npos; // its rate is smoothed
    return line.size() <= longest && !bar && (names_figures(line) || has_any(line, {"/it", "it/s"}));
}

} // namespace

/// Meaning of a figure, by its words: lines repeat them.
LabelledLines::Meaning const& LabelledLines::meaning_of(std::string const& key, std::string_view label,
                                                        std::function<std::string()> const& head) {
    constexpr std::size_t most = 4096;
    if (meanings_.size() >= most && !meanings_.contains(key)) { meanings_.clear(); }
    auto const [at, begins] = meanings_.try_emplace(key);
    Meaning& meaning = at->second;
    if (!begins) { return meaning; }
    meaning.head = head();
    meaning.small = is_small(label);
    auto const time = metrics_name(MetricsKind::time, meaning.head);
    meaning.step = metrics_name(MetricsKind::step, meaning.head).has_value();
    meaning.times = time || metrics_name(MetricsKind::clock, meaning.head);
    return meaning;
}

/// The column of a head, a new one where there is none.
std::size_t LabelledLines::column(std::string_view head) {
    auto const place = static_cast<std::size_t>(std::ranges::find(heads_, head) - heads_.begin());
    if (place == heads_.size()) { heads_.emplace_back(head); }
    return place;
}

void LabelledLines::take(std::uint64_t number, std::string_view line, std::string_view whole) {
    constexpr std::size_t most_heads = 100, most_figures = 160;
    trains_ = trains_ || is_of_training(line);
    if (rows_.size() >= most_logged_steps || heads_.size() >= most_heads) { return; }
    if (!may_have_figures(line)) {
        std::string_view const mark = rows_.empty() ? std::string_view{} : mark_of(line);
        return mark.empty() ? void() : add_mark(number, mark);
    }
    std::size_t const known = heads_.size();
    auto const without_row = [&](std::string_view mark) {
        heads_.resize(known); // no empty columns
        if (!mark.empty()) { add_mark(number, mark); }
    };
    Row row{.line = number};
    std::string batches;
    std::size_t batches_at = 0;
    bool steps = false;
    std::size_t counted = line.npos;               ///< end of the step or loss before
    std::size_t figures = 0, times = 0;            ///< `times`: with a unit of time
    std::pair<std::string, std::string> bare_time; ///< head and cell
    NumberMarks seen;
    LineFigure figure;
    for (std::size_t at = 0; figures < most_figures && next_figure(line, at, figure); ++figures) {
        times += has_time_unit(figure) ? 1 : 0;
        MarkedLabel const* const row_of = marked(figure, line);
        Meaning const& meaning = meaning_of(key_of(figure, row_of), figure.label, [&] {
            return row_of != nullptr ? std::string{row_of->head} : head_of(figure);
        });
        std::string const& head = meaning.head;
        if (is_taken(figure) && !(is_of_training(line) && follows(line, at, counted))) { continue; }
        counted = meaning.step || meaning.small ? at : line.npos;
        if (head.empty()) {
            if (shows_marks(figure)) { seen.learn(figure.cell); }
            if (meaning.small) { seen.learn_small(figure.cell); }
            continue;
        }
        if (head == "batch") {
            batches = figure.cell;
            batches_at = at;
            continue;
        }
        if (is_bare_time(figure)) {
            if (times == 1 && meaning.times && is_time_of_line(figure, line)) { bare_time = {head, figure.cell}; }
            continue;
        }
        row.times = row.times || meaning.times;
        if (meaning.step && !steps && evaluates(line.substr(0, at))) { return without_row(evaluation_head); }
        steps = steps || meaning.step;
        std::size_t const place = column(head);
        if (std::ranges::find(row.cells, place, &Cell::first) == row.cells.end()) {
            row.cells.emplace_back(place, figure.cell);
        }
    }
    bool const one = times == 1 && !bare_time.first.empty(); // of several nothing says which is that of a step
    if (one && !row.times && (steps || !batches.empty())) {
        row.cells.emplace_back(column(bare_time.first), bare_time.second);
        row.times = true;
    }
    if (!batches.empty() && !steps) {
        if (evaluates(line.substr(0, batches_at))) { return without_row(evaluation_head); }
        row.cells.emplace_back(column("iter"), batches);
        row.batches = steps = true;
    }
    bool const of_steps = steps || names_figures(line); // "5.1 s/it" alone may be of anything
    bool const evaluated = row.times && has_evaluated(line) && !has_training_too(line);
    std::string_view mark = row.times && of_steps ? std::string_view{} : mark_of(line);
    if (evaluated) { mark = evaluation_head; }
    if (!mark.empty() || row.cells.empty() || !of_steps) { return without_row(mark); }
    if (steps) {
        marks_.learn(seen);
        row.trains = is_of_training(line);
        row.stamp = stamp_of(whole);
        if (!row.stamp) { row.stamp = following_stamp(whole); }
    }
    bool const idle = !rows_.empty() && !rows_.back().times && !rows_.back().marks && !rows_.back().trains;
    if (steps && idle) { rows_.pop_back(); } // a step of which no line says more
    join(std::move(row), steps);
}

/// The stamp of a line that holds_word no year or no date, after those before it.
std::optional<LineStamp> LabelledLines::following_stamp(std::string_view line) {
    auto found = stamp_without_year(line);
    if (!found) { return std::nullopt; }
    constexpr double day = 86'400.0, february_28 = 58.0 * day, march = 60.0 * day; // days of a leap year
    bool const passes =
        latest_ - added_ >= february_28 && latest_ - added_ < february_28 + day && found->stamp.seconds >= march;
    if (passes) { added_ -= day; } // no line of 29 February: a common year
    if (found->stamp.seconds + added_ < latest_ - 0.5 * found->period) { added_ += found->period; }
    found->stamp.seconds += added_;
    latest_ = found->stamp.seconds;
    return found->stamp;
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
    bool const saved = rows_.back().marks && rows_.size() > 1 && heads_[rows_.back().cells[0].first] == checkpoint_head;
    Row& block = rows_[rows_.size() - (saved ? 2 : 1)]; // a checkpoint may be written within a block
    for (Cell& cell : row.cells) {
        bool const there = std::ranges::find(block.cells, cell.first, &Cell::first) != block.cells.end();
        if (!there && cell.first != epoch) { block.cells.push_back(std::move(cell)); }
    }
    block.times = true;
}

/// A row for a line about an evaluation or a checkpoint between steps.
void LabelledLines::add_mark(std::uint64_t number, std::string_view head) {
    if (rows_.empty() || rows_.back().marks) { return; }
    Row row{.line = number, .marks = true};
    row.cells.emplace_back(column(head), "1");
    rows_.push_back(std::move(row));
}

bool LabelledLines::shows_steps() const {
    if (!trains_) { return false; } // steps without a loss may be of anything
    return std::ranges::any_of(rows_, [](Row const& row) { return row.times || (row.stamp && row.trains); });
}

bool LabelledLines::counts_batches() const {
    return std::ranges::any_of(rows_, [](Row const& row) { return row.batches && (row.times || row.trains); });
}

/// Whether the stamps of lines are a clock: they rise by more than the last digit a line, as a count would. A clock may be set back.
bool LabelledLines::has_clock() const {
    constexpr double counts = 1.5e-3;
    double rises = 0.0, last = 0.0, lines = 0.0;
    for (Row const& row : rows_) {
        if (!row.stamp) { continue; }
        if (lines > 0.0) { rises += std::max(row.stamp->seconds - last, 0.0); }
        last = row.stamp->seconds;
        lines += 1.0;
    }
    return lines > 1.0 && rises > counts * (lines - 1.0);
}

std::string LabelledLines::heads() const {
    return fmt::format("{}\t{}", fmt::join(heads_, "\t"), has_clock() ? "timestamp" : "");
}

void LabelledLines::each(std::function<void(std::uint64_t, std::string const&)> const& take) const {
    bool const clocked = has_clock();
    bool const timed = std::ranges::any_of(rows_, &Row::times);
    for (Row const& row : rows_) {
        bool const of_stamps = !timed && row.stamp && row.trains;
        if (!row.times && !of_stamps && !row.marks) { continue; }
        std::vector<std::string> cells(heads_.size() + 1);
        for (auto const& [place, cell] : row.cells) { cells[place] = cell; }
        if (row.stamp && clocked) {
            cells.back() = fmt::format("{:.{}f}", row.stamp->seconds, row.stamp->half_unit < 0.5 ? 3 : 0);
        }
        take(row.line, fmt::format("{}", fmt::join(cells, "\t")));
    }
}

} // namespace headroom::io
