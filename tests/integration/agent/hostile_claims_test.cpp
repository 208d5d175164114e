// Answers that are well-formed and wrong: more or less than was asked for or said, other things
// than were asked for, and paths that lead out of where they are told from.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/fakes/byte_sources.hpp"
#include "support/fixtures/hostile_agent.hpp"
#include "wire/cbor.hpp"
#include "wire/file_reply.hpp"
#include "wire/reply.hpp"
#include "wire/search_batch.hpp"
#include "wire/search_request.hpp"

using namespace cove;
using test::answer;
using test::Attack;
using test::Attacker;
using test::data;
using test::event;
using test::Fate;
using test::HostCall;
using test::Said;
using test::Script;
using wire::Channel;

namespace {

/// Something that is said to a call.
struct Claim {
  const char* call;
  const char* what;
  Script script;
};

Bytes text(std::string_view bytes) {
  const auto view = std::as_bytes(std::span(bytes));
  return Bytes(view.begin(), view.end());
}

Said count(std::uint64_t number, const std::string& next = "") {
  return answer(wire::encode_count({number, next}));
}

FileInfo entry(const std::string& path) {
  FileInfo info;
  info.path = path;
  return info;
}

Said entries(const std::vector<std::string>& paths) {
  std::vector<FileInfo> all;
  for (const std::string& path : paths) all.push_back(entry(path));
  return data(wire::encode_entries(all).front());
}

Said opened(std::uint64_t length) { return event(wire::encode_opened({{}, length, ""})); }

Said lines(std::uint64_t first, std::uint64_t number, std::optional<std::uint64_t> next,
           std::uint64_t offset, std::string_view of) {
  LineSlice slice;
  slice.first = first;
  slice.count = number;
  slice.next = next;
  slice.offset = offset;
  slice.text = of;
  return answer(wire::encode_line_slice(slice));
}

Bytes grep_batch(std::size_t matches, std::size_t beside, const std::string& path = "f") {
  wire::LinePacker packer;
  packer.begin(path, TextEncoding::kBytes);
  for (std::size_t i = 0; i < beside; ++i) packer.add({.line = 1, .text = "beside"});
  for (std::size_t i = 0; i < matches; ++i) packer.add({.line = 2, .column = 1, .text = "match"});
  return packer.take();
}

Bytes find_batch(std::size_t number, const std::string& path = "f") {
  Bytes batch;
  for (std::size_t i = 0; i < number; ++i) {
    wire::pack_entry(batch, path, FileType::kRegular, nullptr);
  }
  return batch;
}

Said summary(std::uint64_t matches) {
  SearchSummary summary;
  summary.matches = matches;
  return answer(wire::encode_search_summary(summary));
}

Said events(const std::string& path, const std::string& old_path = "") {
  return data(wire::encode_file_events({{FileChange::kMoved, path, old_path, false}}).front());
}

Bytes process(char digit) {
  ProcessInfo info;
  info.id = ProcessId(std::string(32, digit));
  return wire::encode_process_info(info);
}

Said output(std::string_view bytes, Channel channel = Channel::kOut) {
  return data(text(bytes), channel);
}

Said ended(wire::StreamCounts out) {
  wire::ExecReply reply{.outcome = Exited{0}};
  reply.out = std::move(out);
  return answer(wire::encode_exec_reply(reply));
}

template <class T>
std::optional<Error> error_of(const Result<T>& result) {
  return result ? std::optional<Error>() : result.error();
}

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

std::vector<Claim> file_claims() {
  const Said open = event(wire::encode_nothing());
  const Said short_lines = data(text("ab\n"));
  EditResult two;
  two.edits = {{1, 1}, {1, 1}};
  return {
      {"read_file", "it gives more than was asked for", {opened(4), data(text("abcd")), count(4)}},
      {"read_file", "it gives all there is", {opened(kHuge), data(text("abc")), count(3)}},
      {"read_file", "it sends more than it says", {opened(2), data(text("abc")), count(3)}},
      {"read_file", "it sends bytes of an empty file", {opened(0), data(text("a")), count(1)}},
      {"read_file", "it counts more than it sent", {opened(3), data(text("ab")), count(3)}},
      {"read_file", "it counts less than it sent", {opened(3), data(text("abc")), count(2)}},
      {"read_file", "it sends output", {opened(3), output("abc"), count(3)}},
      {"read_file", "it answers before it is open", {count(0)}},
      {"read_lines",
       "more text than was asked for",
       {data(Bytes(101)), lines(1, 1, {}, 0, std::string(101, '\0'))}},
      {"read_lines", "more lines than were asked for", {short_lines, lines(1, 2, {}, 0, "ab\n")}},
      {"read_lines", "other lines than were asked for", {short_lines, lines(2, 1, {}, 0, "ab\n")}},
      {"read_lines", "it says more than it sent", {short_lines, lines(1, 1, {}, 0, "abcd")}},
      {"read_lines", "it says less than it sent", {short_lines, lines(1, 1, {}, 0, "")}},
      {"read_lines", "it goes on where it began", {short_lines, lines(1, 1, 1, 0, "ab\n")}},
      {"read_lines", "it goes on after nothing", {lines(1, 0, 1, 0, "")}},
      {"read_lines", "it goes on far away", {short_lines, lines(1, 1, kHuge, 0, "ab\n")}},
      {"read_lines", "it begins at the end of all", {short_lines, lines(1, 1, 2, kHuge, "ab\n")}},
      {"edit_file", "more outcomes than edits", {answer(wire::encode_edit_result(two))}},
      {"edit_file", "no outcome", {answer(wire::encode_edit_result({}))}},
      {"list", "more entries than were asked for", {entries({"a", "b", "c"}), count(3)}},
      {"list", "entries without end", {entries({"a", "b"}), entries({"c", "d"}), count(4)}},
      {"list", "it counts more than came", {entries({"a"}), count(2)}},
      {"list", "it counts less than came", {entries({"a", "b"}), count(1)}},
      {"list", "an entry without a path", {entries({""}), count(1)}},
      {"read_tree", "it counts more than it sent", {open, data(Bytes(1024)), count(2000)}},
      {"read_tree", "it answers before it is open", {count(0)}},
      {"watch", "an empty list", {open, data(wire::encode_cbor(nlohmann::json::array()))}},
      {"watch", "an end", {open, answer(wire::encode_nothing())}},
      {"watch", "it answers before it is open", {answer(wire::encode_nothing())}},
  };
}

std::vector<Claim> search_claims() {
  return {
      {"grep", "more matches than were asked for", {data(grep_batch(101, 0)), summary(101)}},
      {"grep", "lines beside that nobody asked for", {data(grep_batch(1, 1)), summary(1)}},
      {"grep", "it counts more than came", {data(grep_batch(1, 0)), summary(2)}},
      {"grep", "it counts less than came", {data(grep_batch(2, 0)), summary(1)}},
      {"grep", "a batch of nothing but a path", {data(grep_batch(0, 0)), summary(0)}},
      {"find", "more entries than were asked for", {data(find_batch(1001)), summary(1001)}},
      {"find", "it counts more than came", {data(find_batch(1)), summary(2)}},
      {"find", "it counts less than came", {data(find_batch(2)), summary(kHuge)}},
  };
}

std::vector<Claim> command_claims() {
  const Said running = event(wire::encode_nothing());
  const Said attached = event(process('a'));
  Script many(257, data(process('a')));
  many.push_back(count(257));
  return {
      {"run", "the output is longer than it says", {output("abcd"), ended({3, 0, 3, 0, ""})}},
      {"run", "the output is shorter than it says", {output("abc"), ended({3, 1, 4, 0, ""})}},
      {"run", "a sum that overflows", {output("abc"), ended({4, kHuge, kHuge, 0, ""})}},
      {"run", "fewer bytes in all than came", {output("abc"), ended({3, 0, 2, 0, ""})}},
      {"run", "it sends a file", {data(text("abc")), ended({3, 0, 3, 0, ""})}},
      {"start", "fewer bytes in all than came", {running, output("abc"), ended({0, 0, 2, 0, ""})}},
      {"start", "it dropped more than there is", {running, ended({0, 0, 2, 3, ""})}},
      {"start", "it dropped what came", {running, output("abc"), ended({0, 0, 3, kHuge, ""})}},
      {"start_process", "another process", {answer(process('b'))}},
      {"find_process", "another process", {answer(process('b'))}},
      {"attach", "another process", {event(process('b'))}},
      {"attach", "an end before it is open", {ended({0, 0, 0, 0, ""})}},
      {"attach",
       "fewer bytes in all than came",
       {attached, output("abc"), ended({0, 0, 2, 0, ""})}},
      {"list_processes", "more than an agent has", many},
      {"list_processes", "it counts more than came", {data(process('a')), count(2)}},
      {"list_processes", "it counts less than came", {data(process('a')), count(0)}},
      {"process_output",
       "bytes of another offset",
       {output("abc"), answer(wire::encode_slice({5, 0, false}))}},
      {"process_output",
       "bytes of an end of all",
       {output("abc"), answer(wire::encode_slice({kHuge, kHuge, false}))}},
      {"process_output",
       "more is gone than lies before",
       {output("abc"), answer(wire::encode_slice({0, 7, false}))}},
      {"process_output",
       "more than was asked for",
       {output(std::string(50 * 1024 + 1, 'x')), answer(wire::encode_slice({0, 0, false}))}},
      {"process_output",
       "the other stream",
       {output("abc", Channel::kErr), answer(wire::encode_slice({0, 0, false}))}},
  };
}

/// Claims of each call that tells paths, with one that leads out.
std::vector<Claim> path_claims(const std::string& path, bool is_absolute) {
  const Said open = event(wire::encode_nothing());
  std::vector<Claim> claims{
      {"list", "an entry", {entries({path}), count(1)}},
      {"list", "where the next page begins", {entries({"a"}), count(1, path)}},
      {"watch", "what changed", {open, events(path)}},
      {"watch", "where it was", {open, events("a", path)}},
      {"grep", "a file", {data(grep_batch(1, 0, path)), summary(1)}},
      {"find", "an entry", {data(find_batch(1, path)), summary(1)}},
  };
  if (is_absolute) return claims;  // a place of the sandbox is told so
  ProcessInfo info;
  info.id = ProcessId(std::string(32, 'a'));
  info.cwd = path;
  const Said told = answer(wire::encode_file_info(entry(path)));
  for (const char* call : {"stat", "write_file", "move", "set_mode", "make_symlink"}) {
    claims.push_back({call, "itself", {told}});
  }
  claims.push_back({"read_file", "itself", {event(wire::encode_opened({entry(path), 0, ""}))}});
  claims.push_back({"find_process", "where it works", {answer(wire::encode_process_info(info))}});
  claims.push_back({"run", "a spilled output", {ended({0, 0, 0, 0, path})}});
  return claims;
}

std::string try_claims(const std::vector<Claim>& claims) {
  std::vector<HostCall> calls;
  for (const auto& some :
       {test::command_calls(), test::file_calls(), test::tree_calls(), test::search_calls()}) {
    calls.insert(calls.end(), some.begin(), some.end());
  }
  std::string wrong;
  for (const Claim& claim : claims) {
    const auto call = std::find_if(calls.begin(), calls.end(), [&](const HostCall& each) {
      return std::string_view(each.name) == claim.call;
    });
    REQUIRE(call != calls.end());
    const auto say = [&](const Attacker& at) {
      at.hear_upload();
      for (const Said& said : claim.script) at.say(said);
    };
    wrong += test::try_one(*call, {claim.what, Fate::kProvider, say});
  }
  return wrong;
}

}  // namespace

