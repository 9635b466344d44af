#pragma once

#include <string_view>

// The roles and bindings that every cluster has from its first start, as v1.34 defines them.
//
// Roles: a line with the name ("+edit": gathered by the role edit; "=edit": gathers those), then
// one indented line per rule: "verbs | groups | resources | names" or "verbs @ paths". The core
// group is written "core". read, write and all stand for the verbs of those who do so; "events" is
// the rule of everybody who records some. A backslash joins lines.
// Bindings: "name [of role] to subjects"; the role has the binding's name when it is not said.
namespace codeflare::apiserver::internal {

extern const std::string_view kBootstrapClusterRoles;
// Names without "system:controller:"; each is bound to its service account in kube-system.
extern const std::string_view kBootstrapControllerRoles;
// "namespace/name", roles and bindings alike.
extern const std::string_view kBootstrapRoles;
extern const std::string_view kBootstrapBindings;

}  // namespace codeflare::apiserver::internal
