/// How threads of Cove reach JavaScript: messages that are delivered on the environment's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include <node_api.h>

namespace cove_node {

/// Made on any thread. One that is not delivered, since its environment ends, is only destroyed.
class Message {
 public:
  virtual ~Message() = default;

  /// On the environment's thread, in a handle scope; once. An exception that it leaves is raised as
  /// uncaught.
  virtual void deliver(napi_env env) = 0;
};

/// What a function of the host has thrown, if it has, goes the way of everything uncaught, to
/// process.on("uncaughtException"): of a threadsafe function's, Node itself only warns.
void raise_uncaught(napi_env env);

class Mailbox {
 public:
  /// On the environment's thread. Null where Node refuses; an exception is pending then.
  static std::shared_ptr<Mailbox> open(napi_env env);

  /// Any thread; never blocks.
  void post(std::unique_ptr<Message> message);

  /// On the environment's thread: while anybody holds it, the event loop goes on.
  void hold();
  void let_go();

  /// On the environment's thread, when it ends: later messages are destroyed where they are posted.
  void close();

 private:
  static void deliver(napi_env env, napi_value, void*, void* data);

  napi_env env_ = nullptr;
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
  bool closed_ = false;
  std::size_t holds_ = 0;
};

using MailboxPtr = std::shared_ptr<Mailbox>;

}  // namespace cove_node
