/// A workspace that is up, with this project's own static programs in it.
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include <cove/cove.hpp>

#include "scratch.hpp"

namespace bench {

class WarmWorkspace {
 public:
  WarmWorkspace() : workspace_(scratch_.cove().acquire({"bench", "warm", "user"}).value()) {}
  ~WarmWorkspace() { workspace_.release().value(); }
  WarmWorkspace(const WarmWorkspace&) = delete;
  WarmWorkspace& operator=(const WarmWorkspace&) = delete;

  cove::SandboxClient client() { return workspace_.client(); }

  /// Puts a program of the host's into the workspace; its path in there.
  std::string put(const char* host_path, const std::string& name) {
    std::ifstream program(host_path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(program), {});
    client()
        .write_file("/workspace/" + name, std::as_bytes(std::span(bytes)), {.mode = 0755})
        .value();
    return "/workspace/" + name;
  }

 private:
  Scratch scratch_;
  cove::Workspace workspace_;
};

}  // namespace bench
