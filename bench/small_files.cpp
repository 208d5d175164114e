// Claim: reading and writing a file of 4 KiB through SandboxClient takes at most 1.5x of a bare
// round trip over a Unix socket to a process that makes the same system calls for the same bytes.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include <cove/cove.hpp>

#include "bare_files.hpp"
#include "measure.hpp"
#include "warm.hpp"

namespace {

bench::Measured compare(const std::string& title, const std::function<bool()>& ours,
                        const std::function<bool()>& bare) {
  return bench::measure(title, {{"cove", bench::timed(ours)}, {"bare socket", bench::timed(bare)}},
                        {{.against = "bare socket", .at_most = 1.5}}, 2000, 50);
}

}  // namespace

int main(int argc, char** argv) {
  const char* place = std::getenv("TMPDIR");
  const std::filesystem::path directory = std::filesystem::path(place != nullptr ? place : "/tmp") /
                                          ("cove-bench-bare." + std::to_string(::getpid()));
  std::optional<bench::BareFiles> bare(std::in_place, directory);
  bench::Page page{};
  page.fill('x');
  bench::Measured measured;
  {
    bench::WarmWorkspace warm;
    const cove::SandboxClient client = warm.client();
    const auto bytes = std::as_bytes(std::span(page));
    measured = compare(
        "replace a file of 4 KiB", [&] { return client.write_file("note", bytes).has_value(); },
        [&] { return bare->write(page); });
    const auto read = [&] {
      const auto content = client.read_file("note");
      return content && content->size() == page.size() &&
             std::memcmp(content->data(), page.data(), page.size()) == 0;
    };
    bench::Page seen{};
    bench::add(measured, compare("read a file of 4 KiB", read,
                                 [&] { return bare->read(seen) && seen == page; }));
  }
  bare.reset();
  std::filesystem::remove_all(directory);
  return bench::exit_status(measured, argc, argv);
}
