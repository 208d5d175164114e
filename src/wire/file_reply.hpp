/// What an agent answers to the requests of file_request.hpp.
#pragma once

#include <string>
#include <vector>

#include <cove/edit.hpp>
#include <cove/file_watch.hpp>
#include <cove/files.hpp>
#include <cove/result.hpp>

namespace cove::wire {

/// The lines without their text, which came before as data. It is read with the text that came.
Bytes encode_line_slice(const LineSlice& slice);
Result<LineSlice> parse_line_slice(ByteView payload, std::string text);

Bytes encode_edit_result(const EditResult& result);
Result<EditResult> parse_edit_result(ByteView payload);

Bytes encode_tree_counts(const TreeCounts& counts);
Result<TreeCounts> parse_tree_counts(ByteView payload);

/// Events of a watch, cut into payloads of kData that each decode alone.
std::vector<Bytes> encode_file_events(const std::vector<FileEvent>& events);
Result<std::vector<FileEvent>> parse_file_events(ByteView payload);

}  // namespace cove::wire
