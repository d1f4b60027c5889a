#include "questions/software_on_chips.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace headroom::io {

using namespace headroom::training;

namespace {

[[noreturn]] void refuse_pair(std::string where, std::string problem, std::string why, std::string hint) {
    throw InputError{
        Fault::impossible,
        {.where = std::move(where), .problem = std::move(problem), .why = std::move(why), .hint = std::move(hint)}};
}

} // namespace

void check_software(Framework const& framework, std::optional<FrozenFormat> frozen, std::string_view optimizer,
                    Accelerator const& chip) {
    std::string const& vendor = chip.vendor;
    auto const& vendors = framework.vendors;
    if (vendor.empty()) { return; }
    if (!vendors.empty() && std::ranges::find(vendors, vendor) == vendors.end()) {
        refuse_pair("--framework", fmt::format("{} does not run on {}", framework.title, chip.name),
                    fmt::format("it is for accelerators of {}", fmt::join(vendors, ", ")),
                    "name another framework, or leave it out");
    }
    bool const has_bitsandbytes = vendor != "Google" && vendor != "AWS";
    bool const quantised = frozen == FrozenFormat::nf4 || frozen == FrozenFormat::int8;
    if (!has_bitsandbytes && (quantised || optimizer.ends_with("8bit"))) {
        refuse_pair(quantised ? "--base" : "--optimizer",
                    fmt::format("{} has no bitsandbytes, which these formats need", chip.name), "",
                    "leave it out, or name another accelerator");
    }
}

} // namespace headroom::io
