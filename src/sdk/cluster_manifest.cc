#include "sdk/cluster_manifest.h"

#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"
#include "sdk/device_names.h"
#include "sdk/exposure.h"
#include "sdk/pod_override.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

// The differences between head and workers.
struct Group {
  std::string container;
  std::string image;
  std::string cpu_requests;
  std::string cpu_limits;
  std::string memory_requests;
  std::string memory_limits;
  model::StringMap devices;
  model::StringMap envs;
  model::StringMap labels;
  model::RawJson tolerations;
  model::StringMap node_selector;
  model::RawJson overrides;
};

struct Replicas {
  std::int64_t count = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
};

class Builder {
 public:
  explicit Builder(const ClusterConfig& config) : config_(config) {}

  json::Document ray_cluster();
  json::Document app_wrapper();

 private:
  json::Arena& arena() { return document_.arena; }
  Value text(std::string_view value) { return Value::string(arena(), value); }
  Value number(std::int64_t value) { return Value::integer(arena(), value); }
  Value map(const model::StringMap& values);
  Value raw(const model::RawJson& json);
  void set(Value& object, std::string_view key, Value value) {
    object.set_static(arena(), key, value);
  }
  void set_if(Value& object, std::string_view key, Value value) {
    if (value.size() > 0) {
      set(object, key, value);
    }
  }
  void set_text(Value& object, std::string_view key, std::string_view value) {
    if (!value.empty()) {
      set(object, key, text(value));
    }
  }
  // A list of objects that only have a name.
  Value names(const std::vector<std::string>& names);

  Value metadata(const model::StringMap& labels);
  Value ray_object();
  Value ray_spec();
  Value autoscaler();
  Value fault_tolerance();
  Value head_group();
  Value worker_group(std::string_view name, const Replicas& replicas, const Group& group);
  Value start_params(const Group& group, bool head);
  Value pod_template(const Group& group, bool head);
  Value pod_spec(const Group& group, bool head);
  Value container(const Group& group, bool head);
  Value env(const Group& group);
  Value amounts(const Group& group, const std::string& cpu, const std::string& memory);
  Value machine_affinity();
  Value wrapper_spec();

  Group head() const;
  Group workers() const;
  Group group_of(const WorkerGroup& given) const;
  Replicas first_replicas() const;

  const ClusterConfig& config_;
  json::Document document_;
};

Value Builder::map(const model::StringMap& values) {
  Value object = Value::object();
  for (const auto& [key, value] : values) {
    object.set(arena(), key, text(value));
  }
  return object;
}

Value Builder::raw(const model::RawJson& json) {
  if (json.empty()) {
    return Value::array();
  }
  const Result<json::Document> parsed = json::parse(json.text);
  CHECK(parsed.has_value());  // faults_of() has seen it
  return parsed->root.clone(arena());
}

Value Builder::names(const std::vector<std::string>& names) {
  Value list = Value::array();
  for (const std::string& name : names) {
    Value item = Value::object();
    set(item, "name", text(name));
    list.push_back(arena(), item);
  }
  return list;
}

Value Builder::metadata(const model::StringMap& labels) {
  Value metadata = Value::object();
  set(metadata, "name", text(config_.name));
  set_text(metadata, "namespace", config_.ns);
  set_if(metadata, "labels", map(labels));
  set_if(metadata, "annotations", map(config_.annotations));
  return metadata;
}

Group Builder::head() const {
  return {.container = "ray-head",
          .image = config_.image_or_default(),
          .cpu_requests = config_.head_cpu_requests,
          .cpu_limits = config_.head_cpu_limits,
          .memory_requests = config_.head_memory_requests,
          .memory_limits = config_.head_memory_limits,
          .devices = config_.head_extended_resource_requests,
          .envs = config_.envs,
          .labels = config_.labels,
          .tolerations = config_.head_tolerations,
          .node_selector = config_.head_node_selector,
          .overrides = config_.head_pod_overrides};
}

