// Skills in a real agent's workspace: placed, compared, replaced, collected; builtin ones kept up
// to date; and the index of all.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include <catch2/catch.hpp>

#include "base/async/byte_sources.hpp"
#include "base/async/worker_pool.hpp"
#include "objects/memory/memory_objects.hpp"
#include "prepare/skills/index.hpp"
#include "prepare/skills/library.hpp"
#include "prepare/skills/place/builtin_sync.hpp"
#include "prepare/skills/place/placement.hpp"
#include "support/fixtures/agent_fixture.hpp"
#include "support/trees/packed_package.hpp"
#include "support/trees/scratch_directory.hpp"

using namespace cove;
using namespace cove::prepare;
using namespace std::chrono_literals;
using cove::test::AgentFixture;
using cove::test::pack;
using cove::test::pack_skill;
using cove::test::Packing;
using cove::test::skill_text;
namespace fs = std::filesystem;

namespace {

constexpr const char* kInstance = "app-1/g/1";

class Skills {
 public:
  Result<PlacementReport> place(std::vector<SkillPackage> skills, std::int64_t now = 1000,
                                const std::string& instance = kInstance) {
    const PlacementRequest request{.shelf = shelf,
                                   .guest = *fixture.guest,
                                   .skills = skills,
                                   .instance = instance,
                                   .now = WallTime(std::chrono::seconds(now)),
                                   .grace = 100s,
                                   .is_in_use = is_in_use,
                                   .is_shared = is_shared,
                                   .tell = {}};
    return fixture.wait(place_skills(request, call));
  }

  SkillIndex index(SkillInputs inputs, const std::string& instance = kInstance) {
    const std::string home = fixture.agent.home();
    return fixture.wait(index_skills(shelf, *fixture.guest, instance, inputs, home, call)).value();
  }

  BuiltinReport sync(const BuiltinSkill& skill) {
    return fixture.wait(sync_builtin(shelf, *fixture.guest, skill, call)).value();
  }

  fs::path path(const std::string& below) const {
    return fs::path(fixture.agent.workspace()) / "skills" / below;
  }
  fs::path builtin(const std::string& below) const {
    return fs::path(fixture.agent.home()) / ".cove/builtin" / below;
  }

