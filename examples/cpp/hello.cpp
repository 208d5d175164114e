// The smallest program with Cove: run a command in ana's workspace, and find its file again.
//   build/release/bin/example-hello STATE_DIR
#include <cstdio>

#include <cove/cove.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s STATE_DIR\n", argv[0]);
    return 2;
  }
  cove::Config config;
  config.state_dir = argv[1];
  auto cove = cove::Cove::open(config);
  if (!cove) {
    std::fprintf(stderr, "%s\n", cove.error().describe().c_str());
    return 1;
  }
  auto workspace = cove->acquire({"app", "hello", "ana"}, {.chat_id = "c1"}).value();
  const cove::SandboxClient client = workspace.client();

  const auto result =
      client.exec({.argv = {"sh", "-c", "date >> visits.txt; wc -l < visits.txt"}}).value();
  std::printf("visits so far: %s", result.out.text().c_str());

  const auto visits = client.read_file("visits.txt").value();
  std::printf("%.*s", static_cast<int>(visits.size()),
              reinterpret_cast<const char*>(visits.data()));
  workspace.release().value();
  return 0;
}
