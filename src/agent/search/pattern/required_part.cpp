#include "agent/search/pattern/required_part.hpp"

#include <algorithm>
#include <utility>

#include "agent/search/pattern/byte_scan.hpp"

namespace cove::agent {
namespace {

constexpr double kSample = 100'000;
constexpr std::size_t kMostRuns = 8;      // in one set of alternatives
constexpr std::size_t kLongestRun = 256;  // more tells nothing more
constexpr std::size_t kMostRepeats = 64;

double hits_of(const ByteRun& run) {
  if (run.empty()) return kSample;
  // The best place of the run that fits a needle is what will be looked for.
  double best = kSample;
  for (std::size_t from = 0; from == 0 || from + kLongestNeedle <= run.size(); ++from) {
    double hits = kSample;
    const std::size_t end = std::min(run.size(), from + kLongestNeedle);
    for (std::size_t i = from; i < end; ++i) hits *= commonness(run[i]) / kSample;
    best = std::min(best, hits);
  }
  return best;
}

void offer(std::vector<ByteRun>& best, std::vector<ByteRun> candidate) {
  if (candidate.empty()) return;
  if (std::any_of(candidate.begin(), candidate.end(),
                  [](const auto& run) { return run.empty(); })) {
    return;
  }
  if (expected_hits(candidate) < expected_hits(best)) best = std::move(candidate);
}

void append(ByteRun& run, const ByteRun& more) { run.insert(run.end(), more.begin(), more.end()); }

}  // namespace

RequiredPart RequiredPart::of(ByteRun run) {
  RequiredPart part;
  part.prefix = run;
  part.suffix = run;
  if (!run.empty()) part.best.push_back(std::move(run));
  return part;
}

RequiredPart RequiredPart::anything() {
  RequiredPart part;
  part.exact = false;
  return part;
}

double expected_hits(const std::vector<ByteRun>& runs) {
  if (runs.empty()) return kSample;
  double sum = 0;
  for (const ByteRun& run : runs) sum += hits_of(run);
  return std::min(sum, kSample);
}

RequiredPart in_a_row(const std::vector<RequiredPart>& parts) {
  RequiredPart whole;
  ByteRun run;  // what comes for certain right before the next part
  for (const RequiredPart& part : parts) {
    append(run, part.prefix);
    if (whole.exact) append(whole.prefix, part.prefix);
    offer(whole.best, {run});
    offer(whole.best, part.best);
    if (!part.exact) {
      whole.exact = false;
      run = part.suffix;
    }
    if (run.size() > kLongestRun) {
      whole.exact = false;
      run.erase(run.begin(), run.end() - static_cast<std::ptrdiff_t>(kLongestRun));
    }
  }
  whole.suffix = std::move(run);
  return whole;
}

RequiredPart one_of(const std::vector<RequiredPart>& parts) {
  if (parts.size() == 1) return parts.front();
  RequiredPart any = RequiredPart::anything();
  const bool single_bytes = std::all_of(parts.begin(), parts.end(), [](const auto& part) {
    return part.exact && part.prefix.size() == 1;
  });
  if (single_bytes) {
    ByteClass all;
    for (const RequiredPart& part : parts) all |= part.prefix.front();
    return RequiredPart::of({all});
  }
  for (const RequiredPart& part : parts) {
    if (part.best.empty() || any.best.size() + part.best.size() > kMostRuns) {
      any.best.clear();
      break;
    }
    any.best.insert(any.best.end(), part.best.begin(), part.best.end());
  }
  return any;
}

RequiredPart repeated(const RequiredPart& part, std::size_t least, bool more) {
  if (least == 0) return RequiredPart::anything();
  const std::size_t times = std::min(least, kMostRepeats);
  RequiredPart result = in_a_row(std::vector<RequiredPart>(times, part));
  if (more || times < least) result.exact = false;
  return result;
}

}  // namespace cove::agent
