#include "model/codec/app_wrapper.h"
#include "model/codec/ray_cluster.h"
#include "sdk/cluster_fields.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/clusters.h"
#include "sdk/exposure.h"

#include <algorithm>
#include <utility>

// Reads a cluster back as a configuration, and compares it with a wanted one; pure.
namespace codeflare::sdk {

namespace {

using model::AppWrapper;
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

// --- the RayCluster -------------------------------------------------------------------------

void compare_clusters(const ClusterInfo& has, const RayCluster& written, const RayCluster& wanted,
                      std::vector<std::string>& changed) {
  ClusterConfig before = comparable(written);
  if (has.objects.ray) {
    before.num_workers = config_of(*has.objects.ray).num_workers;
  }
  json::Arena arena;
  const json::Value old = to_json(arena, before);
  const json::Value now = to_json(arena, comparable(wanted));
  for (const Field& field : cluster_fields()) {
    if (!same_member(old, now, field.name)) {
      changed.emplace_back(field.name);
    }
  }
  if (!same_member(old, now, kGroupsField)) {
    changed.emplace_back(kGroupsField);
  }
}

// --- the AppWrapper around it ---------------------------------------------------------------

std::int64_t seconds_max(const AppWrapper& wrapper) {
  const auto& scheduling = wrapper.spec.scheduling_spec;
  return scheduling && scheduling->dispatch_duration ? scheduling->dispatch_duration->limit : 0;
}

// Labels that the RayCluster does not have too.
model::StringMap own_labels(const AppWrapper& wrapper, const RayCluster& ray) {
  model::StringMap own;
  for (const auto& [key, value] : wrapper.metadata.labels) {
    if (!ray.metadata.labels.contains(key)) {
      own.emplace(key, value);
    }
  }
  return own;
}

// The members that no field of a configuration stands for.
model::SchedulingSpec other_scheduling(const AppWrapper& wrapper) {
  model::SchedulingSpec spec = wrapper.spec.scheduling_spec.value_or(model::SchedulingSpec());
  if (spec.dispatch_duration) {
    spec.dispatch_duration->limit = 0;
    if (*spec.dispatch_duration == model::DispatchDuration()) {
      spec.dispatch_duration.reset();
    }
  }
  if (spec.requeuing) {  // with the defaults of the definition
    spec.requeuing->time_in_seconds = spec.requeuing->time_in_seconds.value_or(300);
    if (spec.requeuing->growth_type.empty()) {
      spec.requeuing->growth_type = "exponential";
    }
  }
  return spec;
}

void compare_exposures(const std::optional<Exposure>& has, const std::optional<Exposure>& wanted,
                       std::vector<std::string>& changed) {
  if (has.has_value() != wanted.has_value()) {
    changed.emplace_back("expose");
  }
  if (!has || !wanted) {
    return;
  }
  const auto compare = [&](const char* field, std::string Exposure::* member) {
    if ((*has).*member != (*wanted).*member) {
      changed.emplace_back(field);
    }
  };
  compare("expose_kind", &Exposure::kind);
  compare("expose_host", &Exposure::host);
  compare("expose_tls_secret", &Exposure::tls_secret);
  compare("expose_gateway", &Exposure::gateway);
}

void compare_wrappers(const ClusterInfo& has, const RayCluster& written, const ClusterInfo& wanted,
                      const RayCluster& ray, std::vector<std::string>& changed) {
  const auto differ = [&](const char* field, bool differs) {
    if (differs) {
      changed.emplace_back(field);
    }
  };
  differ("queueing", has.objects.wrapper.has_value() != wanted.objects.wrapper.has_value());
  const AppWrapper before = has.objects.wrapper.value_or(AppWrapper());
  const AppWrapper after = wanted.objects.wrapper.value_or(AppWrapper());
  differ("priority", before.spec.priority != after.spec.priority);
  differ("quota_labels", own_labels(before, written) != own_labels(after, ray));
  differ("max_time", seconds_max(before) != seconds_max(after));
  differ("schedulingSpec", other_scheduling(before) != other_scheduling(after));
  compare_exposures(exposure_of(before), exposure_of(after), changed);
}

// --- settings that no field stands for ------------------------------------------------------

model::RayClusterSpec without_replicas(model::RayClusterSpec spec) {
  spec = with_defaults(std::move(spec));
  for (RayWorkerGroup& group : spec.worker_groups) {
    group.replicas.reset();
    group.min_replicas.reset();
    group.max_replicas.reset();
  }
  return spec;
}

void compare_specs(const RayCluster& has, const RayCluster& wanted,
                   std::vector<std::string>& changed) {
  const model::RayClusterSpec before = without_replicas(has.spec);
  const model::RayClusterSpec after = without_replicas(wanted.spec);
  if (before == after) {
    return;
  }
  const bool head = before.head_group != after.head_group;
  const bool workers = before.worker_groups != after.worker_groups;
  if (head) {
    changed.emplace_back("settings of the head");
  }
  if (workers) {
    changed.emplace_back("settings of the workers");
  }
  if (!head && !workers) {
    changed.emplace_back("settings of the RayCluster");
  }
}

}  // namespace

std::vector<std::string> changed_fields(const ClusterInfo& has, const ClusterInfo& wanted) {
  const std::optional<RayCluster> written = written_cluster(has);
  const std::optional<RayCluster> ray = written_cluster(wanted);
  if (!written || !ray) {
    return {};
  }
  std::vector<std::string> changed;
  compare_clusters(has, *written, *ray, changed);
  compare_wrappers(has, *written, wanted, *ray, changed);
  // A difference that a field names gets no second name. A server adds defaults to a RayCluster,
  // not to one in an AppWrapper.
  if (changes_in_place(has, changed) && has.objects.wrapper && wanted.objects.wrapper) {
    compare_specs(*written, *ray, changed);
  }
  return changed;
}

std::vector<std::string> changed_fields(const ClusterInfo& has, const ClusterConfig& wanted) {
  const Result<ClusterInfo> info = info_of_manifest(cluster_manifest(wanted));
  return info ? changed_fields(has, *info) : std::vector<std::string>();
}

bool changes_in_place(const ClusterInfo& info, const std::vector<std::string>& fields) {
  return std::ranges::all_of(fields, [&](const std::string& field) {
    return (field == "num_workers" && info.objects.ray) ||
           (field == "priority" && info.objects.wrapper);
  });
}

Result<ClusterInfo> info_of_manifest(const json::Document& manifest) {
  ClusterObjects objects;
  if (manifest.root.string_or_empty("kind") == "AppWrapper") {
    TRY_ASSIGN(objects.wrapper, model::from_json<AppWrapper>(manifest.root));
    if (!wrapped_cluster(*objects.wrapper)) {
      return fail(invalid_argument("AppWrapper '" + objects.wrapper->metadata.name +
                                   "' holds no RayCluster that can be read"));
    }
  } else {
    TRY_ASSIGN(objects.ray, model::from_json<RayCluster>(manifest.root));
  }
  return cluster_info(std::move(objects));
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

}  // namespace codeflare::sdk
