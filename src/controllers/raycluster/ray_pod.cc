#include "controllers/raycluster/ray_pod.h"

#include "controllers/raycluster/ray_autoscaler.h"
#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_start.h"
#include "controllers/raycluster/ray_token.h"
#include "model/resources.h"

#include <algorithm>
#include <string>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::Container;
using model::EnvVar;
using model::Pod;
using model::RayCluster;
using model::StringMap;

constexpr std::string_view kSharedMemory = "shared-mem";
constexpr std::string_view kSharedMemoryPath = "/dev/shm";
constexpr std::string_view kWaitName = "wait-gcs-ready";
// The operator that this controller imitates; Ray reports it with its usage statistics.
constexpr std::string_view kUsageTags = "kuberay_version=v1.5.1;kuberay_crd=";

bool has_variable(const Container& container, std::string_view name) {
  return std::ranges::find(container.env, name, &EnvVar::name) != container.env.end();
}

void add(Container& container, std::string name, std::string value) {
  container.env.push_back({.name = std::move(name), .value = std::move(value)});
}

void add_if_missing(Container& container, std::string name, std::string value) {
  if (!has_variable(container, name)) {
    add(container, std::move(name), std::move(value));
  }
}

void add_field(Container& container, std::string name, std::string path) {
  EnvVar variable{.name = std::move(name)};
  variable.value_from.emplace().field_ref.emplace().field_path = std::move(path);
  container.env.push_back(std::move(variable));
}

// One pod in the making: what head and workers share, and where they differ.
struct Draft {
  const RayCluster& cluster;
  NodeType type;
  const model::PodTemplateSpec& from;
  const StringMap& params;
  const StringMap& resources;
  const StringMap& labels;
  std::string_view group;

  std::string host() const { return head_host(cluster); }
  std::string port() const { return head_port(cluster); }
};

model::OwnerReference owner_of(const RayCluster& cluster) {
  using Traits = model::ResourceTraits<RayCluster>;
  return {.api_version = std::string(Traits::api_version),
          .kind = std::string(Traits::kind),
          .name = cluster.metadata.name,
          .uid = cluster.metadata.uid,
          .controller = true,
          .block_owner_deletion = true};
}

bool keeps_command(const RayCluster& cluster, const Pod& pod) {
  for (const StringMap* map : {&cluster.metadata.annotations, &pod.metadata.annotations}) {
    const std::string_view word = model::find_or_empty(*map, kOwnCommandAnnotation);
    if (word == "true" || word == "True" || word == "TRUE") {
      return true;
    }
  }
  return false;
}

void set_metadata(const Draft& draft, Pod& pod) {
  pod.metadata = draft.from.metadata;
  pod.metadata.name.clear();
  pod.metadata.generate_name = draft.type == NodeType::head
                                   ? head_pod_prefix(draft.cluster.metadata.name)
                                   : worker_pod_prefix(draft.cluster.metadata.name, draft.group);
  pod.metadata.ns = draft.cluster.metadata.ns;
  pod.metadata.labels = pod_labels(draft.cluster.metadata.name, draft.type, draft.group,
                                   draft.from.metadata.labels, draft.labels);
  if (keeps_command(draft.cluster, pod)) {
    pod.metadata.annotations.insert_or_assign(std::string(kOwnCommandAnnotation), "true");
  }
  if (draft.type == NodeType::head) {
    pod.metadata.annotations.insert_or_assign(std::string(kFaultToleranceAnnotation), "false");
  }
  pod.metadata.owner_references = {owner_of(draft.cluster)};
}

void add_metrics_port(Container& ray) {
  if (std::ranges::find(ray.ports, "metrics", &model::ContainerPort::name) == ray.ports.end()) {
    ray.ports.push_back({.name = "metrics", .container_port = kMetricsPort});
  }
}

// Ray keeps its objects there; without it they would lie on a small default.
void add_shared_memory(Pod& pod, Container& ray) {
  if (std::ranges::find(ray.volume_mounts, kSharedMemoryPath, &model::VolumeMount::mount_path) !=
      ray.volume_mounts.end()) {
    return;
  }
  if (std::ranges::find(pod.spec.volumes, kSharedMemory, &model::Volume::name) ==
      pod.spec.volumes.end()) {
    model::Volume volume;
    volume.name = kSharedMemory;
    volume.empty_dir.emplace().medium = "Memory";
    const model::Quantity* size = ray.resources.limits.find("memory");
    size = size != nullptr ? size : ray.resources.requests.find("memory");
    if (size != nullptr) {
      volume.empty_dir->size_limit = *size;
    }
    pod.spec.volumes.push_back(std::move(volume));
  }
  ray.volume_mounts.push_back(
      {.name = std::string(kSharedMemory), .mount_path = std::string(kSharedMemoryPath)});
}

// Workers begin when the head's control store answers.
void add_wait_for_head(const Draft& draft, Pod& pod) {
  const Container& ray = pod.spec.containers.front();
  Container wait;
  wait.name = kWaitName;
  wait.image = ray.image;
  wait.image_pull_policy = ray.image_pull_policy;
  wait.command = shell();
  wait.args = {"until ray health-check --address " + draft.host() + ":" + draft.port() +
               "; do echo \"$SECONDS seconds: no answer from the head yet\"; sleep 5; done; "
               "echo \"the head answers\""};
  wait.security_context = ray.security_context;
  wait.env = ray.env;
  wait.volume_mounts = ray.volume_mounts;
  const model::ResourceList little = {
      {"cpu", model::Quantity::milli(200)},
      {"memory", model::Quantity(std::int64_t{256} << 20, model::Quantity::Format::binary_si)}};
  wait.resources.limits = little;
  wait.resources.requests = little;
  pod.spec.init_containers.push_back(std::move(wait));
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += " " + word + " ";
  }
  return text;
}

