#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

class OneMessage final : public MessageSchedule {
public:
    explicit OneMessage(CollectiveCall const& call) : ranks_{call.layout.ranks}, bytes_{call.size.size.base()} {}

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return ranks_ > 1 ? 1 : 0; }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t /*index*/, Round& round) const override { round.send(0, 1, bytes_, {}); }

private:
    int ranks_;
    double bytes_;
};

} // namespace

CollectiveTime send_time(CollectiveCall const& call) {
    if (call.layout.ranks == 1) { return {}; }
    return terms(1.0, call.size.size.base(), 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> send_schedule(CollectiveCall const& call) {
    return std::make_unique<OneMessage>(call);
}

} // namespace headroom::network::algorithms
