#include "json/write.h"
#include "kube/typed.h"
#include "sdk/clusters.h"

#include <limits>
#include <utility>

// Changes of a cluster that exists.
namespace codeflare::sdk {

namespace {

using model::ObjectKey;
using model::RayCluster;
using model::RayWorkerGroup;

Result<std::size_t> find_group(const RayCluster& ray, const std::string& name) {
  const auto& groups = ray.spec.worker_groups;
  if (groups.empty()) {
    return fail(failed_precondition("Ray cluster '" + ray.metadata.name + "' has no worker group"));
  }
  if (name.empty()) {
    return std::size_t{0};
  }
  std::string names;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].group_name == name) {
      return i;
    }
    names += (names.empty() ? "" : ", ") + groups[i].group_name;
  }
  return fail(not_found("Ray cluster '" + ray.metadata.name + "' has no worker group '" + name +
                        "'; its groups are " + names));
}

Result<void> check_replicas(const RayCluster& ray, const RayWorkerGroup& group,
                            std::int64_t replicas) {
  if (replicas < 0 || replicas > std::numeric_limits<std::int32_t>::max()) {
    return fail(invalid_argument("number of workers: " + std::to_string(replicas) +
                                 " is out of range; give 0 or more workers"));
  }
  const std::int64_t min = group.min_replicas.value_or(0);
  const std::int64_t max = group.max_replicas.value_or(std::numeric_limits<std::int32_t>::max());
  if (ray.spec.enable_in_tree_autoscaling.value_or(false) && (replicas < min || replicas > max)) {
    return fail(invalid_argument("number of workers: " + std::to_string(replicas) +
                                 " is outside the limits of the " + "autoscaler (" +
                                 std::to_string(min) + " to " + std::to_string(max) + ")"));
  }
  return {};
}

// A JSON patch that fails if the group moved meanwhile. Without an autoscaler the bounds follow.
std::string scale_patch(std::size_t index, const RayWorkerGroup& group, std::int64_t replicas,
                        bool autoscaled) {
  const std::string path = "/spec/workerGroupSpecs/" + std::to_string(index);
  std::string name;
  json::append_quoted(name, group.group_name);
  std::string patch = R"([{"op":"test","path":")" + path + R"(/groupName","value":)" + name + "}";
  const auto set = [&](std::string_view member) {
    patch += R"(,{"op":"add","path":")" + path + "/" + std::string(member) + R"(","value":)" +
             std::to_string(replicas) + "}";
  };
  set("replicas");
  if (!autoscaled) {
    set("minReplicas");
    set("maxReplicas");
  }
  return patch + "]";
}

}  // namespace

Task<Result<GroupScale>> Clusters::scale(ObjectKey key, std::string group, std::int64_t replicas) {
  CO_TRY_ASSIGN(const ClusterInfo info, co_await get(key));
  if (!info.objects.ray) {
    co_return fail(failed_precondition("Ray cluster '" + key.name +
                                       "' still waits in the queue, where its size cannot change; "
                                       "recreate it with the new size"));
  }
  const RayCluster& ray = *info.objects.ray;
  CO_TRY_ASSIGN(const std::size_t index, find_group(ray, group));
  const RayWorkerGroup& found = ray.spec.worker_groups[index];
  CO_TRY(check_replicas(ray, found, replicas));
  GroupScale scale{found.group_name, model::desired_replicas(found), replicas};
  if (scale.before != scale.after) {
    std::string patch =
        scale_patch(index, found, replicas, ray.spec.enable_in_tree_autoscaling.value_or(false));
    CO_TRY(co_await client_.patch(model::resource_type<RayCluster>(), std::move(key),
                                  kube::PatchKind::json, std::move(patch)));
  }
  co_return scale;
}

Task<Result<PriorityChange>> Clusters::prioritize(ObjectKey key, std::int64_t priority) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (priority > kMax || priority < -kMax) {
    co_return fail(invalid_argument("priority: " + std::to_string(priority) +
                                    " does not fit; give a smaller number"));
  }
  CO_TRY_ASSIGN(const ClusterInfo info, co_await get(key));
  if (!info.objects.wrapper) {
    co_return fail(failed_precondition("Ray cluster '" + key.name +
                                       "' is not in an AppWrapper, so it has no priority in the "
                                       "queue"));
  }
  const PriorityChange change{info.objects.wrapper->spec.priority, priority};
  if (change.before != change.after) {
    ObjectKey wrapper{key.ns, info.wrapper};
    std::string patch = R"({"spec":{"priority":)" + std::to_string(priority) + "}}";
    CO_TRY(co_await client_.patch(model::resource_type<model::AppWrapper>(), std::move(wrapper),
                                  kube::PatchKind::merge, std::move(patch)));
  }
  co_return change;
}

Task<Result<kube::ObjectRef>> Clusters::recreate(ObjectKey key, json::Document manifest) {
  CO_TRY(co_await remove(key));
  CO_TRY(co_await wait(key, {.goal = ClusterGoal::deleted}));
  co_return co_await create(std::move(manifest), std::move(key.ns));
}

}  // namespace codeflare::sdk
