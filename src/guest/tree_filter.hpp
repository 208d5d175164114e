/// TreeFilter: a directory's archive as an agent sends it in, the same written anew out.
///
/// Whoever downloads a directory gives the archive to an unpacker of its own. Such a one may follow
/// `..`, write through a link that the archive brought along, or understand headers that Cove does
/// not. So nothing that the agent wrote is passed on but contents: headers are read, checked and
/// written again, which gives the bytes of a well-behaved agent as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "base/tar/tar_reader.hpp"

namespace cove::guest {

/// Lets entries pass as docs/wire-protocol.md has them ("Tree out"): plain names below directories
/// that came before, each once and in order; hard links to what is no link and not below one.
class TreeFilter final : private base::TarSink {
 public:
  TreeFilter() : reader_(*this) {}

  /// Takes the next bytes. An error: it is no such archive; then it is of no more use.
  Result<void> feed(ByteView bytes);

  /// The input is at its end. An error: but the archive is not.
  Result<void> finish();

  /// What may be passed on by now.
  Bytes take() { return std::exchange(out_, Bytes()); }

 private:
  Result<void> entry(const base::TarEntry& entry) override;
  Result<void> data(ByteView bytes) override;
  Result<void> entry_end() override;

  Result<void> go_to(std::vector<std::string_view> names, bool is_directory);
  Result<void> check_hard_link(const std::string& target) const;
  void keep_link(const std::string& path);
  void put(std::string_view text);

  base::TarReader reader_;
  Bytes out_;
  std::uint64_t silent_ = 0;               ///< bytes that came since the last that may be passed on
  std::size_t padding_ = 0;                ///< behind the content that comes
  std::vector<std::string> last_;          ///< names of the last entry's path
  bool is_in_directory_ = true;            ///< the last entry is a directory
  std::unordered_set<std::size_t> links_;  ///< hashes of the symlinks' paths
  bool links_are_known_ = true;            ///< there are not too many of them
};

}  // namespace cove::guest
