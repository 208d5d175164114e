#include "guest/agent_egress.hpp"

#include <utility>

#include "base/async/spawn.hpp"
#include "base/values/caught.hpp"

namespace cove::guest {
namespace {

/// What both directions of one connection work with. Two tasks share it; the last one ends it.
struct Way {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<EgressConnection> outside;
  CallContext call;  // stops when the stream is over
  int directions = 2;
};

/// From the agent to the outside.
Task<Result<void>> carry_up(const std::shared_ptr<Way>& way) {
  Stream& stream = *way->stream;
  for (;;) {
    while (stream.arrived.empty() && !stream.asked->ended && !stream.is_over()) {
      COVE_CO_TRY_VOID(co_await stream.changed(way->call));
    }
    if (stream.is_over()) co_return ok();
    if (stream.arrived.empty()) break;
    const Stream::Piece piece = stream.take_arrived();
    COVE_CO_TRY_VOID(co_await way->outside->write(piece.bytes, way->call));
    way->connection->used(stream, piece.bytes.size());
  }
  way->outside->end();
  co_return ok();
}

/// From the outside to the agent.
Task<Result<void>> carry_down(const std::shared_ptr<Way>& way) {
  Stream& stream = *way->stream;
  bool is_end = false;
  for (;;) {
    // Nothing is read before what was read is on its way: so nothing piles up.
    while (!stream.outgoing.empty() && !stream.is_over()) {
      COVE_CO_TRY_VOID(co_await stream.changed(way->call));
    }
    if (is_end || stream.is_over()) co_return ok();
    COVE_CO_TRY(Bytes bytes, co_await way->outside->read(way->call));
    is_end = bytes.empty();
    way->connection->send(stream, {wire::Channel::kMain, std::move(bytes), is_end});
  }
}

void leave(Way& way, const Result<void>& ending) {
  if (!ending) {
    way.connection->answer(*way.stream, ending);
    way.outside->close();
  }
  if (--way.directions == 0) {
    way.connection->answer(*way.stream, ok());
    way.outside->close();
  }
}

using Direction = Task<Result<void>> (*)(const std::shared_ptr<Way>& way);

Task<void> carry(std::shared_ptr<Way> way, Direction direction) {
  Result<void> ending = ok();
  try {
    ending = co_await direction(way);
  } catch (...) {
    ending = base::caught_error();
  }
  leave(*way, ending);
}

struct Asked {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<Stream> stream;
  EgressRequest request;
};

Task<void> connect_and_carry(base::IoLoop& loop, Egress& egress, Asked asked) {
  const CallContext call{.deadline = {}, .stop = asked.stream->asked->over.get_token()};
  Result<std::shared_ptr<EgressConnection>> opened =
      Error(ErrorCode::kInternal, "nothing was opened");
  try {
    opened = co_await egress.connect(asked.request, call);
  } catch (...) {
    opened = base::caught_error();
  }
  if (!opened) {
    asked.connection->answer(*asked.stream, opened.error());
    co_return;
  }
  asked.connection->announce(*asked.stream);
  const auto way = std::make_shared<Way>(
      Way{std::move(asked.connection), std::move(asked.stream), *std::move(opened), call});
  base::spawn(loop, carry(way, carry_up));
  base::spawn(loop, carry(way, carry_down));
}

}  // namespace

void serve_egress(base::IoLoop& loop, Connection& connection, Egress& egress, SandboxId sandbox) {
  connection.serve([&loop, &egress, weak = connection.weak_from_this(),
                    sandbox = std::move(sandbox)](std::shared_ptr<Stream> stream,
                                                  wire::ConnectRequest request) {
    Asked asked{weak.lock(), std::move(stream), {sandbox, std::move(request.target), request.via}};
    base::spawn(loop, connect_and_carry(loop, egress, std::move(asked)));
  });
}

}  // namespace cove::guest
