#include "search_tree.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <unistd.h>

#include "peers.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// Planted, so that a rare literal is there to be found.
constexpr const char* kRare = "cove_bench_rare_7f3a";

constexpr const char* kPackages =
    "webpack typescript eslint react react-dom @babel/core @babel/preset-env rxjs lodash date-fns "
    "core-js jest";

void make_tree(const std::string& path) {
  shell("cp -a /usr/lib/python3* " + path + "; cp -a /usr/share/doc " + path + "/doc; true");
  const bool fetched =
      shell("mkdir " + path + "/npm && cd " + path +
            "/npm && npm init -y >/dev/null && npm install --ignore-scripts --no-audit --no-fund " +
            kPackages + " >/dev/null 2>&1");
  if (!fetched) std::printf("left out: the npm tree (npm could not fetch it)\n");
}

}  // namespace

SearchTree::SearchTree(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--tree") == 0) path_ = argv[i + 1];
  }
  if (path_.empty()) {
    std::string name = "/tmp/cove-bench-tree.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    own_ = true;
    make_tree(path_);
  }
  // fd honours ignore files only in a repository; a directory of that name is enough.
  shell("mkdir -p " + path_ + "/.git " + path_ + "/planted && for i in 1 2 3; do echo '# " + kRare +
        "' > " + path_ + "/planted/$i.py; done");
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  std::printf("a tree of %zu files\n", files);
}

SearchTree::~SearchTree() {
  if (own_) fs::remove_all(path_);
}

bool SearchTree::copy_into(const cove::SandboxClient& client) const {
  const std::string archive = "tar -C '" + path_ + "' -cf - .";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(archive.c_str(), "r"), ::pclose);
  if (!pipe) return false;
  const auto source = [&]() -> cove::Result<cove::Bytes> {
    cove::Bytes piece(1U << 18U);
    piece.resize(std::fread(piece.data(), 1, piece.size(), pipe.get()));
    return piece;
  };
  return client.upload_tree("tree", source).has_value();
}

std::optional<std::string> find_program(std::initializer_list<const char*> names) {
  const char* variable = std::getenv("PATH");
  const std::string_view path = variable == nullptr ? "" : variable;
  for (const char* name : names) {
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      const std::string program = std::string(path.substr(at, end - at)) + "/" + name;
      if (::access(program.c_str(), X_OK) == 0) return program;
      at = end + 1;
    }
  }
  return std::nullopt;
}

}  // namespace bench
