#include "runtime/doctor.hpp"

#include <catch2/catch.hpp>

#include "support/fakes/fake_cove.hpp"

using cove::Finding;
using cove::runtime::room_finding;
using cove::runtime::service_of;

TEST_CASE("doctor: finds the systemd service that would end the sandboxes", "[unit][runtime]") {
  CHECK(service_of("0::/system.slice/myapp.service\n") == "myapp.service");
  CHECK(service_of("0::/system.slice/myapp.service/sub\n") == "myapp.service");
  CHECK(service_of("12:pids:/x\n1:name=systemd:/system.slice/myapp.service\n0::/\n") ==
        "myapp.service");
  CHECK(service_of("0::/user.slice/user-1000.slice/user@1000.service/app.slice/bot.service\n") ==
        "bot.service");
  CHECK_FALSE(service_of("0::/user.slice/user@1000.service/app.slice/vte-1.scope\n"));
  CHECK_FALSE(service_of("0::/user.slice/user-0.slice/session-1.scope\n"));
  CHECK_FALSE(service_of("3:pids:/system.slice/myapp.service\n0::/\n"));
  CHECK_FALSE(service_of("0::/a.services/b\n"));
  CHECK_FALSE(service_of(""));
}

TEST_CASE("doctor: says when the disk gets full", "[unit][runtime]") {
  constexpr std::uint64_t kGiB = 1ULL << 30;
  CHECK(room_finding(50 * kGiB, 100 * kGiB).level == Finding::Level::kGood);
  CHECK(room_finding(50 * kGiB, 100 * kGiB).remedy.empty());
  CHECK(room_finding(4 * kGiB, 100 * kGiB).level == Finding::Level::kLimited);
  CHECK(room_finding(1 * kGiB, 2 * kGiB).level == Finding::Level::kLimited);
  const auto full = room_finding(50ULL << 20, 100 * kGiB);
  CHECK(full.level == Finding::Level::kBroken);
  CHECK(full.detail == "50 MiB of 100 GiB are free");
  CHECK_FALSE(full.remedy.empty());
}

TEST_CASE("doctor: says when too few descriptors may be open", "[unit][runtime]") {
  CHECK(cove::runtime::descriptors_finding(1024).level == Finding::Level::kGood);
  const auto few = cove::runtime::descriptors_finding(200);
  CHECK(few.level == Finding::Level::kLimited);
  CHECK(few.detail.find("only 200 open") != std::string::npos);
  CHECK(few.remedy.find("ulimit -n") != std::string::npos);
}

TEST_CASE("doctor: looks at the state directory, its disk and the service manager",
          "[unit][runtime]") {
  cove::testing::FakeCove fake;
  const auto cove = fake.open();
  std::vector<std::string> subjects;
  for (const auto& finding : cove.doctor()) subjects.push_back(finding.subject);
  for (const char* subject : {"state directory", "disk space", "descriptors", "service manager"}) {
    CHECK(std::count(subjects.begin(), subjects.end(), subject) == 1);
  }
}
