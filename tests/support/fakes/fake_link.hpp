/// FakeLink: a client's way to a FakeGuest, without a runtime.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/io_loop.hpp"
#include "base/system/system_clock.hpp"
#include "client/guest_link.hpp"
#include "runtime/use/admission.hpp"
#include "support/fakes/fake_guest.hpp"

namespace cove::testing {

class FakeLink final : public client::GuestLink {
 public:
  base::IoLoop loop;
  base::SystemClock system_clock;
  std::shared_ptr<runtime::Admission> admission = std::make_shared<runtime::Admission>();
  std::shared_ptr<FakeGuest> fake = std::make_shared<FakeGuest>(loop);
  std::map<std::string, std::string> variables;
  int guests_asked = 0;
  std::vector<ErrorCode> errors_noted;
  std::vector<std::string> complaints;

  Result<std::unique_ptr<client::CallScope>> begin(const CallContext& call) override {
    return admission->begin(call);
  }
  void deliver(std::function<void()> work) override {
    if (admission->forked()) return work();
    loop.post(std::move(work));
  }
  Scheduler& scheduler() override { return loop; }
  const Clock& clock() const override { return system_clock; }
  bool on_scheduler() const override { return loop.on_thread(); }
  void complain(std::string_view what) override { complaints.emplace_back(what); }
  Task<Result<std::shared_ptr<Guest>>> guest(const CallContext& call) override {
    ++guests_asked;
    COVE_CO_TRY_VOID(call.check(system_clock));
    co_return std::shared_ptr<Guest>(fake);
  }
  const std::map<std::string, std::string>& environment() const override { return variables; }
  void note_answer() override {}
  void note_error(const Error& error) override { errors_noted.push_back(error.code()); }
};

}  // namespace cove::testing
