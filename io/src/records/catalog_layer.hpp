#pragma once

#include "headroom/io/catalog.hpp"
#include "headroom/io/embedded.hpp"

#include <any>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace headroom::io {

/// Name of each kind of record, and the folder that holds it.
struct KindInfo {
    RecordKind kind;
    std::string_view name, folder;
};
inline constexpr std::array record_kinds{
    KindInfo{RecordKind::accelerator, "accelerator", "accelerators"},
    KindInfo{RecordKind::link, "link", "links"},
    KindInfo{RecordKind::node, "node", "nodes"},
    KindInfo{RecordKind::host, "host", "hosts"},
    KindInfo{RecordKind::price, "price", "prices"},
    KindInfo{RecordKind::model, "model", "models"},
    KindInfo{RecordKind::framework, "framework", "frameworks"},
    KindInfo{RecordKind::optimizer, "optimizer", "optimizers"},
    KindInfo{RecordKind::strategy, "strategy", "strategies"},
    KindInfo{RecordKind::library, "library", "libraries"},
    KindInfo{RecordKind::engine, "engine", "engines"},
    KindInfo{RecordKind::calibration, "calibration", "calibration"},
};
constexpr std::size_t index_of(RecordKind kind) { return static_cast<std::size_t>(kind); }
static_assert(record_kinds[index_of(RecordKind::price)].name == "price" &&
              record_kinds.back().kind == RecordKind::calibration);

/// Null where no kind of record lies in a folder of this name.
KindInfo const* kind_of_folder(std::string_view folder);

/// A record, and what it was read as.
struct KeptRecord {
    RecordText text;
    /// Value of an embedded record: read once, never changed, and kept without a lock, which a fork could inherit locked.
    mutable std::atomic<std::any const*> read = nullptr;
};

/// Records of each kind by file stem.
struct CatalogLayer {
    std::array<std::map<std::string, KeptRecord, std::less<>>, record_kinds.size()> records;
    std::uint64_t hash = fnv1a_start; ///< over names and hashes of the texts, in the order in which they came

    /// Adds a record, unless there is one of its name.
    void add(RecordText&& record, std::uint64_t content_hash);
    [[nodiscard]] KeptRecord const* find(RecordKind kind, std::string_view stem) const;
};

/// The records inside of the program: indexed by the first use, then shared by all catalogs of the process. Never destroyed,
/// because a thread may ask while the process ends.
CatalogLayer const& embedded_layer();

/// Value that a reader makes of a record. An embedded record is read once in a process; of two threads that read it at the same
/// time, one's value is kept.
template <class Reader> auto read_once(RecordText const& record, Reader reader) {
    using Value = decltype(reader(record.content, record.origin));
    KeptRecord const* const kept = embedded_layer().find(record.kind, record.name);
    if (kept == nullptr || &kept->text != &record) { return reader(record.content, record.origin); }
    std::any const* known = kept->read.load(std::memory_order_acquire);
    if (known == nullptr) {
        auto made = std::make_unique<std::any const>(std::in_place_type<Value>, reader(record.content, record.origin));
        if (kept->read.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) {
            known = made.release();
        }
    }
    auto const* const value = std::any_cast<Value>(known);
    return value != nullptr ? *value : reader(record.content, record.origin); // a value of another type is kept
}

} // namespace headroom::io
