#include "cli/output/output_relay.hpp"

#include <utility>

#include "base/text/byte_text.hpp"

namespace cove::cli {
namespace {

constexpr std::size_t kMostHeld = 1U << 20U;

}  // namespace

ExecCallbacks OutputRelay::feed(const std::shared_ptr<OutputRelay>& relay) {
  ExecCallbacks callbacks;
  callbacks.on_output = [relay](OutputStream stream, ByteView bytes) {
    return relay->take(stream, bytes);
  };
  callbacks.on_done = [relay](Result<ExecResult> result) { relay->end(std::move(result)); };
  return callbacks;
}

Result<ExecResult> OutputRelay::pump(const Output& output, const Steering& steering) {
  std::optional<Error> broken;
  std::vector<OutputChunk> chunks;
  bool paused = false;
  while (wait_for_more(chunks, paused)) {
    for (const OutputChunk& chunk : chunks) {
      if (broken) break;
      const Result<void> written = chunk.stream == OutputStream::kOut
                                       ? output.out(base::text_of(chunk.bytes))
                                       : output.err(base::text_of(chunk.bytes));
      if (written) continue;
      broken = written.error();
      steering.cancel();
    }
    chunks.clear();
    if (paused) steering.resume();
  }
  if (broken) return *broken;
  return *std::move(result_);
}

/// False once the command has ended and everything was given out.
bool OutputRelay::wait_for_more(std::vector<OutputChunk>& chunks, bool& paused) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !chunks_.empty() || result_.has_value(); });
  chunks.swap(chunks_);
  held_ = 0;
  paused = std::exchange(paused_, false);
  return !chunks.empty() || !result_.has_value();
}

Flow OutputRelay::take(OutputStream stream, ByteView bytes) {
  const std::lock_guard lock(mutex_);
  chunks_.push_back({stream, Bytes(bytes.begin(), bytes.end())});
  held_ += bytes.size();
  paused_ = held_ > kMostHeld;
  changed_.notify_one();
  return paused_ ? Flow::kPause : Flow::kContinue;
}

void OutputRelay::end(Result<ExecResult> result) {
  const std::lock_guard lock(mutex_);
  result_ = std::move(result);
  changed_.notify_one();
}

}  // namespace cove::cli
