/// The seam to where snapshots live: named, immutable objects.
///
/// Every implementation promises, and tests/contract/object_store_test.cpp checks:
/// - an object is seen whole or not at all, also after a crash in the middle of a put;
/// - a put that returned is durable, and seen by every later get, stat and list;
/// - an object is never changed: a second put of a key is refused and changes nothing.
///
/// Keys are `/`-separated segments of 1 to 200 of `[A-Za-z0-9._-]` (no `.` or `..`), at most 1024
/// bytes. A key may be the beginning of another: `a` and `a/b` are two objects.
/// All calls are safe from any thread and complete on Cove's scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/call_context.hpp>
#include <cove/ids.hpp>
#include <cove/result.hpp>
#include <cove/task.hpp>

namespace cove {

/// Checks a key against the rule above; kInvalidArgument names the key and the rule.
Result<void> validate(const ObjectKey& key);

/// What is said of one object.
struct ObjectInfo {
  ObjectKey key;
  std::uint64_t size = 0;  ///< bytes

  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

/// Some objects of a list.
struct ObjectPage {
  std::vector<ObjectInfo> objects;  ///< by key, in the order of bytes
  std::string next;                 ///< for `after`; empty = this was the last page
};

/// Keeps objects, for all processes of a deployment.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Stores what `content` gives as a new object. On any error no object is there, but after
  /// kUnavailable, kTimeout or kCancelled it may be, whole. Memory is bounded whatever the size.
  /// Errors: kAlreadyExists - the key is taken, nothing was changed; kQuotaExceeded - no room;
  /// kInvalidArgument - the key; kUnavailable; any error of `content` as it is.
  virtual Task<Result<ObjectInfo>> put_if_absent(const ObjectKey& key, ByteSource& content,
                                                 const CallContext& call) = 0;

  /// Opens an object for reading. Errors: kNotFound; kInvalidArgument - the key; kUnavailable.
  virtual Task<Result<std::unique_ptr<ByteSource>>> get(const ObjectKey& key,
                                                        const CallContext& call) = 0;

  /// Size of an object. Errors: as `get`.
  virtual Task<Result<ObjectInfo>> stat(const ObjectKey& key, const CallContext& call) = 0;

  /// Lists keys that begin with `prefix` (as text, not by segment), after the key `after`.
  /// `limit` is 1 to 1000. Errors: kInvalidArgument - the limit; kUnavailable.
  virtual Task<Result<ObjectPage>> list(const std::string& prefix, const std::string& after,
                                        std::uint32_t limit, const CallContext& call) = 0;

  /// Removes an object; success also where it is not there.
  virtual Task<Result<void>> remove(const ObjectKey& key, const CallContext& call) = 0;
};

}  // namespace cove
