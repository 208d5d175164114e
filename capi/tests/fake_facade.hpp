/// The facade as a puppet: what it answers is set by the test, and what it was asked is kept.
/// Asynchronous calls wait in `pending` until the test delivers them. One thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cove/cove.hpp>
#include <cove/tools.hpp>

namespace fake {

struct World {
  std::vector<std::function<void()>> pending;
  std::optional<cove::Error> fail_with;  ///< every call answers this
  bool throws = false;                   ///< every call throws std::runtime_error
  bool out_of_memory = false;            ///< every call throws std::bad_alloc
  int open = 0;                          ///< Coves that live
  std::weak_ptr<cove::Parts> parts;      ///< what the last Cove was opened with, while it lives
  int clock_moves = 0;
  std::string agent_path;  ///< of write_agent

  cove::CallContext call;  ///< of the last call
  cove::ExecSpec exec;
  cove::WorkspaceKey key;
  cove::AcquireOptions acquire;
  cove::PrepareReport report;
  cove::ReadRange range;
  cove::WriteOptions write;
  cove::Bytes written;
  cove::ListOptions list;
  cove::StopDrain drain = cove::StopDrain::kRefuse;
  std::chrono::milliseconds wait{0};  // of stop
  cove::RelocateOptions relocate;     // of the last relocate
  cove::SandboxId relocated;          // and whose
  std::string source;                 // of the last call about one
  cove::IdlePolicy policy;            // of set_idle_policy, and what idle_policy gives
  cove::SweepOptions sweep;
  std::shared_ptr<cove::LifecycleObserver> observer;  // that an open was given

  std::string version_id;   // of the last call about a published skill
  std::string package;      // of add_skill
  cove::SkillIndex skills;  // what a workspace has
  std::string path;
  bool recursive = false;
  std::uint32_t limit = 0;
  cove::ExecResult result;
  cove::ExecCallbacks callbacks;
  int resumed = 0;
  int cancelled = 0;
  int detached = 0;

  cove::StdinMode stdin_mode = cove::StdinMode::kClosed;
  std::string typed;               ///< to any stdin
  std::vector<std::string> asked;  ///< "signal 15", "close", ... of handles and processes
  cove::ProcessId process;         ///< of the last call about one
  cove::ProcessOptions process_options;
  cove::OutputRequest output;
  cove::AttachOptions attach;
  cove::ProcessInfo process_info;  ///< what such a call gives
  cove::OutputSlice slice;

  cove::FileInfo file;                      ///< what the calls of fake_files.cpp give
  cove::FileContent content;                ///< of `read`
  cove::LineRange lines_wanted;             ///< of read_lines
  cove::LineSlice line_slice;               ///< what it gives
  std::vector<cove::FileEdit> edits;        ///< of edit_files; of edit_file one
  std::vector<cove::EditOutcome> outcomes;  ///< what an edit gives; edit_files fails its second
  std::string to;                           ///< of move, copy and make_symlink
  cove::MoveOptions move;
  std::uint32_t mode = 0;
  cove::TreeCounts counts;
  std::vector<std::string> pieces;     ///< what a download gives
  std::optional<std::uint64_t> total;  ///< and tells of
  std::string uploaded;
  cove::DownloadCallbacks download_callbacks;  ///< of the last download that was started
  bool is_finished = false;                    ///< the last upload that was started
  cove::WatchOptions watch;
  std::vector<cove::FileEvent> events;  ///< what a waiting watch sees
  cove::WatchCallbacks watch_callbacks;

  cove::GrepQuery grep;
  cove::FindQuery find;
  cove::GrepResult lines;    ///< what a collecting grep gives
  cove::FindResult entries;  ///< what a collecting find gives
  cove::SearchCallbacks<cove::GrepLine> grep_callbacks;
  cove::SearchCallbacks<cove::FindEntry> find_callbacks;

  std::string tool_name;
  std::string tool_arguments;
  cove::ToolOptions tool_options;  ///< of the last call that was started
  cove::ToolResult tool_result;    ///< what a tool answers
  std::vector<cove::FileToLink>
      linkless;  ///< what a tool asks links to first; empty = it asks none
  std::vector<cove::Result<std::vector<std::string>>> links;  ///< what its link maker gave

  /// Asks a link maker for links to `linkless`.
  void ask_links(const cove::ToolOptions& options, const cove::CallContext& asked_in);

  /// Runs what is pending, in order.
  void deliver();
};

World& world();

/// A world as it was at first; the last test's is gone.
void reset();

}  // namespace fake
