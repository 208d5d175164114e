// Claim: a skill package of 50 MB is ready in a workspace (checked, unpacked, hashed, in its place)
// in at most 1.5x the time that bsdtar takes to unpack it.
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <cove/cove.hpp>

#include "measure.hpp"
#include "peers.hpp"
#include "scratch.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 500;
constexpr std::size_t kFileBytes = 100'000;

/// Half of it text, which packs well, half of it noise, which does not.
void write_skill(const fs::path& folder) {
  fs::create_directories(folder / "data");
  std::ofstream(folder / "SKILL.md")
      << "---\nname: figures\ndescription: What a large skill holds.\n---\n\n# Figures\n";
  std::mt19937 random(7);
  for (int i = 0; i < kFiles; ++i) {
    std::string bytes(kFileBytes, '\0');
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const auto number = random();
      bytes[at] = i % 2 == 0 ? "etaoin shrdlu\n"[number % 14] : static_cast<char>(number >> 8U);
    }
    std::ofstream(folder / "data" / std::to_string(i), std::ios::binary) << bytes;
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Scratch scratch;
  bench::ScratchDirectory directory;
  const fs::path package = directory.path() / "figures.tar.gz";
  write_skill(directory.path() / "figures");
  // GNU tar is on every machine; what unpacks is what is compared.
  if (!bench::shell("tar -C '" + directory.path().string() + "' -czf '" + package.string() +
                    "' figures")) {
    return 1;
  }
  const cove::WorkspaceKey key{"bench", "skills", "user"};
  auto held = scratch.cove().acquire(key, {.chat_id = "c1"}).value();
  int version = 0;
  // Both read the package from the same file.
  const auto acquire = [&] {
    cove::AcquireOptions options;
    options.chat_id = "c1";
    options.prepare.skills = {{.version_id = "figures-" + std::to_string(++version),
                               .content = cove::HostPath{package.string()},
                               .sha256 = {}}};
    return scratch.cove().acquire(key, options).has_value();
  };
  int unpacked = 0;
  const auto unpack = [&] {
    const std::string place = (directory.path() / std::to_string(++unpacked)).string();
    return bench::shell("mkdir '" + place + "' && bsdtar -xf '" + package.string() + "' -C '" +
                        place + "'");
  };
  std::vector<bench::Way> ways{{"skill to ready", bench::timed(acquire), true}};
  if (bench::shell("command -v bsdtar")) ways.push_back({"bsdtar", bench::timed(unpack), true});
  const auto measured =
      bench::measure("a skill of 50 MB", ways, {{.against = "bsdtar", .at_most = 1.5}}, 10, 1);
  held.release().value();
  return bench::exit_status(measured, argc, argv);
}
