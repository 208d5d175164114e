// An Output whose two ends are files, and what was written to them.
#pragma once

#include <string>

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "cli/output/output.hpp"

namespace cove::cli::testing {

class CapturedOutput {
 public:
  CapturedOutput() = default;
  const Output& output() const { return output_; }
  std::string out() const { return text_of(*out_); }
  std::string err() const { return text_of(*err_); }

 private:
  static base::UniqueFd file() {
    base::UniqueFd fd(::memfd_create("output", MFD_CLOEXEC));
    REQUIRE(fd);
    return fd;
  }
  static std::string text_of(int fd) {
    std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    REQUIRE(::pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }

  base::UniqueFd out_ = file();
  base::UniqueFd err_ = file();
  Output output_{*out_, *err_};
};

}  // namespace cove::cli::testing
