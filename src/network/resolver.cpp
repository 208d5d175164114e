#include "network/resolver.hpp"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/async/completion.hpp"
#include "base/async/quiet_thread.hpp"
#include "base/values/caught.hpp"

namespace cove::network {
namespace {

constexpr std::size_t kMostWaiting = 256;
constexpr std::size_t kMostAddresses = 16;

using Addresses = std::vector<IpAddress>;
using Answer = base::Completion<Result<Addresses>>;

Result<Addresses> refusal_of(int error, const std::string& name) {
  if (error == EAI_NONAME || error == EAI_NODATA || error == EAI_ADDRFAMILY) {
    return Error(ErrorCode::kNotFound, "the name " + name + " has no address");
  }
  return Error(ErrorCode::kUnavailable,
               "the name " + name + " cannot be resolved now: " + ::gai_strerror(error));
}

std::optional<IpAddress> address_of(const addrinfo& info) {
  // SAFETY: the family says which of the socket addresses it is; copied, so alignment is no matter.
  if (info.ai_family == AF_INET && info.ai_addrlen >= sizeof(sockaddr_in)) {
    sockaddr_in found{};
    std::memcpy(&found, info.ai_addr, sizeof found);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &found.sin_addr, bytes.size());
    return IpAddress::from_v4(bytes);
  }
  if (info.ai_family == AF_INET6 && info.ai_addrlen >= sizeof(sockaddr_in6)) {
    sockaddr_in6 found{};
    std::memcpy(&found, info.ai_addr, sizeof found);
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &found.sin6_addr, bytes.size());
    return IpAddress::from_v6(bytes);
  }
  return std::nullopt;
}

}  // namespace

Result<Addresses> Resolver::ask_system(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    // Where the machine has no address but loopback's, that flag hides what /etc/hosts says.
    hints.ai_flags = 0;
    error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  }
  if (error != 0) return refusal_of(error, name);
  Addresses found;
  for (const addrinfo* at = list; at != nullptr && found.size() < kMostAddresses;
       at = at->ai_next) {
    if (const auto address = address_of(*at)) found.push_back(*address);
  }
  ::freeaddrinfo(list);
  if (found.empty()) return refusal_of(EAI_NONAME, name);
  return found;
}

/// Shared with the threads, which may outlive the resolver.
struct Resolver::State {
  struct Question {
    std::string name;
    std::shared_ptr<Answer> answer;
  };

  Lookup lookup;
  unsigned most_threads = 1;
  std::mutex mutex;
  std::condition_variable wake;
  bool closed = false;  // guarded by mutex, as the next
  unsigned threads = 0;
  unsigned idle = 0;
  std::deque<Question> questions;
};

Resolver::Resolver(Scheduler& scheduler, Lookup lookup, unsigned threads)
    : scheduler_(scheduler), state_(std::make_shared<State>()) {
  state_->lookup = std::move(lookup);
  state_->most_threads = threads;
}

Resolver::~Resolver() {
  std::deque<State::Question> left;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    left.swap(state_->questions);
  }
  state_->wake.notify_all();
  for (const auto& question : left) {
    question.answer->complete(Error(ErrorCode::kUnavailable, "the proxy was closed"));
  }
}

void Resolver::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    ++state->idle;
    state->wake.wait(lock, [&] { return state->closed || !state->questions.empty(); });
    --state->idle;
    if (state->closed) return;
    const State::Question question = std::move(state->questions.front());
    state->questions.pop_front();
    lock.unlock();
    Result<Addresses> found = Error(ErrorCode::kInternal, "nothing was looked up");
    try {
      found = state->lookup(question.name);
    } catch (...) {
      found = base::caught_error();
    }
    lock.lock();
    // Under the lock: after the close there may be no scheduler to resume anybody on.
    if (!state->closed) question.answer->complete(std::move(found));
  }
}

Task<Result<Addresses>> Resolver::resolve(const std::string& name, const CallContext& call) {
  const auto answer = Answer::make(scheduler_);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->questions.size() >= kMostWaiting) {
      co_return Error(ErrorCode::kQuotaExceeded, "256 names wait to be resolved already");
    }
    state_->questions.push_back({name, answer});
    const bool is_short = state_->idle < state_->questions.size();
    if (is_short && state_->threads < state_->most_threads) {
      try {
        base::start_quiet_thread("cove-names", [state = state_] { work(state); }).detach();
        ++state_->threads;
      } catch (const std::exception& e) {
        if (state_->threads == 0) {
          state_->questions.pop_back();
          co_return Error(ErrorCode::kUnavailable,
                          std::string("no thread to resolve names with: ") + e.what());
        }
      }
    }
  }
  state_->wake.notify_one();
  co_return co_await base::wait_bounded<Addresses>(answer, scheduler_, call);
}

}  // namespace cove::network
