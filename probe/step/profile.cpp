#include "profile.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace headroom::training {
namespace {

constexpr std::string_view heading = "headroom-step profile 1";
constexpr std::size_t most_parameters = std::size_t{1} << 30U, most_batch = std::size_t{1} << 20U;
constexpr std::size_t most_size = std::size_t{1} << 20U; ///< of each side of the shape
constexpr double longest = 1e6;                          ///< seconds of a phase

/// Where each fact of the file goes.
struct Fields {
    std::map<std::string_view, std::size_t*> counts;
    std::map<std::string_view, double*> times;
    explicit Fields(StepProfile& profile)
        : counts{{"layers", &profile.shape.layers},         {"hidden", &profile.shape.hidden},
                 {"heads", &profile.shape.heads},           {"sequence", &profile.shape.sequence},
                 {"vocabulary", &profile.shape.vocabulary}, {"batch", &profile.batch}},
          times{{"forward_seconds", &profile.forward},
                {"backward_seconds", &profile.backward},
                {"optimizer_seconds", &profile.optimizer}} {}
};

class Reader {
public:
    explicit Reader(std::string const& name) : name_{name} {}

    void take(std::string_view line) {
        ++line_;
        if (line_ == 1) {
            if (line != heading) {
                refuse("is no profile of headroom-step", "its first line is " + quoted(line.substr(0, 40)));
            }
            return;
        }
        if (line.empty()) { return; }
        std::size_t const space = line.find(' ');
        if (space == std::string_view::npos) { refuse("no value", quoted(line)); }
        take_fact(line.substr(0, space), line.substr(space + 1));
    }

    StepProfile finish() {
        Fields const fields{profile_};
        for (auto const& [key, place] : fields.counts) { require(key); }
        for (auto const& [key, place] : fields.times) { require(key); }
        for (char const* const key : {"tied", "precision", "gemm"}) { require(key); }
        check_shape();
        if (profile_.marks.empty() || profile_.marks.back().place != 0) {
            refuse("no line 'finished 0 SECONDS'", "the pass has no end");
        }
        if (profile_.marks.back().seconds > profile_.backward) {
            refuse("gradients are finished later than backward_seconds");
        }
        return std::move(profile_);
    }

private:
    [[noreturn]] void refuse(std::string problem, std::string why = {}) const {
        throw InputError{Fault::unreadable,
                         {.where = name_ + ":" + std::to_string(std::max(line_, 1)),
                          .problem = std::move(problem),
                          .why = std::move(why),
                          .hint = "write one with headroom-step --profile FILE"}};
    }
    void require(std::string_view key) const {
        if (!given_.contains(key)) { refuse("no " + std::string{key}); }
    }

    double number(std::string_view text, double most) const {
        double value = 0.0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0.0 && value <= most)) {
            refuse(quoted(text) + " is no number of seconds");
        }
        return value;
    }
    std::size_t count(std::string_view text, std::size_t least, std::size_t most) const {
        std::size_t value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
            refuse(quoted(text) + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
        }
        return value;
    }
    bool either(std::string_view text, std::string_view yes, std::string_view no) const {
        if (text != yes && text != no) {
            refuse(quoted(text) + " is neither " + std::string{yes} + " nor " + std::string{no});
        }
        return text == yes;
    }

    void take_fact(std::string_view key, std::string_view value) {
        if (key == "finished") {
            take_mark(value);
            return;
        }
        if (!given_.emplace(key).second) { refuse(quoted(key) + " is there twice"); }
        Fields const fields{profile_};
        if (auto const found = fields.counts.find(key); found != fields.counts.end()) {
            *found->second = count(value, 1, key == "batch" ? most_batch : most_size);
        } else if (auto const time = fields.times.find(key); time != fields.times.end()) {
            *time->second = number(value, longest);
        } else if (key == "tied") {
            profile_.shape.tied = either(value, "yes", "no");
        } else if (key == "precision") {
            profile_.is_double = either(value, "double", "single");
        } else if (key == "gemm") {
            profile_.gemm = value;
        } else {
            refuse("unknown key " + quoted(key));
        }
    }

    void take_mark(std::string_view value) {
        std::size_t const space = std::min(value.find(' '), value.size());
        StepProfile::Mark const mark{count(value.substr(0, space), 0, most_parameters),
                                     number(value.substr(std::min(space + 1, value.size())), longest)};
        if (!profile_.marks.empty() &&
            (mark.place >= profile_.marks.back().place || mark.seconds < profile_.marks.back().seconds)) {
            refuse("what is finished does not grow with time");
        }
        profile_.marks.push_back(mark);
    }

    /// Sides are bounded, so no product overflows before it is compared.
    void check_shape() const {
        TransformerShape const& shape = profile_.shape;
        double const hidden = static_cast<double>(shape.hidden);
        double const all = hidden * (12.0 * hidden * static_cast<double>(shape.layers) +
                                     static_cast<double>(2 * shape.vocabulary + shape.sequence));
        if (all > static_cast<double>(most_parameters)) { refuse("more than 2^30 parameters"); }
        if (shape.hidden % shape.heads != 0) { refuse("hidden is no multiple of heads"); }
    }

    std::string const& name_;
    int line_ = 0;
    StepProfile profile_;
    std::set<std::string, std::less<>> given_;
};

std::string digits(double value) {
    char text[32];
    auto const [end, error] = std::to_chars(text, text + sizeof text, value);
    return error == std::errc{} ? std::string{text, end} : std::string{"nan"};
}

} // namespace

double StepProfile::ready(std::size_t place) const {
    auto const found = std::find_if(marks.begin(), marks.end(), [place](Mark mark) { return mark.place <= place; });
    return found == marks.end() ? backward : found->seconds;
}

std::string profile_text(StepProfile const& profile) {
    StepProfile copy = profile;
    std::string text{heading};
    text += '\n';
    auto const add = [&text](std::string_view key, std::string const& value) {
        text += std::string{key} + ' ' + value + '\n';
    };
    Fields const fields{copy};
    for (auto const& [key, place] : fields.counts) { add(key, std::to_string(*place)); }
    add("tied", profile.shape.tied ? "yes" : "no");
    add("precision", profile.is_double ? "double" : "single");
    add("gemm", profile.gemm);
    for (auto const& [key, place] : fields.times) { add(key, digits(*place)); }
    for (StepProfile::Mark const& mark : profile.marks) {
        add("finished", std::to_string(mark.place) + ' ' + digits(mark.seconds));
    }
    return text;
}

StepProfile read_profile(std::string_view text, std::string const& name) {
    Reader reader{name};
    for (std::size_t begin = 0; begin < text.size() || begin == 0;) {
        std::size_t const end = std::min(text.find('\n', begin), text.size());
        reader.take(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return reader.finish();
}

} // namespace headroom::training
