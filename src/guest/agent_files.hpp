/// AgentFiles: the file part of AgentGuest. Its parts: agent_files.cpp (reading, writing, listing),
/// agent_file_changes.cpp, agent_trees.cpp (trees and watches).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cove/guest.hpp>

namespace cove::guest {

struct Link;
using LinkPtr = std::shared_ptr<const Link>;
class StreamOwner;

class AgentFiles : public Guest {
 public:
  Task<Result<GuestFile>> read_file(const GuestPath& path, const ReadRange& range,
                                    const CallContext& call) override;
  Task<Result<LineSlice>> read_lines(const GuestPath& path, const LineRange& range,
                                     const CallContext& call) override;
  Task<Result<FileInfo>> write_file(const GuestPath& path, ByteSource& content,
                                    const WriteOptions& options, const CallContext& call) override;
  Task<Result<EditResult>> edit_file(const GuestPath& path, const std::vector<Edit>& edits,
                                     const EditOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> stat(const GuestPath& path, const CallContext& call) override;
  Task<Result<FilePage>> list(const GuestPath& path, const ListOptions& options,
                              const CallContext& call) override;
  Task<Result<void>> make_directory(const GuestPath& path, const CallContext& call) override;
  Task<Result<void>> remove(const GuestPath& path, bool recursive,
                            const CallContext& call) override;
  Task<Result<FileInfo>> move(const GuestPath& from, const GuestPath& to,
                              const MoveOptions& options, const CallContext& call) override;
  Task<Result<TreeCounts>> copy(const GuestPath& from, const GuestPath& to,
                                const CopyOptions& options, const CallContext& call) override;
  Task<Result<FileInfo>> set_mode(const GuestPath& path, std::uint32_t mode,
                                  const CallContext& call) override;
  Task<Result<FileInfo>> make_symlink(const GuestPath& path, const std::string& target,
                                      const CallContext& call) override;
  Task<Result<std::unique_ptr<ByteSource>>> read_tree(const GuestPath& path,
                                                      const CallContext& call) override;
  Task<Result<TreeCounts>> write_tree(const GuestPath& path, ByteSource& archive,
                                      const CallContext& call) override;
  Task<Result<std::unique_ptr<GuestWatch>>> watch(const GuestPath& path,
                                                  const WatchOptions& options,
                                                  const CallContext& call) override;

 protected:
  explicit AgentFiles(LinkPtr link) : link_(std::move(link)) {}

  LinkPtr link_;
};

/// How much of a file, a tree or a page may wait unread.
constexpr std::uint64_t kFileWindow = 1024 * 1024;

/// What comes on a stream as bytes, `most` of them: the agent reads on as pieces are taken.
std::unique_ptr<ByteSource> make_source(std::shared_ptr<StreamOwner> stream, std::uint64_t most);

/// Waits until the agent has said what it opened, or refused.
Task<Result<void>> await_event(const StreamOwner& stream, const CallContext& call);

/// The same, where the agent says nothing but that it is open.
Task<Result<void>> await_open(const StreamOwner& stream, const CallContext& call);

/// Waits for the answer, which is in the stream then. Where the call ends first, what was asked for
/// is taken back, and what became of it is waited for (5 s): it may have been done after all.
Task<Result<void>> await_settled(const StreamOwner& stream, const CallContext& call);

/// Of an upload that was answered well: an answer before all was sent breaks the protocol.
Result<void> check_all_sent(const StreamOwner& stream);

/// As await_settled, after the content was sent as it comes.
Task<Result<void>> send_all(const StreamOwner& stream, ByteSource& content,
                            const CallContext& call);

}  // namespace cove::guest
