#include "switch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <sys/epoll.h>
#include <unistd.h>

namespace headroom::cluster {
namespace {

constexpr std::size_t header = sizeof(FrameHeader);
constexpr std::size_t ethernet_header = 14;
constexpr std::size_t segment_headers = 66; ///< Ethernet, IP and TCP with timestamps, once for each further segment
constexpr std::size_t segment_gaps = 24;    ///< preamble, checksum and the gap between frames
constexpr std::size_t largest_frame = header + (64 << 10) + 256;
constexpr std::int64_t shortest_turn = 100'000; ///< nanoseconds; shorter ones would keep a processor busy
constexpr int frames_at_once = 16;              ///< taken from one host before the others have their turn

std::int64_t now_nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Number of segments that leave the NIC for this frame.
std::size_t segments_of(FrameHeader const& frame, std::size_t bytes) {
    std::size_t const payload = bytes - std::min(bytes, segment_headers);
    if (frame.segmentation == 0 || frame.segment_size == 0) { return 1; }
    return std::max<std::size_t>(1, (payload + frame.segment_size - 1) / frame.segment_size);
}

} // namespace

Switch::Switch(std::vector<Host>& hosts, Line line)
    : ports_(hosts.size()),
      nanoseconds_per_byte_{8e9 / line.bits_per_second},
      delay_{line.one_way_delay.count()},
      queue_bytes_{line.queue_bytes} {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        ports_[i].device = hosts[i].device.get();
        ports_[i].waiting.resize(hosts.size());
    }
}

Switch::Frame Switch::spare_frame() {
    Frame frame;
    if (!spare_.empty()) {
        frame.bytes = std::move(spare_.back());
        spare_.pop_back();
    }
    frame.bytes.resize(largest_frame);
    return frame;
}

void Switch::take_in(std::size_t host, Nanoseconds now) {
    for (int i = 0; i < frames_at_once; ++i) {
        Frame frame = spare_frame();
        ssize_t const got = ::read(ports_[host].device, frame.bytes.data(), frame.bytes.size());
        if (got < static_cast<ssize_t>(header + ethernet_header)) {
            spare_.push_back(std::move(frame.bytes));
            return;
        }
        frame.length = static_cast<std::size_t>(got);
        frame.from = host;
        auto const* const ethernet = reinterpret_cast<unsigned char const*>(frame.bytes.data()) + header;
        if (ethernet[0] == 2 && ethernet[5] >= 1 && ethernet[5] <= ports_.size()) {
            frame.to = ethernet[5] - 1U;
            send(std::move(frame), now);
        } else {
            send_to_all(frame, now);
            spare_.push_back(std::move(frame.bytes));
        }
    }
}

void Switch::send_to_all(Frame const& frame, Nanoseconds now) {
    for (std::size_t to = 0; to < ports_.size(); ++to) {
        if (to == frame.from) { continue; }
        Frame copy = spare_frame();
        std::copy_n(frame.bytes.begin(), frame.length, copy.bytes.begin());
        copy.length = frame.length;
        copy.from = frame.from;
        copy.to = to;
        send(std::move(copy), now);
    }
}

void Switch::send(Frame frame, Nanoseconds now) {
    Port& port = ports_[frame.from];
    std::size_t const bytes = frame.length - header;
    if (port.queued + bytes > queue_bytes_) {
        ++counts_.dropped;
        spare_.push_back(std::move(frame.bytes));
        return;
    }
    FrameHeader about{};
    std::memcpy(&about, frame.bytes.data(), header);
    std::size_t const segments = segments_of(about, bytes);
    auto const on_wire = static_cast<double>(bytes + (segments - 1) * segment_headers + segments * segment_gaps);
    frame.serial = std::llround(on_wire * nanoseconds_per_byte_);
    frame.unsent = frame.serial;
    Nanoseconds const segment = frame.serial / static_cast<Nanoseconds>(segments) + 1;
    frame.turn = segment * (1 + shortest_turn / segment);
    frame.entered = now;
    port.queued += bytes;
    ++counts_.frames;
    port.waiting[frame.to].push_back(std::move(frame));
}

