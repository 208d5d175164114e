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

class FileService {
 public:
  FileService(EventLoop& loop, const Files& files);

  std::shared_ptr<StreamHandler> read(const wire::ReadRequest& request, StreamRef stream);
  std::shared_ptr<StreamHandler> write(const wire::RequestId& id, const wire::WriteRequest& request,
                                       StreamRef stream);
  std::shared_ptr<StreamHandler> list(const wire::ListRequest& request, StreamRef stream);
  void stat(const wire::StatRequest& request, StreamRef stream);
  void make_directory(const wire::RequestId& id, const wire::MakeDirectoryRequest& request,
                      StreamRef stream);
  void remove(const wire::RequestId& id, const wire::RemoveRequest& request, StreamRef stream);
  void sync(StreamRef stream);

 private:
  class ReadStream;
  class WriteStream;
  class RepeatedWrite;
  class ListStream;

  void answer(StreamRef stream, std::function<Answer()> work);
  void change(const wire::RequestId& id, const StreamRef& stream, std::function<Answer()> work);

  const Files& files_;
  RecentOutcomes outcomes_;
  WorkQueue workers_;  // last: its threads end first
};

}  // namespace cove::agent
