/// TreeComparison: a tar stream of a directory, compared with a package as it comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "base/tar/tar_reader.hpp"
#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// Holds no content of its own, whatever the directory holds. Contents are compared byte by byte
/// where the package has them, by their sha256 where it is an outline.
class TreeComparison final : private base::TarSink {
 public:
  /// `expected` outlives this.
  explicit TreeComparison(const Package& expected);

  /// Takes the next bytes. After a difference was found it does nothing. An error: the stream
  /// cannot say whether it is the same (something in it is there twice, or under two names).
  Result<void> feed(ByteView bytes);

  /// The first difference, as a sentence; empty = none so far.
  const std::string& fault() const noexcept { return fault_; }

  /// The stream is at its end: what differs, or is missing; empty = nothing. Errors: as of feed.
  Result<std::string> finish();

 private:
  Result<void> entry(const base::TarEntry& entry) override;
  Result<void> data(ByteView bytes) override;
  Result<void> entry_end() override;
  void differs(const std::string& how);

  const Package& expected_;
  base::TarReader reader_;
  std::vector<bool> seen_;  // by entry
  std::string fault_;
  const PackageEntry* file_ = nullptr;  // whose content comes; null = nobody asks for it
  std::size_t compared_ = 0;            // of its content
  std::optional<base::Sha256> hash_;
};

}  // namespace cove::prepare
