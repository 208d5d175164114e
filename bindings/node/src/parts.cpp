#include "parts.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <time.h>

#include "functions.hpp"
#include "results.hpp"

namespace cove_node {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t clock, void* self) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec +
         (*static_cast<std::shared_ptr<ClockState>*>(self))->ahead_ns.load();
}

/// A question on its way to JavaScript: what the host is asked, copied.
struct Question {
  std::uint32_t kind = 0;
  std::string name;
  double expected = 0;
  bool durable = false;
};

/// A document that outlives the call that lent it.
struct KeptDocument {
  explicit KeptDocument(const cove_document& lent)
      : raw(lent),
        name(lent.name),
        body(static_cast<const char*>(lent.body), lent.body_size),
        state(lent.state),
        source(lent.source),
        node(lent.node) {}

  cove_document raw;  // its numbers
  std::string name;
  std::string body;
  std::string state;
  std::string source;
  std::string node;
};

/// Where there is none, null.
napi_value time_value(napi_env env, std::uint32_t times, std::uint32_t bit, std::int64_t ms) {
  return (times & bit) == 0 ? null_value(env) : number_value(env, static_cast<double>(ms));
}

napi_value optional_text(napi_env env, const std::optional<std::string>& text) {
  return text ? text_value(env, *text) : null_value(env);
}

/// The store's side of one vtable; made and ended by cove_open's rules.
class Store {
 public:
  Store(const Environment& environment, napi_value ask)
      : library_(environment.library),
        live_(environment.live),
        mailbox_(environment.mailbox),
        ask_(FunctionReference::make(environment, ask)) {}

  static void destroy(void* self) { delete static_cast<Store*>(self); }

  static void insert(void* self, const cove_document* document, int32_t durability,
                     cove_done* done) {
    of(self).ask("insert", done, about(*document, 0, durability));
  }
  static void find(void* self, uint32_t kind, const char* name, cove_done* done) {
    of(self).ask("find", done, about({kind, name, 0, true}));
  }
  static void swap(void* self, const cove_document* next, uint64_t expected, int32_t durability,
                   cove_done* done) {
    of(self).ask("compareAndSwap", done, about(*next, expected, durability));
  }
  static void remove(void* self, uint32_t kind, const char* name, uint64_t expected,
                     cove_done* done) {
    of(self).ask("remove", done, about({kind, name, static_cast<double>(expected), true}));
  }
  static void query(void* self, const cove_document_query* query, cove_done* done);
  static void now(void* self, cove_done* done) {
    of(self).ask("nowMs", done, [](napi_env env) { return undefined_value(env); });
  }

 private:
  /// Makes the argument of a question, on the environment's thread.
  using Argument = std::function<napi_value(napi_env)>;

  /// Where it is never delivered, the question goes unanswered with it, and is refused.
  struct Ask final : Message {
    Ask(std::shared_ptr<FunctionReference> its_function, const char* its_slot,
        Argument its_argument, std::shared_ptr<DoneHandle> its_done)
        : function(std::move(its_function)),
          slot(its_slot),
          argument(std::move(its_argument)),
          done(std::move(its_done)) {}

    void deliver(napi_env env) override {
      const napi_value arguments[] = {text_value(env, slot), argument(env),
                                      wrap(env, std::move(done))};
      function->call(env, 3, arguments);
    }

    std::shared_ptr<FunctionReference> function;
    const char* slot;
    Argument argument;
    std::shared_ptr<DoneHandle> done;
  };

  static Store& of(void* self) { return *static_cast<Store*>(self); }

  void ask(const char* slot, cove_done* raw, Argument argument) const {
    auto done = std::make_shared<DoneHandle>(library_, raw);
    if (!live_->add(done)) return;  // unanswered, it is refused as it goes
    mailbox_->post(std::make_unique<Ask>(ask_, slot, std::move(argument), std::move(done)));
  }

  static Argument about(Question question) {
    return [question = std::move(question)](napi_env env) {
      Object made(env);
      made.number("kind", question.kind)
          .bytes("name", question.name.data(), question.name.size())
          .number("expected", question.expected)
          .truth("durable", question.durable);
      return made.value();
    };
  }

