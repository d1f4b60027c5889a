#pragma once

#include <unistd.h>
#include <utility>

namespace headroom::probe {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_{number} {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }

    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }
    void close() {
        if (number_ >= 0) { ::close(number_); }
        number_ = -1;
    }

private:
    int number_ = -1;
};

/// Both ends of a pipe that no other program inherits; neither is open where the system has none left.
struct Pipe {
    Descriptor read, write;
    Pipe();
};

} // namespace headroom::probe
