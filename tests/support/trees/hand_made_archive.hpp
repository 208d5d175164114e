/// Archives made byte by byte, as no honest writer makes them, and their snapshots.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include <zstd.h>

#include <cove/snapshot.hpp>

#include "base/sha256.hpp"
#include "snapshot/manifest.hpp"
#include "support/fixtures/snapshot_fixture.hpp"

namespace cove::test {

class HandMadeTar {
 public:
  /// Begins with the workspace itself, as every snapshot does, unless told not to.
  explicit HandMadeTar(bool with_root = true) {
    if (with_root) add("./", '5');
  }

  HandMadeTar& add(const std::string& name, char type, const std::string& link = "",
                   const std::string& content = "", unsigned owner = 1000) {
    std::string header(512, '\0');
    put(header, 0, 100, name);
    put(header, 100, 8, octal(type == '5' ? 0755 : 0644, 7));
    put(header, 108, 8, octal(owner, 7));
    put(header, 116, 8, octal(1000, 7));
    put(header, 124, 12, octal(content.size(), 11));
    put(header, 136, 12, octal(1'600'000'000, 11));
    put(header, 148, 8, "        ");
    header[156] = type;
    put(header, 157, 100, link);
    header.replace(257, 8,
                   std::string("ustar\0"
                               "00",
                               8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 8, octal(sum, 6) + std::string("\0 ", 2));
    tar_ += header + content;
    tar_.append((512 - content.size() % 512) % 512, '\0');
    return *this;
  }

  /// A pax header for the entry that is added next.
  HandMadeTar& pax(const std::string& name, const std::string& value) {
    const std::string body = " " + name + "=" + value + "\n";
    std::size_t size = body.size();
    while (std::to_string(size).size() + body.size() != size) {
      size = std::to_string(size).size() + body.size();
    }
    return add("PaxHeader", 'x', "", std::to_string(size) + body);
  }

  std::string tar() const { return tar_ + std::string(1024, '\0'); }

 private:
  static void put(std::string& header, std::size_t at, std::size_t size, const std::string& text) {
    header.replace(at, std::min(size, text.size()), text, 0, std::min(size, text.size()));
  }
  static std::string octal(std::size_t number, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*zo", digits, number);
    return text;
  }

  std::string tar_;
};

inline std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// Stores `data` as the archive of a snapshot whose manifest and checksums are right.
inline SnapshotRef store_snapshot(SnapshotFixture& fixture, const std::string& data,
                                  std::uint64_t entries, std::uint64_t content_bytes) {
  snapshot::Manifest manifest;
  manifest.owner = test_owner();
  manifest.attempt = OperationId("hand");
  const std::string prefix = snapshot::prefix_of(manifest.owner, manifest.attempt).value();
  SnapshotObject& object = manifest.workspace.data;
  object.key = ObjectKey(prefix + "data.tar.zst");
  object.size = data.size();
  object.sha256 = base::sha256_hex(data);
  manifest.workspace.counts.entries = entries;
  manifest.workspace.counts.content_bytes = content_bytes;
  const std::string text = snapshot::to_json(manifest);
  const ObjectKey key(prefix + "manifest.json");
  fixture.objects.put(object.key.str(), data).value();
  fixture.objects.put(key.str(), text).value();
  return snapshot::reference_of(manifest, {key, text.size(), base::sha256_hex(text)});
}

}  // namespace cove::test
