#include "agent/server/file_service.hpp"

#include "wire/reply.hpp"

namespace cove::agent {
namespace {

constexpr unsigned kWorkers = 2;

Answer failure(const Error& error) { return {true, wire::encode_error(error)}; }

Answer nothing_or(const Result<void>& result) {
  if (!result) return failure(result.error());
  return {false, wire::encode_nothing()};
}

}  // namespace

FileService::FileService(EventLoop& loop, const Files& workspace, const Files* home)
    : loop_(loop), workspace_(workspace), home_(home), workers_(loop, kWorkers) {}

void FileService::answer(StreamRef stream, std::function<Answer()> work) {
  workers_.submit([stream = std::move(stream), work = std::move(work)]() -> WorkQueue::Finish {
    return [stream, answer = work()] { give(stream, answer); };
  });
}

void FileService::change(const wire::RequestId& id, const StreamRef& stream,
                         std::function<Answer()> work) {
  if (!outcomes_.begin(id, stream)) return;
  workers_.submit([this, id, work = std::move(work)]() -> WorkQueue::Finish {
    return [this, id, answer = work()] { outcomes_.finish(id, answer); };
  });
}

void FileService::stat(const wire::StatRequest& request, StreamRef stream) {
  answer(std::move(stream), [this, path = request.path]() -> Answer {
    const auto info = files_of(path).stat(path);
    if (!info) return failure(info.error());
    return {false, wire::encode_file_info(*info)};
  });
}

void FileService::make_directory(const wire::RequestId& id,
                                 const wire::MakeDirectoryRequest& request,
                                 const StreamRef& stream) {
  change(id, stream,
         [this, path = request.path] { return nothing_or(files_of(path).make_directory(path)); });
}

void FileService::remove(const wire::RequestId& id, const wire::RemoveRequest& request,
                         const StreamRef& stream) {
  change(id, stream, [this, request] {
    return nothing_or(files_of(request.path).remove(request.path, request.recursive));
  });
}

void FileService::sync(StreamRef stream) {
  answer(std::move(stream), [this] { return nothing_or(workspace_.sync()); });
}

}  // namespace cove::agent
