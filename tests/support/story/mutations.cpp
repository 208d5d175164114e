#include "support/story/mutations.hpp"

#include "support/story/mutant_parts.hpp"

namespace cove::testing {
namespace {

constexpr std::array<std::string_view, kMutations> kNames{"none",
                                                          "take-over-keeps-id",
                                                          "delete-before-verify",
                                                          "verify-skipped",
                                                          "restore-unsynced",
                                                          "older-snapshot",
                                                          "delete-ignores-generation",
                                                          "orphans-deleted",
                                                          "garbage-forgotten",
                                                          "tombstone-forgotten",
                                                          "restore-goes-on",
                                                          "activity-ignored",
                                                          "source-not-read",
                                                          "marker-ignored",
                                                          "half-restore",
                                                          "lost-by-guess",
                                                          "not-durable",
                                                          "relocate-deletes-first",
                                                          "garbage-elsewhere"};

struct Parts {
  Parts(Mutation mutation, const SimSeams& seams)
      : store(mutation, seams),
        provider(mutation, seams, *seams.provider),
        second(mutation, seams, *seams.second),
        snapshotter(mutation, seams) {}

  MutantStore store;
  MutantProvider provider;
  MutantProvider second;
  MutantSnapshotter snapshotter;
};

}  // namespace

std::string_view name_of(Mutation mutation) noexcept {
  return kNames.at(static_cast<std::size_t>(mutation));
}

Mutation mutation_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kMutations; ++i) {
    if (kNames.at(i) == name) return static_cast<Mutation>(i);
  }
  return Mutation::kNone;
}

void mutate(Mutation mutation, SimSeams& seams) {
  if (mutation == Mutation::kNone) return;
  const auto parts = std::make_shared<Parts>(mutation, seams);
  seams.store = &parts->store;
  seams.provider = &parts->provider;
  seams.second = &parts->second;
  seams.snapshotter = &parts->snapshotter;
  seams.owner = parts;
}

}  // namespace cove::testing
