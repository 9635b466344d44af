#pragma once

#include "apiserver/identity/rbac_rule.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// The tables of bootstrap_table.h taken apart. They are ours: a mistake in them aborts.
struct BootstrapRole {
  std::string ns{};
  std::string name{};
  std::vector<std::string> gathered_by{};
  std::string gathers{};
  PolicyRules rules{};
};
std::vector<BootstrapRole> parse_roles(std::string_view table);

struct BootstrapBinding {
  std::string ns{};
  std::string name{};
  std::string role{};
  struct Subject {
    std::string kind{};  // "User"
    std::string ns{};
    std::string name{};
  };
  std::vector<Subject> subjects{};
};
std::vector<BootstrapBinding> parse_bindings(std::string_view table);

}  // namespace codeflare::apiserver::internal
