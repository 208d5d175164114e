/// What an input file holds, ready to be fingerprinted, read and compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <cove/prepare_inputs.hpp>

#include "base/async/worker_pool.hpp"

namespace cove::prepare {

/// What steps need of their host besides the sandbox; outlives the preparation.
struct HostParts {
  base::BlockingExecutor& executor;
  Scheduler& scheduler;
  bool writable_system = false;  ///< of the policy: sandboxes are root of a system of their own
};

/// One input file. Read-only once made.
struct InputContent {
  InputFile file;
  std::string name;         ///< safe
  std::string fingerprint;  ///< the given one, or one of the content
  std::optional<std::uint64_t> size;

  /// 16 hex of name and fingerprint: how the step's note knows it.
  std::string key() const;
};

/// Looks at a file of the host and hashes bytes; blocks. Errors: as look_at_host_file.
Result<InputContent> make_content(InputFile file);

/// Opens it from its beginning. `content` outlives the source.
Task<Result<std::unique_ptr<ByteSource>>> open_content(const InputContent& content, HostParts host,
                                                       const CallContext& call);

/// Whether two streams have the same bytes; reads both no further than that takes.
Task<Result<bool>> are_equal(ByteSource& one, ByteSource& other, const CallContext& call);

}  // namespace cove::prepare
