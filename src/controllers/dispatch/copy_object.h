#pragma once

#include "base/result.h"
#include "controllers/dispatch/fence.h"
#include "kube/object.h"
#include "model/app_wrapper.h"

#include <optional>
#include <string>
#include <string_view>

// Copies of the hub's AppWrappers on workers, as objects. Pure.
namespace codeflare::controllers::dispatch {

// The marks of a copy.
struct CopyMark {
  std::string hub;      // empty: not a copy
  std::string hub_uid;  // of the hub's AppWrapper
};
CopyMark mark_of(const kube::Object& copy);
CopyMark mark_of(const model::ObjectMeta& copy);

// The body of write 2: namespace, name, labels, annotations and spec of the hub's object, born
// suspended. Left out is what belongs to the hub alone: the record of the submitter, the choice of
// clusters, and the time to live, for a copy that goes by itself would be created again.
Result<std::string> copy_body(const kube::Object& object, const std::string& hub);

// The body of write 3, a merge patch: a copy of another UID or version is not touched.
// The fence is this one from then on; nothing: it has none.
std::string release_patch(const model::AppWrapper& copy, std::int32_t priority,
                          const std::optional<Fence>& fence);
std::string priority_patch(const model::AppWrapper& copy, std::int32_t priority);

}  // namespace codeflare::controllers::dispatch
