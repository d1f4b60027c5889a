#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace headroom::serve {

/// An answer with its page. The page's headline and figures are those of `--html`: one source of charts.
struct KeptAnswer {
    int exit = 0;
    std::string content;  ///< JSON, CSV, a launch file
    std::string page;     ///< HTML; may be empty
    std::string headline; ///< its first strong paragraph, HTML
    std::string figures;  ///< its figures, a JSON list
};

/// Text between two marks; empty where either is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end);

/// The last answers: by question, so that nothing is computed twice, and by a name that nobody guesses.
class KeptAnswers {
public:
    struct Named {
        std::string name; ///< digits
        std::shared_ptr<KeptAnswer const> answer;
    };
    /// Keeps an answer until many others have come. An empty question is never asked for again.
    Named keep(std::string question, KeptAnswer answer);
    /// A null answer where none is kept.
    Named of_question(std::string const& question);
    std::shared_ptr<KeptAnswer const> of_name(std::string const& name);

private:
    struct Entry {
        std::string question;
        Named named;
    };
    template <class Matches> Named found(Matches matches);

    std::mutex mutex_;
    std::list<Entry> entries_; ///< that which was asked for last stands last
    std::size_t bytes_ = 0;
};

} // namespace headroom::serve
