#include "arguments.hpp"
#include "roofline/roofline_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/io/csv.hpp"
#include "headroom/io/file.hpp"
#include "headroom/laws/counted_kernels.hpp"
#include "headroom/training/step_roofline_answer.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::size_t largest_table = 4u << 20, most_kernels = 10'000, longest_name = 100;
constexpr double largest_count = 1e30; ///< operations or bytes of one kernel

/// The key says what a bare number counts; "2TFLOP" and "3GB" say it themselves.
template <class Q> Q parse_amount(std::string const& text, std::string const& unit, std::string const& where) {
    bool const bare = !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos;
    Q const amount = parse<Q>(bare ? text + " " + unit : text, where);
    if (amount.base() > 0.0 && amount.base() < 1.0) { refuse(where, headroom::quoted(text) + " is less than one"); }
    if (amount.base() > largest_count) {
        refuse(where, headroom::quoted(text) + " is too large", "amounts end at 1e30");
    }
    return amount;
}

/// One amount of a kernel, by its key or column. False when the key is none of them.
bool assign(Kernel& kernel, Processor const& processor, std::string const& key, std::string const& value,
            std::string const& where) {
    std::string const name = normalised(key);
    if (name == "flops") {
        kernel.work = parse_amount<Flops>(value, "FLOP", where);
        return true;
    }
    if (name == "precision") {
        kernel.format = parse_format(value, where);
        return true;
    }
    for (std::size_t i = 0; i < processor.levels.size(); ++i) {
        bool const is_level = name == normalised(processor.levels[i].name) || (i == 0 && name == "bytes");
        if (!is_level) { continue; }
        Bytes const moved = parse_amount<Bytes>(value, "B", where);
        if (i == 0) {
            kernel.moved = moved;
        } else {
            kernel.nearer.push_back({i, moved});
        }
        return true;
    }
    return false;
}

std::vector<std::string> known_keys(Processor const& processor) {
    std::vector<std::string> keys{"flops", "bytes", "precision"};
    for (std::size_t i = 1; i < processor.levels.size(); ++i) { keys.push_back(normalised(processor.levels[i].name)); }
    return keys;
}

[[noreturn]] void refuse_key(std::string const& key, Processor const& processor, std::string const& where) {
    auto const keys = known_keys(processor);
    refuse(where, "unknown key " + headroom::quoted(key),
           keys.size() == 3 ? processor.name + " states no other memory level" : "",
           did_you_mean(key, keys, "keys are " + join(keys, ", ")));
}

void check(Kernel const& kernel, std::string const& where) {
    bool moves = kernel.moved.base() > 0.0;
    for (auto const& traffic : kernel.nearer) { moves = moves || traffic.moved.base() > 0.0; }
    if (kernel.work.base() <= 0.0 && !moves) {
        refuse(where, headroom::quoted(kernel.name) + " does nothing", "it has neither operations nor bytes",
               "give flops, bytes or both");
    }
}

std::string checked_name(std::string name, std::string const& where) {
    if (name.empty()) { refuse(where, "a kernel without a name", "", "write it like mine:flops=2TFLOP,bytes=3GB"); }
    if (name.size() > longest_name) { refuse(where, "the name " + headroom::quoted(name) + " is too long"); }
    return name;
}

Kernel given(std::string const& name, std::string_view amounts, Processor const& processor, NumberFormat format,
             std::string const& where) {
    Kernel kernel;
    kernel.name = checked_name(name, where);
    kernel.format = format;
    std::vector<std::string> seen;
    std::string const about = where + " " + name;
    for (auto const& [key, value] : parse_pairs(amounts, where, "mine:flops=2TFLOP,bytes=3GB")) {
        std::string place = about;
        place += ": " + headroom::quoted(key);
        if (std::ranges::find(seen, normalised(key)) != seen.end()) { refuse(place, "given twice", "", "keep one"); }
        seen.push_back(normalised(key));
        if (!assign(kernel, processor, key, value, place)) { refuse_key(key, processor, where); }
    }
    for (char const* due : {"flops", "bytes"}) {
        bool const main = std::string_view{due} == "bytes" &&
                          std::ranges::find(seen, normalised(processor.memory().name)) != seen.end();
        if (!main && std::ranges::find(seen, due) == seen.end()) {
            refuse(about, std::string{due} + ": missing", "", "write it like mine:flops=2TFLOP,bytes=3GB");
        }
    }
    check(kernel, where);
    require_format(processor, kernel.format, where);
    return kernel;
}

