#include "agent/exec/process_table.hpp"

#include <algorithm>
#include <utility>

#include "agent/exec/process_reader.hpp"
#include "wire/reply.hpp"

namespace cove::agent {

std::shared_ptr<BackgroundProcess> ProcessTable::at(const wire::RequestId& id) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& process) { return process->id() == id; });
  return found == all_.end() ? nullptr : *found;
}

std::shared_ptr<BackgroundProcess> ProcessTable::find_or_fail(const wire::RequestId& id,
                                                              const StreamRef& stream) const {
  auto found = at(id);
  if (!found) stream.fail(Error(ErrorCode::kNotFound, "there is no process with such an id"));
  return found;
}

std::shared_ptr<StreamHandler> ProcessTable::start(const CommandName& name,
                                                   wire::ExecRequest request, StreamRef stream) {
  if (const auto found = at(name.id)) return found->answer_start(std::move(stream));
  const auto allowed = wire::check_background(*request.background);
  if (!allowed) {
    stream.fail(allowed.error());
    return nullptr;
  }
  if (all_.size() >= wire::kMaxProcesses) {
    stream.fail(Error(ErrorCode::kQuotaExceeded,
                      std::to_string(wire::kMaxProcesses) +
                          " background processes are there: remove some that have ended"));
    return nullptr;
  }
  auto process = std::make_shared<BackgroundProcess>(environment_, *this, name, std::move(request));
  all_.push_back(process);
  return process->answer_start(std::move(stream));
}

void ProcessTable::list(const StreamRef& stream) const {
  wire::CountReply reply;
  for (const auto& process : all_) {
    stream.send_data(wire::Channel::kMain, wire::encode_process_info(process->info()));
    ++reply.count;
  }
  stream.respond(wire::encode_count(reply));
}

void ProcessTable::find(const wire::FindProcessRequest& request, const StreamRef& stream) const {
  const auto process = find_or_fail(request.process, stream);
  if (process) stream.respond(wire::encode_process_info(process->info()));
}

std::shared_ptr<StreamHandler> ProcessTable::output(const wire::ProcessOutputRequest& request,
                                                    StreamRef stream) const {
  const auto process = find_or_fail(request.process, stream);
  if (!process) return nullptr;
  const auto allowed = wire::check_output_request(request.range);
  if (!allowed) {
    stream.fail(allowed.error());
    return nullptr;
  }
  auto wait =
      std::make_shared<SliceWait>(*environment_.loop, process, request.range, std::move(stream));
  if (wait->begin()) return nullptr;
  process->add(wait);
  return wait;
}

std::shared_ptr<StreamHandler> ProcessTable::attach(const wire::AttachRequest& request,
                                                    StreamRef stream) const {
  const auto process = find_or_fail(request.process, stream);
  if (!process) return nullptr;
  for (const auto& [offset, kind] : {std::pair{request.from.out_offset, OutputStream::kOut},
                                     {request.from.err_offset, OutputStream::kErr}}) {
    if (request.from.only_new || offset <= process->output(kind).total()) continue;
    stream.fail(Error(ErrorCode::kInvalidArgument, "the offset lies past what was written"));
    return nullptr;
  }
  auto attachment = std::make_shared<Attachment>(process, request, std::move(stream));
  process->add(attachment);
  attachment->begin();
  return attachment;
}

void ProcessTable::remove(const wire::RemoveProcessRequest& request, const StreamRef& stream) {
  const auto process = find_or_fail(request.process, stream);
  if (!process) return;
  if (!process->has_ended()) {
    stream.fail(Error(ErrorCode::kFailedPrecondition, "the process runs: end it first"));
    return;
  }
  process->remove_spills();
  std::erase(all_, process);
  stream.respond(wire::encode_nothing());
}

std::uint32_t ProcessTable::keeping_alive() const {
  return static_cast<std::uint32_t>(std::count_if(
      all_.begin(), all_.end(), [](const auto& process) { return process->keeps_alive(); }));
}

void ProcessTable::on_not_started(BackgroundProcess& process) {
  std::erase_if(all_, [&](const auto& held) { return held.get() == &process; });
}

}  // namespace cove::agent
