#include "arguments.hpp"
#include "document/text.hpp"
#include "history/history.hpp"
#include "measure/measure.hpp"
#include "output.hpp"
#include "verb.hpp"

#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace headroom::cli {
namespace {

using Access = io::Store::Access;

constexpr std::array positionals{
    Positional{"ACTION", "list (also without a word), show, compare, export or remove"},
    Positional{"ID", "of the list; also last, last-1, ..."},
    Positional{"OTHER", "compare: the second"},
};

constexpr std::array options{
    Option{"--kind", "KIND", "of roofline, comm or scaling alone: in the list, and where last counts", "Question"},
    Option{"--store", "FILE",
           "where measurements are kept; measurements.sqlite below $XDG_DATA_HOME/headroom unless told", "Store"},
};

constexpr char const* examples = "  headroom history\n"
                                 "  headroom history list --kind comm --format json\n"
                                 "  headroom history show last --html samples.html\n"
                                 "  headroom history compare last-1 last\n"
                                 "  headroom history export 12 --format csv --out samples.csv\n"
                                 "  headroom history remove 3";

std::vector<std::string> const actions{"list", "show", "compare", "export", "remove"};
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
        throw InputError{Fault::insufficient,
                         {.where = "history",
                          .problem = "nothing was measured yet",
                          .why = "there is no " + file_of(arguments).string(),
                          .hint = "begin with headroom measure --help"}};
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
        throw InputError{Fault::insufficient,
                         {.where = headroom::quoted(text),
                          .problem = heads.empty() ? "nothing was measured yet" : "there are not so many measurements",
                          .why = fmt::format("{}{} in {}", counted(heads.size(), "set"),
                                             kind.empty() ? std::string{} : " of " + kind, store.path().string()),
                          .hint = "see headroom history list"}};
    }
    return heads[heads.size() - 1 - static_cast<std::size_t>(*back)].id;
}

Campaign campaign_of(Arguments const& arguments, io::Store const& store, char const* which) {
    std::string const hint = std::string{"which measurements? see headroom history list"};
    return store.load(resolve(arguments.required(which, hint), store, kind_of(arguments)));
}

/// What is asked and is not its own stays null.
Json answer(Arguments const& arguments, std::string_view action, Json value) {
    Json result = result_head("history", io::Catalog{}, "");
    result.set("store", file_of(arguments).string()).set("action", action);
    for (char const* const name : {"list", "show", "compare", "export", "remove"}) {
        result.set(name, name == action ? value : Json{});
    }
    return result;
}

template <class Answer>
int write(Arguments const& arguments, Output const& output, Stopwatch const& watch, std::string_view action,
          Answer const& found) {
    auto const document = [&] {
        Document made = document_of(found);
        made.footer = footer(io::Catalog{}, "");
        return made;
    };
    auto const json = [&] {
        Json result = answer(arguments, action, json_of(found));
        if (output.stats) { result.set("stats", stats_json(watch.seconds())); }
        return result;
    };
    Result result{document, json, [&] { return sheet_of(found); }};
    if constexpr (requires { page_of(found); }) {
        result.page = [&] {
            Document made = page_of(found);
            made.footer = footer(io::Catalog{}, "");
            return made;
        };
    }
    write_result(output, result);
    return Exit::done;
}

void refuse_more(Arguments const& arguments, std::string const& action) {
    bool const one = action != "list", two = action == "compare";
    if (!one && arguments.has("ID")) {
        refuse("history list", "unexpected argument " + headroom::quoted(*arguments.text("ID")), "",
               "headroom history show ID shows one");
    }
    if (!two && arguments.has("OTHER")) {
        refuse("history " + action, "unexpected argument " + headroom::quoted(*arguments.text("OTHER")),
               "it takes one ID");
    }
}

HistoryList list_of(Arguments const& arguments) {
    HistoryList list{.store = file_of(arguments).string(), .kind = kind_of(arguments), .rows = {}};
    list.store_is_there = !nothing_there(arguments);
    if (!list.store_is_there) { return list; }
    io::Store const store = open_store(arguments, Access::read);
    for (Campaign& head : store.list(list.kind)) {
        std::int64_t const id = head.id;
        list.rows.push_back({std::move(head), store.sample_count(id), store.in_other_hands(id)});
    }
    return list;
}

HistoryComparison comparison_of(Arguments const& arguments) {
    io::Store const store = open_store(arguments, Access::read);
    Campaign first = campaign_of(arguments, store, "ID"), second = campaign_of(arguments, store, "OTHER");
    if (first.id == second.id) {
        refuse("history compare", fmt::format("{} beside itself", first.id), "",
               "give two IDs of headroom history list");
    }
    return compare(std::move(first), std::move(second));
}

/// What was taken away, as it was.
struct Removal {
    ListedCampaign row;
};

Document document_of(Removal const& removal) {
    return {title_of(removal.row.head),
            {Paragraph{fmt::format("{}: removed, with {}.", title_of(removal.row.head),
                                   counted(removal.row.samples, "sample"))}},
            ""};
}
Json json_of(Removal const& removal) { return head_json(removal.row.head, false, removal.row.samples); }
Sheet sheet_of(Removal const& removal) { return sheet_of(HistoryList{.store = {}, .kind = {}, .rows = {removal.row}}); }

Removal remove(Arguments const& arguments) {
    io::Store store = open_store(arguments, Access::write);
    Campaign campaign = campaign_of(arguments, store, "ID");
    store.remove(campaign.id);
    std::size_t const samples = campaign.samples.size();
    return {{std::move(campaign), samples, false}};
}

template <class Answer> Answer one_campaign(Arguments const& arguments) {
    io::Store const store = open_store(arguments, Access::read);
    Campaign campaign = campaign_of(arguments, store, "ID");
    bool const in_hands = store.in_other_hands(campaign.id);
    return {std::move(campaign), in_hands};
}

int run(Arguments const& arguments) {
    Stopwatch const watch;
    Output output = read_output(arguments);
    std::string const action =
        arguments.has("ACTION") ? io::parse_choice(*arguments.text("ACTION"), actions, "history") : "list";
    refuse_more(arguments, action);
    if (action == "list") { return write(arguments, output, watch, action, list_of(arguments)); }
    if (action == "show") { return write(arguments, output, watch, action, one_campaign<ShownCampaign>(arguments)); }
    if (action == "compare") { return write(arguments, output, watch, action, comparison_of(arguments)); }
    if (action == "remove") { return write(arguments, output, watch, action, remove(arguments)); }
    if (!arguments.has("--format")) { output.format = "csv"; } // raw samples are for programs
    return write(arguments, output, watch, action, one_campaign<ExportedCampaign>(arguments));
}

} // namespace

Verb history_verb() {
    return {"history",   "what was measured before: list, show, compare, export, remove",
            positionals, {options, output_options()},
            examples,    run};
}

} // namespace headroom::cli
