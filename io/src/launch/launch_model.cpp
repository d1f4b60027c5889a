#include "headroom/error.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/io/launch_file.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace headroom::io {

int layers_of_model(Catalog const& catalog, std::string const& model) {
    try {
        return load_model(catalog, model, nullptr).layers;
    } catch (InputError const&) { return 0; } // the question refuses it
}

std::vector<std::string> differences_of_model(LaunchFile const& file, Catalog const& catalog,
                                              std::string const& model) {
    std::vector<std::string> notes;
    try {
        training::Model const known = load_model(catalog, model, nullptr);
        for (LaunchKey const& key : file.ignored) {
            auto const dot = key.key.rfind('.');
            std::string const name = normalised(dot == std::string::npos ? key.key : key.key.substr(dot + 1));
            bool const layers = name == "numlayers", width = name == "hiddensize";
            int const stated = std::atoi(key.value.c_str()), own = layers ? known.layers : known.hidden;
            if (!(layers || width) || stated <= 0 || stated == own) { continue; }
            notes.push_back(fmt::format(
                "{} {} (line {}) is not that of {}, which has {}: MODEL is another model than the file trains", key.key,
                stated, key.line, model, own));
        }
    } catch (InputError const&) {} // the question refuses it
    return notes;
}

} // namespace headroom::io
