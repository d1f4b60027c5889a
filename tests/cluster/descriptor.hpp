#pragma once

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headroom::cluster {

/// A file descriptor that is closed once.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_{value} {}
    Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Descriptor() {
        if (value_ >= 0) { ::close(value_); }
    }
    [[nodiscard]] int get() const { return value_; }

private:
    int value_ = -1;
};

/// Result of a system call; an error becomes an exception that states the attempt.
inline int checked(int result, char const* what) {
    if (result < 0) { throw std::system_error(errno, std::generic_category(), what); }
    return result;
}

} // namespace headroom::cluster
