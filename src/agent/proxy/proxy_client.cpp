#include "agent/proxy/proxy_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/proxy/answers.hpp"
#include "wire/connect_request.hpp"

namespace cove::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kOpeningRead = 16 * 1024;
constexpr std::size_t kOnwardRead = 64 * 1024;
constexpr std::uint64_t kDownwardWindow = 128 * 1024;
constexpr std::size_t kMostDiscarded = 1024 * 1024;

constexpr auto kOpeningTime = 30s;
constexpr auto kAskingTime = 90s;  // a host gives up connecting before
constexpr auto kHalfOpenTime = 120s;
constexpr auto kPartingTime = 5s;

Error no_host() {
  return {ErrorCode::kFailedPrecondition,
          "no host application is connected to this sandbox just now, so nothing outside can be "
          "reached; try again later"};
}

/// What another host may answer otherwise.
bool is_one_hosts_word(ErrorCode code) {
  return code == ErrorCode::kPermissionDenied || code == ErrorCode::kQuotaExceeded;
}

std::string_view text_of(ByteView bytes) {
  // SAFETY: bytes seen as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool ProxyClient::start() {
  set_timer(kOpeningTime, &ProxyClient::on_opening_time);
  if (socket_.watch(true)) return true;
  if (timer_) loop_.cancel(*timer_);
  return false;
}

void ProxyClient::on_ready(std::uint32_t events) {
  const auto self = shared_from_this();  // lives to the end of this
  socket_.note(events);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some();
  if (state_ != State::kDone && (events & EPOLLOUT) != 0) flush();
  settle();
}

void ProxyClient::read_some() {
  switch (state_) {
    case State::kOpening: return read_opening();
    // Not watched for input: the connection is gone.
    case State::kAsking: return finish();
    case State::kOpen: return read_onward();
    case State::kParting: return discard();
    case State::kDone: return;
  }
}

void ProxyClient::read_opening() {
  std::array<char, kOpeningRead> space;
  const auto got = socket_.read(space);
  if (got.ended || got.broken) return finish();
  if (got.bytes == 0) return;
  std::string reply;
  const auto found = reader_.take(std::string_view(space.data(), got.bytes), reply);
  socket_.write(reply);
  own_words_ += reply.size();
  flush();
  if (state_ != State::kOpening || found == OpeningReader::State::kMore) return;
  if (found == OpeningReader::State::kRefused) return part();
  state_ = State::kAsking;
  candidates_ = owner_.hosts();
  std::reverse(candidates_.begin(), candidates_.end());
  set_timer(kAskingTime, &ProxyClient::on_asking_time);
  ask_next();
}

/// Asks the next host; says no when there is none left.
void ProxyClient::ask_next() {
  const Opening& opening = reader_.opening();
  while (!candidates_.empty()) {
    const auto host = candidates_.back().lock();
    candidates_.pop_back();
    if (!host) continue;
    upward_ = wire::SendWindow(wire::kAgentStreamCredit);
    downward_ = wire::ReceiveWindow(kDownwardWindow);
    const wire::ConnectRequest request{opening.target, opening.via, kDownwardWindow};
    stream_ = host->open(wire::encode_connect(request), shared_from_this());
    if (stream_) return;
  }
  refuse(refusal_.value_or(no_host()));
}

void ProxyClient::refuse(const Error& error) {
  const std::string answer = refused_answer(reader_.opening().via, error);
  socket_.write(answer);
  own_words_ += answer.size();
  part();
}

void ProxyClient::on_event(ByteView) {
  if (state_ != State::kAsking) return;
  state_ = State::kOpen;
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  const std::string answer = accepted_answer(reader_.opening().via);
  socket_.write(answer);
  own_words_ += answer.size();
  const std::string& first = reader_.opening().first;
  if (!first.empty()) {
    stream_.send_data(wire::Channel::kMain, std::as_bytes(std::span(first)));
    upward_.spend(first.size());
  }
  pass(reader_.rest());
  // What was kept for another try is not needed any more.
  reader_.opening().first = std::string();
  flush();
  settle();
}

/// Passes on what a client wrote. REQUIRES: within the credit.
void ProxyClient::pass(std::string_view bytes) {
  Opening& opening = reader_.opening();
  if (opening.via == EgressVia::kHttp) {
    // Another request behind this one has no answer here: the client was told that we close.
    const std::size_t own = opening.body.take(bytes);
    discarded_ += bytes.size() - own;
    if (opening.body.is_broken() || discarded_ > kMostDiscarded) return abort();
    bytes = bytes.substr(0, own);
  }
  if (bytes.empty() || upward_ended_ || stream_over_) return;
  stream_.send_data(wire::Channel::kMain, std::as_bytes(std::span(bytes)));
  upward_.spend(bytes.size());
}

void ProxyClient::read_onward() {
  if (client_ended_) return;
  const auto room =
      static_cast<std::size_t>(std::min<std::uint64_t>(upward_.available(), kOnwardRead));
  if (room == 0 || !stream_.has_room()) return;
  std::array<char, kOnwardRead> space;
  const auto got = socket_.read(std::span(space).first(room));
  if (got.broken) return finish();
  if (got.bytes > 0) {
    if (downward_ended_) set_timer(kHalfOpenTime, &ProxyClient::on_idle_time);
    return pass(std::string_view(space.data(), got.bytes));
  }
  if (!got.ended) return;
  client_ended_ = true;
  // Who half-closes after a request waits for its answer; servers take an end there for the
  // client's going away.
  if (reader_.opening().via != EgressVia::kHttp) end_upward();
  if (reader_.opening().via == EgressVia::kHttp && !reader_.opening().body.is_over()) {
    return finish();
  }
  set_timer(kHalfOpenTime, &ProxyClient::on_idle_time);
}

