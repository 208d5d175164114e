/// Packages of skills as their authors pack them: zip, tar, tar.gz, tar.zst, by libarchive.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include <cove/bytes.hpp>

namespace cove::test {

enum class Packing { kZip, kTar, kTarGz, kTarZst };

struct PackedFile {
  std::string path;     ///< with a `/` at its end: a directory
  std::string content;  ///< of a link its target
  unsigned mode = 0644;
  bool link = false;
};

inline Bytes pack(Packing packing, const std::vector<PackedFile>& files) {
  archive* const writer = archive_write_new();
  if (packing == Packing::kZip) {
    archive_write_set_format_zip(writer);
    archive_write_set_format_option(writer, "zip", "hdrcharset", "BINARY");
  } else {
    archive_write_set_format_pax_restricted(writer);
    archive_write_set_format_option(writer, "pax", "hdrcharset", "BINARY");
  }
  if (packing == Packing::kTarGz) archive_write_add_filter_gzip(writer);
  if (packing == Packing::kTarZst) archive_write_add_filter_zstd(writer);
  std::size_t room = 1 << 20;
  for (const PackedFile& file : files) room += file.content.size() + file.path.size() + 4096;
  Bytes out(room);
  std::size_t used = 0;
  archive_write_set_bytes_in_last_block(writer, 1);
  if (archive_write_open_memory(writer, out.data(), out.size(), &used) != ARCHIVE_OK) {
    throw std::runtime_error("no archive");
  }
  for (const PackedFile& file : files) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, file.path.c_str());
    const bool directory = file.path.ends_with('/');
    archive_entry_set_filetype(entry, directory ? AE_IFDIR : (file.link ? AE_IFLNK : AE_IFREG));
    archive_entry_set_perm(entry, directory ? 0755 : file.mode);
    if (file.link) archive_entry_set_symlink(entry, file.content.c_str());
    const bool has_content = !directory && !file.link;
    archive_entry_set_size(entry, has_content ? static_cast<la_int64_t>(file.content.size()) : 0);
    if (archive_write_header(writer, entry) != ARCHIVE_OK) {
      throw std::runtime_error(archive_error_string(writer));
    }
    if (has_content && !file.content.empty()) {
      archive_write_data(writer, file.content.data(), file.content.size());
    }
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

/// A SKILL.md.
inline std::string skill_text(const std::string& name, const std::string& description) {
  return "---\nname: " + name + "\ndescription: " + description + "\n---\n# " + name + "\n";
}

/// A package with one skill at its top.
inline Bytes pack_skill(const std::string& name, const std::string& description = "does things") {
  return pack(Packing::kZip, {{"SKILL.md", skill_text(name, description)},
                              {"scripts/run.sh", "#!/bin/sh\necho " + name + "\n", 0755}});
}

inline Bytes bytes_of_text(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace cove::test