std::vector<double> parse_sizes(std::string const& text, CountedKernel const& known, std::string const& where) {
    std::vector<double> sizes;
    for (std::string const& part : split(text, 'x')) { sizes.push_back(parse_count(part, where)); }
    if (sizes.size() != known.dimensions) {
        refuse(where, headroom::quoted(text) + " has " + std::to_string(sizes.size()) + " sizes",
               std::string{known.name} + " has " + std::to_string(known.dimensions),
               "write it like " + std::string{known.name} + ":" + std::string{known.sizes});
    }
    return sizes;
}

Kernel counted(std::string const& text, std::vector<std::string> const& parts, Processor const& processor,
               NumberFormat format, std::string const& where) {
    std::vector<std::string> names;
    for (CountedKernel const& one : counted_kernels()) {
        names.emplace_back(one.name);
        if (normalised(parts[0]) != one.name) { continue; }
        std::string const place = where + " " + parts[0];
        std::string const shown = std::string{one.name} + ":" + std::string{one.sizes};
        if (parts.size() < 2 || parts.size() > 3) {
            refuse(place, "cannot read " + headroom::quoted(text), "it needs its sizes", "write it like " + shown);
        }
        if (parts.size() == 3) { format = parse_format(parts[2], place); }
        Kernel kernel = one.count(parse_sizes(parts[1], one, place), bytes_of(format));
        kernel.name = parts[0] + " " + parts[1];
        kernel.format = format;
        if (kernel.work.base() > largest_count || kernel.moved.base() > largest_count) {
            refuse(place, headroom::quoted(parts[1]) + " is too large", "amounts end at 1e30");
        }
        check(kernel, where);
        require_format(processor, kernel.format, where);
        return kernel;
    }
    refuse(
        where, "unknown kernel " + headroom::quoted(parts[0]), "",
        did_you_mean(parts[0], names, "choose from " + join(names, ", ") + ", or write mine:flops=2TFLOP,bytes=3GB"));
}

/// The index of a column that must be there.
std::size_t column_of(io::CsvTable const& table, std::string_view name, std::string const& file) {
    int const found = table.column(name);
    if (found < 0) {
        refuse(file + ":1", "no column '" + std::string{name} + "'", "a kernel has a name, flops and bytes",
               "the columns are " + join(table.header, ", "));
    }
    return static_cast<std::size_t>(found);
}

/// Key of a head, as `assign` knows it: "flops" of "FLOPs", "name" of "Kernel". A head that is a unit alone, "GFLOP" or "MB",
/// states it.
std::string key_of(std::string_view head, std::string& unit) {
    constexpr std::pair<std::string_view, std::string_view> synonyms[]{
        {"kernel", "name"},         {"kernelname", "name"},   {"flop", "flops"},
        {"flopcount", "flops"},     {"drambytes", "bytes"},   {"bytesmoved", "bytes"},
        {"memorytraffic", "bytes"}, {"dramtraffic", "bytes"}, {"bytestransferred", "bytes"},
        {"calls", "count"},         {"instances", "count"},   {"invocations", "count"},
    };
    std::string const key = normalised(head);
    for (auto const& [other, known] : synonyms) {
        if (key == other) { return std::string{known}; }
    }
    bool const prefix = !key.empty() && std::string_view{"kmgtp"}.find(key[0]) != std::string_view::npos;
    std::string const rest = prefix ? key.substr(1) : std::string{};
    if (rest != "flop" && rest != "b" && rest != "ib") { return key; }
    unit = trimmed(std::string{head});
    return rest == "flop" ? "flops" : "bytes";
}

