#pragma once

#include "runtime/access.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers {

// The rights of one part of the program, as a controller folder declares them in its access.h.
struct AccessPart {
  // The name of its file in the chart.
  std::string_view name;
  // The part is needed by: an option of `codeflare controller`, or "always".
  std::string_view when;
  std::span<const runtime::Right> rights;
};

// All parts of `codeflare controller`.
std::span<const AccessPart> controller_access();
// All parts of the controllers in `codeflare up`.
std::span<const AccessPart> up_access();

// One rule of a Role, in words that RBAC knows.
struct PolicyRule {
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  std::vector<std::string> names;
  std::vector<std::string> verbs;

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

// The sum of the rights, each once: one rule for all resources of a group that have the same verbs.
// Sorted, so that the same rights have the same text.
std::vector<PolicyRule> rules_of(std::span<const runtime::Right> rights);
std::vector<PolicyRule> rules_of(std::span<const AccessPart> parts);

// "rules" of a ClusterRole as JSON.
std::string rules_json(std::span<const PolicyRule> rules);

}  // namespace codeflare::controllers
