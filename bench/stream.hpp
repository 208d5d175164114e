/// Output of a command as it comes, through SandboxClient's callbacks.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cove/cove.hpp>

namespace bench {

/// Runs a command and gives every piece of its standard output to `sink`, on Cove's I/O thread,
/// which runs no more once this has returned. Nothing is kept in the result. True: it exited 0.
inline bool stream(const cove::SandboxClient& client, std::vector<std::string> argv,
                   std::function<void(cove::ByteView)> sink) {
  cove::ExecSpec spec{.argv = std::move(argv)};
  spec.output.head_bytes = spec.output.tail_bytes = 0;
  spec.output.max_total_bytes = 1ULL << 40;
  const auto ended = std::make_shared<std::promise<bool>>();
  cove::ExecCallbacks callbacks;
  callbacks.on_output = [sink = std::move(sink)](cove::OutputStream, cove::ByteView bytes) {
    sink(bytes);
    return cove::Flow::kContinue;
  };
  callbacks.on_done = [ended](cove::Result<cove::ExecResult> result) {
    ended->set_value(result && result->succeeded());
  };
  const auto handle = client.exec_async(std::move(spec), std::move(callbacks));
  return ended->get_future().get();
}

}  // namespace bench
