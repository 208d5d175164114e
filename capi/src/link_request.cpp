#include "link_request.hpp"

#include <utility>

#include <unistd.h>

#include "handles.hpp"

using namespace cove;

cove_link_request::cove_link_request(std::weak_ptr<capi::Library> its_library,
                                     std::vector<FileToLink> wanted, CallContext its_call,
                                     capi::LinksDone its_done)
    : call(std::move(its_call)),
      library_(std::move(its_library)),
      done_(std::move(its_done)),
      process_(::getpid()) {
  files.reserve(wanted.size());
  content_types.reserve(wanted.size());
  for (FileToLink& file : wanted) {
    files.push_back({std::move(file.info)});
    content_types.push_back(std::move(file.content_type));
  }
}

bool cove_link_request::is_forked() const noexcept { return ::getpid() != process_; }

bool cove_link_request::is_over() const {
  if (is_forked()) return true;
  const auto library = library_.lock();
  return library == nullptr || !call.check(library->clock());
}

Result<void> cove_link_request::answer(Result<std::vector<std::string>> urls) {
  if (is_forked()) {
    return Error(ErrorCode::kFailedPrecondition,
                 "this request for links was made in the process that this one was forked from");
  }
  if (answered_.exchange(true)) {
    return Error(ErrorCode::kFailedPrecondition, "this request for links was answered already");
  }
  // What waits for the answer belongs to the Cove, which stays while it is told. Where the Cove is
  // gone, nothing waits.
  const auto library = library_.lock();
  if (library) done_(std::move(urls));
  return ok();
}

namespace {

Result<std::vector<std::string>> read_urls(const cove_link_request& request,
                                           const char* const* urls, size_t count) {
  if (count != request.files.size()) {
    return Error(ErrorCode::kInvalidArgument, "there are " + std::to_string(count) + " links for " +
                                                  std::to_string(request.files.size()) +
                                                  " files: give one for each");
  }
  COVE_TRY_VOID(capi::require(urls, "urls"));
  std::vector<std::string> read;
  for (size_t i = 0; i < count; ++i) {
    if (urls[i] == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "urls[" + std::to_string(i) + "] is NULL");
    }
    read.emplace_back(urls[i]);
  }
  return read;
}

}  // namespace

extern "C" {

size_t cove_link_request_count(const cove_link_request* request) {
  return request == nullptr ? 0 : request->files.size();
}

const cove_file_info* cove_link_request_file(const cove_link_request* request, size_t index) {
  return index < cove_link_request_count(request) ? &request->files[index] : nullptr;
}

const char* cove_link_request_content_type(const cove_link_request* request, size_t index) {
  return index < cove_link_request_count(request) ? request->content_types[index].c_str() : nullptr;
}

int32_t cove_link_request_is_over(const cove_link_request* request) {
  return request == nullptr || request->is_over() ? 1 : 0;
}

cove_status cove_link_request_answer(cove_link_request* request, const char* const* urls,
                                     size_t url_count, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(request, "request"));
    COVE_TRY(auto links, read_urls(*request, urls, url_count));
    return request->answer(std::move(links));
  });
}

cove_status cove_link_request_refuse(cove_link_request* request, cove_status code,
                                     const char* message, cove_error** out_error) {
  return capi::guarded(out_error, [&]() -> Result<void> {
    COVE_TRY_VOID(capi::require(request, "request"));
    COVE_TRY_VOID(capi::require(message, "message"));
    if (code < COVE_INVALID_ARGUMENT || code > COVE_INTERNAL) {
      return Error(ErrorCode::kInvalidArgument,
                   "a refusal needs the code of an error, not " + std::to_string(code));
    }
    return request->answer(Error(static_cast<ErrorCode>(code), message));
  });
}

void cove_link_request_free(cove_link_request* request) {
  if (request == nullptr || request->is_forked()) return;
  // Where it was answered, this is refused, as it should be.
  cove_error_free(capi::run([&] {
    return request->answer(
        Error(ErrorCode::kUnavailable, "the application let go of the files without a link"));
  }));
  delete request;
}

}  // extern "C"