TEST_CASE("Guest: what an agent says of files is held against what was asked and what came",
          "[integration][guest][security]") {
  CHECK(try_claims(file_claims()) == "");
}

TEST_CASE("Guest: what an agent says of searches is held against what was asked and what came",
          "[integration][guest][security]") {
  CHECK(try_claims(search_claims()) == "");
}

TEST_CASE("Guest: what an agent says of commands is held against what was asked and what came",
          "[integration][guest][security]") {
  CHECK(try_claims(command_claims()) == "");
}

TEST_CASE("Guest: a path that leads out is told to nobody", "[integration][guest][security]") {
  for (const std::string path : {"..", "../../etc", "a/../../etc", "a/.."}) {
    CAPTURE(path);
    CHECK(try_claims(path_claims(path, false)) == "");
  }
  CHECK(try_claims(path_claims(std::string("a\0b", 3), false)) == "");
  CHECK(try_claims(path_claims("/etc/passwd", true)) == "");
}

TEST_CASE("Guest: an answer to an upload that was not heard to its end is refused",
          "[integration][guest][security]") {
  // More than an agent allows at the start: the end is not sent.
  const std::string much(300 * 1024, 'x');
  const GuestPath path{"", "f"};
  const std::vector<Edit> edits{{"old", much}};
  const auto answering = [](Bytes payload) {
    return [script = Script{answer(std::move(payload))}](const wire::Request&) { return script; };
  };
  EditResult edited;
  edited.edits = {{1, 1}};
  const auto write = [&](base::IoLoop& loop, Guest& guest, const CallContext& call) {
    test::TextSource source(much);
    return error_of(base::sync_wait(loop, guest.write_file(path, source, {}, call)));
  };
  const auto write_tree = [&](base::IoLoop& loop, Guest& guest, const CallContext& call) {
    test::TextSource source(much);
    return error_of(base::sync_wait(loop, guest.write_tree(path, source, call)));
  };
  const auto edit = [&](base::IoLoop& loop, Guest& guest, const CallContext& call) {
    return error_of(base::sync_wait(loop, guest.edit_file(path, edits, {}, call)));
  };
  const HostCall calls[] = {
      {"write_file", write, answering(wire::encode_file_info({}))},
      {"write_tree", write_tree, answering(wire::encode_tree_counts({}))},
      {"edit_file", edit, answering(wire::encode_edit_result(edited))},
  };
  for (const HostCall& call : calls) {
    const Attack early{"an answer at once", Fate::kProvider, [](const Attacker& at) {
                         for (const Said& said : at.call.honest(at.request)) at.say(said);
                       }};
    CHECK(test::try_one(call, early) == "");
  }
}
