/// cove_link_request: files that a tool wants links to, answered by the host when it likes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <cove/call_context.hpp>
#include <cove/tools.hpp>

#include "abi.hpp"
#include "file_info.hpp"

namespace cove::capi {

class Library;

/// How a link maker of the facade gives its links.
using LinksDone = std::function<void(Result<std::vector<std::string>> urls)>;

}  // namespace cove::capi

struct cove_link_request {
  cove_link_request(std::weak_ptr<cove::capi::Library> its_library,
                    std::vector<cove::FileToLink> wanted, cove::CallContext its_call,
                    cove::capi::LinksDone its_done);

  /// The first answer counts; kFailedPrecondition for others, and after a fork.
  cove::Result<void> answer(cove::Result<std::vector<std::string>> urls);

  bool is_forked() const noexcept;

  /// Nobody waits for the answer any more.
  bool is_over() const;

  std::vector<cove_file_info> files;
  std::vector<std::string> content_types;
  const cove::CallContext call;

 private:
  // Weak: a host that keeps a request does not keep the Cove open.
  const std::weak_ptr<cove::capi::Library> library_;
  const cove::capi::LinksDone done_;
  const pid_t process_;
  std::atomic<bool> answered_{false};
};
