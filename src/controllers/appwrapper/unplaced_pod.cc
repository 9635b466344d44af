#include "controllers/appwrapper/unplaced_pod.h"

#include "controllers/status_patch.h"
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
  model::PodStatus status = seen.status;
  if (!model::set_condition(status.conditions,
                            {.type = "PodScheduled",
                             .status = "False",
                             .reason = "Unschedulable",
                             .message = std::move(pod.why)},
                            now)) {
    co_return false;
  }
  CO_TRY(co_await client.patch(pods, pod.key, kube::PatchKind::merge, status_patch(seen, status),
                               {.subresource = "status"}));
  co_return true;
}

}  // namespace codeflare::controllers
