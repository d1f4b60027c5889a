#pragma once

#include "hosts.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <queue>
#include <vector>

namespace headroom::cluster {

/// Line of every host to the switch.
struct Line {
    double bits_per_second = 1e9;           ///< each way
    std::chrono::nanoseconds one_way_delay; ///< from one host to another
    std::size_t queue_bytes = 256 << 20;    ///< of an uplink; what comes on top is dropped
};

/// Carries frames between hosts as a switch with one full-duplex line a host would.
///
///     uplink, serialised at the rate -> delay -> downlink, serialised at the rate
///
/// An uplink takes turns among the hosts it sends to, a few segments each, as the NIC of a host does whose sockets each
/// keep little in its queue: a word to one host does not wait behind all that goes to another.
/// A downlink is taken in the order in which segments reach it, not in that in which they were sent: a short frame from
/// an idle host overtakes one that still waits at its sender's. A frame passes while it arrives (cut through), and the
/// receiver gets it when its last byte is through.
class Switch {
public:
    Switch(std::vector<Host>& hosts, Line line);
    /// Carries frames until `stop` becomes readable.
    void run(int stop);

    struct Counts {
        std::size_t frames = 0, dropped = 0;
    };
    [[nodiscard]] Counts counts() const { return counts_; }

private:
    using Nanoseconds = std::int64_t;
    struct Frame {
        std::vector<char> bytes; ///< with its virtio header
        std::size_t length = 0;
        std::size_t from = 0, to = 0;
        Nanoseconds entered = 0; ///< when its host handed it over
        Nanoseconds serial = 0;  ///< time that a line is busy with it
        Nanoseconds unsent = 0;  ///< of that, what the uplink still has to do
        Nanoseconds turn = 0;    ///< time that the uplink gives it before another receiver has its turn
        Nanoseconds due = 0;     ///< when the receiver has it
    };
    /// Data of one turn of an uplink.
    struct Piece {
        Nanoseconds first = 0;  ///< when its first byte reaches the downlink
        Nanoseconds serial = 0; ///< time that a line is busy with it
        std::size_t order = 0;
        std::size_t to = 0;
    };
    struct Later {
        bool operator()(Piece const& a, Piece const& b) const {
            return a.first != b.first ? a.first > b.first : a.order > b.order;
        }
    };
    struct Port {
        int device = -1;
        Nanoseconds uplink_free = 0, downlink_free = 0;
        std::size_t queued = 0;                 ///< bytes that wait for the uplink
        std::vector<std::deque<Frame>> waiting; ///< for the uplink, by receiver
        std::size_t turn = 0;                   ///< the receiver that was served last
        std::map<std::size_t, Frame> coming;    ///< to this host, by the order of their last piece
        std::deque<Frame> arrived;              ///< wait for the downlink, in order
    };

    void take_in(std::size_t host, Nanoseconds now);
    void send(Frame frame, Nanoseconds now);
    void send_to_all(Frame const& frame, Nanoseconds now);
    void serve_uplink(Port& port, Nanoseconds now);
    void serve_downlinks(Nanoseconds now);
    void move_on(Nanoseconds now);
    [[nodiscard]] Nanoseconds next_event() const;
    [[nodiscard]] Frame spare_frame();

    std::vector<Port> ports_;
    std::priority_queue<Piece, std::vector<Piece>, Later> in_flight_;
    std::vector<std::vector<char>> spare_;
    double nanoseconds_per_byte_;
    Nanoseconds delay_;
    std::size_t queue_bytes_;
    std::size_t order_ = 0;
    Counts counts_;
};

} // namespace headroom::cluster