Group Builder::workers() const {
  return {.container = "ray-worker",
          .image = config_.image_or_default(),
          .cpu_requests = config_.worker_cpu_requests,
          .cpu_limits = config_.worker_cpu_limits,
          .memory_requests = config_.worker_memory_requests,
          .memory_limits = config_.worker_memory_limits,
          .devices = config_.worker_extended_resource_requests,
          .envs = config_.envs,
          .labels = config_.labels,
          .tolerations = config_.worker_tolerations,
          .node_selector = config_.worker_node_selector,
          .overrides = config_.worker_pod_overrides};
}

Group Builder::group_of(const WorkerGroup& given) const {
  Group group = workers();
  group.image = given.image.empty() ? group.image : given.image;
  group.cpu_requests = given.cpu_requests;
  group.cpu_limits = given.cpu_limits;
  group.memory_requests = given.memory_requests;
  group.memory_limits = given.memory_limits;
  group.devices = given.extended_resource_requests;
  for (const auto& [key, value] : given.envs) {
    group.envs.insert_or_assign(key, value);
  }
  for (const auto& [key, value] : given.labels) {
    group.labels.insert_or_assign(key, value);
  }
  group.tolerations = given.tolerations.value_or(group.tolerations);
  if (!given.node_selector.empty()) {
    group.node_selector = given.node_selector;
  }
  return group;
}

Replicas Builder::first_replicas() const {
  const std::int64_t count = config_.num_workers;
  if (!config_.enable_autoscaling) {
    return {count, count, count};
  }
  const std::int64_t min = config_.min_workers.value_or(count);
  const std::int64_t max = config_.max_workers.value_or(count);
  return {std::clamp(count, min, max), min, max};
}

Value Builder::amounts(const Group& group, const std::string& cpu, const std::string& memory) {
  Value amounts = Value::object();
  set(amounts, "cpu", text(cpu));
  set(amounts, "memory", text(memory));
  for (const auto& [device, amount] : group.devices) {
    if (amount != "0") {
      amounts.set(arena(), device, text(amount));
    }
  }
  return amounts;
}

Value Builder::env(const Group& group) {
  model::StringMap envs = group.envs;
  envs.try_emplace("RAY_USAGE_STATS_ENABLED", config_.enable_usage_stats ? "1" : "0");
  Value list = Value::array();
  for (const auto& [name, value] : envs) {
    Value item = Value::object();
    set(item, "name", text(name));
    set(item, "value", text(value));
    list.push_back(arena(), item);
  }
  return list;
}

Value Builder::container(const Group& group, bool head) {
  Value container = Value::object();
  set(container, "name", text(group.container));
  set(container, "image", text(group.image));
  if (head) {
    Value ports = Value::array();
    using Port = std::pair<std::string_view, std::int64_t>;
    for (const auto& [name, port] :
         {Port{"gcs-server", 6379}, Port{"dashboard", 8265}, Port{"client", 10001}}) {
      Value item = Value::object();
      set(item, "name", text(name));
      set(item, "containerPort", number(port));
      ports.push_back(arena(), item);
    }
    set(container, "ports", ports);
  }
  set(container, "env", env(group));
  Value resources = Value::object();
  set(resources, "requests", amounts(group, group.cpu_requests, group.memory_requests));
  set(resources, "limits", amounts(group, group.cpu_limits, group.memory_limits));
  set(container, "resources", resources);
  set_if(container, "volumeMounts", raw(config_.volume_mounts));
  return container;
}

// InstaScale labels the machines that it gets with the name of the AppWrapper.
Value Builder::machine_affinity() {
  const Result<json::Document> parsed = json::parse(
      R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
      R"({"matchExpressions":[{"key":")" +
      config_.name + R"(","operator":"In","values":[")" + config_.name + R"("]}]}]}}})");
  CHECK(parsed.has_value());
  return parsed->root.clone(arena());
}

