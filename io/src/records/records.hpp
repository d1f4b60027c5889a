#pragma once

#include "records/record.hpp"

#include "headroom/io/catalog.hpp"
#include "headroom/machine.hpp"
#include "headroom/training/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// An accelerator with the name of the link that it is built around; empty when it has none.
struct AcceleratorRecord {
    Accelerator accelerator;
    std::string scale_up_link;
};

struct LinkRecord {
    std::string name;
    Link link;
    LinkService service;
};

/// A node as its record says it: names of other records, not yet looked up.
struct NodeRecord {
    std::string name;
    std::string accelerator;
    int accelerators = 8;
    int scale_up_domain = 8;
    int nics = 1;
    BytesPerSecond nic_rate;
    std::string scale_up, scale_out;
    std::string host_link;                ///< accelerator to host; empty: what is usual for the accelerator's year
    BytesPerSecond host_memory_bandwidth; ///< of the node; zero: what is usual
    Bytes host_memory;                    ///< of the node; zero: not known
    bool preferred = false;               ///< `default_for = true`: what its accelerator's bare name means
};

struct Offer {
    DollarsPerSecond price;
    std::string kind; ///< "on-demand", "reserved", "spot"
    std::string date;
};

struct PriceRecord {
    std::string accelerator;
    std::vector<Offer> offers;
};

AcceleratorRecord read_accelerator(Section record);
LinkRecord read_link(std::string_view toml, std::string_view where);
NodeRecord read_node(std::string_view toml, std::string_view where);
PriceRecord read_prices(std::string_view toml, std::string_view where);
AcceleratorRecord read_accelerator_record(std::string_view toml, std::string_view where);

/// A model with what its record says about it besides.
struct ModelRecord {
    training::Model model;
    std::string kind; ///< "dense", "moe", "hybrid" ...
    PublishedCount published;
};
ModelRecord read_model_record(std::string_view toml, std::string_view where);

serving::Engine read_engine(std::string_view toml, std::string_view where);

/// Passes over author and date: they are for people, and for the check of the bibliography.
void skip_provenance(Section& section);

/// Reason for which a shape is impossible ("heads do not divide ..."), by section and key of a record; empty when it is
/// sound.
struct ShapeFault {
    std::string section, key, problem, why;
};
ShapeFault shape_fault(training::Model const& model);

/// Limits of a model's dimensions: beyond them a number is a slip of the pen.
namespace limits {
inline constexpr Range layers{1, 10'000};
inline constexpr Range hidden{1, 1'000'000};
inline constexpr Range heads{1, 65'536};
inline constexpr Range head_dim{1, 65'536};
inline constexpr Range ffn{1, 10'000'000};
inline constexpr Range vocab{1, 100'000'000};
inline constexpr Range positions{0, 1'000'000'000};
inline constexpr Range experts{0, 65'536};
} // namespace limits

} // namespace headroom::io
