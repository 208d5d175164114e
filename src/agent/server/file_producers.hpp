/// What moves lines and trees over a stream.
#pragma once

#include <memory>

#include "agent/files.hpp"
#include "agent/server/receiving_stream.hpp"
#include "agent/server/sending_stream.hpp"
#include "wire/file_request.hpp"

namespace cove::agent {

/// All borrow `files`.
std::unique_ptr<Producer> make_lines(const Files& files, const wire::ReadLinesRequest& request);
std::unique_ptr<Producer> make_tree_out(const Files& files, const wire::TreeOutRequest& request);
std::unique_ptr<Consumer> make_tree_in(const Files& files, const wire::TreeInRequest& request);

}  // namespace cove::agent
