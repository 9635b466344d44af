#include "controllers/raycluster/ray_autoscaler.h"

#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_start.h"
#include "controllers/raycluster/ray_token.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/container.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::Container;
using model::RayCluster;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kLogVolume = "ray-logs";
constexpr std::string_view kLogPath = "/tmp/ray";
constexpr std::size_t kNameMax = 50;

// KubeRay clips names from the front, so that the telling end stays.
std::string clipped(std::string name) {
  if (name.size() > kNameMax) {
    name.erase(0, name.size() - kNameMax);
  }
  if (!name.empty() && (name[0] < 'a' || name[0] > 'z')) {
    name[0] = 'r';
  }
  return name;
}

std::string account_of(const RayCluster& cluster) {
  const std::string& own = cluster.spec.head_group.pod_template.spec.service_account_name;
  return own.empty() ? clipped(cluster.metadata.name) : own;
}

bool is_version_2(const model::RayClusterSpec& spec) {
  return spec.autoscaler_options && spec.autoscaler_options->extra.find("version") == R"("v2")";
}

void write_head(json::Writer& w, const RayCluster& cluster, std::string_view kind,
                std::string_view name) {
  const bool core = kind == "ServiceAccount";
  w.begin_object();
  w.member("apiVersion", core ? std::string("v1") : std::string(kRbac) + "/v1");
  w.member("kind", kind);
  w.key("metadata").begin_object();
  w.member("name", name);
  w.member("namespace", cluster.metadata.ns);
  w.key("labels").begin_object();
  w.member(kClusterLabel, cluster.metadata.name);
  w.member(kAppNameLabel, "kuberay");
  w.member("app.kubernetes.io/created-by", kOperator);
  w.end_object();
  w.key("ownerReferences").begin_array().begin_object();
  w.member("apiVersion", "ray.io/v1");
  w.member("kind", "RayCluster");
  w.member("name", cluster.metadata.name);
  w.member("uid", cluster.metadata.uid);
  w.key("controller").boolean(true);
  w.key("blockOwnerDeletion").boolean(true);
  w.end_object().end_array();
  w.end_object();
}

void write_list(json::Writer& w, std::string_view key,
                std::initializer_list<std::string_view> words) {
  w.key(key).begin_array();
  for (const std::string_view word : words) {
    w.string(word);
  }
  w.end_array();
}

struct Rule {
  std::string_view group;
  std::string_view resource;
  std::initializer_list<std::string_view> verbs;
};

void write_rule(json::Writer& w, const Rule& rule) {
  w.begin_object();
  write_list(w, "apiGroups", {rule.group});
  write_list(w, "resources", {rule.resource});
  write_list(w, "verbs", rule.verbs);
  w.end_object();
}

std::string account(const RayCluster& cluster) {
  std::string text;
  json::Writer w(text);
  write_head(w, cluster, "ServiceAccount", account_of(cluster));
  w.end_object();
  return text;
}

std::string role(const RayCluster& cluster) {
  std::string text;
  json::Writer w(text);
  write_head(w, cluster, "Role", clipped(cluster.metadata.name));
  w.key("rules").begin_array();
  write_rule(w, {"", "pods", {"get", "list", "watch", "patch"}});
  write_rule(w, {"", "pods/resize", {"patch"}});
  write_rule(w, {"ray.io", "rayclusters", {"get", "patch"}});
  w.end_array();
  w.end_object();
  return text;
}

std::string binding(const RayCluster& cluster) {
  std::string text;
  json::Writer w(text);
  write_head(w, cluster, "RoleBinding", clipped(cluster.metadata.name));
  w.key("subjects").begin_array().begin_object();
  w.member("kind", "ServiceAccount");
  w.member("name", account_of(cluster));
  w.member("namespace", cluster.metadata.ns);
  w.end_object().end_array();
  w.key("roleRef").begin_object();
  w.member("apiGroup", kRbac);
  w.member("kind", "Role");
  w.member("name", clipped(cluster.metadata.name));
  w.end_object();
  w.end_object();
  return text;
}

void add_field(Container& container, std::string name, std::string path) {
  model::EnvVar variable{.name = std::move(name)};
  variable.value_from.emplace().field_ref.emplace().field_path = std::move(path);
  container.env.push_back(std::move(variable));
}

