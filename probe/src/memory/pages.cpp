#include "memory/pages.hpp"

#include "machine/system_files.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <sys/mman.h>

namespace headroom::probe {

Pages::Pages(std::size_t bytes) : bytes_{(bytes + huge_page - 1) / huge_page * huge_page + huge_page} {
    void* const begin = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
        throw std::runtime_error{"memory: the system gives no " + std::to_string(bytes) + " bytes"};
    }
    begin_ = begin;
    auto const address = reinterpret_cast<std::uintptr_t>(begin);
    data_ = static_cast<std::byte*>(begin) + (huge_page - address % huge_page) % huge_page;
#ifdef MADV_HUGEPAGE
    ::madvise(data_, bytes_ - huge_page, MADV_HUGEPAGE); // a wish: where it is refused, `conditions` tells
#endif
}

Pages::~Pages() {
    if (begin_ != nullptr) { ::munmap(begin_, bytes_); }
}

std::uint64_t bytes_in_huge_pages() {
    auto const said = fields_of(SystemFiles{}.text("proc/self/smaps_rollup").value_or(""), ':')["AnonHugePages"];
    return whole_number(std::string_view{said}.substr(0, std::min(said.find(' '), said.size()))).value_or(0) * 1024;
}

} // namespace headroom::probe
