#include <csignal>

#include <catch2/catch.hpp>

#include "cli/arguments/request.hpp"

using cove::ErrorCode;
using cove::cli::parse_duration;
using cove::cli::parse_request;
using cove::cli::Verb;
using Words = std::vector<std::string>;
using namespace std::chrono_literals;

namespace {

std::string message_of(const Words& words) {
  const auto request = parse_request(words);
  REQUIRE_FALSE(request);
  CHECK(request.error().code() == ErrorCode::kInvalidArgument);
  return request.error().message();
}

}  // namespace

TEST_CASE("Command line: what follows the first -- is the command as it was given", "[unit][cli]") {
  const Words command{"printf", "<%s>", "", "[a,b]", "--", "%%", "-x", "--help", "a=b", ""};
  Words words{"exec", "--app", "demo", "--user", "ana", "--"};
  words.insert(words.end(), command.begin(), command.end());
  const auto request = parse_request(words).value();
  CHECK(request.verb == Verb::kExec);
  CHECK(request.command == command);
  CHECK(request.workspace.app == "demo");
  CHECK(request.workspace.user == "ana");
  CHECK_FALSE(request.workspace.chat);
}

TEST_CASE("Command line: exec without a command says where it goes", "[unit][cli]") {
  CHECK(message_of({"exec", "--app", "a", "--user", "u"}) ==
        "exec takes its command after '--', as in: cove exec ... -- ls -l; see: cove exec --help");
  CHECK(message_of({"exec", "--app", "a", "--"}).starts_with("exec takes its command"));
}

TEST_CASE("Command line: values arrive as they are, also odd ones", "[unit][cli]") {
  const auto request =
      parse_request({"exec", "--app", "[a,b]", "--user", "--odd", "--chat=c 1", "-e", "A=[x,y]",
                     "-e", "B=", "--env", "C=1=2", "--cwd", "[d,e]", "--", "true"})
          .value();
  CHECK(request.workspace.app == "[a,b]");
  CHECK(request.workspace.user == "--odd");
  CHECK(request.workspace.chat == "c 1");
  CHECK(request.env == std::map<std::string, std::string>{{"A", "[x,y]"}, {"B", ""}, {"C", "1=2"}});
  CHECK(request.cwd == "[d,e]");
}

TEST_CASE("Command line: paths may be odd, and begin with - after --", "[unit][cli]") {
  CHECK(parse_request({"get", "--app", "a", "[x,y]", "out dir"}).value().operands ==
        Words{"[x,y]", "out dir"});
  CHECK(parse_request({"put", "-", "../c1/note.txt"}).value().operands ==
        Words{"-", "../c1/note.txt"});
  CHECK(parse_request({"get", "--user", "u", "--", "-odd", "--json"}).value().operands ==
        Words{"-odd", "--json"});
  CHECK(parse_request({"put", "local", "--", ""}).value().operands == Words{"local", ""});
  CHECK(parse_request({"ls"}).value().operands.empty());
  CHECK(message_of({"get"}) == "get takes PATH and at most one LOCAL; see: cove get --help");
  CHECK(message_of({"put", "x"}) == "put takes LOCAL (or -) and PATH; see: cove put --help");
  CHECK(message_of({"ls", "--", "a", "b"}) == "ls takes at most one PATH; see: cove ls --help");
  CHECK(message_of({"get", "a", "b", "c"}).find("c") != std::string::npos);
}

TEST_CASE("Command line: an empty value is never taken for none", "[unit][cli]") {
  CHECK(parse_request({"status", "--app", "", "--user", "u"}).value().workspace.app == "");
  CHECK(parse_request({"status", "--app=", "--user", "u"}).value().workspace.app == "");
  CHECK(message_of({"exec", "--chat", "", "--", "true"}) ==
        "the chat id is empty; leave --chat out to work in /workspace itself");
  CHECK(parse_request({"get", ""}).value().operands == Words{""});
}

TEST_CASE("Command line: common options stand before or after the command", "[unit][cli]") {
  const auto before = parse_request({"--home", "/h", "--json", "list"}).value();
  CHECK(before.home == "/h");
  CHECK(before.json);
  const auto after = parse_request({"list", "--json", "--home", "/h", "--config", "c"}).value();
  CHECK(after.home == "/h");
  CHECK(after.config == "c");
  CHECK(after.json);
  CHECK(after.verb == Verb::kList);
}

TEST_CASE("Command line: an unknown option or command is named", "[unit][cli]") {
  CHECK(message_of({"exec", "--no-such-option"}) ==
        "unknown option '--no-such-option'; see: cove exec --help");
  CHECK(message_of({"frobnicate"}) == "there is no command 'frobnicate'; see: cove --help");
  CHECK(message_of({"exec", "--app", "a", "ls", "-l"}) ==
        "unexpected 'ls'; the command goes after '--'; see: cove exec --help");
  CHECK(message_of({"exec", "--chat"}).find("--chat") != std::string::npos);
  CHECK(message_of({"destroy", "--chat", "c1"}).find("--chat") != std::string::npos);
  CHECK(message_of({"exec", "-e", "novalue", "--", "true"}) ==
        "--env wants NAME=VALUE, not 'novalue'; see: cove exec --help");
  CHECK(message_of({"put", "--mode", "9", "a", "b"}).starts_with("--mode wants octal digits"));
}

