// A provider of the host's: what its slots are given, and what their answers become.
#include <sys/socket.h>
#include <unistd.h>

#include "part_fixture.hpp"
#include "parts/provider.hpp"

using namespace cove;

namespace {

/// What is asked, and what is answered.
struct HostProvider {
  std::string asked;
  std::string policy;
  int socket = -1;
  std::vector<cove_instance_ref> volumes;
  std::vector<const char*> others;
  cove_offline_volume volume{};
  int closed = 0;

  static HostProvider& of(void* self) { return *static_cast<HostProvider*>(self); }

  void note(const char* slot, const cove_instance_ref* ref) {
    asked += std::string(slot) + " " + ref->deployment + "/" + ref->sandbox + "/" +
             ref->generation + "/" + std::to_string(ref->epoch) + ";";
  }
};

void answer_ok(cove_done* done) {
  CHECK(cove_done_ok(done, nullptr) == COVE_OK);
  cove_done_free(done);
}

cove_provider slots_of(HostProvider& host) {
  cove_provider slots{};
  slots.struct_size = sizeof slots;
  slots.self = &host;
  slots.name = "mine";
  slots.node = "n1";
  slots.create_volume = [](void* self, const cove_instance_ref* ref, cove_done* done) {
    HostProvider::of(self).note("create", ref);
    answer_ok(done);
  };
  slots.delete_volume = slots.stop_instance = slots.create_volume;
  slots.open_volume = [](void* self, const cove_instance_ref*, cove_done* done) {
    cove_done_volume(done, &HostProvider::of(self).volume, nullptr);
    cove_done_free(done);
  };
  slots.start_instance = [](void* self, const cove_instance_ref* ref, const char* policy,
                            cove_done* done) {
    HostProvider::of(self).note("start", ref);
    HostProvider::of(self).policy = policy;
    answer_ok(done);
  };
  slots.inspect = [](void*, const cove_instance_ref*, cove_done* done) {
    cove_done_instance(done, 1, 1, nullptr);
    cove_done_free(done);
  };
  slots.connect = [](void* self, const cove_instance_ref*, cove_done* done) {
    cove_done_socket(done, HostProvider::of(self).socket, nullptr);
    cove_done_free(done);
  };
  slots.list = [](void* self, const char*, cove_done* done) {
    HostProvider& its = HostProvider::of(self);
    cove_inventory inventory{};
    inventory.struct_size = sizeof inventory;
    inventory.volumes = its.volumes.data();
    inventory.volume_count = its.volumes.size();
    inventory.others = its.others.data();
    inventory.other_count = its.others.size();
    cove_done_inventory(done, &inventory, nullptr);
    cove_done_free(done);
  };
  return slots;
}

struct Fixture : part::Surroundings {
  Fixture() {
    const cove_provider slots = slots_of(host);
    auto given = capi::take_given(&slots, &cove_provider::destroy).value();
    capi::check_given(given->slots).value();
    provider = capi::make_host_provider(std::move(given), {"mine", "n1"}, runtime());
  }
  ~Fixture() { provider.reset(); }

  const InstanceRef instance{{DeploymentId("d"), SandboxId("s"), Generation("g")}, Epoch{3}};
  const CallContext call;
  HostProvider host;
  std::shared_ptr<Provider> provider;
};

cove_instance_ref volume_of(const char* deployment) {
  cove_instance_ref ref{};
  ref.struct_size = sizeof ref;
  ref.deployment = deployment;
  ref.sandbox = "s";
  ref.generation = "g";
  return ref;
}

}  // namespace

TEST_CASE("HostProvider: slots are told which volume and which instance", "[capi]") {
  Fixture its;
  CHECK(its.provider->name() == "mine");
  CHECK(its.provider->node() == NodeId("n1"));
  CHECK(its.provider->capabilities().offline_volume);
  CHECK_FALSE(its.provider->capabilities().limits);
  REQUIRE(its.wait(its.provider->create_volume(its.instance.volume, its.call)));
  CHECK(its.host.asked == "create d/s/g/0;");
}

TEST_CASE("HostProvider: a start is done when the agent is reached, and not before", "[capi]") {
  Fixture its;
  int ends[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  its.host.socket = ends[0];
  SandboxPolicy policy;
  policy.limits.memory_bytes = 7;
  const auto started = its.wait(its.provider->start_instance(its.instance, policy, its.call));
  CHECK(started.error().code() == ErrorCode::kUnsupported);  // LoopTools reaches none
  CHECK(its.host.asked == "start d/s/g/3;");
  CHECK(its.host.policy.find("\"memory_bytes\":7") != std::string::npos);
  CHECK(its.host.policy.find("\"network\":\"none\"") != std::string::npos);
  char byte = 0;
  CHECK(::read(ends[1], &byte, 1) == 0);  // the descriptor was Cove's, and is closed
  ::close(ends[1]);
}

TEST_CASE("HostProvider: a descriptor that is none is an internal error", "[capi]") {
  Fixture its;
  const auto guest = its.wait(its.provider->connect(its.instance, its.call));
  CHECK(guest.error().code() == ErrorCode::kInternal);
}

TEST_CASE("HostProvider: a volume is the host's until it is closed, once", "[capi]") {
  Fixture its;
  its.host.volume.struct_size = sizeof its.host.volume;
  its.host.volume.flags = COVE_VOLUME_ONE_USER;
  its.host.volume.directory = 17;
  its.host.volume.self = &its.host;
  its.host.volume.close = [](void* self) { ++HostProvider::of(self).closed; };
  its.host.volume.sync = [](void*, cove_done* done) { answer_ok(done); };
  const auto open = [&] {
    return its.wait(its.provider->open_volume(its.instance.volume, VolumeAccess::kRead, its.call));
  };
  {
    const auto volume = open().value();
    CHECK(volume->workspace() == 17);
    CHECK(volume->ids().single);
    CHECK(its.wait(volume->sync(its.call)));
    CHECK(its.host.closed == 0);
  }
  CHECK(its.host.closed == 1);
  its.host.volume.sync = nullptr;  // refused, and closed all the same
  CHECK(open().error().code() == ErrorCode::kInternal);
  CHECK(its.host.closed == 2);
}

TEST_CASE("HostProvider: what is not of the deployment is left out of its list", "[capi]") {
  Fixture its;
  its.host.volumes = {volume_of("d"), volume_of("other")};
  its.host.others = {"d", "other"};
  const auto found = its.wait(its.provider->list(DeploymentId("d"), its.call)).value();
  REQUIRE(found.volumes.size() == 1);
  CHECK(found.volumes.front() == its.instance.volume);
  CHECK(found.others == std::vector{DeploymentId("other")});
}

TEST_CASE("HostProvider: a name that records cannot have, and Cove's own, are refused", "[capi]") {
  HostProvider host;
  cove_provider slots = slots_of(host);
  for (const char* name : {"", "Mine", "1", "a b", "local"}) {
    slots.name = name;
    CHECK(capi::check_given(slots).error().code() == ErrorCode::kInvalidArgument);
  }
  slots.name = nullptr;
  CHECK(capi::check_given(slots).error().code() == ErrorCode::kInvalidArgument);
}
