#pragma once

#include <cstddef>
#include <vector>

namespace headroom::reference {

/// A thread of OpenMP a core from here on, each put there by `pin`; the caller's own is the first.
void bind_threads(std::vector<int> const& cores, bool (*pin)(int));

/// Arrays of the triad of STREAM, made by the threads that use them.
class Stream {
public:
    /// `elements` of each of three arrays. `huge_pages`: asked for; a plain STREAM takes what it is given.
    Stream(std::size_t elements, bool huge_pages);
    ~Stream();
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;

    /// a[i] = b[i] + s c[i], once: bytes a second, 24 an element.
    double triad();
    /// Whether all of `a` is what it must be.
    [[nodiscard]] bool right() const;

private:
    std::size_t elements_, bytes_;
    double *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
};

} // namespace headroom::reference
