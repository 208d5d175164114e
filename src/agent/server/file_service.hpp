/// FileService: answers the file requests of all connections, on the worker threads.
#pragma once

#include <functional>
#include <memory>

#include "agent/files.hpp"
#include "agent/loop/work_queue.hpp"
#include "agent/server/connection.hpp"
#include "agent/server/outcomes.hpp"
#include "wire/request.hpp"

namespace cove::agent {

class Consumer;
class Producer;

class FileService {
 public:
  /// `home`: HOME as a root of its own; null where there is none.
  FileService(EventLoop& loop, const Files& workspace, const Files* home = nullptr);

  /// Starts the worker threads, before the first request; once they run, nothing.
  void start() { workers_.start(); }

  bool has_home() const noexcept { return home_ != nullptr; }

  std::shared_ptr<StreamHandler> read(const wire::ReadRequest& request, StreamRef stream);
  std::shared_ptr<StreamHandler> write(const wire::RequestId& id, const wire::WriteRequest& request,
                                       StreamRef stream);
  std::shared_ptr<StreamHandler> list(const wire::ListRequest& request, StreamRef stream);
  void stat(const wire::StatRequest& request, StreamRef stream);
  void make_directory(const wire::RequestId& id, const wire::MakeDirectoryRequest& request,
                      const StreamRef& stream);
  void remove(const wire::RequestId& id, const wire::RemoveRequest& request,
              const StreamRef& stream);
  void sync(StreamRef stream);

  /// All requests of wire/file_request.hpp; null where nothing more belongs to the stream.
  std::shared_ptr<StreamHandler> serve(const wire::RequestId& id, const wire::FileRequest& request,
                                       StreamRef stream);

 private:
  struct Serve;
  class CopyStream;
  class ListStream;
  class WatchStream;

  std::shared_ptr<StreamHandler> send(StreamRef stream, std::uint64_t credit,
                                      std::unique_ptr<Producer> producer);
  std::shared_ptr<StreamHandler> receive(const wire::RequestId& id, StreamRef stream,
                                         std::unique_ptr<Consumer> consumer);
  std::shared_ptr<StreamHandler> copy(const wire::RequestId& id, const wire::CopyRequest& request,
                                      const StreamRef& stream);
  std::shared_ptr<StreamHandler> watch(const wire::WatchRequest& request, StreamRef stream);
  void answer(StreamRef stream, std::function<Answer()> work);
  void change(const wire::RequestId& id, const StreamRef& stream, std::function<Answer()> work);

  /// What resolves `path`. REQUIRES: has_home() where it is beneath HOME.
  const Files& files_of(const GuestPath& path) const {
    return path.root == GuestRoot::kHome ? *home_ : workspace_;
  }

  EventLoop& loop_;
  const Files& workspace_;
  const Files* home_;
  RecentOutcomes outcomes_;
  WorkQueue workers_;  // last: its threads end first
};

}  // namespace cove::agent
