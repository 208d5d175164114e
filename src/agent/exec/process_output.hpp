/// ProcessOutput: what one stream of a background process wrote: the last bytes in a ring and,
/// where asked for and once the ring is full, all of them in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/exec/output_ring.hpp"
#include "agent/exec/spill.hpp"

namespace cove::agent {

class ProcessOutput {
 public:
  /// `spill_name`: of the file; empty = none.
  ProcessOutput(SpillStore& store, std::string spill_name);

  void append(std::string_view bytes);

  /// Bytes written so far.
  std::uint64_t total() const noexcept { return ring_.end(); }

  struct Slice {
    std::uint64_t offset = 0;  ///< above the one asked for where what lies between is gone
    std::string bytes;
  };

  /// At most `limit` bytes from `offset` on; none where nothing more is there. REQUIRES: offset <=
  /// total().
  Slice read(std::uint64_t offset, std::size_t limit) const;

  std::string spill_path() const { return file_ ? file_->path() : std::string(); }
  void remove_spill();

 private:
  SpillStore& store_;
  std::string spill_name_;
  std::unique_ptr<SpillFile> file_;
  OutputRing ring_;
};

}  // namespace cove::agent
