#include "agent/exec/process_output.hpp"

#include <algorithm>
#include <utility>

namespace cove::agent {
namespace {

constexpr std::size_t kRingBytes = 1024 * 1024;

}  // namespace

ProcessOutput::ProcessOutput(SpillStore& store, std::string spill_name)
    : store_(store), spill_name_(std::move(spill_name)), ring_(kRingBytes) {}

void ProcessOutput::append(std::string_view bytes) {
  if (!file_ && !spill_name_.empty() && ring_.overflows_with(bytes.size())) {
    auto file = store_.create(std::exchange(spill_name_, {}));
    if (file) file_ = *std::move(file);
    // Nothing was let go of yet, so the file begins with the stream's first byte.
    for (std::uint64_t at = ring_.begin(); file_ && at < ring_.end();) {
      const std::string_view run = ring_.at(at, kRingBytes);
      file_->append(run);
      at += run.size();
    }
  }
  if (file_) file_->append(bytes);
  ring_.append(bytes);
}

ProcessOutput::Slice ProcessOutput::read(std::uint64_t offset, std::size_t limit) const {
  if (offset < ring_.begin()) {
    std::string bytes = file_ ? file_->read(offset, limit) : std::string();
    if (!bytes.empty()) return {offset, std::move(bytes)};
    offset = ring_.begin();
  }
  Slice slice{offset, {}};
  while (slice.bytes.size() < limit && offset < ring_.end()) {
    const std::string_view run = ring_.at(offset, limit - slice.bytes.size());
    slice.bytes += run;
    offset += run.size();
  }
  return slice;
}

void ProcessOutput::remove_spill() {
  if (file_) file_->remove();
}

}  // namespace cove::agent
