/// What programs that run cases from a file share. They use cove.h and nothing else of Cove's.
#pragma once

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include <cove.h>
#include <nlohmann/json.hpp>

namespace cases {

using Json = nlohmann::json;

template <auto free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, FreeBy<free>>;

/// What a failed call is in a case's terms.
struct Failed {
  Json value;
};

/// Takes a call's error, and leaves the step where there is one.
inline void check(cove_status status, cove_error* error) {
  const Owned<cove_error, cove_error_free> owned(error);
  if (status != COVE_OK) throw Failed{{{"error", cove_status_name(status)}}};
}

inline Json taken_json(cove_buffer* buffer) {
  const Owned<cove_buffer, cove_buffer_free> owned(buffer);
  return Json::parse(cove_buffer_data(buffer), cove_buffer_data(buffer) + cove_buffer_size(buffer));
}

/// Leaves nothing behind. False: something is left, and it was told what.
inline bool destroy_all(cove* app) {
  cove_buffer* list = nullptr;
  cove_error* error = nullptr;
  bool all = cove_list_json(app, nullptr, &list, &error) == COVE_OK;
  const Json records = all ? taken_json(list).at("sandboxes") : Json::array();
  for (const Json& record : records) {
    const std::string sandbox = record.at("sandbox_id");
    if (error == nullptr) cove_destroy(app, sandbox.c_str(), nullptr, &error);
  }
  all = error == nullptr;
  if (!all) std::fprintf(stderr, "something is left: %s\n", cove_error_describe(error));
  cove_error_free(error);
  return all;
}

/// Opens a Cove below argv[1] and gives it with the cases of the file argv[2] to `play_all`, which
/// says how many steps are wrong. The exit status for main.
inline int run_cases(int argc, char** argv, int (*play_all)(cove*, const Json&),
                     std::size_t least) {
  if (argc != 3) return 2;
  std::ifstream file(argv[2]);
  const Json cases = Json::parse(file).at("cases");
  const std::string config = Json{{"state_dir", argv[1]}}.dump();
  cove* app = nullptr;
  cove_error* error = nullptr;
  if (cove_open(config.c_str(), nullptr, &app, &error) != COVE_OK) {
    std::fprintf(stderr, "%s\n", cove_error_describe(error));
    cove_error_free(error);
    return 1;
  }
  const int wrong = play_all(app, cases);
  const bool clean = destroy_all(app);
  cove_close(app, 15000, nullptr);
  cove_free(app);
  std::printf("%zu cases, %d steps are not as they say\n", cases.size(), wrong);
  return clean && wrong == 0 && cases.size() >= least ? 0 : 1;
}

}  // namespace cases
