#include "kept_answers.hpp"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

namespace headroom::serve {
namespace {

constexpr std::size_t most_answers = 64, most_bytes = 64u << 20;

std::size_t bytes_of(KeptAnswer const& answer) {
    return answer.content.size() + answer.page.size() + answer.headline.size() + answer.figures.size();
}

std::string unguessed_name() {
    std::random_device random;
    std::string name;
    for (int i = 0; i < 4; ++i) { name += std::to_string(random()); }
    return name;
}

} // namespace

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
    auto const first = text.find(begin);
    if (first == std::string_view::npos) { return {}; }
    text.remove_prefix(first + begin.size());
    auto const last = text.find(end);
    return last == std::string_view::npos ? std::string_view{} : text.substr(0, last);
}

KeptAnswers::Named KeptAnswers::keep(std::string question, KeptAnswer answer) {
    Named named{unguessed_name(), std::make_shared<KeptAnswer const>(std::move(answer))};
    std::lock_guard const lock{mutex_};
    bytes_ += bytes_of(*named.answer);
    entries_.push_back({std::move(question), named});
    while (entries_.size() > 1 && (entries_.size() > most_answers || bytes_ > most_bytes)) {
        bytes_ -= bytes_of(*entries_.front().named.answer);
        entries_.pop_front();
    }
    return named;
}

template <class Matches> KeptAnswers::Named KeptAnswers::found(Matches matches) {
    std::lock_guard const lock{mutex_};
    auto const at = std::ranges::find_if(entries_, matches);
    if (at == entries_.end()) { return {}; }
    entries_.splice(entries_.end(), entries_, at);
    return at->named;
}

KeptAnswers::Named KeptAnswers::of_question(std::string const& question) {
    if (question.empty()) { return {}; }
    return found([&](Entry const& entry) { return entry.question == question; });
}

std::shared_ptr<KeptAnswer const> KeptAnswers::of_name(std::string const& name) {
    return found([&](Entry const& entry) { return entry.named.name == name; }).answer;
}

} // namespace headroom::serve
