// Feeds bytes to what reads packages of skills: archives, front matter, and the files that tell
// what is there. The first byte says which.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "prepare/skills/library.hpp"
#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/place/usage.hpp"
#include "prepare/skills/text/front_matter.hpp"
#include "prepare/skills/text/packaged_skills.hpp"

namespace {

using namespace cove;

/// What is taken has no name that leads out, and nothing twice.
void check(const prepare::Package& package) {
  std::string last;
  for (const auto& entry : package.entries) {
    const std::string between = "/" + entry.path + "/";
    const bool bad = entry.path.empty() || entry.path.front() == '/' || entry.path <= last ||
                     between.find("/../") != std::string::npos ||
                     between.find("/./") != std::string::npos ||
                     between.find("//") != std::string::npos;
    if (bad) std::abort();
    last = entry.path;
  }
  if (!prepare::difference(package, package.outline()).empty()) std::abort();
}

void read_package(std::string_view text) {
  prepare::PackageLimits limits;
  limits.content_bytes = 1U << 20U;
  limits.entries = 200;
  const auto bytes = std::as_bytes(std::span(text));
  const auto package = prepare::read_package("package", bytes, limits);
  if (!package) return;
  check(*package);
  (void)prepare::skills_of("package", *package);
}

void read_texts(std::string_view text) {
  const auto usage = prepare::SkillUsage::parse(text);
  if (prepare::SkillUsage::parse(usage.text()) != usage) std::abort();
  (void)prepare::parse_info("v1", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // SAFETY: bytes seen as characters.
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: read_package(text); break;
    case 1: (void)prepare::read_front_matter("SKILL.md", text); break;
    default: read_texts(text); break;
  }
  return 0;
}
