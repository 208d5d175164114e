// Prints what an example does, step by step, with the time that each step took.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include <cove/result.hpp>

class Story {
 public:
  void chapter(const std::string& title) { std::printf("\n  %s\n", title.c_str()); }
  void say(const std::string& line) { std::printf("    %s\n", line.c_str()); }

  /// Shows a command's output, indented.
  void show(const std::string& text) {
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::printf("      | %s\n", text.substr(begin, end - begin).c_str());
      begin = end + 1;
    }
  }

  /// Does a step, prints it with its duration, and gives its value; ends the program where it
  /// failed.
  template <class Action>
  auto step(const std::string& what, Action action) {
    const auto start = std::chrono::steady_clock::now();
    auto result = action();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    std::printf("    %-62s %8.1f ms\n", what.c_str(), spent.count());
    if (!result) fail(what + ": " + result.error().describe());
    if constexpr (!std::is_void_v<typename decltype(result)::value_type>) {
      return *std::move(result);
    }
  }

  /// Ends the program where the story is not true.
  void expect(bool truth, const std::string& what) {
    if (!truth) fail("not so: " + what);
    say(what);
  }

  [[noreturn]] static void fail(const std::string& why) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
};
