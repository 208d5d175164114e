#include "runtime/assembly/part_tools.hpp"

#include <utility>

#include "base/system/unique_fd.hpp"
#include "guest/agent_guest.hpp"
#include "providers/local/agent_image.hpp"

namespace cove {
namespace runtime {
namespace {

class Tools final : public PartTools {
 public:
  Tools(base::IoLoop& loop, const Clock& clock, IdSource& ids)
      : loop_(loop), clock_(clock), ids_(ids) {}

  Scheduler& scheduler() const override { return loop_; }
  const Clock& clock() const override { return clock_; }

  Task<Result<std::shared_ptr<Guest>>> reach_agent(int socket, const InstanceRef& instance,
                                                   const CallContext& call) const override {
    const VolumeRef& volume = instance.volume;
    guest::AgentIdentity identity{volume.deployment.str(), volume.sandbox.str(),
                                  volume.generation.str(), number_of(instance.epoch)};
    const guest::GuestRuntime runtime{loop_, clock_, ids_};
    return guest::connect_agent(runtime, base::UniqueFd(socket), std::move(identity), call);
  }

  bool is_connected(const Guest& guest) const override { return guest::is_connected(guest); }

 private:
  base::IoLoop& loop_;
  const Clock& clock_;
  IdSource& ids_;
};

}  // namespace

std::shared_ptr<const PartTools> make_part_tools(base::IoLoop& loop, const Clock& clock,
                                                 IdSource& ids) {
  return std::make_shared<Tools>(loop, clock, ids);
}

}  // namespace runtime

Result<void> write_agent(const std::string& path) { return local::write_library_agent(path); }

}  // namespace cove
