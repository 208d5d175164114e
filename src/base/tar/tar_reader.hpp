/// TarReader: bytes of a tar archive in, entries out. Every byte is taken as hostile. It knows no
/// files: whether a path may be written is its sink's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cove/bytes.hpp>
#include <cove/result.hpp>

#include "base/tar/tar_entry.hpp"

namespace cove::base {

/// Takes what an archive has. Its errors end the reading as they are.
class TarSink {
 public:
  virtual ~TarSink() = default;
  virtual Result<void> entry(const TarEntry& entry) = 0;

  /// Content of the file that came last, in order.
  virtual Result<void> data(ByteView bytes) = 0;

  /// The entry that came last is whole.
  virtual Result<void> entry_end() = 0;
};

/// Reads ustar, old tar, pax headers and GNU's long names. Memory is bounded.
class TarReader {
 public:
  explicit TarReader(TarSink& sink) : sink_(sink) {}

  /// Takes the next bytes. Errors: kInvalidArgument - no tar, or damaged; kUnsupported - a device,
  /// FIFO, sparse file or unknown type; kTooLarge - a name of more than 1 MiB; those of the sink.
  Result<void> feed(ByteView bytes);

  /// The input is at its end. kInvalidArgument: but the archive is not.
  Result<void> finish() const;

 private:
  enum class State : std::uint8_t { kHeader, kContent, kExtension, kPadding, kEnded };

  /// What headers before an entry say of it.
  struct Extension {
    std::string path;
    std::string target;
    bool has_path = false;
    bool has_target = false;
    bool has_size = false;
    bool has_time = false;
    std::uint64_t size = 0;
    std::int64_t seconds = 0;
    std::int32_t nanoseconds = 0;
  };

  Result<std::size_t> take(std::string_view bytes);
  Result<void> take_block();
  Result<void> begin_extension(char type, std::uint64_t size);
  Result<void> begin_entry(char type, TarEntry entry);
  Result<void> end_content();
  Result<void> end_extension();
  Result<void> read_records(std::string_view records);
  Result<void> apply_record(std::string_view key, std::string_view value);

  TarSink& sink_;
  State state_ = State::kHeader;
  std::string block_;      // of a header, as far as it came
  std::string extension_;  // of an extension header, as far as it came
  char extension_type_ = 0;
  std::uint64_t left_ = 0;   // of the content or extension
  std::size_t padding_ = 0;  // behind it
  bool any_ = false;         // something came
  Extension next_;
};

}  // namespace cove::base
