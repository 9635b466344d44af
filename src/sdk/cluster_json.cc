#include "sdk/cluster_json.h"

#include "base/time.h"
#include "json/parse.h"
#include "model/resource_name.h"
#include "sdk/cluster_fields.h"
#include "sdk/device_names.h"
#include "sdk/exposure.h"
#include "sdk/ray_token.h"

#include <utility>
#include <variant>

namespace codeflare::sdk {

namespace {

using json::Value;

Value map_json(json::Arena& arena, const model::StringMap& map) {
  Value object = Value::object();
  for (const auto& [key, text] : map) {
    object.set(arena, key, Value::string(arena, text));
  }
  return object;
}

Value raw_json(json::Arena& arena, const model::RawJson& raw) {
  const Result<json::Document> parsed = json::parse(raw.text);
  return parsed ? parsed->root.clone(arena) : Value();
}

// The member's value, or nothing when it is the default.
struct FieldJson {
  json::Arena& arena;
  const ClusterConfig& config;
  const ClusterConfig defaults{};

  template <typename T>
  std::optional<Value> operator()(T ClusterConfig::* member) const {
    if (config.*member == defaults.*member) {
      return std::nullopt;
    }
    return value(config.*member);
  }
  Value value(const std::string& text) const { return Value::string(arena, text); }
  Value value(std::int64_t number) const { return Value::integer(arena, number); }
  Value value(bool truth) const { return Value::boolean(truth); }
  Value value(const std::optional<std::int64_t>& number) const {
    return number ? value(*number) : Value();
  }
  Value value(const model::StringMap& map) const { return map_json(arena, map); }
  Value value(const model::RawJson& raw) const { return raw_json(arena, raw); }
  Value value(Queueing queueing) const { return Value::string(arena, to_string(queueing)); }
  Value value(const std::vector<std::string>& list) const {
    Value array = Value::array();
    for (const std::string& text : list) {
      array.push_back(arena, Value::string(arena, text));
    }
    return array;
  }
};

Value group_json(json::Arena& arena, const WorkerGroup& group) {
  Value object = Value::object();
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      object.set_static(arena, key, Value::string(arena, value));
    }
  };
  text("group_name", group.group_name);
  object.set_static(arena, "replicas", Value::integer(arena, group.replicas));
  if (group.min_replicas) {
    object.set_static(arena, "min_replicas", Value::integer(arena, *group.min_replicas));
  }
  if (group.max_replicas) {
    object.set_static(arena, "max_replicas", Value::integer(arena, *group.max_replicas));
  }
  text("cpu_requests", group.cpu_requests);
  text("cpu_limits", group.cpu_limits);
  text("memory_requests", group.memory_requests);
  text("memory_limits", group.memory_limits);
  text("image", group.image);
  object.set_static(arena, "extended_resource_requests",
                    map_json(arena, group.extended_resource_requests));
  object.set_static(arena, "envs", map_json(arena, group.envs));
  object.set_static(arena, "labels", map_json(arena, group.labels));
  object.set_static(arena, "node_selector", map_json(arena, group.node_selector));
  if (group.tolerations) {
    object.set_static(arena, "tolerations", raw_json(arena, *group.tolerations));
  }
  return object;
}

std::string amount(const model::ResourceList& list, std::string_view name) {
  const model::Quantity* found = list.find(name);
  return found == nullptr ? "0" : found->to_string();
}

model::StringMap devices(const model::ResourceList& list) {
  model::StringMap found;
  for (const auto& [name, quantity] : list) {
    if (model::is_extended_resource(name)) {
      found.emplace(name, quantity.to_string());
    }
  }
  return found;
}

const model::Container* ray_container(const model::PodTemplateSpec& pod) {
  return pod.spec.containers.empty() ? nullptr : &pod.spec.containers.front();
}

}  // namespace

Value to_json(json::Arena& arena, const ClusterConfig& config) {
  Value object = Value::object();
  const FieldJson as_json{arena, config};
  for (const Field& field : cluster_fields()) {
    if (const std::optional<Value> value = std::visit(as_json, field.member)) {
      object.set(arena, field.name, *value);
    }
  }
  if (!config.additional_worker_groups.empty()) {
    Value groups = Value::array();
    for (const WorkerGroup& group : config.additional_worker_groups) {
      groups.push_back(arena, group_json(arena, group));
    }
    object.set_static(arena, "additional_worker_groups", groups);
  }
  return object;
}

