#include "exec_result.hpp"

#include <utility>
#include <variant>

using namespace cove;

namespace {

/// COVE_OUTCOME_* count from 1 in the order of Outcome's alternatives.
template <int number, class T>
constexpr bool kIsOutcome =
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(number) - 1, Outcome>, T>;
static_assert(kIsOutcome<COVE_OUTCOME_EXITED, Exited>);
static_assert(kIsOutcome<COVE_OUTCOME_SIGNALED, Signaled>);
static_assert(kIsOutcome<COVE_OUTCOME_TIMED_OUT, TimedOut>);
static_assert(kIsOutcome<COVE_OUTCOME_CANCELLED, Cancelled>);
static_assert(kIsOutcome<COVE_OUTCOME_OUTPUT_LIMIT, OutputLimitReached>);
static_assert(kIsOutcome<COVE_OUTCOME_OUT_OF_MEMORY, OutOfMemory>);
static_assert(kIsOutcome<COVE_OUTCOME_CPU_LIMIT, CpuLimitReached>);

const StreamOutput* stream_of(const cove_exec_result* result, int32_t stream) {
  if (result == nullptr) return nullptr;
  if (stream == COVE_STDOUT) return &result->result.out;
  return stream == COVE_STDERR ? &result->result.err : nullptr;
}

const char* give(const std::string* text, size_t* out_size) {
  if (out_size != nullptr) *out_size = text == nullptr ? 0 : text->size();
  return text == nullptr ? "" : text->c_str();
}

std::string joined(const StreamOutput& stream) {
  return stream.dropped_bytes == 0 && stream.tail.empty() ? std::string() : stream.text();
}

}  // namespace

cove_exec_result::cove_exec_result(ExecResult ended)
    : result(std::move(ended)), out_text(joined(result.out)), err_text(joined(result.err)) {}

extern "C" {

int32_t cove_exec_result_outcome(const cove_exec_result* result) {
  return result == nullptr ? 0 : static_cast<int32_t>(result->result.outcome.index()) + 1;
}

int32_t cove_exec_result_code(const cove_exec_result* result) {
  if (result == nullptr) return 0;
  if (const auto* exited = std::get_if<Exited>(&result->result.outcome)) return exited->code;
  const auto* signaled = std::get_if<Signaled>(&result->result.outcome);
  return signaled == nullptr ? 0 : signaled->signal;
}

int32_t cove_exec_result_shell_code(const cove_exec_result* result) {
  return result == nullptr ? 0 : result->result.shell_code();
}

uint64_t cove_exec_result_duration_us(const cove_exec_result* result) {
  return result == nullptr ? 0 : static_cast<uint64_t>(result->result.duration.count());
}

const char* cove_exec_result_head(const cove_exec_result* result, int32_t stream,
                                  size_t* out_size) {
  const StreamOutput* const output = stream_of(result, stream);
  return give(output == nullptr ? nullptr : &output->head, out_size);
}

const char* cove_exec_result_tail(const cove_exec_result* result, int32_t stream,
                                  size_t* out_size) {
  const StreamOutput* const output = stream_of(result, stream);
  return give(output == nullptr ? nullptr : &output->tail, out_size);
}

const char* cove_exec_result_text(const cove_exec_result* result, int32_t stream,
                                  size_t* out_size) {
  const StreamOutput* const output = stream_of(result, stream);
  if (output == nullptr) return give(nullptr, out_size);
  const std::string& text = stream == COVE_STDOUT ? result->out_text : result->err_text;
  return give(text.empty() ? &output->head : &text, out_size);
}

uint64_t cove_exec_result_total_bytes(const cove_exec_result* result, int32_t stream) {
  const StreamOutput* const output = stream_of(result, stream);
  return output == nullptr ? 0 : output->total_bytes;
}

uint64_t cove_exec_result_dropped_bytes(const cove_exec_result* result, int32_t stream) {
  const StreamOutput* const output = stream_of(result, stream);
  return output == nullptr ? 0 : output->dropped_bytes;
}

const char* cove_exec_result_spill_path(const cove_exec_result* result, int32_t stream) {
  const StreamOutput* const output = stream_of(result, stream);
  return output == nullptr ? "" : output->spill_path.c_str();
}

int32_t cove_exec_result_was_quiet(const cove_exec_result* result) {
  if (result == nullptr) return 0;
  const auto* const timed_out = std::get_if<TimedOut>(&result->result.outcome);
  return timed_out != nullptr && timed_out->quiet ? 1 : 0;
}

uint64_t cove_exec_result_peak_memory_bytes(const cove_exec_result* result) {
  return result == nullptr ? 0 : result->result.usage.peak_memory_bytes;
}

uint64_t cove_exec_result_user_cpu_us(const cove_exec_result* result) {
  return result == nullptr ? 0 : static_cast<uint64_t>(result->result.usage.user_cpu.count());
}

uint64_t cove_exec_result_system_cpu_us(const cove_exec_result* result) {
  return result == nullptr ? 0 : static_cast<uint64_t>(result->result.usage.system_cpu.count());
}

int32_t cove_exec_result_best_effort(const cove_exec_result* result) {
  return result != nullptr && result->result.usage.best_effort ? 1 : 0;
}

void cove_exec_result_free(cove_exec_result* result) { delete result; }

}  // extern "C"
