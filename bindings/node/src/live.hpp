/// What an environment must end before it may go: its Coves.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "library.hpp"

namespace cove_node {

/// A Cove, shared by its JavaScript object and the calls that are pending.
struct CoveHandle {
  CoveHandle(LibraryPtr its_library, cove* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  CoveHandle(const CoveHandle&) = delete;
  CoveHandle& operator=(const CoveHandle&) = delete;
  ~CoveHandle() { library->cove_free(raw); }

  LibraryPtr library;
  cove* raw;
};

class Live {
 public:
  void add(const std::shared_ptr<CoveHandle>& cove);

  /// Closes every Cove and waits for that, about 15 seconds each at most. May be repeated. Commands
  /// that ignore SIGTERM take their grace time.
  void end_all() noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<CoveHandle>> coves_;
};

}  // namespace cove_node