TEST_CASE("Command line: options of the commands", "[unit][cli]") {
  CHECK(parse_request({"put", "--mode", "0755", "--durable", "a", "b"}).value().mode == 0755U);
  CHECK(parse_request({"ls", "-l"}).value().long_form);
  CHECK(parse_request({"stop", "--force"}).value().force);
  CHECK(parse_request({"destroy", "--yes"}).value().yes);
  CHECK(parse_request({"doctor", "--orphans"}).value().orphans);
  CHECK(parse_request({"exec", "-i", "--", "cat"}).value().read_stdin);
  CHECK(parse_request({"exec", "-it", "--", "bash"}).value().terminal);
  CHECK(parse_request({"logs", "-f", "web"}).value().follow);
  CHECK(parse_request({"attach", "-i", "web"}).value().read_stdin);
  CHECK(parse_request({"list", "--source", "app/x"}).value().source == "app/x");
  CHECK(parse_request({"--version"}).value().verb == Verb::kVersion);
  CHECK(parse_request({}).value().verb == Verb::kNone);
}

TEST_CASE("Command line: help is for all or for one", "[unit][cli]") {
  CHECK(parse_request({"--help"}).value().topic.empty());
  const auto exec = parse_request({"exec", "--help"}).value();
  CHECK(exec.verb == Verb::kHelp);
  CHECK(exec.topic == "exec");
  CHECK(parse_request({"get", "-h"}).value().topic == "get");
  CHECK(parse_request({"help", "put"}).value().topic == "put");
  CHECK(cove::cli::help_of("frobnicate").error().code() == ErrorCode::kNotFound);
}

TEST_CASE("Command line: the help of each command names each of its options, and no other",
          "[unit][cli]") {
  const Words commands{"exec",    "ps",    "logs",   "kill",           "attach",  "put",
                       "get",     "ls",    "status", "list",           "stop",    "archive",
                       "destroy", "sweep", "doctor", "destroy-source", "recover", "metrics",
                       "relocate"};
  const Words options{"--home",        "--config",     "--json",    "--timeout", "--verbose",
                      "--app",         "--user",       "--chat",    "--sandbox", "--source",
                      "--source-type", "--source-id",  "--stdin",   "--env",     "--cwd",
                      "--mode",        "--durable",    "-l",        "--force",   "--yes",
                      "--orphans",     "--tty",        "--detach",  "--name",    "--keep-alive",
                      "--follow",      "--signal",     "--forget",  "--wait",    "--dry-run",
                      "--revive",      "--deployment", "--provider"};
  for (const auto& command : commands) {
    const std::string help(cove::cli::help_of(command).value());
    for (const auto& option : options) {
      INFO(command << " " << option);
      const auto tried = parse_request({command, option, "1", "--", "a", "b"});
      const bool unknown =
          !tried && tried.error().message().starts_with("unknown option '" + option + "'");
      bool named = false;
      for (const char* before : {"\n  ", ", "}) {
        for (const char* after : {" ", ",", "\n"}) {
          named = named || help.find(before + option + after) != std::string::npos;
        }
      }
      CHECK(named != unknown);
    }
  }
}

TEST_CASE("Command line: what runs on has a name and a time, and only that", "[unit][cli]") {
  const auto request =
      parse_request({"exec", "-d", "--name", "web", "--keep-alive", "2h", "--", "serve"}).value();
  CHECK(request.detach);
  CHECK(request.name == "web");
  CHECK(request.keep_alive == 2h);
  CHECK(message_of({"exec", "--name", "web", "--", "serve"}) ==
        "--name and --keep-alive are for what runs on: give --detach too; see: cove exec --help");
  CHECK(message_of({"exec", "--tty", "--json", "--", "bash"}) ==
        "--tty shows output as it comes, --json at the end: give one; see: cove exec --help");
  CHECK(message_of({"logs", "-f", "--json", "web"}) ==
        "--follow shows output as it comes, --json at the end: give one; see: cove logs --help");
  CHECK(message_of({"logs"}) == "logs takes one PROCESS; see: cove logs --help");
}

TEST_CASE("Command line: signals have names and numbers", "[unit][cli]") {
  CHECK(parse_request({"kill", "--signal", "HUP", "web"}).value().signal == SIGHUP);
  CHECK(parse_request({"kill", "-s", "SIGKILL", "web"}).value().signal == SIGKILL);
  CHECK(parse_request({"kill", "-s", "34", "web"}).value().signal == 34);
  CHECK_FALSE(parse_request({"kill", "web"}).value().signal);
  for (const char* wrong : {"", "0", "65", "-1", "hup", "SIG", "9x"}) {
    INFO(wrong);
    CHECK(parse_request({"kill", "-s", wrong, "web"}).error().code() ==
          ErrorCode::kInvalidArgument);
  }
  CHECK(message_of({"kill", "-s", "TERM", "--forget", "web"}) ==
        "--forget wants the process ended, which --signal may not do; see: cove kill --help");
}

