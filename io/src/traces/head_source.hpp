#pragma once

#include "traces/byte_source.hpp"

#include <memory>
#include <stop_token>
#include <string>

namespace headroom::io {

/// A source whose beginning was looked at, and which still gives all of it.
class HeadSource final : public ByteSource {
public:
    HeadSource(std::unique_ptr<ByteSource> source, std::size_t head, std::stop_token stop = {});
    [[nodiscard]] std::string_view head() const { return head_; }

    std::size_t read(char* into, std::size_t size) override;
    [[nodiscard]] std::uint64_t bytes_read() const override { return source_->bytes_read(); }
    [[nodiscard]] std::string_view damage() const override { return source_->damage(); }
    [[nodiscard]] int plain_file() const override { return source_->plain_file(); }
    [[nodiscard]] std::string_view in_memory() const override { return source_->in_memory(); }
    [[nodiscard]] std::uint64_t size() const override { return source_->size(); }

private:
    std::unique_ptr<ByteSource> source_;
    std::string head_;
    std::size_t given_ = 0; ///< of the head
    std::stop_token stop_;  ///< a request ends the source
};

} // namespace headroom::io
