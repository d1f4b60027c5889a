#include "hosts.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace headroom::cluster {
namespace {

sockaddr internet_address(std::string const& text) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, text.c_str(), &address.sin_addr);
    sockaddr general{};
    std::memcpy(&general, &address, sizeof general);
    return general;
}

sockaddr hardware_address(int host) {
    sockaddr general{};
    general.sa_family = ARPHRD_ETHER;
    auto const bytes = hardware_address_of(host);
    std::memcpy(general.sa_data, bytes.data(), bytes.size());
    return general;
}

ifreq request_for(char const* device) {
    ifreq request{};
    std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    return request;
}

/// A TAP device called eth0 that lets the host hand over frames of up to 64 KB, to be cut into segments later.
Descriptor open_device() {
    Descriptor device{checked(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "opening /dev/net/tun")};
    ifreq request = request_for("eth0");
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    checked(::ioctl(device.get(), TUNSETIFF, &request), "making a TAP device");
    checked(::ioctl(device.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4), "asking for whole TCP frames");
    int header = sizeof(FrameHeader);
    checked(::ioctl(device.get(), TUNSETVNETHDRSZ, &header), "setting the size of the frame header");
    int send_buffer = 64 << 20;
    checked(::ioctl(device.get(), TUNSETSNDBUF, &send_buffer), "setting the send buffer");
    return device;
}

void bring_up(int socket, char const* device) {
    ifreq request = request_for(device);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    checked(::ioctl(socket, SIOCSIFFLAGS, &request), "bringing a device up");
}

void set_up_device(int host, int hosts) {
    Descriptor socket{checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "opening a socket")};
    ifreq request = request_for("eth0");
    request.ifr_hwaddr = hardware_address(host);
    checked(::ioctl(socket.get(), SIOCSIFHWADDR, &request), "setting the hardware address");
    request = request_for("eth0");
    request.ifr_mtu = frame_limit;
    checked(::ioctl(socket.get(), SIOCSIFMTU, &request), "setting the frame limit");
    request = request_for("eth0");
    request.ifr_qlen = 4000;
    checked(::ioctl(socket.get(), SIOCSIFTXQLEN, &request), "setting the queue length");
    request = request_for("eth0");
    request.ifr_addr = internet_address(address_of(host));
    checked(::ioctl(socket.get(), SIOCSIFADDR, &request), "setting the address");
    request.ifr_addr = internet_address("255.255.255.0");
    checked(::ioctl(socket.get(), SIOCSIFNETMASK, &request), "setting the mask");
    bring_up(socket.get(), "eth0");
    bring_up(socket.get(), "lo");
    for (int other = 1; other <= hosts; ++other) {
        if (other == host) { continue; }
        arpreq neighbour{};
        neighbour.arp_pa = internet_address(address_of(other));
        neighbour.arp_ha = hardware_address(other);
        neighbour.arp_flags = ATF_PERM | ATF_COM;
        std::strncpy(neighbour.arp_dev, "eth0", sizeof neighbour.arp_dev - 1);
        checked(::ioctl(socket.get(), SIOCSARP, &neighbour), "adding a neighbour");
    }
}

/// TCP that keeps its window between messages, and little of what it sends in the queue of the NIC: an emulated one
/// tells no socket when its bytes have left, so that megabytes would gather there, and acknowledgements behind them.
/// A kernel without one of the settings goes on with its own.
void set_up_tcp() {
    std::string const folder = "/proc/sys/net/ipv4/";
    std::ofstream{folder + "tcp_congestion_control"} << "reno";
    std::ofstream{folder + "tcp_slow_start_after_idle"} << 0;
    std::ofstream{folder + "tcp_no_metrics_save"} << 1;
    std::ofstream{folder + "tcp_wmem"} << "4096 65536 524288";
}

} // namespace

std::string address_of(int host) { return "10.77.0." + std::to_string(host); }

std::array<std::uint8_t, 6> hardware_address_of(int host) { return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(host)}; }

std::vector<Host> make_hosts(int count) {
    auto const open_namespace = [] {
        return Descriptor{checked(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "opening a network namespace")};
    };
    Descriptor const home = open_namespace();
    std::vector<Host> hosts;
    for (int host = 1; host <= count; ++host) {
        checked(::unshare(CLONE_NEWNET), "making a network namespace");
        Host made{.network = open_namespace(), .device = open_device()};
        set_up_tcp();
        set_up_device(host, count);
        hosts.push_back(std::move(made));
    }
    checked(::setns(home.get(), CLONE_NEWNET), "going back to the first network namespace");
    return hosts;
}

} // namespace headroom::cluster
