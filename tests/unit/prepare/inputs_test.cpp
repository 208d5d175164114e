#include <catch2/catch.hpp>

#include <cove/prepare_inputs.hpp>

#include "prepare/inputs/environment.hpp"
#include "prepare/inputs/redactor.hpp"
#include "prepare/steps/input_names.hpp"

using namespace std::chrono_literals;
using namespace cove;
using cove::prepare::numbered;
using cove::prepare::Redactor;
using cove::prepare::safe_name;

namespace {

std::string refusal(const PrepareInputs& inputs) {
  const auto checked = validate(inputs);
  if (checked) return "";
  CHECK(checked.error().code() == ErrorCode::kInvalidArgument);
  return checked.error().message();
}

PrepareStep a_step(const std::string& name) {
  PrepareStep step;
  step.name = name;
  step.apply = [](PrepareContext& /*context*/) -> Task<Result<void>> { co_return ok(); };
  return step;
}

}  // namespace

TEST_CASE("PrepareInputs: what is wrong is named, with what would be right", "[unit][prepare]") {
  PrepareInputs good;
  good.mirrors.npm = "https://npm.example.org/";
  good.init = InitScript{.text = "true", .version = {}, .cwd = {}, .timeout = 600s};
  good.steps = {a_step("fonts"), a_step("more.fonts-2")};
  good.environment.time_zone = "Europe/Berlin";
  good.environment.locale = "de_DE.UTF-8";
  CHECK(refusal(good).empty());
  CHECK(refusal({}).empty());

  auto bad = good;
  bad.mirrors.pypi = "ftp://x";
  CHECK(refusal(bad).starts_with("the mirror of pypi must be an http or https URL"));
  bad.mirrors.pypi = "https://user:hunter2@x y";
  CHECK(refusal(bad).find("hunter2") == std::string::npos);

  bad = good;
  bad.init->timeout = 601s;
  CHECK(refusal(bad) == "the timeout of the init script is 601000 ms; it must be 1 s to 600 s");
  bad.init = InitScript{.text = std::string(96 * 1024 + 1, ' '), .version = {}, .cwd = {}};
  CHECK(refusal(bad) == "the init script has 98305 bytes; at most 96 KiB are possible");
  bad.init = InitScript{.text = std::string("a\0b", 3), .version = {}, .cwd = {}};
  CHECK(refusal(bad) == "the init script has a NUL byte");

  bad = good;
  bad.steps.push_back(a_step("fonts"));
  CHECK(refusal(bad) == "the prepare step 'fonts' is there twice");
  bad.steps.back().name = "-x";
  CHECK(refusal(bad).find("must be 1 to 64 of A-Z") != std::string::npos);
  bad.steps.back() = {.name = "empty", .fingerprint = {}, .apply = nullptr};
  CHECK(refusal(bad) == "the prepare step 'empty' does nothing");

  bad = good;
  bad.files.push_back({.name = "a.txt", .content = ByteOpener(), .fingerprint = {}});
  CHECK(refusal(bad).find("needs an opener and a fingerprint") != std::string::npos);
  bad.files.assign(501, {.name = "a", .content = Bytes(), .fingerprint = {}});
  CHECK(refusal(bad) == "501 input files; at most 500 come with one acquire");

  bad = good;
  bad.skills.push_back({.version_id = "../x", .content = Bytes(), .sha256 = {}});
  CHECK(refusal(bad).find("the skill version '../x' must be") == 0);
  bad.skills = {{.version_id = "v1", .content = Bytes(), .sha256 = "ABC"}};
  CHECK(refusal(bad).find("64 lower-case hex") != std::string::npos);
}

TEST_CASE("PrepareInputs: an environment's mistakes never show a value",
          "[unit][prepare][security]") {
  PrepareInputs inputs;
  inputs.environment.secrets = {{"1X", "value-of-it"}};
  CHECK(refusal(inputs).find("'1X'") != std::string::npos);
  inputs.environment.secrets = {{"KEY", "abc"}};
  CHECK(refusal(inputs) ==
        "the secret KEY has fewer than 4 bytes, so it cannot be told from other text");
  inputs.environment.secrets = {{"KEY", std::string("value-of-it\0", 12)}};
  CHECK(refusal(inputs).find("value-of-it") == std::string::npos);
  inputs.environment.secrets = {{"KEY", ""}};
  CHECK(refusal(inputs).empty());
  inputs.environment.variables = {{"HOME", "/root"}};
  CHECK(refusal(inputs) == "the environment variable HOME is the sandbox's own");
  inputs.environment = {};
  for (const char* zone : {"../../etc/passwd", "/etc/shadow", "a b"}) {
    inputs.environment.time_zone = zone;
    CHECK(refusal(inputs).find("the time zone") == 0);
  }
}