Value Builder::pod_spec(const Group& group, bool head) {
  Value spec = Value::object();
  Value containers = Value::array();
  containers.push_back(arena(), container(group, head));
  set(spec, "containers", containers);
  set_if(spec, "volumes", raw(config_.volumes));
  set_if(spec, "nodeSelector", map(group.node_selector));
  set_if(spec, "tolerations", raw(group.tolerations));
  set_if(spec, "imagePullSecrets", names(config_.image_pull_secrets));
  set_text(spec, "serviceAccountName", config_.service_account);
  set_text(spec, "priorityClassName", config_.priority_class);
  if (config_.instascale) {
    set(spec, "affinity", machine_affinity());
  }
  if (!group.overrides.empty()) {
    merge_pod_spec(arena(), spec, raw(group.overrides));
  }
  return spec;
}

Value Builder::pod_template(const Group& group, bool head) {
  Value pod = Value::object();
  Value metadata = Value::object();
  set_if(metadata, "labels", map(group.labels));
  set_if(metadata, "annotations", map(config_.annotations));
  set_if(pod, "metadata", metadata);
  set(pod, "spec", pod_spec(group, head));
  return pod;
}

// Ray derives CPUs and memory from the container's limits.
Value Builder::start_params(const Group& group, bool head) {
  Value params = Value::object();
  if (head) {
    set(params, "dashboard-host", text("0.0.0.0"));
  }
  std::int64_t gpus = 0;
  std::map<std::string, std::int64_t> others;
  for (const auto& [device, amount] : group.devices) {
    const std::int64_t count = std::strtoll(amount.c_str(), nullptr, 10);
    const std::string_view name = ray_name_of(device, config_.extended_resource_mapping);
    (name == kRayGpu ? gpus : others[std::string(name)]) += count;
  }
  if (gpus > 0) {
    set(params, "num-gpus", text(std::to_string(gpus)));
  }
  std::erase_if(others, [](const auto& each) { return each.second == 0; });
  if (!others.empty()) {
    std::string json;
    json::Writer writer(json);
    writer.begin_object();
    for (const auto& [name, count] : others) {
      writer.key(name).integer(count);
    }
    writer.end_object();
    // A shell reads it once more.
    std::string quoted;
    json::append_quoted(quoted, json);
    set(params, "resources", text(quoted));
  }
  return params;
}

Value Builder::head_group() {
  const Group group = head();
  Value spec = Value::object();
  set(spec, "serviceType", text("ClusterIP"));
  set(spec, "rayStartParams", start_params(group, true));
  set(spec, "template", pod_template(group, true));
  return spec;
}

Value Builder::worker_group(std::string_view name, const Replicas& replicas, const Group& group) {
  Value spec = Value::object();
  set(spec, "groupName", text(name));
  set(spec, "replicas", number(replicas.count));
  set(spec, "minReplicas", number(replicas.min));
  set(spec, "maxReplicas", number(replicas.max));
  set(spec, "rayStartParams", start_params(group, false));
  set(spec, "template", pod_template(group, false));
  return spec;
}

Value Builder::autoscaler() {
  Value options = Value::object();
  set(options, "upscalingMode", text("Default"));
  set(options, "idleTimeoutSeconds", number(60));
  return options;
}

Value Builder::fault_tolerance() {
  Value options = Value::object();
  set(options, "redisAddress", text(config_.redis_address));
  set_text(options, "externalStorageNamespace", config_.external_storage_namespace);
  if (!config_.redis_password_secret.empty()) {
    Value from = Value::object();
    set(from, "secretKeyRef", map(config_.redis_password_secret));
    Value password = Value::object();
    set(password, "valueFrom", from);
    set(options, "redisPassword", password);
  }
  return options;
}

