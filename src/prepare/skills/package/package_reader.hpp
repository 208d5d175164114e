/// PackageReader: the bytes of a zip, tar, tar.gz or tar.zst in, a checked Package out. Everything
/// it reads is hostile. It asks no file system.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "prepare/skills/package/package.hpp"

namespace cove::prepare {

/// One thread at a time, each step on any.
class PackageReader {
 public:
  /// `shown` names the package in errors: "skill 'v1'". `bytes` outlive this.
  PackageReader(std::string shown, ByteView bytes, PackageLimits limits = {});
  ~PackageReader();
  PackageReader(const PackageReader&) = delete;
  PackageReader& operator=(const PackageReader&) = delete;

  /// Does a bounded piece of the work, some MB; true once all is read. Errors: kInvalidArgument -
  /// no such archive, damaged, encrypted, or an entry that PackageBuilder refuses; kUnsupported - a
  /// device, FIFO or socket; kTooLarge - over a limit. After an error it is of no more use.
  Result<bool> step();

  /// See PackageBuilder: between two steps; what was taken may be hashed during the next ones.
  std::vector<ContentHash> take_unhashed();
  void put_hashes(std::vector<ContentHash> hashes);

  /// What a ContentHash is of; until the next step.
  const PackageEntry& entry(std::size_t index) const;

  /// REQUIRES: step() gave true.
  Result<Package> finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same at once, for what is small.
Result<Package> read_package(const std::string& shown, ByteView bytes, PackageLimits limits = {});

}  // namespace cove::prepare
