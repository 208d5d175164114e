/// Skills: what acquires are to place, what a workspace has, and the shelf of published ones.
#include "prepare.hpp"
#include "support.hpp"

using namespace cove;

namespace {

using PrepareHandle = std::unique_ptr<cove_prepare, FreeBy<cove_prepare_free>>;

PrepareHandle make_prepare() {
  cove_prepare* raw = nullptr;
  REQUIRE(cove_prepare_create(&raw, nullptr) == COVE_OK);
  return PrepareHandle(raw);
}

const char* const kInfo =
    "{\"content_bytes\":2,\"content_hash\":\"c\",\"files\":3,\"packed_bytes\":1,\"sha256\":\"s\","
    "\"skills\":[{\"description\":\"reads\",\"name\":\"pdf\",\"path\":\"\\\\xff/SKILL.md\"}],"
    "\"version_id\":\"v1\"}";

std::string taken(cove_buffer* raw) {
  const BufferHandle buffer(raw);
  return {cove_buffer_data(raw), cove_buffer_size(raw)};
}

}  // namespace

TEST_CASE("Skills: each way to name one arrives at the acquire", "[capi][skills]") {
  const auto cove = open_cove();
  const auto prepare = make_prepare();
  cove_prepare* const p = prepare.get();
  REQUIRE(cove_prepare_add_skill(p, "v1", "zip", 3, "aa", nullptr) == COVE_OK);
  REQUIRE(cove_prepare_add_host_skill(p, "v2", "/skills/x", nullptr, nullptr) == COVE_OK);
  REQUIRE(cove_prepare_add_stored_skill(p, "v3", nullptr) == COVE_OK);
  REQUIRE(cove_prepare_add_builtin_skill(p, "b1", "tar", 3, nullptr) == COVE_OK);
  REQUIRE(cove_prepare_add_host_builtin_skill(p, "b2", "/platform/b2", nullptr) == COVE_OK);
  REQUIRE(cove_prepare_set_skill_init_timeout(p, 5000, nullptr) == COVE_OK);
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  options.prepare = p;
  cove_workspace* raw = nullptr;
  REQUIRE(cove_acquire(cove.get(), &kAna, &options, &raw, nullptr) == COVE_OK);
  const WorkspaceHandle workspace(raw);
  const PrepareInputs& inputs = fake::world().acquire.prepare;
  REQUIRE(inputs.skills.size() == 3);
  CHECK(inputs.skills[0].version_id == "v1");
  CHECK(std::get<Bytes>(inputs.skills[0].content).size() == 3);
  CHECK(inputs.skills[0].sha256 == "aa");
  CHECK(std::get<HostPath>(inputs.skills[1].content).path == "/skills/x");
  CHECK(inputs.skills[2].version_id == "v3");
  CHECK(std::get<ObjectKey>(inputs.skills[2].content).empty());
  REQUIRE(inputs.builtin_skills.size() == 2);
  CHECK(std::get<Bytes>(inputs.builtin_skills[0].content).size() == 3);
  CHECK(std::get<HostPath>(inputs.builtin_skills[1].content).path == "/platform/b2");
  CHECK(inputs.skill_init_timeout == std::chrono::seconds(5));
}

TEST_CASE("Skills: a NULL is named", "[capi][skills]") {
  const auto prepare = make_prepare();
  cove_prepare* const p = prepare.get();
  CHECK(cove_prepare_add_skill(nullptr, "v", "x", 1, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_skill(p, nullptr, "x", 1, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_skill(p, "v", nullptr, 1, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_host_skill(p, "v", nullptr, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_stored_skill(p, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_builtin_skill(p, nullptr, "x", 1, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_add_host_builtin_skill(p, "b", nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_prepare_set_skill_init_timeout(nullptr, 0, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(p->inputs.skills.empty());
  CHECK(p->inputs.builtin_skills.empty());
}

TEST_CASE("Skills: a workspace's are given as data and as a prompt", "[capi][skills]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().skills.skills = {{"pdf", "reads", "/workspace/skills/v1/SKILL.md", "v1"}};
  fake::world().skills.problems = {"v2 is missing"};
  const auto expected = [](const char* characters) {
    return std::string("{\"problems\":[\"v2 is missing\"],\"prompt\":\"prompt of ") + characters +
           "\",\"skills\":[{\"description\":\"reads\",\"location\":"
           "\"/workspace/skills/v1/SKILL.md\",\"name\":\"pdf\",\"version_id\":\"v1\"}]}";
  };
  cove_buffer* raw = nullptr;
  REQUIRE(cove_workspace_skills_json(workspace.get(), nullptr, &raw, nullptr) == COVE_OK);
  CHECK(taken(raw) == expected("16000"));
  cove_skills_options options = COVE_SKILLS_OPTIONS_INIT;
  options.max_characters = 50;
  Heard heard;
  REQUIRE(cove_workspace_skills_json_start(workspace.get(), &options, on_buffer, &heard, on_drop,
                                           nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == expected("50"));
  CHECK(heard.order == "dx");
}

TEST_CASE("Skills: the shelf takes, lists and lets go of packages", "[capi][skills]") {
  const auto cove = open_cove();
  cove_handle* const c = cove.get();
  cove_buffer* raw = nullptr;
  REQUIRE(cove_inspect_skill_json("v1", "zip", 3, &raw, nullptr) == COVE_OK);
  CHECK(taken(raw) == kInfo);
  REQUIRE(cove_add_skill_json(c, "v1", "z\0p", 3, nullptr, &raw, nullptr) == COVE_OK);
  CHECK(taken(raw) == kInfo);
  CHECK(fake::world().package == std::string("z\0p", 3));
  REQUIRE(cove_list_skills_json(c, nullptr, &raw, nullptr) == COVE_OK);
  CHECK(taken(raw) == std::string("{\"packages\":[") + kInfo + "]}");
  CHECK(cove_remove_skill(c, "v1", nullptr, nullptr) == COVE_OK);
  CHECK(fake::world().version_id == "v1");
  CHECK(cove_remove_skill(c, nullptr, nullptr, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(cove_add_skill_json(c, nullptr, "x", 1, nullptr, &raw, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(raw == nullptr);

  Heard heard;
  REQUIRE(cove_add_skill_json_start(c, "v1", "zip", 3, nullptr, on_buffer, &heard, on_drop,
                                    nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == kInfo);
  REQUIRE(cove_list_skills_json_start(c, nullptr, on_buffer, &heard, on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == std::string("{\"packages\":[") + kInfo + "]}");
  REQUIRE(cove_remove_skill_start(c, "v2", nullptr, on_done, &heard, on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(fake::world().version_id == "v2");
  CHECK(heard.order == "dxdxdx");
}