  static Argument about(const cove_document& lent, std::uint64_t expected, int32_t durability) {
    return [kept = KeptDocument(lent), expected, durability](napi_env env) {
      const cove_document& raw = kept.raw;
      Object made(env);
      made.number("kind", raw.kind)
          .bytes("name", kept.name.data(), kept.name.size())
          .bytes("body", kept.body.data(), kept.body.size())
          .text("state", kept.state)
          .text("source", kept.source)
          .text("node", kept.node)
          .set("activeAtMs", time_value(env, raw.times, COVE_TIME_ACTIVE, raw.active_at_ms))
          .set("heartbeatMs", time_value(env, raw.times, COVE_TIME_HEARTBEAT, raw.heartbeat_ms))
          .number("expected", static_cast<double>(expected))
          .truth("durable", durability == COVE_DURABILITY_DURABLE);
      return made.value();
    };
  }

  LibraryPtr library_;
  std::shared_ptr<Live> live_;
  MailboxPtr mailbox_;
  std::shared_ptr<FunctionReference> ask_;
};

std::optional<std::string> kept_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void Store::query(void* self, const cove_document_query* query, cove_done* done) {
  const auto after = kept_text(query->after_name);
  of(self).ask("query", done,
               [raw = *query, state = kept_text(query->state), source = kept_text(query->source),
                node = kept_text(query->node), after](napi_env env) {
                 Object made(env);
                 made.number("kind", raw.kind)
                     .number("order", raw.order)
                     .number("limit", raw.limit)
                     .set("state", optional_text(env, state))
                     .set("source", optional_text(env, source))
                     .set("node", optional_text(env, node))
                     .set("activeBeforeMs",
                          time_value(env, raw.times, COVE_TIME_ACTIVE, raw.active_before_ms))
                     .set("heartbeatBeforeMs",
                          time_value(env, raw.times, COVE_TIME_HEARTBEAT, raw.heartbeat_before_ms))
                     .set("afterName",
                          after ? bytes_value(env, after->data(), after->size()) : null_value(env))
                     .number("afterMs", static_cast<double>(raw.after_ms));
                 return made.value();
               });
}

/// A document as JavaScript gives it, for C.
class GivenDocument {
 public:
  GivenDocument(napi_env env, napi_value object) {
    const Fields fields(env, object);
    const BytesView name = fields.bytes("name");
    name_.assign(static_cast<const char*>(name.data), name.size);
    const BytesView body = fields.bytes("body");
    body_.assign(static_cast<const char*>(body.data), body.size);
    state_ = fields.text("state").value_or("");
    source_ = fields.text("source").value_or("");
    node_ = fields.text("node").value_or("");
    raw_.kind = fields.u32("kind");
    raw_.version = fields.u64("version");
    read_time(env, fields.at("activeAtMs"), COVE_TIME_ACTIVE, raw_.active_at_ms);
    read_time(env, fields.at("heartbeatMs"), COVE_TIME_HEARTBEAT, raw_.heartbeat_ms);
  }

  /// Valid as long as this, which must not move meanwhile.
  cove_document raw() const {
    cove_document made = raw_;
    made.name = name_.c_str();
    made.body = body_.data();
    made.body_size = body_.size();
    made.state = state_.c_str();
    made.source = source_.c_str();
    made.node = node_.c_str();
    return made;
  }

 private:
  void read_time(napi_env env, napi_value value, std::uint32_t bit, std::int64_t& ms) {
    const auto number = read_number(env, value);
    if (!number) return;
    ms = static_cast<std::int64_t>(*number);
    raw_.times |= bit;
  }

  cove_document raw_ = COVE_DOCUMENT_INIT;
  std::string name_;
  std::string body_;
  std::string state_;
  std::string source_;
  std::string node_;
};

/// Answers by give(done, &error), and lets go of the question.
template <class Give>
napi_value answer_by(Arguments& in, Give give) {
  const auto done = in.handle<DoneHandle>(0);
  if (in.has_failed()) return nullptr;
  cove_error* error = nullptr;
  const cove_status status = give(done->raw, &error);
  box_of<DoneHandle>(in.env(), in.at(0))->reset();
  return status == COVE_OK ? nullptr : throw_error(in, error);
}

}  // namespace