/// Lets segments go whose turn has come. What was waiting when the line became free leaves at that instant, not at the
/// later one at which this is noticed.
void Switch::serve_uplink(Port& port, Nanoseconds now) {
    while (port.queued > 0 && port.uplink_free <= now) {
        do { port.turn = (port.turn + 1) % port.waiting.size(); } while (port.waiting[port.turn].empty());
        Frame& frame = port.waiting[port.turn].front();
        Nanoseconds const served = std::min(frame.turn, frame.unsent);
        Nanoseconds const start = std::max(port.uplink_free, frame.entered);
        port.uplink_free = start + served;
        frame.unsent -= served;
        in_flight_.push({.first = start + delay_, .serial = served, .order = order_++, .to = frame.to});
        if (frame.unsent > 0) { continue; }
        port.queued -= frame.length - header;
        ports_[frame.to].coming.emplace(order_ - 1, std::move(frame));
        port.waiting[port.turn].pop_front();
    }
}

void Switch::serve_downlinks(Nanoseconds now) {
    while (!in_flight_.empty() && in_flight_.top().first <= now) {
        Piece const piece = in_flight_.top();
        in_flight_.pop();
        Port& port = ports_[piece.to];
        port.downlink_free = std::max(port.downlink_free, piece.first) + piece.serial;
        auto const whole = port.coming.find(piece.order);
        if (whole == port.coming.end()) { continue; }
        whole->second.due = port.downlink_free;
        port.arrived.push_back(std::move(whole->second));
        port.coming.erase(whole);
    }
}

void Switch::move_on(Nanoseconds now) {
    for (Port& port : ports_) { serve_uplink(port, now); }
    serve_downlinks(now);
    for (Port& port : ports_) {
        while (!port.arrived.empty() && port.arrived.front().due <= now) {
            Frame& frame = port.arrived.front();
            if (::write(port.device, frame.bytes.data(), frame.length) < 0) { ++counts_.dropped; }
            spare_.push_back(std::move(frame.bytes));
            port.arrived.pop_front();
        }
    }
}

Switch::Nanoseconds Switch::next_event() const {
    Nanoseconds next = std::numeric_limits<Nanoseconds>::max();
    if (!in_flight_.empty()) { next = in_flight_.top().first; }
    for (Port const& port : ports_) {
        if (port.queued > 0) { next = std::min(next, port.uplink_free); }
        if (!port.arrived.empty()) { next = std::min(next, port.arrived.front().due); }
    }
    return next;
}

void Switch::run(int stop) {
    Descriptor const events{checked(epoll_create1(EPOLL_CLOEXEC), "making an event queue")};
    auto const watch = [&](int descriptor, std::size_t name) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = name}};
        checked(epoll_ctl(events.get(), EPOLL_CTL_ADD, descriptor, &event), "watching a device");
    };
    for (std::size_t host = 0; host < ports_.size(); ++host) { watch(ports_[host].device, host); }
    watch(stop, ports_.size());
    std::array<epoll_event, most_hosts + 1> ready{};
    while (true) {
        Nanoseconds const next = next_event();
        Nanoseconds const wait = std::max<Nanoseconds>(0, next - now_nanoseconds());
        timespec const timeout{.tv_sec = wait / 1'000'000'000, .tv_nsec = wait % 1'000'000'000};
        bool const idle = next == std::numeric_limits<Nanoseconds>::max();
        int const count = epoll_pwait2(events.get(), ready.data(), static_cast<int>(ready.size()),
                                       idle ? nullptr : &timeout, nullptr);
        Nanoseconds const now = now_nanoseconds();
        for (int i = 0; i < count; ++i) {
            std::size_t const name = ready[static_cast<std::size_t>(i)].data.u64;
            if (name == ports_.size()) { return; }
            take_in(name, now);
        }
        move_on(now_nanoseconds());
    }
}

} // namespace headroom::cluster
