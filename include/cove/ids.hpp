/// Strong ids: names that cannot be mistaken for one another.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace cove {

/// A text of its own type. Default-constructed it is empty, which means "none".
template <class Tag>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(std::string text) : text_(std::move(text)) {}

  /// The text itself.
  const std::string& str() const noexcept { return text_; }
  /// Whether it is "none".
  bool empty() const noexcept { return text_.empty(); }
  friend auto operator<=>(const StrongId&, const StrongId&) = default;

 private:
  std::string text_;
};

using SandboxId = StrongId<struct SandboxIdTag>;        ///< see sandbox_id_of in workspace_key.hpp
using DeploymentId = StrongId<struct DeploymentIdTag>;  ///< 32 hex, made at the store's first open
using Generation =
    StrongId<struct GenerationTag>;  ///< 32 hex, random, names one volume, never reused
using Incarnation =
    StrongId<struct IncarnationTag>;  ///< 32 hex, random, made at provision from absent
using OperationId =
    StrongId<struct OperationIdTag>;          ///< 32 hex, random, one per claim or take-over
using OwnerId = StrongId<struct OwnerIdTag>;  ///< `<node>/<32 hex>`: one running Cove
using NodeId =
    StrongId<struct NodeIdTag>;  ///< where a volume can be reached from; empty = everywhere
using ObjectKey = StrongId<struct ObjectKeyTag>;  ///< a name in the object store

/// Counts the starts of one sandbox's instance; only grows. 0 = never started.
enum class Epoch : std::uint64_t {};

/// The epoch of the next start.
constexpr Epoch next(Epoch epoch) noexcept {
  return static_cast<Epoch>(static_cast<std::uint64_t>(epoch) + 1);
}
/// The number as records and wire have it.
constexpr std::uint64_t number_of(Epoch epoch) noexcept {
  return static_cast<std::uint64_t>(epoch);
}

}  // namespace cove

template <class Tag>
struct std::hash<cove::StrongId<Tag>> {
  std::size_t operator()(const cove::StrongId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