// The further fields of autoscalerOptions are those of a container.
void merge_options(const model::RayAutoscalerOptions& options, Container& container) {
  if (options.resources) {
    container.resources = *options.resources;
  }
  container.image = options.image.value_or(container.image);
  container.image_pull_policy = options.image_pull_policy.value_or(container.image_pull_policy);
  std::string text;
  json::Writer w(text);
  w.begin_object();
  for (const std::string_view key : {"env", "envFrom", "volumeMounts", "securityContext"}) {
    if (const std::string_view value = options.extra.find(key); !value.empty()) {
      w.key(key).raw(value);
    }
  }
  w.end_object();
  const Result<json::Document> document = json::parse(text);
  const Result<Container> more =
      document ? model::from_json<Container>(document->root) : fail(document.error());
  if (!more) {
    return;  // the definition rejects other fields
  }
  std::ranges::copy(more->env, std::back_inserter(container.env));
  std::ranges::copy(more->env_from, std::back_inserter(container.env_from));
  std::ranges::copy(more->volume_mounts, std::back_inserter(container.volume_mounts));
  if (!more->security_context.empty()) {
    container.security_context = more->security_context;
  }
}

// The head shows what the autoscaler logs.
void mount_logs(model::Pod& pod, Container& container) {
  if (std::ranges::find(container.volume_mounts, kLogPath, &model::VolumeMount::mount_path) !=
      container.volume_mounts.end()) {
    return;
  }
  if (std::ranges::find(pod.spec.volumes, kLogVolume, &model::Volume::name) ==
      pod.spec.volumes.end()) {
    model::Volume volume;
    volume.name = kLogVolume;
    volume.empty_dir.emplace();
    pod.spec.volumes.push_back(std::move(volume));
  }
  container.volume_mounts.push_back(
      {.name = std::string(kLogVolume), .mount_path = std::string(kLogPath)});
}

}  // namespace

bool autoscales(const model::RayClusterSpec& spec) {
  return spec.enable_in_tree_autoscaling.value_or(false);
}

std::string invalid_autoscaling(const model::RayClusterSpec& spec) {
  if (!autoscales(spec)) {
    return {};
  }
  for (const model::RayWorkerGroup& group : spec.worker_groups) {
    if (group.suspend.value_or(false)) {
      return "worker group " + group.group_name + " cannot be suspended with Autoscaler enabled";
    }
  }
  return {};
}

std::vector<AutoscalerObject> autoscaler_objects(const RayCluster& cluster) {
  std::vector<AutoscalerObject> objects;
  if (cluster.spec.head_group.pod_template.spec.service_account_name.empty()) {
    objects.push_back({{"", "v1", "ServiceAccount", "serviceaccounts", true}, account(cluster)});
  }
  objects.push_back({{std::string(kRbac), "v1", "Role", "roles", true}, role(cluster)});
  objects.push_back(
      {{std::string(kRbac), "v1", "RoleBinding", "rolebindings", true}, binding(cluster)});
  return objects;
}

void set_monitor(const model::RayClusterSpec& spec, model::StringMap& start_params) {
  if (autoscales(spec)) {
    start_params.insert_or_assign("no-monitor", "true");
  }
}

void add_autoscaler(const RayCluster& cluster, model::Pod& head) {
  if (!autoscales(cluster.spec)) {
    return;
  }
  Container container;
  container.name = "autoscaler";
  container.image = head.spec.containers.front().image;
  container.image_pull_policy = "IfNotPresent";
  add_field(container, "RAY_CLUSTER_NAME", "metadata.labels['" + std::string(kClusterLabel) + "']");
  add_field(container, "RAY_CLUSTER_NAMESPACE", "metadata.namespace");
  add_field(container, "RAY_HEAD_POD_NAME", "metadata.name");
  container.env.push_back({.name = "KUBERAY_CRD_VER", .value = "v1"});
  container.command = shell();
  container.args = {
      "ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace "
      "$(RAY_CLUSTER_NAMESPACE)"};
  const model::ResourceList usual = {
      {"cpu", model::Quantity::milli(500)},
      {"memory", model::Quantity(std::int64_t{512} << 20, model::Quantity::Format::binary_si)}};
  container.resources.limits = usual;
  container.resources.requests = usual;
  add_token_variables(cluster, container);
  if (cluster.spec.autoscaler_options) {
    merge_options(*cluster.spec.autoscaler_options, container);
  }
  Container& ray = head.spec.containers.front();
  mount_logs(head, ray);
  mount_logs(head, container);
  if (is_version_2(cluster.spec)) {
    ray.env.push_back({.name = "RAY_enable_autoscaler_v2", .value = "true"});
  }
  head.spec.service_account_name = account_of(cluster);
  head.spec.containers.push_back(std::move(container));
}

void set_restart_policy(const model::RayClusterSpec& spec, model::Pod& pod) {
  if (autoscales(spec) && is_version_2(spec)) {
    pod.spec.restart_policy = "Never";
  }
}

}  // namespace codeflare::controllers::raycluster
