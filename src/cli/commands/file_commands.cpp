#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text/byte_text.hpp"
#include "base/text/display_text.hpp"
#include "base/text/json.hpp"
#include "cli/commands/command.hpp"
#include "cli/machine/local_file.hpp"
#include "cli/output/json_list.hpp"
#include "cli/output/text_fields.hpp"
#include "cli/output/texts.hpp"

namespace cove::cli {
namespace {

constexpr std::uint32_t kPage = 10'000;  // the most: each page costs a pass over the directory

/// Says which file was put or got: for machines one object, for people one line.
Result<void> tell(const Invocation& invocation, const std::string& path, std::uint64_t size) {
  if (!invocation.request.json) {
    return invocation.output.out(base::escaped(path) + ": " + size_text(size) + "\n");
  }
  nlohmann::json object{{"size", size}};
  set_bytes(object, "path", path);
  return invocation.output.out(base::dump_json(object) + "\n");
}

Result<std::uint64_t> download_to_stdout(const Invocation& invocation, const SandboxClient& client,
                                         const std::string& path) {
  std::uint64_t size = 0;
  const auto sink = [&](ByteView bytes) {
    size += bytes.size();
    return invocation.output.out(base::text_of(bytes));
  };
  COVE_TRY_VOID(client.download(path, sink, invocation.call));
  return size;
}

Result<int> download(const Invocation& invocation, const SandboxClient& client) {
  const auto& operands = invocation.request.operands;
  if (operands.size() == 1 || operands[1] == "-") {
    COVE_TRY_VOID(download_to_stdout(invocation, client, operands[0]));
    return 0;
  }
  COVE_TRY(LocalFile file, LocalFile::create(operands[1], last_name(operands[0])));
  std::uint64_t size = 0;
  const auto sink = [&](ByteView bytes) {
    size += bytes.size();
    return file.write(bytes);
  };
  COVE_TRY_VOID(client.download(operands[0], sink, invocation.call));
  COVE_TRY_VOID(file.commit());
  COVE_TRY_VOID(tell(invocation, file.path(), size));
  return 0;
}

Result<int> upload(const Invocation& invocation, const SandboxClient& client, int local) {
  const Request& request = invocation.request;
  std::string path = request.operands[1];
  if (path.ends_with('/') && request.operands[0] != "-") path += last_name(request.operands[0]);
  const std::string shown = base::quoted(request.operands[0]);
  const auto source = [&] { return read_piece(local, shown, invocation.call); };
  const WriteOptions options{.mode = request.mode, .durable = request.durable};
  COVE_TRY(const FileInfo info, client.upload(path, source, options, invocation.call));
  COVE_TRY_VOID(tell(invocation, info.path, info.size));
  return 0;
}

/// Lists a directory page by page, so that memory does not grow with it.
Result<void> list(const Invocation& invocation, const SandboxClient& client,
                  const std::string& path) {
  const Request& request = invocation.request;
  JsonList entries(invocation.output, "entries");
  ListOptions options{.limit = kPage};
  do {
    COVE_TRY(const FilePage page, client.list(path, options, invocation.call));
    std::string lines;
    for (const FileInfo& file : page.entries) {
      if (request.json) {
        COVE_TRY_VOID(entries.add(file_json(file)));
      } else {
        lines += request.long_form ? file_long_text(file) : file_text(file);
      }
    }
    COVE_TRY_VOID(invocation.output.out(lines));
    options.after = page.next;
  } while (!options.after.empty());
  return request.json ? entries.finish() : ok();
}

/// A path that is no directory is listed as itself, as ls does.
Result<void> list_one(const Invocation& invocation, const SandboxClient& client,
                      const std::string& path) {
  COVE_TRY(FileInfo file, client.stat(path, invocation.call));
  file.path = path;
  if (invocation.request.json) {
    JsonList entries(invocation.output, "entries");
    COVE_TRY_VOID(entries.add(file_json(file)));
    return entries.finish();
  }
  return invocation.output.out(invocation.request.long_form ? file_long_text(file)
                                                            : file_text(file));
}

}  // namespace

Result<int> run_put(const Invocation& invocation) {
  COVE_TRY(const base::UniqueFd local, open_local(invocation.request.operands[0]));
  return with_workspace(
      invocation, [&](const SandboxClient& client) { return upload(invocation, client, *local); });
}

Result<int> run_get(const Invocation& invocation) {
  return with_workspace(invocation,
                        [&](const SandboxClient& client) { return download(invocation, client); });
}

Result<int> run_ls(const Invocation& invocation) {
  const auto& operands = invocation.request.operands;
  const std::string path = operands.empty() ? "" : operands[0];
  return with_workspace(invocation, [&](const SandboxClient& client) -> Result<int> {
    Result<void> listed = list(invocation, client, path);
    if (!listed && listed.error().code() == ErrorCode::kFailedPrecondition && !path.empty()) {
      const Result<void> alone = list_one(invocation, client, path);
      if (alone || alone.error().code() != ErrorCode::kFailedPrecondition) listed = alone;
    }
    if (!listed) return listed.error();
    return 0;
  });
}

}  // namespace cove::cli
