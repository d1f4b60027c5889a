#pragma once

#include "headroom/measure/measurement.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom::io {

/// Every measurement ever taken, in one SQLite file: campaigns, their points, their raw samples. One transaction a
/// sample, so that a power cut loses the sample in flight and nothing else. Several processes may write at a time.
///
/// Errors, of every function: InputError{unreadable} where the file is no store, is damaged, belongs to a newer version,
/// stays locked for `patience`, may not be written, or has no space left; what was stored before stays.
class Store {
public:
    /// $XDG_DATA_HOME/headroom/measurements.sqlite, else below ~/.local/share.
    static std::filesystem::path default_path();

    enum class Access { read, write };
    /// Opens it; where it is to be written and is not there it is made, with its folders, and an older one is brought
    /// to the present version.
    explicit Store(std::filesystem::path path, Access access, int patience_seconds = 10);
    ~Store();
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;

    /// Keeps kind, name, settings, machine and points, and takes it; returns its number. Samples are added one by one.
    std::int64_t begin(measure::Campaign const& campaign);
    /// From now on it is in the hands of this object, until that ends: nobody else goes on with it or removes it. False
    /// where another has it.
    bool take(std::int64_t campaign);
    /// Whether another object, of any process, has it: it is being measured right now.
    [[nodiscard]] bool in_other_hands(std::int64_t campaign) const;
    /// Points that became known later.
    void add_points(std::int64_t campaign, std::vector<measure::MeasuredPoint> const& points);
    /// On disk when it returns. A sample of the same point and repetition that is there already stays: returns false.
    /// Of a message the first 4096 bytes are kept.
    bool add(std::int64_t campaign, measure::Sample const& sample);
    void finish(std::int64_t campaign, measure::CampaignState state, std::int64_t ended_ns);

    /// Without points and samples, the oldest first. `kind` empty: all.
    [[nodiscard]] std::vector<measure::Campaign> list(std::string const& kind = {}) const;
    /// Number of samples of a campaign, without reading them: it is asked for much more often than the samples.
    [[nodiscard]] std::size_t sample_count(std::int64_t campaign) const;
    /// Whole. Errors: InputError{usage} where there is none of that number.
    [[nodiscard]] measure::Campaign load(std::int64_t campaign) const;
    /// The latest of this kind and these settings that is not done and in nobody else's hands.
    [[nodiscard]] std::optional<std::int64_t> unfinished(std::string const& kind, measure::Facts const& settings) const;
    /// With its points and samples. Errors: InputError{usage} where there is none, or another is measuring it.
    void remove(std::int64_t campaign);
    [[nodiscard]] std::filesystem::path const& path() const;

private:
    struct Database;
    std::unique_ptr<Database> database_;
};

} // namespace headroom::io
