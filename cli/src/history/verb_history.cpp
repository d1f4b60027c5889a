#include "arguments.hpp"
#include "history/history.hpp"
#include "measure/measure.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace headroom::cli {
namespace {

using Access = io::Store::Access;
using io::HistoryAction;

constexpr std::array positionals{
    Positional{"ACTION", "list (also without a word), show, compare, export or remove"},
    Positional{"ID", "of the list; also last, last-1, ..."},
    Positional{"OTHER", "compare: the second"},
};

constexpr std::array options{
    Option{"--kind", "KIND", "of roofline, comm or scaling alone: in the list, and where last counts", "Question"},
    Option{"--store", "FILE",
           "where measurements are kept; measurements.sqlite below $XDG_DATA_HOME/headroom by default", "Store"},
};

constexpr char const* examples = "  headroom history\n"
                                 "  headroom history list --kind comm --format json\n"
                                 "  headroom history show last --html samples.html\n"
                                 "  headroom history compare last-1 last\n"
                                 "  headroom history export last --format csv --out samples.csv\n"
                                 "  headroom history remove last-1";

std::vector<std::string> const actions{"list", "show", "compare", "export", "remove"}; ///< as `HistoryAction`
std::vector<std::string> const kinds{"roofline", "comm", "scaling"};

std::string kind_of(Arguments const& arguments) { return arguments.choice("--kind", kinds).value_or(""); }

std::filesystem::path file_of(Arguments const& arguments) {
    auto const path = store_path(arguments);
    if (path.empty()) { refuse("--store", "'none' keeps nothing to look at", "", "give a file"); }
    return path;
}

/// A store that was not named and is not there is no mistake: nothing was measured yet.
bool nothing_there(Arguments const& arguments) {
    return !arguments.has("--store") && !io::is_there(file_of(arguments));
}

io::Store open_store(Arguments const& arguments, Access access) {
    if (nothing_there(arguments)) {
        too_little("history", "nothing was measured yet", "there is no " + file_of(arguments).string(),
                   "begin with headroom measure --help");
    }
    auto const file = file_of(arguments);
    return io::Store{file, io::is_there(file) ? access : Access::read}; // looking at it makes no store
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc{} && stop == text.data() + text.size() && value >= 0;
    return whole ? std::optional{value} : std::nullopt;
}

/// "12", "last", "last-1".
std::int64_t resolve(std::string const& text, io::Store const& store, std::string const& kind) {
    if (auto const number = number_in(text)) { return *number; }
    std::string const words = "an ID is a number of headroom history list, or last, last-1, ...";
    if (!text.starts_with("last")) { refuse("history", "no ID: " + headroom::quoted(text), "", words); }
    std::string_view const rest = std::string_view{text}.substr(4);
    auto const back = rest.starts_with('-') ? number_in(rest.substr(1)) : std::optional<std::int64_t>{0};
    if (!back || (!rest.empty() && !rest.starts_with('-'))) {
        refuse("history", "no ID: " + headroom::quoted(text), "", words);
    }
    auto const heads = store.list(kind);
    if (static_cast<std::uint64_t>(*back) >= heads.size()) {
        too_little(headroom::quoted(text),
                   heads.empty() ? "nothing was measured yet" : "there are not so many measurements",
                   fmt::format("{}{} in {}", counted(heads.size(), "set"), kind.empty() ? std::string{} : " of " + kind,
                               store.path().string()),
                   "see headroom history list");
    }
    return heads[heads.size() - 1 - static_cast<std::size_t>(*back)].id;
}

std::int64_t id_of(Arguments const& arguments, io::Store const& store, char const* which) {
    std::string const hint = std::string{"which measurements? see headroom history list"};
    return resolve(arguments.required(which, hint), store, kind_of(arguments));
}

void refuse_more(Arguments const& arguments, HistoryAction action) {
    bool const one = action != HistoryAction::list, two = action == HistoryAction::compare;
    if (!one && arguments.has("ID")) {
        refuse("history list", "unexpected argument " + headroom::quoted(*arguments.text("ID")), "",
               "headroom history show ID shows one");
    }
    if (!two && arguments.has("OTHER")) {
        refuse("history " + std::string{name_of(action)},
               "unexpected argument " + headroom::quoted(*arguments.text("OTHER")), "it takes one ID");
    }
}

CampaignComparison comparison_of(Arguments const& arguments) {
    io::Store const store = open_store(arguments, Access::read);
    std::int64_t const first = id_of(arguments, store, "ID"), second = id_of(arguments, store, "OTHER");
    Campaign one = store.load(first), other = store.load(second);
    if (first == second) {
        refuse("history compare", fmt::format("{} compared with itself", first), "",
               "give two IDs of headroom history list");
    }
    CampaignComparison comparison = compare_campaigns(std::move(one), std::move(other));
    if (comparison.points.empty()) {
        too_little(fmt::format("history compare {} {}", first, second), "no point has samples on both sides",
                   comparison.first.kind == comparison.second.kind
                       ? "they measure different things"
                       : fmt::format("one is of {}, the other of {}", comparison.first.kind, comparison.second.kind),
                   "see headroom history list");
    }
    return comparison;
}

io::HistoryAnswer answer_of(Arguments const& arguments, HistoryAction action) {
    io::HistoryAnswer answer{.store = file_of(arguments).string(), .action = action};
    if (action == HistoryAction::list && nothing_there(arguments)) {
        answer.list.emplace();
    } else if (action == HistoryAction::compare) {
        answer.comparison = comparison_of(arguments);
    } else if (action == HistoryAction::list) {
        answer.list = io::listed_campaigns(open_store(arguments, Access::read), kind_of(arguments));
    } else {
        io::Store store = open_store(arguments, action == HistoryAction::remove ? Access::write : Access::read);
        std::int64_t const id = id_of(arguments, store, "ID");
        answer.campaign = io::stored_campaign(store, id);
        if (action == HistoryAction::show) { answer.campaign->points = summarize_points(answer.campaign->campaign); }
        if (action == HistoryAction::remove) { store.remove(id); }
    }
    return answer;
}

Document document_of(Arguments const& arguments, io::HistoryAnswer const& answer, bool page) {
    switch (answer.action) {
    case HistoryAction::list: return list_document(answer, kind_of(arguments), !nothing_there(arguments));
    case HistoryAction::show: return show_document(*answer.campaign, page);
    case HistoryAction::compare: return compare_document(*answer.comparison);
    case HistoryAction::export_samples: return export_document(*answer.campaign);
    case HistoryAction::remove: break;
    }
    return remove_document(answer.campaign->head);
}

Sheet sheet_of(io::HistoryAnswer const& answer) {
    switch (answer.action) {
    case HistoryAction::list: return row_sheet(*answer.list);
    case HistoryAction::show: return row_sheet(answer.campaign->points);
    case HistoryAction::compare: return row_sheet(answer.comparison->points);
    case HistoryAction::export_samples: return row_sheet(io::exported_samples(answer.campaign->campaign));
    case HistoryAction::remove: break;
    }
    return row_sheet(std::array{answer.campaign->head});
}

HistoryAction action_of(Arguments const& arguments) {
    auto const text = arguments.text("ACTION");
    if (!text) { return HistoryAction::list; }
    std::string const name = io::parse_choice(*text, actions, "history");
    return static_cast<HistoryAction>(std::ranges::find(actions, name) - actions.begin());
}

int run(Arguments const& arguments) {
    Output output = read_output(arguments);
    HistoryAction const action = action_of(arguments);
    refuse_more(arguments, action);
    bool const raw = action == HistoryAction::export_samples; // samples are for programs
    if (raw && !arguments.has("--format")) { output.format = "csv"; }
    io::Catalog const catalog;
    io::HistoryAnswer const answer = answer_of(arguments, action);
    auto const document = [&](bool page) {
        Document made = document_of(arguments, answer, page);
        made.footer = footer(catalog, "");
        return made;
    };
    Result result = result_of(
        head_of("history", catalog, ""), answer, [&] { return document(false); }, {.stats = stats_of(output)},
        [&] { return sheet_of(answer); });
    result.page = [&] { return document(true); };
    write_result(output, result);
    return Exit::done;
}

} // namespace

Verb history_verb() {
    Verb verb{"history", "what was measured before: list, show, compare, export, remove", positionals, examples, run};
    verb.options = {options, output_options()};
    verb.answers = tables_of<io::HistoryAnswer>();
    return verb;
}

} // namespace headroom::cli
