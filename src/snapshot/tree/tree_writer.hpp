/// TreeWriter: makes the entries of an archive in an empty workspace. CountingSink: only counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cove/provider.hpp>
#include <cove/result.hpp>

#include "base/system/unique_fd.hpp"
#include "snapshot/archive/archive_reader.hpp"
#include "snapshot/tree/directory_chain.hpp"

namespace cove::snapshot {

/// What an archive must have, no more and no less.
struct ArchiveTotals {
  std::uint64_t entries = 0;        // below the workspace itself
  std::uint64_t content_bytes = 0;  // of files, without holes
};

/// Counts entries and bytes against what was promised. kIntegrity as soon as there are more, or at
/// the end where there are fewer.
class CountingSink final : public EntrySink {
 public:
  explicit CountingSink(const ArchiveTotals& expected) : expected_(expected) {}

  Result<void> entry(const Entry& entry, std::size_t above) override;
  Result<void> data(std::uint64_t offset, ByteView bytes) override;
  Result<void> entry_end() override { return {}; }
  Result<void> finish() override;

 private:
  ArchiveTotals expected_;
  ArchiveTotals found_;
};

/// One thread at a time. All calls block. Every name is made new, in a directory that this made
/// and holds open; modes come after owners, and the times of a directory after its content.
/// Errors: kIntegrity - a name twice, a hard link to what was not made before, more content than
/// promised, an owner that the sandbox has not; kQuotaExceeded - no room.
class TreeWriter final : public EntrySink {
 public:
  /// `volume` is borrowed for the call. Errors: kFailedPrecondition - the workspace is not empty;
  /// kInvalidArgument - `ids` maps nothing.
  static Result<TreeWriter> open(int volume, const IdMapping& ids, const ArchiveTotals& expected);

  Result<void> entry(const Entry& entry, std::size_t above) override;
  Result<void> data(std::uint64_t offset, ByteView bytes) override;
  Result<void> entry_end() override;
  Result<void> finish() override;

 private:
  TreeWriter(DirectoryChain chain, const IdMapping& ids, const ArchiveTotals& expected)
      : chain_(std::move(chain)), ids_(ids), counter_(expected) {}

  Result<void> make(const std::string& name);
  Result<void> make_directory(const std::string& name);
  Result<void> make_hard_link(const std::string& name);
  Result<void> set_owner(int directory, const std::string& name);
  Result<void> set_attributes(int file, const Attributes& attributes,
                              const std::string& path) const;
  Result<void> leave();
  Result<void> check_owner() const;
  Result<void> write_at(std::uint64_t offset, ByteView bytes);

  DirectoryChain chain_;
  IdMapping ids_;
  CountingSink counter_;
  std::vector<Attributes> levels_;  // of the root and of each directory that is open
  Entry current_;
  base::UniqueFd file_;
};

}  // namespace cove::snapshot
