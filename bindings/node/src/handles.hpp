/// JavaScript objects that stand for something of C. Each kind has a tag, so that one of another
/// kind, or an object of the caller's own making, is never taken for it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <node_api.h>

#include "live.hpp"

namespace cove_node {

struct WorkspaceHandle {
  /// `its_owner`: to whom the workspace belongs, where it is only lent.
  WorkspaceHandle(LibraryPtr its_library, cove_workspace* its_raw,
                  std::shared_ptr<void> its_owner = nullptr) noexcept
      : library(std::move(its_library)), raw(its_raw), owner(std::move(its_owner)) {}
  WorkspaceHandle(const WorkspaceHandle&) = delete;
  WorkspaceHandle& operator=(const WorkspaceHandle&) = delete;
  ~WorkspaceHandle() {
    if (owner == nullptr) library->cove_workspace_free(raw);
  }

  LibraryPtr library;
  cove_workspace* raw;
  std::shared_ptr<void> owner;
};

struct PrepareHandle {
  PrepareHandle(LibraryPtr its_library, cove_prepare* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  PrepareHandle(const PrepareHandle&) = delete;
  PrepareHandle& operator=(const PrepareHandle&) = delete;
  ~PrepareHandle() { library->cove_prepare_free(raw); }

  LibraryPtr library;
  cove_prepare* raw;
};

/// Shared by its JavaScript object, the workspace that it lends, and the calls of that.
struct StepHandle {
  StepHandle(LibraryPtr its_library, cove_step_run* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  StepHandle(const StepHandle&) = delete;
  StepHandle& operator=(const StepHandle&) = delete;
  ~StepHandle() { library->cove_step_run_free(raw); }

  LibraryPtr library;
  cove_step_run* raw;
};

struct CancelHandle {
  CancelHandle(LibraryPtr its_library, cove_cancel* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  CancelHandle(const CancelHandle&) = delete;
  CancelHandle& operator=(const CancelHandle&) = delete;
  ~CancelHandle() { library->cove_cancel_free(raw); }

  LibraryPtr library;
  cove_cancel* raw;
};

struct LinkRequestHandle {
  LinkRequestHandle(LibraryPtr its_library, cove_link_request* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  LinkRequestHandle(const LinkRequestHandle&) = delete;
  LinkRequestHandle& operator=(const LinkRequestHandle&) = delete;
  ~LinkRequestHandle() { library->cove_link_request_free(raw); }

  LibraryPtr library;
  cove_link_request* raw;
};

struct ClockState;
struct ExecRun;
struct SearchRun;
struct WatchRun;
struct DownloadRun;
struct UploadRun;

/// The tag of each kind: the second half tells them apart.
template <class T>
struct Tag;
template <>
struct Tag<CoveHandle> {
  static constexpr std::uint64_t kNumber = 1;
};
template <>
struct Tag<WorkspaceHandle> {
  static constexpr std::uint64_t kNumber = 2;
};
template <>
struct Tag<CancelHandle> {
  static constexpr std::uint64_t kNumber = 3;
};
template <>
struct Tag<LinkRequestHandle> {
  static constexpr std::uint64_t kNumber = 4;
};
template <>
struct Tag<ExecRun> {
  static constexpr std::uint64_t kNumber = 5;
};
template <>
struct Tag<SearchRun> {
  static constexpr std::uint64_t kNumber = 6;
};
template <>
struct Tag<WatchRun> {
  static constexpr std::uint64_t kNumber = 7;
};
template <>
struct Tag<DownloadRun> {
  static constexpr std::uint64_t kNumber = 8;
};
template <>
struct Tag<UploadRun> {
  static constexpr std::uint64_t kNumber = 9;
};
template <>
struct Tag<PrepareHandle> {
  static constexpr std::uint64_t kNumber = 10;
};
template <>
struct Tag<StepHandle> {
  static constexpr std::uint64_t kNumber = 11;
};
template <>
struct Tag<DoneHandle> {
  static constexpr std::uint64_t kNumber = 20;
};
template <>
struct Tag<ClockState> {
  static constexpr std::uint64_t kNumber = 21;
};

template <class T>
constexpr napi_type_tag tag_of() {
  return {0x9d1c70e6b7a84f02ULL, 0xa1f3c5d7e9b00000ULL + Tag<T>::kNumber};
}

/// What a JavaScript object holds; empty once it was let go of.
using Box = std::shared_ptr<void>;

/// Its finalizer touches no JavaScript: what it frees may be the last of its kind. Null where Node
/// refuses; an exception is pending then.
template <class T>
napi_value wrap(napi_env env, std::shared_ptr<T> value) {
  constexpr napi_type_tag kTag = tag_of<T>();
  napi_value object = nullptr;
  auto box = std::make_unique<Box>(std::move(value));
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Box*>(data); };
  if (napi_create_object(env, &object) != napi_ok ||
      napi_type_tag_object(env, object, &kTag) != napi_ok ||
      napi_wrap(env, object, box.get(), finalize, nullptr, nullptr) != napi_ok) {
    return nullptr;
  }
  (void)box.release();
  return object;
}

/// The box of an object of this kind, else null.
template <class T>
Box* box_of(napi_env env, napi_value object) {
  constexpr napi_type_tag kTag = tag_of<T>();
  napi_valuetype type = napi_undefined;
  bool is_ours = false;
  void* data = nullptr;
  if (object == nullptr || napi_typeof(env, object, &type) != napi_ok || type != napi_object ||
      napi_check_object_type_tag(env, object, &kTag, &is_ours) != napi_ok || !is_ours ||
      napi_unwrap(env, object, &data) != napi_ok) {
    return nullptr;
  }
  return static_cast<Box*>(data);
}

/// Null where the object is of another kind, or was let go of.
template <class T>
std::shared_ptr<T> unwrap(napi_env env, napi_value object) {
  const Box* const box = box_of<T>(env, object);
  return box == nullptr ? nullptr : std::static_pointer_cast<T>(*box);
}

}  // namespace cove_node
