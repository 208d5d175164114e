#include "prepare/skills/text/front_matter.hpp"

#include <catch2/catch.hpp>

#include "prepare/skills/package/package_reader.hpp"
#include "prepare/skills/text/packaged_skills.hpp"
#include "support/trees/packed_package.hpp"

using namespace cove;
using namespace cove::prepare;
using Kind = FrontMatterValue::Kind;
using test::pack;
using test::Packing;
using test::skill_text;

namespace {

FrontMatter read(const std::string& yaml) {
  const auto values = read_front_matter("SKILL.md", yaml);
  if (!values) FAIL(values.error().describe());
  return *values;
}

std::string description(const std::string& yaml) { return read(yaml).at("description").text; }

void check_refused(const std::string& text, const std::string& words) {
  CAPTURE(text.substr(0, 200));
  const auto values = read_front_matter("SKILL.md", text);
  REQUIRE_FALSE(values);
  CHECK(values.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(values.error().message(), Catch::Contains(words));
}

Result<std::vector<PackagedSkill>> skills_in(const std::vector<test::PackedFile>& files) {
  const auto package = read_package("skill 'v1'", pack(Packing::kTar, files));
  if (!package) FAIL(package.error().describe());
  return skills_of("skill 'v1'", *package);
}

void check_skill_refused(const std::string& text, const std::string& words) {
  CAPTURE(text);
  const auto skills = skills_in({{"SKILL.md", text}});
  REQUIRE_FALSE(skills);
  CHECK(skills.error().code() == ErrorCode::kInvalidArgument);
  CHECK_THAT(skills.error().message(), Catch::Contains(words));
}

}  // namespace

TEST_CASE("FrontMatter: texts of every form are read", "[unit][prepare][skills]") {
  CHECK(description("---\ndescription: plain text\n---\n") == "plain text");
  CHECK(description("---\ndescription: >\n  folded\n  lines\n\n  and more\n---\n") ==
        "folded lines\nand more\n");
  CHECK(description("---\ndescription: >-\n  folded\n  lines\n---\n") == "folded lines");
  CHECK(description("---\ndescription: |\n  kept\n    as it is\n---\n") == "kept\n  as it is\n");
  CHECK(description("---\ndescription: |-\n  kept\n  lines\n---\n") == "kept\nlines");
  CHECK(description("---\ndescription: one\n  and two\n---\n") == "one and two");
  CHECK(description("---\ndescription: \"a \\\"b\\\" \\u00e9\"\n---\n") == "a \"b\" é");
  CHECK(description("---\ndescription: 'it''s'\n---\n") == "it's");
  CHECK(description("---\ndescription: \"数据 🎉: yes\"\n---\n") == "数据 🎉: yes");
  CHECK(description("---\ndescription: 数据 🎉:yes\n---\n") == "数据 🎉:yes");
  CHECK(description("---\ndescription: a # comment\n---\n") == "a");
  CHECK(description("---\r\ndescription: crlf\r\nx: 1\r\n---\r\n# text\r\n") == "crlf");
  CHECK(description("\xEF\xBB\xBF---\ndescription: bom\n---\n") == "bom");
  CHECK(description("---  \ndescription: ends with dots\n...\n") == "ends with dots");
  CHECK(description("---\nx: &a shared\ndescription: *a\n---\n") == "shared");
  CHECK(description("---\ndescription: 42\n---") == "42");
}

TEST_CASE("FrontMatter: lists, maps and empty values are told apart", "[unit][prepare][skills]") {
  const FrontMatter values = read(
      "---\ntools: [Read, \"Bash(git:*)\"]\nblock:\n- a\n- b: c\n- [d]\nmeta:\n  name: inner\n"
      "empty:\nnothing: ~\nname: outer\n---\n");
  CHECK(values.at("tools").kind == Kind::kList);
  CHECK(values.at("tools").items == std::vector<std::string>{"Read", "Bash(git:*)"});
  CHECK(values.at("block").items == std::vector<std::string>{"a"});
  CHECK(values.at("meta").kind == Kind::kMap);
  CHECK(values.at("empty").kind == Kind::kNull);
  CHECK(values.at("nothing").kind == Kind::kNull);
  CHECK(values.at("name").text == "outer");
  CHECK(values.at("name").line == 11);
}

TEST_CASE("FrontMatter: what is wrong is told with file and line", "[unit][prepare][skills]") {
  check_refused("# no front matter\n", "SKILL.md:1: no front matter");
  check_refused("", "SKILL.md:1: no front matter");
  check_refused("---\nname: x\n", "no end");
  check_refused("---\nname: x\n  bad: [\n---\n", "SKILL.md:");
  check_refused("---\na: 1\nb: 2\na: 3\n---\n", "SKILL.md:4: the key 'a' is there twice");
  check_refused("---\n- a\n---\n", "SKILL.md:2: the front matter must be a map");
  check_refused("---\njust text\n---\n", "SKILL.md:2: the front matter must be a map");
  check_refused("---\n? [a]\n: b\n---\n", "a key must be a text");
  check_refused("---\nname: \xff\n---\n", "not UTF-8");
  check_refused("---\nx: y\nname: Use it: now\n---\n",
                "SKILL.md:3: no YAML: mapping values are not allowed in this context (a text");
  check_refused("---\nname: *none\n---\n", "SKILL.md:2");
  check_refused("---\ntab:\n\t- x\n---\n", "SKILL.md:3");
  check_refused("---\n" + std::string(70'000, '#') + "\n---\n", "64 KiB");
}

TEST_CASE("FrontMatter: depth, anchors and aliases are bounded", "[unit][prepare][skills]") {
  check_refused("---\na: " + std::string(17, '[') + std::string(17, ']') + "\n---\n", "16 levels");
  check_refused("---\na: " + std::string(30'000, '[') + "\n---\n", "16 levels");
  check_refused("---\na: " + std::string(30'000, '{') + "\n---\n", "16 levels");
  std::string laughs = "---\na0: &a0 [x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) laughs += last + (j < 8 ? ", " : "]\n");
  }
  check_refused(laughs + "---\n", "64 aliases");
  std::string anchors = "---\n";
  for (int i = 0; i < 65; ++i) {
    anchors += "k" + std::to_string(i) + ": &b" + std::to_string(i) + " x\n";
  }
  check_refused(anchors + "---\n", "64 anchors");
}

TEST_CASE("PackagedSkills: the public layout works as it is, in each of its places",
          "[unit][prepare][skills]") {
  const PackagedSkill expected{"pdf", "reads PDF", "SKILL.md"};
  const std::string text = skill_text("pdf", "reads PDF");
  CHECK(skills_in({{"SKILL.md", text}, {"scripts/x.py", ""}}).value() == std::vector{expected});
  CHECK(skills_in({{"pdf/SKILL.md", text}, {"pdf/reference/SKILL.md", "no"}}).value()[0].path ==
        "pdf/SKILL.md");
  const auto many = skills_in({{".gitignore", ""},
                               {"skills/a/SKILL.md", skill_text("a", "x")},
                               {"skills/b/skill.md", skill_text("b", "y")}})
                        .value();
  REQUIRE(many.size() == 2);
  CHECK(many[1] == PackagedSkill{"b", "y", "skills/b/skill.md"});
  // The one with the right name counts.
  CHECK(skills_in({{"skill.md", "no"}, {"SKILL.md", text}}).value() == std::vector{expected});
}

TEST_CASE(
    "PackagedSkills: a skill without a proper name or description is refused, by file and line",
    "[unit][prepare][skills]") {
  check_skill_refused("---\ndescription: d\n---\n", "SKILL.md of skill 'v1':1:");
  check_skill_refused("---\nname: n\n---\n", "has no 'description'");
  check_skill_refused("---\nname: n\ndescription:\n---\n",
                      "SKILL.md of skill 'v1':3: 'description' must be a text");
  check_skill_refused("---\nname: [n]\ndescription: d\n---\n", ":2: 'name' must be a text");
  check_skill_refused("---\nname: ../n\ndescription: d\n---\n", ":2: the name");
  check_skill_refused("---\nname: -n\ndescription: d\n---\n", "the name '-n'");
  check_skill_refused(skill_text(std::string(65, 'n'), "d"), "1 to 64");
  check_skill_refused(skill_text("n", std::string(8193, 'd')), "8 KiB");
  CHECK(skills_in({{"SKILL.md", skill_text(std::string(64, 'n'), "d")}}));
  CHECK_THAT(skills_in({{"readme", "x"}}).error().message(), Catch::Contains("no SKILL.md"));
  CHECK_THAT(skills_in({{"a/SKILL.md", skill_text("n", "d")}, {"b/SKILL.md", skill_text("n", "d")}})
                 .error()
                 .message(),
             Catch::Contains("b/SKILL.md") && Catch::Contains("'n' too"));
}