void set_command(Container& ray, const std::string& start) {
  const std::string own = spaced(ray.command) + spaced(ray.args);
  if (own.contains("ray start")) {
    return;
  }
  const std::string command = "ulimit -n 65536; " + start;
  ray.command = shell();
  ray.args = {own.empty() ? command : own + " && " + command};
}

std::string origin_of(const RayCluster& cluster) {
  const std::string_view origin = model::find_or_empty(cluster.metadata.labels, kOriginLabel);
  return origin.empty() ? "RayCluster" : std::string(origin);
}

void set_environment(const Draft& draft, const std::string& start, Container& ray) {
  const std::string service = head_service_name(draft.cluster);
  if (draft.type == NodeType::worker) {
    add(ray, "FQ_RAY_IP", draft.host());
    add(ray, "RAY_IP", service);
  }
  const auto label = [](std::string_view key) {
    return "metadata.labels['" + std::string(key) + "']";
  };
  add_field(ray, "RAY_CLUSTER_NAME", label(kClusterLabel));
  add_field(ray, "RAY_CLOUD_INSTANCE_ID", "metadata.name");
  add_field(ray, "RAY_NODE_TYPE_NAME", label(kGroupLabel));
  add(ray, "KUBERAY_GEN_RAY_START_CMD", start);
  add_if_missing(ray, "RAY_PORT", draft.port());
  const std::string host = draft.type == NodeType::head ? "127.0.0.1" : draft.host();
  add_if_missing(ray, "RAY_ADDRESS", host + ":" + draft.port());
  add_if_missing(ray, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
  if (draft.type == NodeType::head) {
    add(ray, "RAY_USAGE_STATS_EXTRA_TAGS", std::string(kUsageTags) + origin_of(draft.cluster));
  }
  add_if_missing(ray, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1");
}

// Images without wget have the Python that Ray itself needs.
std::string health_check(int patience, int port, std::string_view path) {
  const std::string seconds = std::to_string(patience);
  const std::string url = "http://localhost:" + std::to_string(port) + "/" + std::string(path);
  return "{ if command -v wget >/dev/null; then wget --tries 1 -T " + seconds + " -q -O- " + url +
         "; else python3 -c \"from urllib.request import *; "
         "print(build_opener(ProxyHandler({})).open('" +
         url + "', timeout=" + seconds + ").read().decode())\"; fi; } | grep success";
}

model::Probe probe(NodeType type, int delay, int failures) {
  std::string command = health_check(2, kAgentPort, "api/local_raylet_healthz");
  if (type == NodeType::head) {
    command += " && " + health_check(10, kDashboardPort, "api/gcs_healthz");
  }
  model::Probe probe;
  probe.exec = {.command = {"bash", "-c", command}};
  probe.initial_delay_seconds = delay;
  probe.timeout_seconds = type == NodeType::head ? 5 : 2;
  probe.period_seconds = 5;
  probe.success_threshold = 1;
  probe.failure_threshold = failures;
  return probe;
}

void set_probes(NodeType type, Container& ray) {
  if (!ray.liveness_probe) {
    ray.liveness_probe = probe(type, 30, 120);
  }
  if (!ray.readiness_probe) {
    ray.readiness_probe = probe(type, 10, 10);
  }
}

Pod build(const Draft& draft) {
  Pod pod;
  pod.spec = draft.from.spec;
  set_metadata(draft, pod);
  add_token_variables(draft.cluster, pod.spec.containers.front());
  if (draft.type == NodeType::worker) {
    add_wait_for_head(draft, pod);
  }
  Container& ray = pod.spec.containers.front();
  add_metrics_port(ray);
  add_shared_memory(pod, ray);
  const std::string start =
      start_command(draft.type, start_params({.type = draft.type,
                                              .params = draft.params,
                                              .resources = draft.resources,
                                              .labels = draft.labels,
                                              .container = ray.resources,
                                              .head_address = draft.host() + ":" + draft.port()}));
  if (!keeps_command(draft.cluster, pod)) {
    set_command(ray, start);
  }
  for (Container& init : pod.spec.init_containers) {
    add(init, "FQ_RAY_IP", draft.host());
    add(init, "RAY_IP", head_service_name(draft.cluster));
  }
  set_environment(draft, start, ray);
  set_probes(draft.type, ray);
  set_restart_policy(draft.cluster.spec, pod);
  return pod;
}

}  // namespace

Pod head_pod(const RayCluster& cluster) {
  const model::RayHeadGroup& head = cluster.spec.head_group;
  StringMap params = head.ray_start_params;
  set_monitor(cluster.spec, params);
  Pod pod = build({.cluster = cluster,
                   .type = NodeType::head,
                   .from = head.pod_template,
                   .params = params,
                   .resources = head.resources,
                   .labels = head.labels,
                   .group = kHeadGroup});
  add_autoscaler(cluster, pod);
  return pod;
}

Pod worker_pod(const RayCluster& cluster, const model::RayWorkerGroup& group) {
  return build({.cluster = cluster,
                .type = NodeType::worker,
                .from = group.pod_template,
                .params = group.ray_start_params,
                .resources = group.resources,
                .labels = group.labels,
                .group = group.group_name});
}

}  // namespace codeflare::controllers::raycluster
