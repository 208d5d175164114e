#include "support/guest_streams.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace cove::test {
namespace fs = std::filesystem;

std::string text_of(const Bytes& bytes) {
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string read_all(AgentFixture& f, const std::shared_ptr<GuestProcess>& process) {
  std::string all;
  for (;;) {
    const OutputChunk chunk = f.wait(process->next_output({})).value();
    if (chunk.bytes.empty()) return all;
    all += text_of(chunk.bytes);
  }
}

std::string read_until(AgentFixture& f, const std::shared_ptr<GuestProcess>& process,
                       const std::string& what) {
  std::string all;
  while (all.find(what) == std::string::npos) {
    const OutputChunk chunk = f.wait(process->next_output({})).value();
    if (chunk.bytes.empty()) throw std::runtime_error("the output ended with: " + all);
    all += text_of(chunk.bytes);
  }
  return all;
}

void type(AgentFixture& f, const std::shared_ptr<GuestProcess>& process, const std::string& text) {
  const Bytes bytes = bytes_of(text);
  f.wait(process->write_stdin(bytes, {})).value();
}

bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000 && !holds(); ++i) ::usleep(10'000);
  return holds();
}

bool is_running(const std::string& pid) {
  std::ifstream stat("/proc/" + std::to_string(std::stoi(pid)) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.find(word) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace cove::test