cove_clock clock_slots(std::shared_ptr<ClockState> state) {
  cove_clock slots = COVE_CLOCK_INIT;
  slots.self = new std::shared_ptr<ClockState>(std::move(state));
  slots.destroy = [](void* self) { delete static_cast<std::shared_ptr<ClockState>*>(self); };
  slots.now_ns = [](void* self) { return read_clock(CLOCK_BOOTTIME, self); };
  slots.wall_ms = [](void* self) { return read_clock(CLOCK_REALTIME, self) / kNsPerMs; };
  return slots;
}

cove_metadata_store metadata_slots(const Environment& environment, napi_value ask) {
  cove_metadata_store slots = COVE_METADATA_STORE_INIT;
  slots.self = new Store(environment, ask);
  slots.destroy = &Store::destroy;
  slots.insert = &Store::insert;
  slots.find = &Store::find;
  slots.compare_and_swap = &Store::swap;
  slots.remove = &Store::remove;
  slots.query = &Store::query;
  slots.now = &Store::now;
  return slots;
}

napi_value clock_create(Arguments& in) { return wrap(in.env(), std::make_shared<ClockState>()); }

napi_value clock_advance(Arguments& in) {
  const auto clock = in.handle<ClockState>(0);
  const double ms = in.number(1);
  if (in.has_failed()) return nullptr;
  clock->ahead_ns.fetch_add(static_cast<std::int64_t>(ms * static_cast<double>(kNsPerMs)));
  return nullptr;
}

napi_value clock_moved(Arguments& in) {
  const auto handle = in.handle<CoveHandle>(0);
  if (!in.has_failed()) in.library().cove_clock_moved(handle->raw);
  return nullptr;
}

napi_value answer_done(Arguments& in) {
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    return in.library().cove_done_ok(done, error);
  });
}

napi_value answer_failure(Arguments& in) {
  const auto code = static_cast<cove_status>(in.number(1));
  const std::string message = in.text(2);
  const auto retry_after_ms = static_cast<std::int64_t>(in.number(3));
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    return in.library().cove_done_fail(done, code, message.c_str(), retry_after_ms, error);
  });
}

napi_value answer_version(Arguments& in) {
  const std::uint64_t version = whole_number(in.number(1));
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    return in.library().cove_done_version(done, version, error);
  });
}

napi_value answer_time(Arguments& in) {
  const auto time_ms = static_cast<std::int64_t>(in.number(1));
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    return in.library().cove_done_time(done, time_ms, error);
  });
}

napi_value answer_document(Arguments& in) {
  napi_valuetype type = napi_undefined;
  napi_typeof(in.env(), in.at(1), &type);
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    if (type != napi_object) return in.library().cove_done_document(done, nullptr, error);
    const GivenDocument given(in.env(), in.at(1));
    const cove_document raw = given.raw();
    return in.library().cove_done_document(done, &raw, error);
  });
}

napi_value answer_documents(Arguments& in) {
  std::uint32_t count = 0;
  if (napi_get_array_length(in.env(), in.at(1), &count) != napi_ok) {
    in.fail("argument 1 is no list");
    return nullptr;
  }
  std::vector<std::unique_ptr<GivenDocument>> given;
  std::vector<cove_document> raw;
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value element = nullptr;
    if (napi_get_element(in.env(), in.at(1), i, &element) != napi_ok) return nullptr;
    given.push_back(std::make_unique<GivenDocument>(in.env(), element));
    raw.push_back(given.back()->raw());
  }
  const std::int32_t is_last = in.truth(2) ? 1 : 0;
  return answer_by(in, [&](cove_done* done, cove_error** error) {
    return in.library().cove_done_documents(done, raw.data(), raw.size(), is_last, error);
  });
}

napi_value is_done_over(Arguments& in) {
  const auto done = in.handle<DoneHandle>(0);
  if (in.has_failed()) return nullptr;
  napi_value over = nullptr;
  napi_get_boolean(in.env(), in.library().cove_done_is_over(done->raw) == 1, &over);
  return over;
}

napi_value write_agent(Arguments& in) {
  const std::string path = in.text(0);
  return start_call<Nothing>(in, nullptr, [&](auto done, void* data, cove_error** error) {
    return in.library().cove_agent_write_start(path.c_str(), done, data, nullptr, error);
  });
}

}  // namespace cove_node
