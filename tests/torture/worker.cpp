#include "worker.hpp"

#include <map>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/system/system_clock.hpp"
#include "notes.hpp"

namespace torture {
namespace {

using namespace std::chrono_literals;
using cove::ErrorCode;

cove::ByteView bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const cove::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Worker {
 public:
  Worker(cove::Cove& cove, std::uint64_t number, std::uint64_t seed, int notes)
      : cove_(cove), random_(seed), next_file_((number << 24U) + 1), notes_(notes) {}

  void act() {
    const auto user = static_cast<std::uint32_t>(below(kUsers));
    const cove::SandboxId sandbox = cove::sandbox_id_of(key_of(user));
    const auto drain = below(2) == 0 ? cove::StopDrain::kRefuse : cove::StopDrain::kCancel;
    switch (below(20)) {
      case 0:
      case 1: return tell(user, cove_.stop(sandbox, drain, soon()));
      case 2:
      case 3: return tell(user, cove_.archive(sandbox, drain, soon()));
      case 4: return tell(user, cove_.sweep(soon()));
      case 5:
        if (is_mortal(user)) return tell(user, cove_.destroy(sandbox, soon()));
        break;
      case 6: return let_go();
      default: break;
    }
    visit(user);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  cove::CallContext soon() const {
    cove::CallContext call;
    call.deadline = clock_.now() + 30s;
    return call;
  }

  void visit(std::uint32_t user) {
    auto workspace = cove_.acquire(key_of(user), {}, soon());
    if (!workspace) return tell(user, workspace);
    const cove::SandboxClient client = workspace->client();
    const std::uint64_t calls = 1 + below(6);
    for (std::uint64_t i = 0; i < calls; ++i) {
      switch (below(4)) {
        case 0: run(user, client); break;
        case 1: look(user, client); break;
        default: write(user, client); break;
      }
    }
    // Some are kept for a while, as a chat would.
    if (below(3) == 0) held_.push_back(*workspace);
  }

  void write(std::uint32_t user, const cove::SandboxClient& client) {
    const std::uint64_t file = next_file_++;
    const std::string name = file_name(file);
    cove::WriteOptions options;
    options.durable = below(4) == 0;
    const auto written = client.write_file("/workspace/" + name, bytes_of(name), options, soon());
    if (!written) return tell(user, written);
    keep(user, file);
  }

  void run(std::uint32_t user, const cove::SandboxClient& client) {
    const std::uint64_t file = next_file_++;
    const std::string name = file_name(file);
    cove::ExecSpec spec;
    spec.argv = {"sh", "-c", "printf %s " + name + " > /workspace/" + name};
    const auto done = client.exec(spec, soon());
    if (!done) return tell(user, done);
    if (done->succeeded()) keep(user, file);
  }

  /// What was acknowledged to this process must be there at any time.
  void look(std::uint32_t user, const cove::SandboxClient& client) {
    const auto& files = files_[user];
    if (files.empty() || is_mortal(user)) return;
    const std::string name = file_name(files[below(files.size())]);
    const auto content = client.read_file("/workspace/" + name, {}, soon());
    const bool missing = !content && content.error().code() == ErrorCode::kNotFound;
    if (missing || (content && text_of(*content) != name)) {
      send(notes_, wrong(user, name + " is missing, or is not what it was"));
    } else {
      tell(user, content);
    }
  }

  void let_go() {
    if (held_.empty()) return;
    const auto chosen = below(held_.size());
    tell(0, held_[chosen].release(soon()));
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(chosen));
  }

  void keep(std::uint32_t user, std::uint64_t file) {
    files_[user].push_back(file);
    Note note;
    note.kind = Note::Kind::kWritten;
    note.user = user;
    note.file = file;
    send(notes_, note);
  }

  template <class T>
  void tell(std::uint32_t user, const cove::Result<T>& result) {
    Note note;
    note.user = user;
    if (!result) {
      const ErrorCode code = result.error().code();
      const bool bad = code == ErrorCode::kInternal || code == ErrorCode::kIntegrity;
      if (bad) note = wrong(user, result.error().describe());
      if (!bad) note.kind = Note::Kind::kRefused;
    }
    send(notes_, note);
  }

  cove::Cove& cove_;
  cove::base::SystemClock clock_;
  std::mt19937_64 random_;
  std::uint64_t next_file_;
  int notes_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> files_;
  std::vector<cove::Workspace> held_;
};

}  // namespace

int work(const Place& place, std::uint64_t number, std::uint64_t seed, int notes,
         std::chrono::steady_clock::time_point end) {
  auto cove = cove::Cove::open(place.config());
  if (!cove) {
    send(notes, wrong(0, "open: " + cove.error().describe()));
    return 1;
  }
  {
    Worker worker(*cove, number, seed, notes);
    while (std::chrono::steady_clock::now() < end) worker.act();
  }
  const auto closed = cove->close();
  if (!closed) send(notes, wrong(0, "close: " + closed.error().describe()));
  return closed ? 0 : 1;
}

}  // namespace torture
