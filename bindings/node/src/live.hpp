/// What an environment must end before it may go: its Coves.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
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

/// A question to a part of JavaScript's; freed where it goes unanswered.
struct DoneHandle {
  DoneHandle(LibraryPtr its_library, cove_done* its_raw) noexcept
      : library(std::move(its_library)), raw(its_raw) {}
  DoneHandle(const DoneHandle&) = delete;
  DoneHandle& operator=(const DoneHandle&) = delete;
  ~DoneHandle() { library->cove_done_free(raw); }

  LibraryPtr library;
  cove_done* raw;
};

/// Any thread.
class Live {
 public:
  void add(const std::shared_ptr<CoveHandle>& cove);

  /// A question that JavaScript is about to be asked. False once end_all() began: JavaScript may
  /// not run again, and nobody would answer.
  bool add(const std::shared_ptr<DoneHandle>& question);

  /// Lets go of every question, then closes every Cove and waits for that, about 15 seconds each
  /// at most. May be repeated. Commands that ignore SIGTERM take their grace time.
  void end_all() noexcept;

 private:
  static constexpr std::size_t kFewQuestions = 64;

  std::mutex mutex_;
  std::vector<std::weak_ptr<CoveHandle>> coves_;  // guarded by mutex_, as the next three
  std::vector<std::weak_ptr<DoneHandle>> questions_;
  std::size_t prune_at_ = kFewQuestions;  // so many questions_, the forgotten ones too
  bool ended_ = false;
};

}  // namespace cove_node