Value Builder::ray_spec() {
  Value spec = Value::object();
  set_text(spec, "rayVersion", config_.ray_version);
  if (config_.enable_autoscaling) {
    set(spec, "enableInTreeAutoscaling", Value::boolean(true));
    set(spec, "autoscalerOptions", autoscaler());
  }
  if (wants_token(config_)) {
    Value options = Value::object();
    set(options, "mode", text("token"));
    set(spec, "authOptions", options);
  }
  if (config_.enable_gcs_ft) {
    set(spec, "gcsFaultToleranceOptions", fault_tolerance());
  }
  set(spec, "headGroupSpec", head_group());
  Value groups = Value::array();
  groups.push_back(arena(), worker_group(kFirstGroup, first_replicas(), workers()));
  for (const WorkerGroup& given : config_.additional_worker_groups) {
    const Replicas replicas{given.replicas, given.min_replicas.value_or(given.replicas),
                            given.max_replicas.value_or(given.replicas)};
    groups.push_back(arena(), worker_group(given.group_name, replicas, group_of(given)));
  }
  set(spec, "workerGroupSpecs", groups);
  return spec;
}

Value Builder::ray_object() {
  model::StringMap labels = config_.labels;
  if (!config_.local_queue.empty()) {
    labels.insert_or_assign("kueue.x-k8s.io/queue-name", config_.local_queue);
  }
  Value object = Value::object();
  set(object, "apiVersion", text("ray.io/v1"));
  set(object, "kind", text("RayCluster"));
  set(object, "metadata", metadata(labels));
  set(object, "spec", ray_spec());
  return object;
}

Value Builder::wrapper_spec() {
  Value spec = Value::object();
  if (config_.priority) {
    set(spec, "priority", number(*config_.priority));
  }
  if (config_.max_seconds > 0) {
    Value duration = Value::object();
    set(duration, "limit", number(config_.max_seconds));
    Value scheduling = Value::object();
    set(scheduling, "dispatchDuration", duration);
    set(spec, "schedulingSpec", scheduling);
  }
  Value item = Value::object();
  set(item, "replicas", number(1));
  set(item, "generictemplate", ray_object());
  Value items = Value::array();
  items.push_back(arena(), item);
  if (config_.expose) {
    Value beside = Value::object();
    set(beside, "replicas", number(1));
    set(beside, "generictemplate", exposure_object(arena(), config_));
    items.push_back(arena(), beside);
  }
  Value resources = Value::object();
  set(resources, "GenericItems", items);
  set(spec, "resources", resources);
  return spec;
}

json::Document Builder::ray_cluster() {
  document_.root = ray_object();
  return std::move(document_);
}

json::Document Builder::app_wrapper() {
  model::StringMap labels = config_.labels;
  for (const auto& [tree, node] : config_.quota_labels) {
    labels.insert_or_assign(tree, node);
  }
  if (config_.instascale) {
    std::string types;
    for (const std::string& type : config_.machine_types) {
      types += (types.empty() ? "" : "_") + type;
    }
    labels.insert_or_assign("orderedinstance", types);
  }
  Value object = Value::object();
  set(object, "apiVersion", text("workload.codeflare.dev/v1beta1"));
  set(object, "kind", text("AppWrapper"));
  set(object, "metadata", metadata(labels));
  set(object, "spec", wrapper_spec());
  document_.root = object;
  return std::move(document_);
}

// A LocalQueue is Kueue's, whatever else is served.
bool is_bare(const ClusterConfig& config) {
  return config.queueing == Queueing::kueue || config.queueing == Queueing::none ||
         (config.queueing == Queueing::automatic && !config.local_queue.empty());
}

}  // namespace

json::Document ray_cluster_manifest(const ClusterConfig& config) {
  return Builder(config).ray_cluster();
}

json::Document cluster_manifest(const ClusterConfig& config) {
  return is_bare(config) ? Builder(config).ray_cluster() : Builder(config).app_wrapper();
}

std::string cluster_yaml(const ClusterConfig& config) {
  const json::Document manifest = cluster_manifest(config);
  return "# Submit with: codeflare create raycluster " + config.name + "\n" +
         json::to_yaml(manifest.root, {.sorted = false});
}

}  // namespace codeflare::sdk
