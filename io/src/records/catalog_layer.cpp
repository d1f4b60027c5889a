#include "records/catalog_layer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::io {
namespace {

std::unique_ptr<CatalogLayer> read_embedded() {
    auto layer = std::make_unique<CatalogLayer>();
    constexpr std::string_view root = "catalog/", suffix = ".toml";
    for (auto const& [path, content, content_hash] : embedded_files()) {
        if (!path.starts_with(root) || !path.ends_with(suffix)) { continue; }
        auto const slash = path.rfind('/');
        if (slash < root.size()) { continue; }
        auto const* info = kind_of_folder(path.substr(root.size(), slash - root.size()));
        if (info == nullptr) { continue; }
        auto const stem = path.substr(slash + 1, path.size() - slash - 1 - suffix.size());
        layer->add({info->kind, std::string{stem}, fmt::format("embedded:{}", path), content}, content_hash);
    }
    return layer;
}

} // namespace

KindInfo const* kind_of_folder(std::string_view folder) {
    auto const found = std::ranges::find(record_kinds, folder, &KindInfo::folder);
    return found == record_kinds.end() ? nullptr : &*found;
}

void CatalogLayer::add(RecordText&& record, std::uint64_t content_hash) {
    hash = fnv1a(hash, record.name) ^ content_hash;
    auto const [place, is_new] = records[index_of(record.kind)].try_emplace(record.name);
    if (is_new) { place->second.text = std::move(record); }
}

KeptRecord const* CatalogLayer::find(RecordKind kind, std::string_view stem) const {
    auto const& of_kind = records[index_of(kind)];
    auto const found = of_kind.find(stem);
    return found == of_kind.end() ? nullptr : &found->second;
}

CatalogLayer const& embedded_layer() {
    static CatalogLayer const& layer = *read_embedded().release();
    return layer;
}

} // namespace headroom::io
