// Catch2's main, compiled once for all test binaries, and what they say when they could run
// nothing.
#define CATCH_CONFIG_RUNNER
#include <set>

#include <catch2/catch.hpp>

#include "skip.hpp"

namespace {

struct Counts {
  std::set<std::string> said;  // names of cases that said they are skipped
  std::size_t ran = 0;
  std::size_t skipped = 0;
};

Counts& counts() {
  static Counts all;
  return all;
}

class SkipListener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ++counts().ran;
    if (stats.totals.assertions.failed > 0) return;
    counts().skipped += counts().said.count(stats.testInfo.name);
  }
};

CATCH_REGISTER_LISTENER(SkipListener)

}  // namespace

namespace cove::test {

void skip(const std::string& reason) {
  counts().said.insert(Catch::getResultCapture().getCurrentTestName());
  WARN("[skipped] " << reason);
}

void skip_part(const std::string& reason) { WARN("[part skipped] " << reason); }

}  // namespace cove::test

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  // Catch2 ends with the number of failures, which is not to be taken for the status of a skip.
  if (failed == cove::test::kSkippedStatus) return failed + 1;
  const bool only_skipped = counts().ran > 0 && counts().skipped == counts().ran;
  return failed == 0 && only_skipped ? cove::test::kSkippedStatus : failed;
}
