#include "json/parse.h"
#include "json/write.h"
#include "kube/typed.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/ray_cluster.h"
#include "sdk/cluster_fields.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/clusters.h"

#include <algorithm>
#include <limits>
#include <utility>

// Changes of a cluster that exists.
namespace codeflare::sdk {

namespace {

using model::ObjectKey;
using model::RayCluster;
using model::RayWorkerGroup;

constexpr std::string_view kGroupsField = "additional_worker_groups";

ClusterConfig comparable(const RayCluster& ray) {
  ClusterConfig config = config_of(ray);
  config.ns.clear();
  return config;
}

bool same_member(const json::Value& one, const json::Value& other, std::string_view name) {
  const json::Value* before = one.find(name);
  const json::Value* after = other.find(name);
  return before == nullptr || after == nullptr ? before == after : json::equal(*before, *after);
}

// The RayCluster as it was written: the queue adds labels to what it creates.
std::optional<RayCluster> written_cluster(const ClusterInfo& info) {
  if (info.objects.wrapper) {
    if (std::optional<RayCluster> wrapped = wrapped_cluster(*info.objects.wrapper)) {
      return wrapped;
    }
  }
  return info.objects.ray;
}

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

Error cannot_be_read(const ClusterInfo& info) {
  return failed_precondition(
      "Ray cluster '" + info.key.name +
      "' has settings that options cannot express; write the whole definition to " + info.key.name +
      ".yaml ('codeflare get raycluster " + info.key.name +
      "' prints the present one), then repeat the command without fields");
}

// A server adds what was left out.
model::RayClusterSpec with_defaults(model::RayClusterSpec spec) {
  for (RayWorkerGroup& group : spec.worker_groups) {
    group.num_of_hosts = group.num_of_hosts.value_or(1);
  }
  return spec;
}

// What the AppWrapper says beside the RayCluster.
void add_wrapper_fields(const model::AppWrapper& wrapper, ClusterConfig& config) {
  config.queueing = Queueing::appwrapper;
  if (wrapper.spec.priority != 0) {
    config.priority = wrapper.spec.priority;
  }
  if (const auto& scheduling = wrapper.spec.scheduling_spec;
      scheduling && scheduling->dispatch_duration) {
    config.max_seconds = scheduling->dispatch_duration->limit;
  }
  for (const auto& [key, value] : wrapper.metadata.labels) {
    if (!config.labels.contains(key)) {
      config.quota_labels.emplace(key, value);
    }
  }
}

}  // namespace

std::vector<std::string> changed_fields(const ClusterInfo& info, const ClusterConfig& wanted) {
  const std::optional<RayCluster> written = written_cluster(info);
  const json::Document manifest = ray_cluster_manifest(wanted);
  const Result<RayCluster> made = model::from_json<RayCluster>(manifest.root);
  if (!made || !written) {
    return {};
  }
  ClusterConfig before = comparable(*written);
  if (info.objects.ray) {
    before.num_workers = config_of(*info.objects.ray).num_workers;
  }
  json::Arena arena;
  const json::Value old = to_json(arena, before);
  const json::Value now = to_json(arena, comparable(*made));
  std::vector<std::string> changed;
  for (const Field& field : cluster_fields()) {
    if (!same_member(old, now, field.name)) {
      changed.emplace_back(field.name);
    }
  }
  if (!same_member(old, now, kGroupsField)) {
    changed.emplace_back(kGroupsField);
  }
  return changed;
}

Result<ClusterConfig> definition_of(const ClusterInfo& info) {
  const std::optional<RayCluster> written = written_cluster(info);
  if (!written) {
    return fail(cannot_be_read(info));
  }
  ClusterConfig config = config_of(*written);
  config.ns = info.key.ns;
  config.queueing = Queueing::none;
  // A second reading shows whether the first one missed something.
  const json::Document again = ray_cluster_manifest(config);
  TRY_ASSIGN(const RayCluster copy, model::from_json<RayCluster>(again.root));
  if (with_defaults(copy.spec) != with_defaults(written->spec) ||
      copy.metadata.labels != written->metadata.labels) {
    return fail(cannot_be_read(info));
  }
  if (info.objects.ray) {
    config.num_workers = config_of(*info.objects.ray).num_workers;
  }
  if (info.objects.wrapper) {
    add_wrapper_fields(*info.objects.wrapper, config);
  }
  return config;
}

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

Task<Result<kube::ObjectRef>> Clusters::recreate(ObjectKey key, json::Document manifest) {
  CO_TRY(co_await remove(key));
  CO_TRY(co_await wait(key, {.goal = ClusterGoal::deleted}));
  co_return co_await create(std::move(manifest), std::move(key.ns));
}

}  // namespace codeflare::sdk
