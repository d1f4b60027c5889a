#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Reads a whole file. Errors: InputError{unreadable}: missing, a folder, unreadable, over `limit`.
std::string read_file(std::filesystem::path const& path, std::uintmax_t limit = 64u << 20);

/// First bytes of a file, unpacked where it is gzip or zstd. Errors: InputError{unreadable} where it cannot be read.
std::string unpacked_head(std::filesystem::path const& path, std::size_t bytes);

/// Whether there is a file or folder; no error when that is not known.
bool is_there(std::filesystem::path const& path);

/// Files of a folder by name; hidden ones and folders inside it are passed over.
/// Errors: InputError{unreadable} where there is none.
std::vector<std::string> files_in(std::filesystem::path const& folder);

/// Refuses a file that `write_file` could not make: its folder is missing, or it is one. For before long work.
/// Errors: InputError{usage}.
void require_place(std::filesystem::path const& path);

/// Writes a whole file or nothing: a temporary next to it, then a rename. "-" is standard output.
void write_file(std::filesystem::path const& path, std::string_view content);

} // namespace headroom::io
