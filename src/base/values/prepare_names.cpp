#include <array>
#include <cstddef>

#include <cove/prepare.hpp>

namespace cove {
namespace {

template <class Enum, std::size_t kCount>
std::string_view name_in(const std::array<std::string_view, kCount>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value) - 1;
  return index < kCount ? names.at(index) : std::string_view("unknown");
}

}  // namespace

std::string_view name_of(PrepareStage stage) noexcept {
  static constexpr std::array<std::string_view, 8> kNames{
      "directories",    "mirrors",  "input_files", "skills",
      "builtin_skills", "app_init", "skill_init",  "capabilities"};
  return name_in(kNames, stage);
}

std::string_view name_of(StepPolicy policy) noexcept {
  static constexpr std::array<std::string_view, 2> kNames{"required", "best_effort"};
  return name_in(kNames, policy);
}

std::string_view name_of(StepOutcome outcome) noexcept {
  static constexpr std::array<std::string_view, 3> kNames{"skipped", "applied", "failed"};
  return name_in(kNames, outcome);
}

std::string_view name_of(PreparePath path) noexcept {
  static constexpr std::array<std::string_view, 3> kNames{"remembered", "unchanged", "run"};
  return name_in(kNames, path);
}

std::string_view name_of(PrepareEvent::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"waiting", "started", "progress",
                                                          "finished"};
  return name_in(kNames, kind);
}

}  // namespace cove
