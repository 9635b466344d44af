#pragma once

#include "base/result.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"

#include <string>
#include <string_view>

namespace codeflare::cli {

// A kind that the verbs know by name.
struct KnownKind {
  model::ResourceType type;
  std::string singular;
  // No group was named: one of MCAD's may be meant as well.
  bool any_group = false;

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

// A server that has no such kind says only that it found nothing, as does what is no Kubernetes API
// at all: says what that means instead. `server` is Session::server().
Error name_missing_kind(Error error, const KnownKind& kind, const std::string& server);

}  // namespace codeflare::cli
