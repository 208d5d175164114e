/// Edits: what they pass on, what became of each file, and arrays of programs of other versions.
#include <cstring>

#include "support.hpp"

using namespace cove;

namespace {

using ResultOwner = std::unique_ptr<cove_edit_result, FreeBy<cove_edit_result_free>>;
using ResultsOwner = std::unique_ptr<cove_edit_results, FreeBy<cove_edit_results_free>>;

cove_edit edit_of(const std::string& old_text, const std::string& new_text, uint32_t flags = 0) {
  return {sizeof(cove_edit), flags,           old_text.data(),
          old_text.size(),   new_text.data(), new_text.size()};
}

const std::string kOne = "one";
const std::string kTwo("t\0wo", 4);
const std::string kNothing;

void on_result(void* user_data, cove_edit_result* result, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = std::to_string(cove_edit_result_replaced(result, 0));
  cove_edit_result_free(result);
  note_error(heard, error);
}

void on_results(void* user_data, cove_edit_results* results, cove_error* error) {
  auto& heard = *static_cast<Heard*>(user_data);
  heard.text = std::to_string(cove_edit_results_count(results));
  cove_edit_results_free(results);
  note_error(heard, error);
}

}  // namespace

TEST_CASE("Edit: texts, flags and conditions arrive, and what became of it comes back",
          "[capi][edits]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().file.etag = "e2";
  fake::world().outcomes = {{1, 7}, {3, 9}};
  const cove_edit edits[] = {edit_of(kOne, kTwo), edit_of(kTwo, kNothing, COVE_EDIT_REPLACE_ALL)};
  cove_edit_options options = COVE_EDIT_OPTIONS_INIT;
  options.flags = COVE_EDIT_DURABLE;
  options.if_unchanged_since = "e1";
  cove_edit_result* raw = nullptr;
  REQUIRE(cove_workspace_edit_file(workspace.get(), "a.py", edits, 2, &options, &raw, nullptr) ==
          COVE_OK);
  const ResultOwner result(raw);
  REQUIRE(fake::world().edits.size() == 1);
  const FileEdit& file = fake::world().edits[0];
  CHECK(file.path == "a.py");
  CHECK(file.options.durable);
  CHECK(file.options.if_unchanged_since == "e1");
  REQUIRE(file.edits.size() == 2);
  CHECK(file.edits[0].old_text == "one");
  CHECK(file.edits[0].new_text == kTwo);
  CHECK_FALSE(file.edits[0].replace_all);
  CHECK(file.edits[1].old_text == kTwo);
  CHECK(file.edits[1].new_text.empty());
  CHECK(file.edits[1].replace_all);
  CHECK(std::string(cove_file_info_etag(cove_edit_result_info(raw))) == "e2");
  REQUIRE(cove_edit_result_count(raw) == 2);
  CHECK(cove_edit_result_replaced(raw, 1) == 3);
  CHECK(cove_edit_result_first_line(raw, 1) == 9);
  CHECK(cove_edit_result_replaced(raw, 2) == 0);
}

TEST_CASE("Edit: each of several files has its result or its error, in order", "[capi][edits]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().outcomes = {{1, 7}};
  const cove_edit edits[] = {edit_of(kOne, kTwo)};
  cove_file_edit files[] = {COVE_FILE_EDIT_INIT, COVE_FILE_EDIT_INIT};
  files[0].path = "a";
  files[0].edits = edits;
  files[0].edit_count = 1;
  files[0].flags = COVE_EDIT_DURABLE;
  files[1].path = "b";
  files[1].edits = edits;
  files[1].edit_count = 1;
  files[1].if_unchanged_since = "e1";
  cove_edit_results* raw = nullptr;
  REQUIRE(cove_workspace_edit_files(workspace.get(), files, 2, nullptr, &raw, nullptr) == COVE_OK);
  const ResultsOwner results(raw);
  REQUIRE(fake::world().edits.size() == 2);
  CHECK(fake::world().edits[0].path == "a");
  CHECK(fake::world().edits[0].options.durable);
  CHECK(fake::world().edits[1].edits.size() == 1);
  CHECK(fake::world().edits[1].options.if_unchanged_since == "e1");
  REQUIRE(cove_edit_results_count(raw) == 2);
  CHECK(cove_edit_result_replaced(cove_edit_results_entry(raw, 0), 0) == 1);
  CHECK(cove_edit_results_error(raw, 0) == nullptr);
  CHECK(cove_edit_results_entry(raw, 1) == nullptr);
  CHECK(cove_error_code(cove_edit_results_error(raw, 1)) == COVE_CONFLICT);
  CHECK(std::string(cove_error_message(cove_edit_results_error(raw, 1))) ==
        "somebody else changed it");
  CHECK(cove_edit_results_entry(raw, 2) == nullptr);
  CHECK(cove_edit_results_error(raw, 2) == nullptr);
}

