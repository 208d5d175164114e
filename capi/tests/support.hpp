/// What every case of the C ABI needs: handles that end by themselves, and counters for callbacks.
#pragma once

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "abi.hpp"
#include "fake_facade.hpp"

template <auto free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using CoveHandle = std::unique_ptr<cove_handle, FreeBy<cove_free>>;
using WorkspaceHandle = std::unique_ptr<cove_workspace, FreeBy<cove_workspace_free>>;
using ProcessHandle = std::unique_ptr<cove_process, FreeBy<cove_process_free>>;
using ErrorHandle = std::unique_ptr<cove_error, FreeBy<cove_error_free>>;
using BufferHandle = std::unique_ptr<cove_buffer, FreeBy<cove_buffer_free>>;
using ResultHandle = std::unique_ptr<cove_exec_result, FreeBy<cove_exec_result_free>>;

inline const char* const kConfig = R"({"state_dir": "/nowhere"})";
inline constexpr cove_workspace_key kAna = {sizeof(cove_workspace_key), 0, "app", "demo", "ana"};

inline CoveHandle open_cove() {
  fake::reset();
  cove_handle* cove = nullptr;
  REQUIRE(cove_open(kConfig, nullptr, &cove, nullptr) == COVE_OK);
  return CoveHandle(cove);
}

inline WorkspaceHandle acquire(const CoveHandle& cove) {
  cove_workspace* workspace = nullptr;
  REQUIRE(cove_acquire(cove.get(), &kAna, nullptr, &workspace, nullptr) == COVE_OK);
  return WorkspaceHandle(workspace);
}

/// The user_data of the callbacks under test.
struct Heard {
  int done = 0;
  int dropped = 0;
  cove_status status = COVE_OK;
  std::string text;   ///< of a buffer, or the error's message
  std::string order;  ///< 'o' output, 'd' done, 'x' drop
};

inline void note_error(Heard& heard, cove_error* error) {
  ++heard.done;
  heard.order += 'd';
  heard.status = cove_error_code(error);
  if (error != nullptr) heard.text = cove_error_message(error);
  cove_error_free(error);
}

inline void on_done(void* user_data, cove_error* error) {
  note_error(*static_cast<Heard*>(user_data), error);
}

inline void on_buffer(void* user_data, cove_buffer* buffer, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  if (buffer != nullptr) heard.text.assign(cove_buffer_data(buffer), cove_buffer_size(buffer));
  cove_buffer_free(buffer);
  note_error(heard, error);
}

inline void on_drop(void* user_data) {
  auto& heard = *static_cast<Heard*>(user_data);
  ++heard.dropped;
  heard.order += 'x';
}
