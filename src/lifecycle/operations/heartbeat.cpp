#include "lifecycle/operations/heartbeat.hpp"

#include <algorithm>
#include <utility>

#include "base/async/spawn.hpp"
#include "base/async/timing.hpp"

namespace cove::lifecycle {

struct Heartbeats {
  std::shared_ptr<Job> job;
  std::stop_source stop;
  std::shared_ptr<base::Completion<int>> ended;
};

namespace {

using namespace std::chrono_literals;

/// An archive that a user waits for is noticed this soon; it keeps the volume from being started.
constexpr std::chrono::milliseconds kWatchArchive = 250ms;

std::chrono::milliseconds turn_length(const Job& job) {
  const auto beat = job.core->settings.heartbeat;
  const auto row = row_of(job.at.record);
  const bool watched = row && is_archiving(*row);
  return watched ? std::min(beat, kWatchArchive) : beat;
}

void take_note(Job& job, std::optional<StoredRecord> found) {
  if (!is_held(found, job.id)) {
    job.lost = true;
    return;
  }
  job.at = *std::move(found);
}

/// Writes one heartbeat; where it cannot, the record is read.
Task<void> write_beat(Heartbeats& beats, const CallContext& call) {
  Job& job = *beats.job;
  RecordStore& records = job.core->records;
  const Instant sent = job.core->parts.clock.now();
  const auto now = co_await records.now(call);
  if (!now) co_return;
  auto next = beat(job.at.record, job.id, *now);
  if (!next) co_return;
  const auto swapped = co_await records.swap(job.at.version, *next, Durability::kRelaxed, call);
  if (swapped) {
    job.at = StoredRecord{*std::move(next), *swapped};
    job.beat_at = sent;
    co_return;
  }
  auto found = co_await records.load(job.at.record.sandbox_id, call);
  if (found) take_note(job, *std::move(found));
}

Task<void> look(Heartbeats& beats, const CallContext& call) {
  auto found = co_await beats.job->core->records.load(beats.job->at.record.sandbox_id, call);
  if (found) take_note(*beats.job, *std::move(found));
}

Task<void> run_beats(std::shared_ptr<Heartbeats> beats) {
  Job& job = *beats->job;
  const Core& core = *job.core;
  const auto length = turn_length(job);
  while (!job.lost) {
    const Instant when = core.parts.clock.now() + length;
    const CallContext waiting{std::nullopt, beats->stop.get_token()};
    if (!co_await base::sleep_until(core.parts.scheduler, when, waiting)) break;
    const Instant now = core.parts.clock.now();
    const CallContext call{now + core.settings.heartbeat, beats->stop.get_token()};
    if (now - job.beat_at >= core.settings.heartbeat) {
      co_await write_beat(*beats, call);
    } else {
      co_await look(*beats, call);
    }
    // Others may take it over soon, or have: what has not happened by then must not happen.
    const bool silent =
        core.parts.clock.now() - job.beat_at > core.settings.owner_dead_after * 2 / 3;
    if (job.lost || silent) job.stop.request_stop();
    if (silent) break;
  }
  beats->ended->complete(0);
}

}  // namespace

bool is_held(const std::optional<StoredRecord>& found, const OperationId& id) {
  return found && found->record.operation && found->record.operation->id == id;
}

std::shared_ptr<Heartbeats> start_heartbeats(std::shared_ptr<Job> job) {
  Scheduler& scheduler = job->core->parts.scheduler;
  auto beats = std::make_shared<Heartbeats>();
  beats->ended = base::Completion<int>::make(scheduler);
  beats->job = std::move(job);
  beats->job->core->run_beside(run_beats(beats));
  return beats;
}

Task<void> stop_heartbeats(std::shared_ptr<Heartbeats> beats) {
  beats->stop.request_stop();
  co_await beats->ended->wait();
}

}  // namespace cove::lifecycle
