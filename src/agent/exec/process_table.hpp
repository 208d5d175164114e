/// ProcessTable: the background processes of the agent, in the order of their start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "agent/exec/background_process.hpp"
#include "agent/exec/environment.hpp"
#include "agent/server/connection.hpp"
#include "wire/process_request.hpp"

namespace cove::agent {

class ProcessTable final : public BackgroundProcess::Owner {
 public:
  /// Borrowed; outlives the table.
  explicit ProcessTable(const CommandEnvironment& environment) : environment_(environment) {}

  /// Starts a process and answers with its info; a repeat of the id is only answered.
  std::shared_ptr<StreamHandler> start(const CommandName& name, wire::ExecRequest request,
                                       StreamRef stream);

  void list(const StreamRef& stream) const;
  void find(const wire::FindProcessRequest& request, const StreamRef& stream) const;
  std::shared_ptr<StreamHandler> output(const wire::ProcessOutputRequest& request,
                                        StreamRef stream) const;
  std::shared_ptr<StreamHandler> attach(const wire::AttachRequest& request, StreamRef stream) const;
  void remove(const wire::RemoveProcessRequest& request, const StreamRef& stream);

  /// The process of this id; null: none.
  std::shared_ptr<BackgroundProcess> at(const wire::RequestId& id) const;
  const std::vector<std::shared_ptr<BackgroundProcess>>& all() const noexcept { return all_; }

  std::uint32_t keeping_alive() const;

  void on_not_started(BackgroundProcess& process) override;
  void on_process_ended(BackgroundProcess&) override {}

 private:
  std::shared_ptr<BackgroundProcess> find_or_fail(const wire::RequestId& id,
                                                  const StreamRef& stream) const;

  const CommandEnvironment& environment_;
  std::vector<std::shared_ptr<BackgroundProcess>> all_;
};

}  // namespace cove::agent
