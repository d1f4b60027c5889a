#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace headroom::probe {

/// Threads that stay on their cores and do the same work at the same time. Between two calls they sleep.
class PinnedTeam {
public:
    /// One thread a core; where the system refuses to pin, the threads run all the same and `pinned` says so.
    explicit PinnedTeam(std::vector<int> core_ids);
    ~PinnedTeam();
    PinnedTeam(PinnedTeam const&) = delete;
    PinnedTeam& operator=(PinnedTeam const&) = delete;

    [[nodiscard]] int size() const;
    [[nodiscard]] bool pinned() const;
    /// `part(0)` to `part(size() - 1)`, each on a thread of its own, all begun together. Returns the seconds from the
    /// first begin to the last end. What a part throws is thrown here, once all have ended.
    double run(std::function<void(int)> const& part);

private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

} // namespace headroom::probe
