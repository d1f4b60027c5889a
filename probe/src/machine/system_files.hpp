#pragma once

#include "headroom/measure/measurement.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::probe {

/// Files of Linux below /proc, /sys and /etc. `root` stands before every path, so that other machines' files can be
/// read. A file that is not there, or holds nothing of use, is no error: the answer is then empty.
class SystemFiles {
public:
    explicit SystemFiles(std::filesystem::path root = "/") : root_{std::move(root)} {}

    /// The first line without blanks at its ends; nothing where there is none.
    [[nodiscard]] std::optional<std::string> line(std::string const& path) const;
    /// All of it, at most 1 MiB.
    [[nodiscard]] std::optional<std::string> text(std::string const& path) const;
    [[nodiscard]] bool exists(std::string const& path) const;

private:
    std::filesystem::path root_;
};

/// `name<separator>value` a line, without blanks and quotes around either; the first of a name counts.
std::map<std::string, std::string> fields_of(std::string_view text, char separator);
/// The whole of it as a number that is not negative.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// Limits that containers and batch systems set to this process (cgroups of either version), the tightest up the tree.
struct ContainerLimits {
    std::optional<double> cpus;                ///< processors' worth of time
    std::optional<std::uint64_t> memory_bytes; ///< resident
};
ContainerLimits container_limits(SystemFiles const& files);

/// Bytes of memory that the kernel has; 0 where it does not say.
std::uint64_t memory_total(SystemFiles const& files);

/// "2.596 GHz".
std::string clock_text(double hertz);

/// The facts that files tell: processor, clocks, governor, kernel, memory, pages, limits.
/// `core`: the number of the one whose clock is asked for.
measure::Facts system_facts(SystemFiles const& files, int core);

} // namespace headroom::probe
