#include <cove/sandbox_client.hpp>

#include "client/exec_calls.hpp"
#include "client/file_calls.hpp"
#include "client/sandbox_client_impl.hpp"
#include "client/transfer.hpp"

namespace cove {

class ExecHandle::Impl : public client::ExecSteering {};

void ExecHandle::resume() const { impl_->resume(); }
void ExecHandle::cancel() const { impl_->cancel(); }

namespace client {

SandboxClient make_client(std::shared_ptr<GuestLink> link, std::string session) {
  return SandboxClient(std::make_shared<SandboxClient::Impl>(std::move(link), std::move(session)));
}

namespace {

/// What an exec with callbacks keeps while it runs.
struct AsyncExec {
  std::shared_ptr<GuestLink> link;
  StreamedCommand command;
  std::stop_token callers_stop;
};

Task<Result<ExecResult>> run_async_exec(const AsyncExec& exec, const CallContext& call) {
  // The handle's stop ends the call; the caller's own is passed on to it.
  const auto steering = exec.command.steering;
  const std::stop_callback pass_on(exec.callers_stop, [steering] { steering->cancel(); });
  if (exec.command.on_output) co_return co_await stream_command(*exec.link, exec.command, call);
  co_return co_await run_command(*exec.link, exec.command.session, exec.command.spec, call);
}

}  // namespace
}  // namespace client

Result<ExecResult> SandboxClient::exec(const ExecSpec& spec, const CallContext& call) const {
  const Impl& self = *impl_;
  return client::run_blocking(*self.link, call, [&](const CallContext& inner) {
    return client::run_command(*self.link, self.session, spec, inner);
  });
}

ExecHandle SandboxClient::exec_async(ExecSpec spec, ExecCallbacks callbacks,
                                     CallContext call) const {
  auto steering = std::make_shared<ExecHandle::Impl>();
  auto exec = std::make_shared<client::AsyncExec>(
      client::AsyncExec{impl_->link,
                        client::StreamedCommand{impl_->session, std::move(spec),
                                                std::move(callbacks.on_output), steering},
                        call.stop});
  const CallContext steered{.deadline = call.deadline, .stop = steering->stop_token()};
  client::run_async<ExecResult>(
      impl_->link, steered,
      [exec = std::move(exec)](const CallContext& inner) {
        return client::run_async_exec(*exec, inner);
      },
      std::move(callbacks.on_done));
  return ExecHandle(std::move(steering));
}

Result<Bytes> SandboxClient::read_file(const std::string& path, const ReadRange& range,
                                       const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::read_whole(*impl_->link, target, range, inner);
  });
}

Result<void> SandboxClient::download(const std::string& path,
                                     const std::function<Result<void>(ByteView)>& sink,
                                     const CallContext& call) const {
  return client::download_to(*impl_->link, impl_->at(path), sink, call);
}

Result<FileInfo> SandboxClient::write_file(const std::string& path, ByteView content,
                                           const WriteOptions& options,
                                           const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::write_whole(*impl_->link, target, content, options, inner);
  });
}

Result<FileInfo> SandboxClient::upload(const std::string& path,
                                       const std::function<Result<Bytes>()>& source,
                                       const WriteOptions& options, const CallContext& call) const {
  return client::upload_from(*impl_->link, impl_->at(path), source, options, call);
}

Result<FileInfo> SandboxClient::stat(const std::string& path, const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::stat_path(*impl_->link, target, inner);
  });
}

Result<FilePage> SandboxClient::list(const std::string& path, const ListOptions& options,
                                     const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::list_path(*impl_->link, target, options, inner);
  });
}

Result<void> SandboxClient::make_directory(const std::string& path, const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::make_directory_at(*impl_->link, target, inner);
  });
}

Result<void> SandboxClient::remove(const std::string& path, bool recursive,
                                   const CallContext& call) const {
  const GuestPath target = impl_->at(path);
  return client::run_blocking(*impl_->link, call, [&](const CallContext& inner) {
    return client::remove_path(*impl_->link, target, recursive, inner);
  });
}

void SandboxClient::read_file_async(std::string path, ReadRange range, CallContext call,
                                    Done<Bytes> done) const {
  client::run_async<Bytes>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path)), range](const CallContext& inner) {
        return client::read_whole(*self->link, target, range, inner);
      },
      std::move(done));
}

void SandboxClient::write_file_async(std::string path, Bytes content, WriteOptions options,
                                     CallContext call, Done<FileInfo> done) const {
  client::run_async<FileInfo>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path)), content = std::move(content),
       options](const CallContext& inner) {
        return client::write_whole(*self->link, target, content, options, inner);
      },
      std::move(done));
}

void SandboxClient::stat_async(std::string path, CallContext call, Done<FileInfo> done) const {
  client::run_async<FileInfo>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path))](const CallContext& inner) {
        return client::stat_path(*self->link, target, inner);
      },
      std::move(done));
}

void SandboxClient::list_async(std::string path, ListOptions options, CallContext call,
                               Done<FilePage> done) const {
  client::run_async<FilePage>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path)),
       options = std::move(options)](const CallContext& inner) {
        return client::list_path(*self->link, target, options, inner);
      },
      std::move(done));
}

void SandboxClient::make_directory_async(std::string path, CallContext call,
                                         Done<void> done) const {
  client::run_async<void>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path))](const CallContext& inner) {
        return client::make_directory_at(*self->link, target, inner);
      },
      std::move(done));
}

void SandboxClient::remove_async(std::string path, bool recursive, CallContext call,
                                 Done<void> done) const {
  client::run_async<void>(
      impl_->link, call,
      [self = impl_, target = impl_->at(std::move(path)), recursive](const CallContext& inner) {
        return client::remove_path(*self->link, target, recursive, inner);
      },
      std::move(done));
}

}  // namespace cove
