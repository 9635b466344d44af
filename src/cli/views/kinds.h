#pragma once

#include "base/result.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

// A kind that the verbs know by name.
struct KnownKind {
  model::ResourceType type;
  std::string singular;
  // No group was named: one of MCAD's may be meant as well.
  bool any_group = false;
  // No kind was named: a name alone was typed.
  bool guessed = false;

  model::WrapperApi api() const;  // of AppWrappers
  // As people type it: "appwrapper", "appwrapper.mcad.ibm.com".
  std::string word() const;
};

const KnownKind& app_wrapper_kind();
// Those of MCAD's group.
const KnownKind& legacy_app_wrapper_kind();
const KnownKind& app_wrapper_kind(model::WrapperApi api);

// "aw", "appwrapper", "appwrappers", "AppWrapper" or with its group, "appwrappers.mcad.ibm.com"
// for those of MCAD. The error names what there is.
Result<KnownKind> parse_kind(std::string_view text);

// The words of a verb that takes KIND NAME..., or one NAME alone: then an AppWrapper is meant.
struct KindNames {
  KnownKind kind;
  std::vector<std::string> names;
};
// The names of a verb that takes one: none when it is empty.
inline std::vector<std::string> one_name(const std::string& name) {
  return name.empty() ? std::vector<std::string>() : std::vector<std::string>{name};
}
Result<KindNames> read_names(std::string_view kind, std::vector<std::string> names);

// A server without such a kind answers only "not found", as does a server that is not a Kubernetes
// API: says what that means instead. `server` is Session::server().
Error name_missing_kind(Error error, const KnownKind& kind, const std::string& server);

}  // namespace codeflare::cli
