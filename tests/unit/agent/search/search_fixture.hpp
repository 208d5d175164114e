// A tree of files, and the agent's search run on it in this process.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "agent/search/find_search.hpp"
#include "agent/search/grep_search.hpp"
#include "base/system/unique_fd.hpp"
#include "support/trees/scratch_directory.hpp"
#include "wire/search_batch.hpp"

namespace cove::agent::testing {

namespace fs = std::filesystem;

/// What a search tells, waited for by the test.
class SearchListener {
 public:
  SearchEvents events() {
    return {[this] { note(outputs_); }, [this] { note(dones_); }};
  }
  /// Waits until output may be there.
  void wait_output() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return outputs_ > 0 || dones_ > 0; });
    outputs_ = 0;
  }
  void wait_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return dones_ > 0; });
  }

 private:
  void note(int& count) {
    const std::lock_guard lock(mutex_);
    ++count;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int outputs_ = 0;
  int dones_ = 0;
};

class SearchFixture {
 public:
  SearchFixture()
      : files_(open_directory(scratch_.path()), "/workspace",
               {open_directory(home_.path()), "/home/sandbox"}),
        ground_{files_, budget_, 4} {}

  fs::path at(const std::string& name) const { return fs::path(scratch_.path()) / name; }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name), std::ios::binary) << text;
  }

  /// The same below the user's home.
  void put_home(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(home_ / name).parent_path());
    std::ofstream(home_ / name, std::ios::binary) << text;
  }

  std::string etag(const std::string& name) const { return files_.stat({"", name}).value().etag; }

  SearchGround& ground() { return ground_; }
  void set_threads(unsigned threads) { ground_.most_threads = threads; }

  Result<GrepResult> grep(GrepQuery query, const std::string& path = ".") {
    SearchListener listener;
    GrepSearch search(ground_, GuestPath{"", path}, std::move(query), listener.events());
    GrepResult result;
    COVE_TRY(result.summary, drain(search, listener, [&](ByteView bytes) {
               auto lines = wire::unpack_lines(bytes).value();
               std::move(lines.begin(), lines.end(), std::back_inserter(result.lines));
             }));
    return result;
  }

  Result<FindResult> find(FindQuery query, const std::string& path = ".") {
    SearchListener listener;
    FindSearch search(ground_, GuestPath{"", path}, std::move(query), listener.events());
    FindResult result;
    COVE_TRY(result.summary, drain(search, listener, [&](ByteView bytes) {
               auto entries = wire::unpack_entries(bytes).value();
               std::move(entries.begin(), entries.end(), std::back_inserter(result.entries));
             }));
    return result;
  }

  /// "path:line" of every match and "path-line" of every context line.
  std::vector<std::string> places(const GrepQuery& query, const std::string& path = ".") {
    std::vector<std::string> places;
    for (const auto& line : grep(query, path).value().lines) {
      places.push_back(line.path + (line.is_context ? "-" : ":") + std::to_string(line.line));
    }
    return places;
  }

  /// The paths of the files that have `pattern`.
  std::vector<std::string> files(GrepQuery query, const std::string& path = ".") {
    query.limit.reset();
    std::vector<std::string> files;
    for (const auto& line : grep(std::move(query), path).value().lines) {
      if (files.empty() || files.back() != line.path) files.push_back(line.path);
    }
    return files;
  }

  std::vector<std::string> paths(const FindQuery& query, const std::string& path = ".") {
    std::vector<std::string> paths;
    for (const auto& entry : find(query, path).value().entries) paths.push_back(entry.path);
    return paths;
  }

  template <class Take>
  static Result<SearchSummary> drain(Search& search, SearchListener& listener, Take take) {
    REQUIRE(search.start());
    for (;;) {
      listener.wait_output();
      while (const auto bytes = search.next_output(256 * 1024)) take(*bytes);
      if (const auto ending = search.ending()) return *ending;
    }
  }

 private:
  static base::UniqueFd open_directory(const std::string& path) {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  cove::testing::ScratchDirectory scratch_;
  cove::testing::ScratchDirectory home_;
  Files files_;
  ThreadBudget budget_{8};
  SearchGround ground_;
};

using Names = std::vector<std::string>;

}  // namespace cove::agent::testing
