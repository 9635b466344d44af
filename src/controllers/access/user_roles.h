#pragma once

#include "runtime/access.h"

#include <span>
#include <string>
#include <string_view>

namespace codeflare::controllers {

// A ClusterRole for people.
struct UserRole {
  std::string_view name;
  std::string_view aggregate_to;  // view, edit, admin; empty: bound by name only
  std::string_view about;
  std::span<const runtime::Right> rights;
};

std::span<const UserRole> user_roles();

// The whole object as JSON; `managed_by` is a label when it is not empty.
std::string role_json(const UserRole& role, std::string_view managed_by = {});

// The role that every user has, and the ClusterRoleBinding of that name which says so.
inline constexpr std::string_view kSizesRole = "codeflare-sizes";
std::string sizes_binding_json(std::string_view managed_by = {});

}  // namespace codeflare::controllers
