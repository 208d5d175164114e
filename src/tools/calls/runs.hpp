/// What each tool does. All references outlive the task.
#pragma once

#include "tools/calls/tool_call.hpp"

namespace cove::tools {

Task<Result<Answer>> run_shell(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_read_file(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_write_file(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_edit_file(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_grep(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_find(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_ls(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_get_file_url(const ToolCall& tool, const CallContext& call);

Task<Result<Answer>> run_process_start(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_process_list(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_process_output(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_process_write(const ToolCall& tool, const CallContext& call);
Task<Result<Answer>> run_process_stop(const ToolCall& tool, const CallContext& call);

}  // namespace cove::tools