void ProxyClient::end_upward() {
  if (upward_ended_ || stream_over_) return;
  upward_ended_ = true;
  stream_.send_end(wire::Channel::kMain);
}

bool ProxyClient::on_data(wire::Channel channel, ByteView bytes) {
  if (state_ != State::kOpen || channel != wire::Channel::kMain || downward_ended_) return false;
  if (!downward_.receive(bytes.size())) return false;
  socket_.write(text_of(bytes));
  if (client_ended_) set_timer(kHalfOpenTime, &ProxyClient::on_idle_time);
  flush();
  settle();
  return true;
}

void ProxyClient::on_end(wire::Channel) {
  if (state_ != State::kOpen || downward_ended_) return;
  downward_ended_ = true;
  // One request has one answer: nothing more goes up either.
  if (reader_.opening().via == EgressVia::kHttp) end_upward();
  if (timer_ == std::nullopt) set_timer(kHalfOpenTime, &ProxyClient::on_idle_time);
  settle();
}

void ProxyClient::on_credit(std::uint64_t bytes) {
  upward_.grant(bytes);
  settle();
}

void ProxyClient::on_room() { settle(); }

void ProxyClient::on_response(ByteView) {
  stream_over_ = true;
  downward_ended_ = true;
  if (state_ == State::kAsking) return abort();
  if (timer_ == std::nullopt) set_timer(kHalfOpenTime, &ProxyClient::on_idle_time);
  settle();
}

void ProxyClient::on_error(const Error& error) {
  const auto self = shared_from_this();
  stream_over_ = true;
  if (state_ == State::kOpen) return abort();
  if (state_ != State::kAsking) return;
  // What a rule says is more use to people than what came of the other hosts.
  if (!refusal_ || error.code() == ErrorCode::kPermissionDenied) refusal_ = error;
  if (!is_one_hosts_word(error.code())) candidates_.clear();
  stream_over_ = false;
  ask_next();
}

void ProxyClient::on_lost() {
  const auto self = shared_from_this();
  if (state_ == State::kOpen) {
    stream_over_ = true;
    return abort();
  }
  if (state_ == State::kAsking) ask_next();
}

void ProxyClient::flush() {
  const std::size_t written = socket_.flush();
  const std::uint64_t words = std::min<std::uint64_t>(written, own_words_);
  own_words_ -= words;
  const std::uint64_t passed = written - words;
  if (passed > 0 && !stream_over_) stream_.send_credit(downward_.consume(passed));
}

/// Does what follows from all that is known, and watches for what can come next.
void ProxyClient::settle() {
  if (state_ == State::kDone) return;
  if (socket_.is_broken()) return finish();
  const bool all_written = socket_.unsent() == 0;
  if (state_ == State::kOpen && downward_ended_ && all_written) {
    const bool is_http = reader_.opening().via == EgressVia::kHttp;
    if (is_http || (stream_over_ && client_ended_)) return part();
    socket_.shut_writing();
  }
  if (state_ == State::kParting && all_written) {
    if (client_ended_) return finish();
    socket_.shut_writing();
  }
  const bool can_pass =
      !client_ended_ && !upward_ended_ && upward_.available() > 0 && stream_.has_room();
  const bool wants_input = state_ == State::kOpening ||
                           (state_ == State::kParting && !client_ended_) ||
                           (state_ == State::kOpen && can_pass);
  if (!socket_.watch(wants_input)) finish(true);
}

/// Lets the client read what is written: a close with input unread would take it away.
void ProxyClient::part() {
  if (state_ == State::kParting || state_ == State::kDone) return;
  state_ = State::kParting;
  if (!stream_over_) stream_.cancel();
  stream_over_ = true;
  flush();
  if (client_ended_ && socket_.unsent() == 0) return finish();
  set_timer(kPartingTime, &ProxyClient::on_parting_time);
  settle();
}

void ProxyClient::discard() {
  std::array<char, kOnwardRead> space;
  const auto got = socket_.read(space);
  discarded_ += got.bytes;
  client_ended_ = client_ended_ || got.ended;
  if (got.broken || discarded_ > kMostDiscarded) finish();
}

/// What came is not all of it, and the client has to see that.
void ProxyClient::abort() {
  flush();
  finish(true);
}

void ProxyClient::finish(bool reset) {
  if (state_ == State::kDone) return;
  const auto self = shared_from_this();
  state_ = State::kDone;
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  if (!stream_over_) stream_.cancel();
  socket_.close(reset);
  owner_.on_done(*this);
}

void ProxyClient::set_timer(std::chrono::milliseconds time, void (ProxyClient::*then)()) {
  if (timer_) loop_.cancel(*timer_);
  timer_ = loop_.call_after(time, [weak = weak_from_this(), then] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_.reset();
    ((*self).*then)();
  });
}

void ProxyClient::on_opening_time() {
  const std::string answer = http_refusal(408, "the request did not come within 30 s");
  socket_.write(answer);
  own_words_ += answer.size();
  part();
}

void ProxyClient::on_asking_time() {
  stream_.cancel();
  refuse(Error(ErrorCode::kTimeout, "the host application did not answer within 90 s"));
}

void ProxyClient::on_idle_time() { finish(true); }

void ProxyClient::on_parting_time() { finish(); }

}  // namespace cove::agent
