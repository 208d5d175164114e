/// What an agent answers about commands and background processes.
#pragma once

#include <cstdint>
#include <string>

#include <cove/bytes.hpp>
#include <cove/exec.hpp>
#include <cove/process.hpp>
#include <cove/result.hpp>

namespace cove::wire {

/// How many bytes of a stream follow or have come, and how many are left out.
struct StreamCounts {
  std::uint64_t head_bytes = 0;
  std::uint64_t tail_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::string spill_path;
};

/// The end of a command. In capture mode the bytes came before it, head then tail, on kOut and
/// kErr.
struct ExecReply {
  Outcome outcome;
  std::chrono::microseconds duration{0};
  StreamCounts out;
  StreamCounts err;
  ResourceUsage usage;
};

Bytes encode_exec_reply(const ExecReply& reply);
Result<ExecReply> parse_exec_reply(ByteView payload);

/// The result of which the reply tells, without output.
ExecResult result_of(const ExecReply& reply);

Bytes encode_process_info(const ProcessInfo& info);

/// The words for people are cut and made printable.
Result<ProcessInfo> parse_process_info(ByteView payload);

/// The answer to a request for output: the bytes came before it.
struct SliceReply {
  std::uint64_t offset = 0;
  std::uint64_t gone = 0;
  bool at_end = false;
};
Bytes encode_slice(const SliceReply& reply);
Result<SliceReply> parse_slice(ByteView payload);

}  // namespace cove::wire
