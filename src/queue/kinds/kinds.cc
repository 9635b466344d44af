#include "queue/kinds/kinds.h"

#include "model/gvk.h"

namespace codeflare::queue {
namespace {

// Every kind whose pods the queue understands.
constexpr const WrappedKind* kKinds[] = {
    &kDeployment, &kJob,    &kJobSet,     &kPod,         &kPyTorchJob,
    &kRayCluster, &kRayJob, &kReplicaSet, &kStatefulSet, &kTrainingJob,
};

}  // namespace

std::span<const WrappedKind* const> wrapped_kinds() {
  return kKinds;
}

const WrappedKind* find_kind(std::string_view group, std::string_view kind) {
  for (const WrappedKind* known : kKinds) {
    if (known->group == group && known->kind == kind) {
      return known;
    }
  }
  return nullptr;
}

const WrappedKind* find_kind_of(const json::Value& object) {
  return find_kind(model::parse_api_version(object.string_or_empty("apiVersion")).group,
                   object.string_or_empty("kind"));
}

}  // namespace codeflare::queue
