/// What tests do with the streams of a guest's commands.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <cove/guest.hpp>

#include "support/agent_fixture.hpp"

namespace cove::test {

std::string text_of(const Bytes& bytes);
Bytes bytes_of(const std::string& text);

/// All output that still comes, of both streams.
std::string read_all(AgentFixture& f, const std::shared_ptr<GuestProcess>& process);

/// Reads output until `what` was seen; throws where it ends before.
std::string read_until(AgentFixture& f, const std::shared_ptr<GuestProcess>& process,
                       const std::string& what);

void type(AgentFixture& f, const std::shared_ptr<GuestProcess>& process, const std::string& text);

/// Waits until `holds`, for at most 30 s; says whether it does.
bool soon(const std::function<bool()>& holds);

/// True while a process has this number and is no zombie.
bool is_running(const std::string& pid);

/// Processes whose command line has `word` in it.
int processes_with(const std::string& word);

}  // namespace cove::test
