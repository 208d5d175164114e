/// Core: what all handles of one Cove share.
///
/// Its parts live on the scheduler; calls come in through the gate. Closing takes the parts down
/// and leaves the Core as a shell that answers kFailedPrecondition.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "client/call_gate.hpp"
#include "prepare/pipeline/pipeline.hpp"
#include "prepare/skills/shelf.hpp"
#include "runtime/assembly/machinery.hpp"
#include "runtime/use/admission.hpp"
#include "runtime/use/prepare_gate.hpp"
#include "runtime/use/seat.hpp"

namespace cove::runtime {

class Core final : public client::CallGate, public std::enable_shared_from_this<Core> {
 public:
  static Result<std::shared_ptr<Core>> open(Config config, Parts parts);

  /// In a child of fork() everything is left alone, and leaked.
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Result<std::unique_ptr<client::CallScope>> begin(const CallContext& call) override;
  void deliver(std::function<void()> work) override;
  Scheduler& scheduler() override { return *live_->machinery->loop; }
  const Clock& clock() const override { return live_->machinery->clock; }
  bool on_scheduler() const override { return live_->machinery->loop->on_thread(); }
  void complain(std::string_view what) override;

  bool forked() const noexcept { return admission_->forked(); }

  /// Used inside an admitted call, on the scheduler.
  Machinery& parts() { return *live_->machinery; }
  LifecycleManager& lifecycle() { return *live_->machinery->lifecycle; }
  Seats& seats() { return live_->seats; }
  Lanes& lanes() { return live_->lanes; }  ///< from any thread
  prepare::Pipeline& pipeline() { return live_->pipeline; }
  const std::shared_ptr<prepare::SkillShelf>& skills() { return live_->skills; }

  /// Published skills that this process found, by their version id; see find_published.
  std::map<std::string, SkillPackage>& published() { return live_->published; }

  /// Sees to it that calls which run for long count as activity all the time. On the scheduler.
  void keep_touching();

  /// See Cove::clock_moved.
  void clock_moved();

  /// See Cove::close.
  Result<void> close(std::chrono::milliseconds timeout);

  /// The same without waiting, from any thread. kInternal: no thread could be had for it.
  Result<void> start_closing();

 private:
  /// What threads use; kept apart so that a child of fork() can leave it behind in one piece.
  struct Live {
    explicit Live(std::unique_ptr<Machinery> parts)
        : machinery(std::move(parts)),
          seats(*machinery->loop),
          prepare_gate(*machinery),
          pipeline(*machinery->loop, machinery->clock, prepare_gate),
          skills(make_shelf(*machinery)) {}

    std::unique_ptr<Machinery> machinery;
    Lanes lanes;
    Seats seats;  // on the scheduler, as the next
    StoreGate prepare_gate;
    prepare::Pipeline pipeline;  // on the scheduler, as the next
    std::shared_ptr<prepare::SkillShelf> skills;
    std::map<std::string, SkillPackage> published;
    TimerId touch_timer = TimerId::kNone;  // on the scheduler, as the next
    TimerId sweep_timer = TimerId::kNone;

    std::mutex mutex;
    std::condition_variable changed;
    bool closing = false;  // guarded by mutex, as the next two
    bool closed = false;
    std::thread closer;
  };

  static std::shared_ptr<prepare::SkillShelf> make_shelf(Machinery& machinery);
  explicit Core(std::unique_ptr<Machinery> machinery);

  bool is_closed() const;
  void start_timers();
  bool touch_busy_seats();
  void arm_sweep();
  static Task<void> sweep_once(std::shared_ptr<Core> core,
                               std::unique_ptr<client::CallScope> scope);
  static Task<int> stop_timers(Live& live);
  void take_down();

  std::shared_ptr<Admission> admission_;
  std::unique_ptr<Live> live_;
};

}  // namespace cove::runtime