  const CallContext call;
  std::function<bool(const std::string&)> is_in_use;
  std::function<Task<Result<bool>>(const CallContext&)> is_shared;
  AgentFixture fixture;
  base::WorkerPool pool{2};
  std::unique_ptr<ObjectStore> objects = objects::make_memory_objects();
  SkillShelf shelf{SkillShelf::Parts{.objects = objects.get(),
                                     .executor = pool,
                                     .scheduler = fixture.loop,
                                     .clock = fixture.clock,
                                     .ids = fixture.ids}};
};

SkillPackage skill(const std::string& version, const std::string& name = "demo") {
  SkillPackage package;
  package.version_id = version;
  package.content = pack_skill(name);
  return package;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

}  // namespace

TEST_CASE("Skills: versions lie side by side, whole, with their modes",
          "[integration][prepare][skills]") {
  Skills skills;
  const auto report = skills.place({skill("v1", "one"), skill("v2", "two")}).value();
  CHECK(report.placed == std::vector<std::string>{"v1", "v2"});
  CHECK(names_in(skills.path("")) == std::set<std::string>{".cove-used.json", "v1", "v2"});
  CHECK(text_of(skills.path("v1/SKILL.md")) == skill_text("one", "does things"));
  CHECK(skills.fixture.shell("skills/v2/scripts/run.sh").value().out.head == "two\n");
  CHECK(skills.place({skill("v1", "one")}).value().placed.empty());
}

TEST_CASE("Skills: a version that is there is never written to", "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("v1")}));
  const auto before = fs::last_write_time(skills.path("v1/SKILL.md"));
  put(skills.path("v1/scripts/__pycache__/x.pyc"), "cache");
  // Another process, which has verified nothing.
  const auto report = skills.place({skill("v1")}, 1000, "app-1/g/2").value();
  CHECK(report.placed.empty());
  CHECK(report.replaced.empty());
  CHECK(fs::last_write_time(skills.path("v1/SKILL.md")) == before);
  CHECK(fs::exists(skills.path("v1/scripts/__pycache__/x.pyc")));
}

TEST_CASE("Skills: what somebody inside changed is moved aside and placed again",
          "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("v1")}));
  put(skills.path("v1/SKILL.md"), "---\nname: evil\ndescription: x\n---\n");
  const SkillInputs inputs{{skill("v1")}, {}};
  const SkillIndex spoilt = skills.index(inputs, "app-1/g/2");
  CHECK(spoilt.skills.empty());
  REQUIRE(spoilt.problems.size() == 1);
  CHECK_THAT(spoilt.problems[0], Catch::Contains("'SKILL.md' has another content"));

  const auto report = skills.place({skill("v1")}, 1000, "app-1/g/2").value();
  CHECK(report.replaced == std::vector<std::string>{"v1"});
  CHECK(text_of(skills.path("v1/SKILL.md")) == skill_text("demo", "does things"));
  const auto names = names_in(skills.path(""));
  CHECK(std::any_of(names.begin(), names.end(),
                    [](const auto& name) { return name.starts_with(".changed-v1-"); }));
  CHECK(skills.index(inputs, "app-1/g/2").skills.size() == 1);
}

TEST_CASE("Skills: a version that somebody inside closed or replaced keeps nobody out",
          "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("v1"), skill("v2")}));
  fs::remove_all(skills.path("v1"));
  put(skills.path("v1"), "a file");
  fs::remove_all(skills.path("v2"));
  fs::create_symlink("/etc", skills.path("v2"));
  const auto report = skills.place({skill("v1"), skill("v2")}, 1000, "app-1/g/2").value();
  CHECK(report.replaced == std::vector<std::string>{"v1", "v2"});
  CHECK(text_of(skills.path("v1/SKILL.md")) == skill_text("demo", "does things"));
  CHECK(fs::is_directory(fs::symlink_status(skills.path("v2"))));
}

TEST_CASE("Skills: what lies beside a package may be of any size",
          "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("v1")}));
  put(skills.path("v1/node_modules/large"), std::string(8 << 20, 'x'));
  fs::create_symlink("/usr/bin/python3", skills.path("v1/python"));
  const SkillInputs inputs{{skill("v1")}, {}};
  CHECK(skills.index(inputs, "app-1/g/2").problems.empty());
  put(skills.path("v1/scripts/run.sh"), "#!/bin/sh\necho owned\n");
  CHECK_THAT(skills.index(inputs, "app-1/g/3").problems.at(0),
             Catch::Contains("'scripts/run.sh' has another content"));
  fs::remove(skills.path("v1/scripts/run.sh"));
  CHECK_THAT(skills.index(inputs, "app-1/g/4").problems.at(0),
             Catch::Contains("'scripts/run.sh' is missing"));
}

TEST_CASE("Skills: a package that is refused leaves nothing behind",
          "[integration][prepare][skills]") {
  Skills skills;
  SkillPackage bad = skill("bad");
  bad.content = pack(Packing::kZip, {{"SKILL.md", "no front matter"}, {"x", "y"}});
  const auto report = skills.place({skill("good"), bad});
  REQUIRE_FALSE(report);
  CHECK(report.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(report.error().describe(), Catch::Contains("SKILL.md of skill 'bad':1:"));
  CHECK(names_in(skills.path("")) == std::set<std::string>{"good"});
  SkillPackage other = skill("v1");
  other.sha256 = std::string(64, '0');
  CHECK(skills.place({other}).error().code() == ErrorCode::kIntegrity);
}

TEST_CASE("Skills: a package that comes as bytes learns its sha256, and is not hashed again for it",
          "[integration][prepare][skills]") {
  Skills skills;
  SkillPackage package = skill("v1");
  const auto loaded = skills.fixture.wait(skills.shelf.load(package, skills.call)).value();
  CHECK(package.sha256 == loaded.known->sha256);
  CHECK(skills.fixture.wait(skills.shelf.know(package, skills.call)).value() == loaded.known);
  // As bytes of which nothing is known yet it is found again by what they are.
  SkillPackage again = skill("v1");
  CHECK(skills.fixture.wait(skills.shelf.know(again, skills.call)).value() == loaded.known);
  CHECK(again.sha256 == package.sha256);
  // What it learnt is asked of it from then on.
  package.content = pack_skill("another");
  CHECK(skills.fixture.wait(skills.shelf.load(package, skills.call)).error().code() ==
        ErrorCode::kIntegrity);
}

TEST_CASE("Skills: a large package is unpacked and hashed side by side, and is what it was",
          "[integration][prepare][skills]") {
  Skills skills;
  std::vector<test::PackedFile> files{{"SKILL.md", skill_text("large", "much")}};
  for (std::size_t i = 0; i < 12; ++i) {
    files.push_back({"data/" + std::to_string(i), std::string(1'500'000 + i, "abcdefghijkl"[i])});
  }
  SkillPackage package;
  package.version_id = "large";
  package.content = pack(Packing::kTar, files);
  const ByteView bytes = std::get<Bytes>(package.content);
  const auto told = inspect_skill_package("large", bytes).value();
  const auto loaded = skills.fixture.wait(skills.shelf.load(package, skills.call)).value();
  CHECK(info_of("large", *loaded.known) == told);
  REQUIRE(skills.place({package}));
  CHECK(text_of(skills.path("large/data/11")) == files[12].content);
  // What is not there as often as the package says it is compared file by file.
  fs::remove(skills.path("large/data/3"));
  fs::create_hard_link(skills.path("large/data/2"), skills.path("large/data/3"));
  CHECK_THAT(skills.index(SkillInputs{{package}, {}}, "app-1/g/2").problems.at(0),
             Catch::Contains("'data/3' has another content"));
}

TEST_CASE("Skills: versions that nobody uses go after the grace time, the user's own never",
          "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("old"), skill("held"), skill("new")}, 1000));
  put(skills.path("mine/SKILL.md"), "my own");
  put(skills.path(".tmp-dead-1/x"), "left by a crash");
  skills.is_in_use = [](const std::string& version) { return version == "held"; };
  CHECK(skills.place({skill("new")}, 1050).value().collected.empty());
  const auto report = skills.place({skill("new")}, 1200).value();
  CHECK(report.collected == std::vector<std::string>{"old"});
  const auto names = names_in(skills.path(""));
  CHECK(names.contains("mine"));
  CHECK(names.contains("held"));
  CHECK(names.contains("new"));
  CHECK_FALSE(names.contains("old"));
  // A temporary directory goes once it is an hour old by the clock that it was made with.
  const auto later = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch()) +
                     2h;
  REQUIRE(skills.place({skill("new")}, later.count()));
  CHECK_FALSE(names_in(skills.path("")).contains(".tmp-dead-1"));
  CHECK(names_in(skills.path("")).contains("mine"));
}

TEST_CASE("Skills: while another process uses the workspace nothing is collected",
          "[integration][prepare][skills]") {
  Skills skills;
  REQUIRE(skills.place({skill("old"), skill("new")}, 1000));
  Result<bool> answer = true;
  int asked = 0;
  skills.is_shared = [&](const CallContext&) -> Task<Result<bool>> {
    ++asked;
    co_return answer;
  };
  REQUIRE(skills.place({skill("new")}, 1050));
  CHECK(asked == 0);  // nothing is due: the store is left alone
  CHECK(skills.place({skill("new")}, 1200).value().collected.empty());
  CHECK(asked == 1);
  // Nor where that cannot be told; and what was kept is not forgotten.
  answer = Error(ErrorCode::kUnavailable, "the store is away");
  CHECK(skills.place({skill("new")}, 1210).value().collected.empty());
  CHECK(names_in(skills.path("")).contains("old"));
  answer = false;
  CHECK(skills.place({skill("new")}, 1220).value().collected == std::vector<std::string>{"old"});
  CHECK_FALSE(names_in(skills.path("")).contains("old"));
}

TEST_CASE("Skills: 445 files are placed as one stream", "[integration][prepare][skills][pain-89]") {
  Skills skills;
  std::vector<test::PackedFile> files{{"SKILL.md", skill_text("many", "files")}};
  for (int i = 0; i < 444; ++i) {
    files.push_back({"assets/" + std::to_string(i) + ".txt", "file " + std::to_string(i)});
  }
  SkillPackage package;
  package.version_id = "many";
  package.content = pack(Packing::kTarZst, files);
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(skills.place({package}));
  // One by one took 275 s where that was done over a network; here it is some 10 ms.
  CHECK(std::chrono::steady_clock::now() - began < 10s);
  CHECK(text_of(skills.path("many/assets/443.txt")) == "file 443");
}

TEST_CASE("Skills: builtin ones are made what they should be, file by file",
          "[integration][prepare][skills]") {
  Skills skills;
  cove::testing::ScratchDirectory scratch;
  const fs::path top = scratch / "pdf";
  put(top / "SKILL.md", skill_text("pdf", "reads PDF"));
  put(top / "a/one", "1");
  put(top / "a/two", "2");
  const BuiltinSkill builtin{"pdf", HostPath{top.string()}};
  CHECK(skills.sync(builtin).written == 4);
  const auto untouched = fs::last_write_time(skills.builtin("pdf/a/one"));
  CHECK(skills.sync(builtin).written == 0);

  // A new release: one file changed, one gone, one a directory by now.
  SkillShelf fresh{skills.shelf.parts()};
  put(top / "a/two", "2.1");
  put(top / "b/three", "3");
  const auto changed =
      skills.fixture.wait(sync_builtin(fresh, *skills.fixture.guest, builtin, skills.call)).value();
  CHECK(changed.written == 3);  // two, b, three
  CHECK(text_of(skills.builtin("pdf/a/two")) == "2.1");
  CHECK(fs::last_write_time(skills.builtin("pdf/a/one")) == untouched);
  fs::remove_all(top / "b");
  put(top / "b", "a file now");
  SkillShelf newer{skills.shelf.parts()};
  const auto turned =
      skills.fixture.wait(sync_builtin(newer, *skills.fixture.guest, builtin, skills.call)).value();
  CHECK(turned.removed == 1);
  CHECK(text_of(skills.builtin("pdf/b")) == "a file now");
  // Never in the workspace.
  CHECK(names_in(skills.fixture.agent.workspace()).empty());

  REQUIRE(skills.fixture.wait(remove_builtin(*skills.fixture.guest, "pdf", skills.call)));
  CHECK_FALSE(fs::exists(skills.builtin("pdf")));
  REQUIRE(skills.fixture.wait(remove_builtin(*skills.fixture.guest, "pdf", skills.call)));
}

TEST_CASE("Skills: the index names published and builtin ones where they lie",
          "[integration][prepare][skills]") {
  Skills skills;
  SkillInputs inputs;
  inputs.published = {skill("v1", "one")};
  inputs.builtin = {{"pdf", pack(Packing::kTar, {{"pdf/SKILL.md", skill_text("pdf", "reads")}})}};
  REQUIRE(skills.place(inputs.published));
  skills.sync(inputs.builtin[0]);
  const SkillIndex index = skills.index(inputs);
  CHECK(index.problems.empty());
  REQUIRE(index.skills.size() == 2);
  CHECK(index.skills[0] == SkillInfo{"one", "does things", "/workspace/skills/v1/SKILL.md", "v1"});
  CHECK(index.skills[1] ==
        SkillInfo{"pdf", "reads", skills.builtin("pdf/pdf/SKILL.md").string(), ""});
  // Asked again nobody looks: the files are gone and it does not matter until the next instance.
  fs::remove_all(skills.path("v1"));
  CHECK(skills.index(inputs).skills.size() == 2);
  CHECK_THAT(skills.index(inputs, "app-1/g/2").problems.at(0), Catch::Contains("it is missing"));
}

TEST_CASE("Skills: the library keeps a version for ever, and knows it again",
          "[integration][prepare][skills]") {
  Skills skills;
  SkillLibrary library(skills.shelf, DeploymentId("d"));
  const auto wait = [&](auto task) { return skills.fixture.wait(std::move(task)); };
  const Bytes package = pack_skill("pdf");
  const SkillPackageInfo info = wait(library.add("pdf-1", package, skills.call)).value();
  CHECK(wait(library.add("pdf-1", package, skills.call)).value() == info);
  CHECK(wait(library.add("pdf-1", pack_skill("other"), skills.call)).error().code() ==
        ErrorCode::kAlreadyExists);
  REQUIRE(wait(library.add("a-1", pack_skill("a"), skills.call)));
  const auto listed = wait(library.list(skills.call)).value();
  REQUIRE(listed.size() == 2);
  CHECK(listed[1] == info);

  const SkillPackage found = wait(library.find("pdf-1", skills.call)).value();
  REQUIRE(skills.place({found}));
  CHECK(skills.index(SkillInputs{{found}, {}}).skills.at(0).name == "pdf");
  CHECK(wait(library.find("none", skills.call)).error().code() == ErrorCode::kNotFound);

  // An add that was killed before it said what it added is completed.
  REQUIRE(wait(skills.objects->remove(ObjectKey("cove/v1/d/skills/pdf-1/info.json"), skills.call)));
  CHECK(wait(library.find("pdf-1", skills.call)).error().code() == ErrorCode::kNotFound);
  CHECK(wait(library.add("pdf-1", pack_skill("other"), skills.call)).error().code() ==
        ErrorCode::kAlreadyExists);
  CHECK(wait(library.add("pdf-1", package, skills.call)).value() == info);

  REQUIRE(wait(library.remove("pdf-1", skills.call)));
  CHECK(wait(library.remove("pdf-1", skills.call)).error().code() == ErrorCode::kNotFound);
  CHECK(wait(library.list(skills.call)).value().size() == 1);
}

TEST_CASE("Skills: the id of a removed version comes back with the same bytes only",
          "[integration][prepare][skills]") {
  Skills skills;
  SkillLibrary library(skills.shelf, DeploymentId("d"));
  const auto wait = [&](auto task) { return skills.fixture.wait(std::move(task)); };
  const Bytes package = pack_skill("pdf");
  REQUIRE(wait(library.add("pdf-1", package, skills.call)));
  REQUIRE(wait(library.remove("pdf-1", skills.call)));
  for (int i = 0; i < 2; ++i) {
    const auto other = wait(library.add("pdf-1", pack_skill("other"), skills.call));
    CHECK(other.error().code() == ErrorCode::kAlreadyExists);
    CHECK_THAT(other.error().message(), Catch::Contains("was removed and had another content"));
    REQUIRE(wait(library.add("pdf-1", package, skills.call)));
    CHECK(wait(library.list(skills.call)).value().size() == 1);
    REQUIRE(wait(library.remove("pdf-1", skills.call)));
  }
  CHECK(wait(library.list(skills.call)).value().empty());

  // What a damaged version was nobody knows: its id is not given again.
  REQUIRE(wait(library.add("bad-1", package, skills.call)));
  const ObjectKey info("cove/v1/d/skills/bad-1/info.json");
  REQUIRE(wait(skills.objects->remove(info, skills.call)));
  const std::string broken = "{";
  base::ViewSource source(std::as_bytes(std::span(broken)));
  REQUIRE(wait(skills.objects->put_if_absent(info, source, skills.call)));
  REQUIRE(wait(library.remove("bad-1", skills.call)));
  CHECK(wait(library.add("bad-1", package, skills.call)).error().code() ==
        ErrorCode::kAlreadyExists);
}
