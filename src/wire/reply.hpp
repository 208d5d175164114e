/// What an agent answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cove/bytes.hpp>
#include <cove/error.hpp>
#include <cove/files.hpp>
#include <cove/guest.hpp>
#include <cove/result.hpp>

#include "wire/command_reply.hpp"

namespace cove::wire {

Bytes encode_status(const GuestStatus& status);
Result<GuestStatus> parse_status(ByteView payload);

/// The answer to stat and to write.
Bytes encode_file_info(const FileInfo& info);
Result<FileInfo> parse_file_info(ByteView payload);

/// The event that says a file is open: what it is and how many bytes will come.
struct OpenedReply {
  FileInfo info;
  std::uint64_t length = 0;
  std::string content_type;
};
Bytes encode_opened(const OpenedReply& opened);
Result<OpenedReply> parse_opened(ByteView payload);

/// The answer that ends read and list: how many bytes or entries were sent, and a page's `next`.
struct CountReply {
  std::uint64_t count = 0;
  std::string next;
};
Bytes encode_count(const CountReply& reply);
Result<CountReply> parse_count(ByteView payload);

/// Entries of a list, cut into payloads of kData that each decode alone.
std::vector<Bytes> encode_entries(const std::vector<FileInfo>& entries);
Result<std::vector<FileInfo>> parse_entries(ByteView payload);

/// The answer of what has nothing to say.
Bytes encode_nothing();
Result<void> parse_nothing(ByteView payload);

Bytes encode_error(const Error& error);

/// The agent's error as the caller sees it, with its context. Its words are cut to 1 KiB of
/// printable text; a code that is not known becomes kProvider. None where it is malformed.
std::optional<Error> parse_error(ByteView payload);

}  // namespace cove::wire