TEST_CASE("Edit: each call that is started answers once", "[capi][edits][callbacks]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  fake::world().outcomes = {{5, 7}};
  const cove_edit edits[] = {edit_of(kOne, kTwo)};
  cove_file_edit file = COVE_FILE_EDIT_INIT;
  file.path = "a";
  file.edits = edits;
  file.edit_count = 1;
  Heard heard;
  REQUIRE(cove_workspace_edit_file_start(workspace.get(), "a", edits, 1, nullptr, on_result, &heard,
                                         on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == "5");
  REQUIRE(cove_workspace_edit_files_start(workspace.get(), &file, 1, nullptr, on_results, &heard,
                                          on_drop, nullptr) == COVE_OK);
  fake::world().deliver();
  CHECK(heard.text == "1");
  CHECK(heard.order == "dxdx");
  CHECK(cove_workspace_edit_file_start(workspace.get(), nullptr, edits, 1, nullptr, on_result,
                                       &heard, on_drop, nullptr) == COVE_INVALID_ARGUMENT);
  CHECK(heard.order == "dxdxx");
}

TEST_CASE("Edit: an array of a newer program is read at its own distance", "[capi][edits]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  struct Newer {
    cove_edit known;
    std::uint64_t unknown;
  };
  Newer edits[2] = {{edit_of(kOne, kTwo), 0}, {edit_of(kTwo, kOne), 0}};
  for (Newer& edit : edits) edit.known.struct_size = sizeof(Newer);
  cove_edit_result* raw = nullptr;
  REQUIRE(cove_workspace_edit_file(workspace.get(), "a", &edits[0].known, 2, nullptr, &raw,
                                   nullptr) == COVE_OK);
  cove_edit_result_free(raw);
  REQUIRE(fake::world().edits.at(0).edits.size() == 2);
  CHECK(fake::world().edits[0].edits[1].new_text == "one");
  edits[1].unknown = 1;
  CHECK(cove_workspace_edit_file(workspace.get(), "a", &edits[0].known, 2, nullptr, &raw,
                                 nullptr) == COVE_UNSUPPORTED);
  CHECK(raw == nullptr);
}

TEST_CASE("Edit: what is wrong in an array is named", "[capi][edits]") {
  const auto cove = open_cove();
  const auto workspace = acquire(cove);
  cove_edit edits[] = {edit_of(kOne, kTwo), edit_of(kOne, kTwo)};
  cove_edit_result* result = nullptr;
  cove_status status = COVE_OK;
  const auto edit = [&](const cove_edit* array, size_t count) {
    return cove_workspace_edit_file(workspace.get(), "a", array, count, nullptr, &result, nullptr);
  };
  SECTION("no array") { status = edit(nullptr, 1); }
  SECTION("sizes that differ") {
    edits[1].struct_size = 48;
    status = edit(edits, 2);
  }
  SECTION("a size of no version") {
    edits[0].struct_size = 8;
    status = edit(edits, 2);
  }
  SECTION("a size at which nothing can lie") {
    edits[0].struct_size = 41;
    status = edit(edits, 2);
  }
  SECTION("a text that is not there") {
    edits[0].new_text = nullptr;
    status = edit(edits, 2);
  }
  SECTION("a file without a path") {
    const cove_file_edit file = COVE_FILE_EDIT_INIT;
    cove_edit_results* results = nullptr;
    status = cove_workspace_edit_files(workspace.get(), &file, 1, nullptr, &results, nullptr);
  }
  SECTION("no place for the result") {
    status = cove_workspace_edit_file(workspace.get(), "a", edits, 2, nullptr, nullptr, nullptr);
  }
  CHECK(status == COVE_INVALID_ARGUMENT);
  CHECK(result == nullptr);
  edits[0] = edit_of(kOne, kTwo, COVE_EDIT_DURABLE);
  CHECK(edit(edits, 1) == COVE_UNSUPPORTED);
}

TEST_CASE("Edit: getters of nothing give nothing", "[capi][edits]") {
  CHECK(cove_edit_result_info(nullptr) == nullptr);
  CHECK(cove_edit_result_count(nullptr) == 0);
  CHECK(cove_edit_results_count(nullptr) == 0);
  CHECK(cove_edit_results_error(nullptr, 0) == nullptr);
  cove_edit_result_free(nullptr);
  cove_edit_results_free(nullptr);
}
