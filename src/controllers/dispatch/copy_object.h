#pragma once

#include "base/result.h"
#include "controllers/appwrapper/remote_copies.h"
#include "controllers/dispatch/fence.h"
#include "kube/object.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/training_job.h"
#include "queue/work.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

// Copies of the hub's AppWrappers and TrainingJobs on workers, as objects. Pure.
namespace codeflare::controllers::dispatch {

using queue::WorkKind;

inline constexpr std::array<WorkKind, 2> kCopyKinds = {WorkKind::app_wrapper,
                                                       WorkKind::training_job};
model::ResourceType copy_type(WorkKind kind);
std::string_view name_of(WorkKind kind);
WorkKind kind_of(const RemoteWork& work);

// A copy, whatever its kind: a TrainingJob is in `wrapper` too, by as_wrapper().
struct CopyObject {
  model::AppWrapper wrapper{};
  std::optional<model::TrainingJob> job{};
};
Result<CopyObject> read_copy_object(const kube::Object& object, WorkKind kind);
// Of an AppWrapper all but its spec.
Result<model::AppWrapper> read_without_spec(const kube::Object& object, WorkKind kind);

// The marks of a copy.
struct CopyMark {
  std::string hub;      // empty: not a copy
  std::string hub_uid;  // of the hub's object
};
CopyMark mark_of(const kube::Object& copy);
CopyMark mark_of(const model::ObjectMeta& copy);

// The body of write 2: namespace, name, labels, annotations and spec of the hub's object, born
// suspended. Left out is what belongs to the hub alone: the record of the submitter, the choice of
// clusters, and the time to live, for a copy that goes by itself would be created again.
Result<std::string> copy_body(const kube::Object& object, const std::string& hub,
                              WorkKind kind = WorkKind::app_wrapper);

// The copy has the priority, and a TrainingJob the bounds and the size, that the hub wants.
bool is_as_wanted(const CopyObject& copy, const RemoteWork& work);
std::string wanted_patch(const CopyObject& copy, const RemoteWork& work);
// The body of write 3, a merge patch: a copy of another UID or version is not touched. It has all
// of the above, and this fence from then on; nothing: no fence.
std::string release_patch(const CopyObject& copy, const RemoteWork& work,
                          const std::optional<Fence>& fence);

}  // namespace codeflare::controllers::dispatch