ClusterConfig config_of(const model::RayCluster& ray) {
  ClusterConfig config{.name = ray.metadata.name, .ns = ray.metadata.ns};
  config.labels = ray.metadata.labels;
  config.ray_version = ray.spec.ray_version;
  if (const model::Container* head = ray_container(ray.spec.head_group.pod_template)) {
    config.image = head->image;
    config.head_cpu_requests = amount(head->resources.requests, "cpu");
    config.head_cpu_limits = amount(head->resources.limits, "cpu");
    config.head_memory_requests = amount(head->resources.requests, "memory");
    config.head_memory_limits = amount(head->resources.limits, "memory");
    config.head_extended_resource_requests = devices(head->resources.limits);
    for (const model::EnvVar& variable : head->env) {
      if (!variable.value_from) {
        config.envs.emplace(variable.name, variable.value);
      }
    }
  }
  const model::PodSpec& head_pod = ray.spec.head_group.pod_template.spec;
  config.service_account = head_pod.service_account_name;
  config.priority_class = head_pod.priority_class_name;
  config.head_node_selector = head_pod.node_selector;
  for (const model::LocalObjectReference& secret : head_pod.image_pull_secrets) {
    config.image_pull_secrets.push_back(secret.name);
  }
  config.token_authentication = needs_token(ray);
  config.enable_autoscaling = ray.spec.enable_in_tree_autoscaling.value_or(false);
  config.num_workers = 0;
  for (std::size_t i = 0; i < ray.spec.worker_groups.size(); ++i) {
    const model::RayWorkerGroup& given = ray.spec.worker_groups[i];
    WorkerGroup group{.group_name = given.group_name, .replicas = model::desired_replicas(given)};
    if (const model::Container* worker = ray_container(given.pod_template)) {
      group.image = worker->image;
      group.cpu_requests = amount(worker->resources.requests, "cpu");
      group.cpu_limits = amount(worker->resources.limits, "cpu");
      group.memory_requests = amount(worker->resources.requests, "memory");
      group.memory_limits = amount(worker->resources.limits, "memory");
      group.extended_resource_requests = devices(worker->resources.limits);
    }
    if (i > 0) {
      config.additional_worker_groups.push_back(std::move(group));
      continue;
    }
    config.num_workers = group.replicas;
    config.worker_node_selector = given.pod_template.spec.node_selector;
    if (config.enable_autoscaling) {
      config.min_workers = given.min_replicas;
      config.max_workers = given.max_replicas;
    }
    config.worker_cpu_requests = group.cpu_requests;
    config.worker_cpu_limits = group.cpu_limits;
    config.worker_memory_requests = group.memory_requests;
    config.worker_memory_limits = group.memory_limits;
    config.worker_extended_resource_requests = group.extended_resource_requests;
  }
  return config;
}

void add_wrapper_fields(const model::AppWrapper& wrapper, ClusterConfig& config) {
  config.queueing = Queueing::appwrapper;
  if (wrapper.spec.priority != 0) {
    config.priority = wrapper.spec.priority;
  }
  if (const auto& scheduling = wrapper.spec.scheduling_spec;
      scheduling && scheduling->dispatch_duration) {
    config.max_seconds = scheduling->dispatch_duration->limit;
  }
  if (const std::optional<Exposure> exposure = exposure_of(wrapper)) {
    config.expose = true;
    config.expose_kind = exposure->kind;
    config.expose_host = exposure->host;
    config.expose_tls_secret = exposure->tls_secret;
    config.expose_gateway = exposure->gateway;
    config.insecure_dashboard = !config.token_authentication;
  }
  for (const auto& [key, value] : wrapper.metadata.labels) {
    if (!config.labels.contains(key)) {
      config.quota_labels.emplace(key, value);
    }
  }
}

Value to_json(json::Arena& arena, const ClusterState& state) {
  Value object = Value::object();
  const auto text = [&](std::string_view key, std::string_view value) {
    object.set_static(arena, key, Value::string(arena, value));
  };
  text("status", to_string(state.phase));
  text("reason", state.reason);
  text("message", state.message);
  text("line", progress_line(state));
  object.set_static(arena, "headReady", Value::boolean(state.head_ready));
  object.set_static(arena, "workersReady", Value::integer(arena, state.workers_ready));
  object.set_static(arena, "workersWanted", Value::integer(arena, state.workers_wanted));
  return object;
}

Value to_json(json::Arena& arena, const ClusterInfo& info) {
  Value object = Value::object();
  const auto text = [&](std::string_view key, std::string_view value) {
    object.set_static(arena, key, Value::string(arena, value));
  };
  text("name", info.key.name);
  text("namespace", info.key.ns);
  text("appwrapper", info.wrapper);
  object.set_static(arena, "state", to_json(arena, info.state));
  object.set_static(arena, "workers", Value::integer(arena, info.sizes.workers));
  text("cpus", info.sizes.cpus().to_string());
  text("memory", info.sizes.memory().to_string());
  text("gpus", info.sizes.gpus().to_string());
  text("image", info.sizes.image);
  text("created", info.created == WallTime() ? "" : to_rfc3339(info.created));
  text("clientUri", info.client_uri());
  text("dashboardUri", info.dashboard_uri);
  const std::optional<model::RayCluster> wrapped =
      info.objects.wrapper ? wrapped_cluster(*info.objects.wrapper) : std::nullopt;
  if (info.objects.ray || wrapped) {
    ClusterConfig config = config_of(info.objects.ray ? *info.objects.ray : *wrapped);
    config.ns = info.key.ns;
    if (wrapped) {
      config.labels = wrapped->metadata.labels;  // the queue adds labels to what it creates
      add_wrapper_fields(*info.objects.wrapper, config);
    }
    object.set_static(arena, "config", to_json(arena, config));
  }
  return object;
}

}  // namespace codeflare::sdk
