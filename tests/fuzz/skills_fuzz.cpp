// Feeds bytes to what reads packages of skills: archives, front matter, and the files that tell
// what is there. The first byte says which.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "prepare/skills/library.hpp"
#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/place/tree_comparison.hpp"
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

/// What lies in a sandbox is compared with a package that has one of each kind.
void compare_tree(std::string_view text) {
  static const prepare::Package kPackage = [] {
    prepare::PackageBuilder builder("package", {});
    (void)builder.begin("d", prepare::PackageEntryType::kDirectory);
    (void)builder.begin("f", prepare::PackageEntryType::kFile);
    (void)builder.append(std::as_bytes(std::span("content", 7)));
    (void)builder.begin("l", prepare::PackageEntryType::kSymlink);
    builder.set_target("f");
    return builder.finish().value();
  }();
  static const prepare::Package kOutline = kPackage.outline();
  for (const prepare::Package* const expected : {&kPackage, &kOutline}) {
    prepare::TreeComparison comparison(*expected);
    if (!comparison.feed(std::as_bytes(std::span(text)))) continue;
    (void)comparison.finish();
  }
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
  switch (data[0] % 4) {
    case 0: read_package(text); break;
    case 1: (void)prepare::read_front_matter("SKILL.md", text); break;
    case 2: read_texts(text); break;
    default: compare_tree(text); break;
  }
  return 0;
}
