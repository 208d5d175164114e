/// What is asked about processes that run already, most of all those in the background.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include <cove/process.hpp>
#include <cove/result.hpp>

#include "wire/fields.hpp"
#include "wire/request_id.hpp"

namespace cove::wire {

/// The most bytes of one slice of output.
constexpr std::uint32_t kMaxSliceBytes = 256 * 1024;

/// Background processes that an agent keeps, ended ones included.
constexpr std::size_t kMaxProcesses = 256;

/// To a command or a background process.
struct SignalRequest {
  RequestId command{};
  std::int32_t signal = 0;
};

struct ResizeRequest {
  RequestId command{};
  TerminalSize size;
};

struct ListProcessesRequest {};

struct FindProcessRequest {
  RequestId process{};
};

struct ProcessOutputRequest {
  RequestId process{};
  OutputRequest range;
};

/// Its stream carries output within credit, stdin, and at the end an ExecReply.
struct AttachRequest {
  RequestId process{};
  AttachOptions from;
  std::uint64_t credit = 0;
};

struct RemoveProcessRequest {
  RequestId process{};
};

/// Starts no new command for `hold_ms`; 0 = does so again. `by` names the stop that asks.
struct PrepareStopRequest {
  std::string by;
  std::uint32_t hold_ms = 0;
};

nlohmann::json to_fields(const PrepareStopRequest& request);
nlohmann::json to_fields(const SignalRequest& request);
nlohmann::json to_fields(const ResizeRequest& request);
nlohmann::json to_fields(const FindProcessRequest& request);
nlohmann::json to_fields(const ProcessOutputRequest& request);
nlohmann::json to_fields(const AttachRequest& request);
nlohmann::json to_fields(const RemoveProcessRequest& request);

/// Errors stay in `fields`.
PrepareStopRequest read_prepare_stop(Fields& fields);
SignalRequest read_signal(Fields& fields);
ResizeRequest read_resize(Fields& fields);
FindProcessRequest read_find_process(Fields& fields);
ProcessOutputRequest read_process_output(Fields& fields);
AttachRequest read_attach(Fields& fields);
RemoveProcessRequest read_remove_process(Fields& fields);

/// kInvalidArgument: out of OutputRequest's ranges.
Result<void> check_output_request(const OutputRequest& request);

}  // namespace cove::wire
