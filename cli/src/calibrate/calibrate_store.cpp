#include "arguments.hpp"
#include "calibrate/calibrate_evidence.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/file.hpp"
#include "headroom/io/store.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::measure;

namespace {

constexpr char const* option = "--campaign";
/// Kinds that models have a use for.
constexpr std::array kinds{"roofline", "comm", "scaling"};

[[noreturn]] void refuse_empty(io::Store const& store, std::string const& what) {
    too_little(store.path().string(), "no campaign" + what + " is stored", "nothing was measured",
               "headroom measure roofline, comm or scaling fills it; headroom history lists it");
}

std::int64_t number_in(std::string const& word) {
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < 1) {
        refuse(option, "no campaign is called " + headroom::quoted(word), "a number, last, roofline, comm, or scaling",
               "headroom history lists them");
    }
    return number;
}

/// The latest of a kind, of any where none is named.
std::int64_t latest(io::Store const& store, std::string const& kind) {
    auto const found = store.list(kind);
    if (found.empty()) { refuse_empty(store, kind.empty() ? "" : " of kind " + kind); }
    return found.back().id;
}

/// The latest campaign of each kind.
std::vector<std::int64_t> latest_of_each(io::Store const& store) {
    std::vector<std::int64_t> numbers;
    for (char const* kind : kinds) {
        auto const found = store.list(kind);
        if (!found.empty()) { numbers.push_back(found.back().id); }
    }
    if (numbers.empty()) { refuse_empty(store, ""); }
    return numbers;
}

std::vector<std::int64_t> numbers_of(NamedEvidence const& named, io::Store const& store) {
    if (named.campaigns.empty()) { return latest_of_each(store); }
    std::vector<std::int64_t> numbers;
    for (std::string const& words : named.campaigns) {
        for (std::string const& word : split(words, ',')) {
            bool const is_kind = std::ranges::find(kinds, word) != kinds.end();
            numbers.push_back(is_kind ? latest(store, word) : word == "last" ? latest(store, "") : number_in(word));
        }
    }
    return numbers;
}

} // namespace

std::vector<Campaign> chosen_campaigns(NamedEvidence const& named) {
    if (named.store.empty()) { return {}; }
    io::Store const store{named.store, io::Store::Access::read};
    std::vector<Campaign> campaigns;
    for (std::int64_t const number : numbers_of(named, store)) {
        bool const known = std::ranges::any_of(campaigns, [&](Campaign const& one) { return one.id == number; });
        if (!known) { campaigns.push_back(store.load(number)); }
    }
    return campaigns;
}

} // namespace headroom::cli