TEST_CASE("PrepareInputs: the environment is variables, zone, locale and secrets",
          "[unit][prepare]") {
  PrepareEnvironment environment;
  environment.variables = {{"A", "1"}, {"LANG", "C"}, {"K", "public"}};
  environment.secrets = {{"K", "secret"}};
  environment.time_zone = "Asia/Shanghai";
  environment.locale = "zh_CN.UTF-8";
  const std::map<std::string, std::string> all{{"A", "1"},
                                               {"K", "secret"},
                                               {"LANG", "zh_CN.UTF-8"},
                                               {"LC_ALL", "zh_CN.UTF-8"},
                                               {"TZ", "Asia/Shanghai"}};
  CHECK(prepare::environment_of(environment) == all);
}

TEST_CASE("Redactor: takes out every secret, the longest first", "[unit][prepare][security]") {
  const Redactor redactor({{"A", "token"}, {"B", "token-and-more\n"}, {"C", ""}});
  CHECK(redactor.clean("x token-and-more y token, tokentoken") == "x *** y ***, ******");
  CHECK(redactor.longest() == 15);
  CHECK(Redactor().clean("token") == "token");
  const Error error = redactor.clean(Error(ErrorCode::kProvider, "a token")
                                         .with_context("k", "token")
                                         .with_retry_after(std::chrono::seconds(2))
                                         .with_cause(Error(ErrorCode::kTimeout, "token")));
  CHECK(error.describe() == "a *** (k: ***): ***");
  CHECK(error.code() == ErrorCode::kProvider);
  CHECK(error.retry_after() == std::chrono::seconds(2));
}

TEST_CASE("Redactor: a secret that is cut at the ends of a text is taken out too",
          "[unit][prepare][security]") {
  const Redactor redactor({{"A", "begin-middle-end"}, {"B", "end-begin"}});
  CHECK(redactor.clean_part("iddle-end x begin-mi") == "*** x ***");
  CHECK(redactor.clean_part("e-end, begin-middle-end, begi") == "***, ***, ***");
  // What is shorter than any secret tells nothing, and may be anybody's.
  CHECK(redactor.clean_part("end x beg") == "end x beg");
  // Of secrets that share bytes nothing is left.
  CHECK(redactor.clean("begin-middle-end-begin") == "***");
  CHECK(redactor.clean_part("") == "");
}

TEST_CASE("InputNames: names from users' machines become safe ones", "[unit][prepare][security]") {
  CHECK(safe_name("report.pdf") == "report.pdf");
  CHECK(safe_name("C:\\Users\\ana\\数据 2024.csv") == "数据 2024.csv");
  CHECK(safe_name("../../etc/passwd") == "passwd");
  CHECK(safe_name("a/b/") == "file");
  CHECK(safe_name("..") == "file");
  CHECK(safe_name("") == "file");
  CHECK(safe_name("-rf") == "_rf");
  CHECK(safe_name("a\nb\x1b[31mc\x7f.txt") == "ab[31mc.txt");
  CHECK(safe_name("caf\xe9.txt") == "caf.txt");
  CHECK(safe_name(std::string("a\0b", 3)) == "ab");
  CHECK(safe_name("  x.md ") == "x.md");
  CHECK(safe_name("\xE2\x80\xAE"
                  "fdp.exe") == "fdp.exe");
  const std::string cut = safe_name(std::string(300, 'x') + ".tar.gz");
  CHECK(cut.size() == 200);
  CHECK(cut.ends_with("x.gz"));
  const std::string wide = safe_name(std::string(199, 'x') + "数");
  CHECK(wide == std::string(199, 'x'));
}

TEST_CASE("InputNames: a number stands before the first dot", "[unit][prepare]") {
  CHECK(numbered("a.tar.gz", 0) == "a.tar.gz");
  CHECK(numbered("a.tar.gz", 2) == "a-2.tar.gz");
  CHECK(numbered("README", 1) == "README-1");
  CHECK(numbered(".env", 1) == ".env-1");
  CHECK(numbered(".env.local", 1) == ".env-1.local");
}