TEST_CASE("Command line: durations have units", "[unit][cli]") {
  CHECK(parse_duration("30").value() == 30s);
  CHECK(parse_duration("1.5s").value() == 1500ms);
  CHECK(parse_duration("500ms").value() == 500ms);
  CHECK(parse_duration("2m").value() == 2min);
  CHECK(parse_duration("1h").value() == 1h);
  for (const char* wrong : {"", "x", "-1", "0", "1d", "1 s", "1e99", "nan", "inf", "s"}) {
    INFO(wrong);
    CHECK_FALSE(parse_duration(wrong));
  }
  CHECK(parse_request({"exec", "--timeout", "2m", "--", "x"}).value().timeout == 2min);
}

TEST_CASE("Command line: grep's options become a query", "[unit][cli][search]") {
  const auto request = parse_request({"grep", "-F", "-i", "--word", "-C", "2", "--include", "[a,b]",
                                      "--include", "*.py", "--exclude", "node_modules",
                                      "--no-ignore", "--limit", "7", "--user", "u", "a b", "src"})
                           .value();
  CHECK(request.verb == Verb::kGrep);
  CHECK(request.operands == Words{"a b", "src"});
  CHECK(request.grep.literal);
  CHECK(request.grep.ignore_case);
  CHECK(request.grep.whole_word);
  CHECK(request.grep.context_before == 2);
  CHECK(request.grep.context_after == 2);
  CHECK(request.grep.include == Words{"[a,b]", "*.py"});
  CHECK(request.grep.exclude == Words{"node_modules"});
  CHECK_FALSE(request.grep.use_ignore_files);
  CHECK(request.grep.limit == 7);
  CHECK_FALSE(parse_request({"grep", "x"}).value().grep.limit);
  CHECK(parse_request({"grep", "--", "--x"}).value().operands == Words{"--x"});
  CHECK(message_of({"grep", "--user", "u"}).starts_with("grep takes PATTERN"));
}

TEST_CASE("Command line: find's options become a query", "[unit][cli][search]") {
  const auto request = parse_request({"find", "--type", "symlink", "--depth", "2", "--min-size",
                                      "1", "--changed-within", "2m", "--newest", "-l", "{a,b}*"})
                           .value();
  CHECK(request.verb == Verb::kFind);
  CHECK(request.operands == Words{"{a,b}*"});
  CHECK(request.find.type == cove::FileType::kSymlink);
  CHECK(request.find.max_depth == 2);
  CHECK(request.find.min_size == 1);
  CHECK(request.find.newest_first);
  CHECK(request.find.limit == 1000);
  CHECK(request.find.facts);
  CHECK(request.changed_within == 120s);
  CHECK(message_of({"find", "--type", "pipe"}) ==
        "--type wants file, directory, symlink or other, not 'pipe'; see: cove find --help");
}

TEST_CASE("Command line: a number is its digits, and nothing else", "[unit][cli]") {
  const std::vector<Words> numbers{
      {"read", "--offset"},   {"read", "--limit"}, {"grep", "--limit"},
      {"grep", "--context"},  {"grep", "-B"},      {"find", "--min-size"},
      {"find", "--max-size"}, {"find", "--depth"}, {"skills", "--characters"}};
  for (const Words& number : numbers) {
    for (const char* wrong : {"-1", "", "+1", " 1", "1.5", "0x1", "1k", "18446744073709551616",
                              "-18446744073709551615"}) {
      CAPTURE(number, wrong);
      CHECK_FALSE(parse_request({number[0], number[1], wrong, "--", "x"}));
    }
  }
  CHECK(message_of({"find", "--min-size", "-5"}) ==
        "--min-size wants a whole number of 0 or more, not '-5'; see: cove find --help");
  CHECK(message_of({"grep", "-C", "4294967296", "x"}) ==
        "--context is too large: '4294967296'; see: cove grep --help");
  const auto read = parse_request({"read", "--offset", "7", "--limit=9", "a"}).value();
  CHECK(read.lines.first == 7);
  CHECK(read.lines.count == 9);
  const auto largest = parse_request({"find", "--max-size", "18446744073709551615"}).value();
  CHECK(largest.find.max_size == 18446744073709551615U);
}

TEST_CASE("Command line: an empty value is not the same as none", "[unit][cli]") {
  CHECK_FALSE(parse_request({"put", "--mode", "", "a", "b"}));
  CHECK_FALSE(parse_request({"put", "--mode=", "a", "b"}));
  CHECK_FALSE(parse_request({"ps", "--timeout", ""}));
  CHECK_FALSE(parse_request({"find", "--changed-within", ""}));
  CHECK_FALSE(parse_request({"find", "--type", ""}));
  CHECK_FALSE(parse_request({"tools", "--format", ""}));
}
