#include "controllers/appwrapper/unplaced_pod.h"

#include "json/write.h"
#include "model/codec/pod.h"

#include <utility>

namespace codeflare::controllers {

Task<Result<bool>> tell_unplaced(kube::Client& client, UnplacedPod pod, WallTime now) {
  const model::ResourceType pods{"", "v1", "Pod", "pods", true};
  CO_TRY_ASSIGN(const kube::ObjectRef there, co_await client.get(pods, pod.key));
  CO_TRY_ASSIGN(const model::Pod seen, there->as<model::Pod>());
  if (seen.metadata.uid != pod.uid || !seen.spec.node_name.empty()) {
    co_return false;
  }
  const model::Condition* before = model::find_condition(seen.status.conditions, "PodScheduled");
  const bool refused = before != nullptr && before->status == "False";
  if (refused && before->reason == "Unschedulable" && before->message == pod.why) {
    co_return false;
  }
  std::string body;
  json::Writer w(body);
  w.begin_object();
  // Whoever bound it meanwhile has written it: then this is no news any more.
  w.key("metadata").begin_object().member("uid", pod.uid);
  w.member("resourceVersion", there->resource_version()).end_object();
  w.key("status").begin_object().key("conditions").begin_array().begin_object();
  w.member("type", "PodScheduled").member("status", "False").member("reason", "Unschedulable");
  w.member("message", pod.why);
  w.member("lastTransitionTime",
           to_rfc3339(refused ? before->last_transition_time.value_or(now) : now));
  w.end_object().end_array().end_object().end_object();
  CO_TRY(co_await client.patch(pods, pod.key, kube::PatchKind::strategic_merge, std::move(body),
                               {.subresource = "status"}));
  co_return true;
}

}  // namespace codeflare::controllers