/// Units of the columns, "GFLOP" of "FLOPs (GFLOP)" and of "FLOPs (G)", whose heads become keys; empty where a head has none.
std::vector<std::string> take_units(io::CsvTable& table, std::string const& file) {
    std::vector<std::string> units(table.header.size());
    for (std::size_t c = 0; c < table.header.size(); ++c) {
        std::string const head = trimmed(table.header[c]);
        auto const open = head.find_last_of("([");
        bool const closed = head.ends_with(')') || head.ends_with(']');
        bool const bracket = closed && open != std::string::npos && open > 0;
        std::string const key = key_of(bracket ? head.substr(0, open) : head, units[c]);
        bool const known = key == "name" || key == "flops" || key == "bytes" || key == "count";
        std::string const stem = known ? key : bracket ? trimmed(head.substr(0, open)) : head;
        int const other = table.column(stem);
        if (other >= 0 && other != static_cast<int>(c)) {
            refuse(file + ":1", "column " + headroom::quoted(stem) + " twice");
        }
        if (bracket) { units[c] = trimmed(head.substr(open + 1, head.size() - open - 2)); }
        bool const prefix =
            units[c].size() == 1 && std::string_view{"kKMGTP"}.find(units[c][0]) != std::string_view::npos;
        if (prefix && (key == "flops" || key == "bytes")) { units[c] += key == "flops" ? "FLOP" : "B"; }
        table.header[c] = stem;
    }
    return units;
}

double count_in(std::string const& cell, std::string const& place) {
    return trimmed(cell).empty() ? 1.0 : parse_count(cell, place + ": count");
}

/// Reads a cell: one that cannot be read is bad data, where the same words as an option are wrong usage.
template <class Read> auto of_cell(Read const& read) {
    try {
        return read();
    } catch (InputError const& error) { throw InputError{Fault::unreadable, error.text()}; }
}

} // namespace

NumberFormat parse_format(std::string_view text, std::string const& where) {
    if (auto const format = number_format_from(text)) { return *format; }
    std::vector<std::string> names;
    for (NumberFormat const one : number_formats) { names.emplace_back(name_of(one)); }
    refuse(where, "unknown number format " + headroom::quoted(text), "", did_you_mean_one_of(text, names));
}

Kernel parse_kernel(std::string_view text, Processor const& processor, NumberFormat format, std::string const& where) {
    auto const equals = text.find('=');
    if (equals == std::string_view::npos) {
        return counted(std::string{text}, split(text, ':'), processor, format, where);
    }
    auto const colon = text.rfind(':', equals);
    if (colon == std::string_view::npos) {
        refuse(where, "cannot read " + headroom::quoted(text), "a colon ends the name",
               "write it like mine:flops=2TFLOP,bytes=3GB");
    }
    return given(trimmed(text.substr(0, colon)), text.substr(colon + 1), processor, format, where);
}

GivenKernels read_kernel_table(std::string const& file, Processor const& processor, NumberFormat format) {
    io::CsvTable table = io::read_csv(io::read_file(file, largest_table), file);
    std::vector<std::string> const units = take_units(table, file);
    std::vector<std::size_t> numbers;
    for (std::size_t c = 0; c < table.header.size(); ++c) {
        std::string const key = normalised(table.header[c]);
        if (key != "name" && key != "precision") { numbers.push_back(c); }
    }
    io::write_numbers_plainly(table, numbers, file);
    for (char const* name : {"name", "flops", "bytes"}) { column_of(table, name, file); }
    if (table.records.empty()) { too_little(file, "no kernels", "the table has no rows"); }
    if (table.records.size() > most_kernels) {
        refuse(file, std::to_string(table.records.size()) + " kernels", "at most 10000 are placed at once");
    }
    GivenKernels all;
    for (auto const& record : table.records) {
        std::string const place = file + ":" + std::to_string(record.line);
        Kernel kernel;
        kernel.format = format;
        double count = 1.0;
        for (std::size_t c = 0; c < table.header.size(); ++c) {
            std::string const key = normalised(table.header[c]);
            std::string cell = trimmed(record.cells[c]);
            bool const bare = !cell.empty() && cell.find_first_not_of("0123456789.eE+-") == std::string::npos;
            if (bare && !units[c].empty()) { cell += " " + units[c]; }
            if (key == "name") {
                kernel.name = of_cell([&] { return checked_name(cell, place); });
            } else if (key == "count") {
                count = of_cell([&] { return count_in(cell, place); });
            } else if (cell.empty() && key != "flops" && key != "bytes") {
                continue; // not given for this kernel
            } else if (std::string const at = place + ": " + headroom::quoted(table.header[c]);
                       !of_cell([&] { return assign(kernel, processor, key, cell, at); })) {
                refuse_key(table.header[c], processor, file + ":1");
            }
        }
        of_cell([&] { check(kernel, place); });
        require_format(processor, kernel.format, place);
        all.kernels.push_back(std::move(kernel));
        all.counts.push_back(count);
    }
    return all;
}

} // namespace headroom::cli
