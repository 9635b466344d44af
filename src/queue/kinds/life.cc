#include "queue/kinds/life.h"

#include "model/gvk.h"
#include "queue/kinds/kinds.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace codeflare::queue {
namespace {

struct PlainKind {
  std::string_view group;
  std::string_view kind;
};

// Kinds of Kubernetes whose objects make no pods: work that comes with them ends without them.
constexpr std::array<PlainKind, 17> kWithoutPods = {{
    {"", "ConfigMap"},
    {"", "Endpoints"},
    {"", "PersistentVolumeClaim"},
    {"", "Secret"},
    {"", "Service"},
    {"", "ServiceAccount"},
    {"autoscaling", "HorizontalPodAutoscaler"},
    {"discovery.k8s.io", "EndpointSlice"},
    {"gateway.networking.k8s.io", "HTTPRoute"},
    {"networking.k8s.io", "Ingress"},
    {"networking.k8s.io", "NetworkPolicy"},
    {"policy", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io", "Role"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"route.openshift.io", "Route"},
    {"scheduling.sigs.k8s.io", "PodGroup"},
    {"scheduling.x-k8s.io", "PodGroup"},
}};

}  // namespace

Life always_ends(const json::Value&) {
  return Life::ends;
}

Life never_ends(const json::Value&) {
  return Life::runs_on;
}

Life life_of(const json::Value& object) {
  if (const WrappedKind* kind = find_kind_of(object)) {
    return kind->life(object);
  }
  const std::string group = model::parse_api_version(object.string_or_empty("apiVersion")).group;
  const std::string_view kind = object.string_or_empty("kind");
  const bool plain = std::ranges::any_of(kWithoutPods, [&](const PlainKind& each) {
    return each.group == group && each.kind == kind;
  });
  return plain ? Life::no_pods : Life::unknown;
}

}  // namespace codeflare::queue
