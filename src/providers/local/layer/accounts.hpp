/// The accounts of a writable system over the host's. Pure functions of texts.
#pragma once

#include <string>
#include <string_view>

namespace cove::local {

/// The texts of the four files.
struct Accounts {
  std::string passwd;
  std::string group;
  std::string shadow;
  std::string gshadow;
};

/// The host's system accounts: those with ids from 1 to 999, which packages made, with name, ids,
/// home and shell alone, every password locked, groups without members; and root, sandbox (1000),
/// nobody and _apt. People are not among them. Lines of another form are left out.
Accounts system_accounts(std::string_view host_passwd, std::string_view host_group);

}  // namespace cove::local
