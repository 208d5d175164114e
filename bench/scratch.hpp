/// A Cove in a state directory of its own below $TMPDIR or /tmp, removed at the end with everything
/// in it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <cove/cove.hpp>

namespace bench {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    const char* place = std::getenv("TMPDIR");
    std::string name = std::string(place != nullptr ? place : "/tmp") + "/cove-bench.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Scratch {
 public:
  Scratch() : cove_(open(directory_.path())) {}
  ~Scratch() {
    for (auto page = cove_.list().value(); !page.records.empty(); page = cove_.list().value()) {
      for (const auto& record : page.records) cove_.destroy(record.sandbox_id).value();
    }
    cove_.close().value();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  cove::Cove& cove() { return cove_; }

 private:
  static cove::Cove open(const std::filesystem::path& directory) {
    cove::Config config;
    config.state_dir = (directory / "state").string();
    return cove::Cove::open(config).value();
  }

  ScratchDirectory directory_;
  cove::Cove cove_;
};

}  // namespace bench
