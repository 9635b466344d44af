#include "sdk/cluster_fields.h"

#include <algorithm>
#include <array>

namespace codeflare::sdk {

namespace {

using C = ClusterConfig;
using enum FieldType;

constexpr std::array kFields = {
    Field{"name", text, &C::name, "--name", "name of the cluster"},
    Field{"namespace", text, &C::ns, "", "namespace (default: of the current context)"},
    Field{"num_workers", integer, &C::num_workers, "--workers,--num-workers", "number of workers"},
    Field{"worker_cpu_requests", cpu, &C::worker_cpu_requests, "--worker-cpu-requests",
          "CPUs requested by each worker"},
    Field{"worker_cpu_limits", cpu, &C::worker_cpu_limits, "--worker-cpu-limits",
          "CPU limit of each worker"},
    Field{"worker_memory_requests", memory, &C::worker_memory_requests, "--worker-memory-requests",
          "memory requested by each worker"},
    Field{"worker_memory_limits", memory, &C::worker_memory_limits, "--worker-memory-limits",
          "memory limit of each worker"},
    Field{"worker_extended_resource_requests", amount_map, &C::worker_extended_resource_requests,
          "--worker-resource", "devices of each worker, such as nvidia.com/gpu=1"},
    Field{"head_cpu_requests", cpu, &C::head_cpu_requests, "--head-cpu-requests",
          "CPUs requested by the head"},
    Field{"head_cpu_limits", cpu, &C::head_cpu_limits, "--head-cpu-limits",
          "CPU limit of the head"},
    Field{"head_memory_requests", memory, &C::head_memory_requests, "--head-memory-requests",
          "memory requested by the head"},
    Field{"head_memory_limits", memory, &C::head_memory_limits, "--head-memory-limits",
          "memory limit of the head"},
    Field{"head_extended_resource_requests", amount_map, &C::head_extended_resource_requests,
          "--head-resource", "devices of the head"},
    Field{"extended_resource_mapping", text_map, &C::extended_resource_mapping,
          "--resource-mapping", "Ray's name of a device, such as example.com/card=CARD"},
    Field{"overwrite_default_resource_mapping", boolean, &C::overwrite_default_resource_mapping,
          "--overwrite-resource-mapping", "permission to rename the built-in devices"},
    Field{"ray_version", text, &C::ray_version, "--ray-version", "version of Ray in the image"},
    Field{"image", text, &C::image, "--image", "image (default: rayproject/ray:<ray_version>)"},
    Field{"image_pull_secrets", text_list, &C::image_pull_secrets, "--image-pull-secret",
          "secret with the registry's credentials"},
    Field{"envs", text_map, &C::envs, "--env", "environment variable of every Ray container"},
    Field{"enable_usage_stats", boolean, &C::enable_usage_stats, "--usage-stats",
          "permission for Ray to report usage statistics"},
    Field{"labels", text_map, &C::labels, "--label", "label of the cluster and its pods"},
    Field{"annotations", text_map, &C::annotations, "--annotation",
          "annotation of the cluster and its pods"},
    Field{"volumes", object_list, &C::volumes, "--volumes", "volumes of every pod"},
    Field{"volume_mounts", object_list, &C::volume_mounts, "--volume-mounts",
          "volume mounts of every Ray container"},
    Field{"head_tolerations", object_list, &C::head_tolerations, "--head-tolerations",
          "tolerations of the head"},
    Field{"worker_tolerations", object_list, &C::worker_tolerations, "--worker-tolerations",
          "tolerations of the workers"},
    Field{"head_node_selector", text_map, &C::head_node_selector, "--head-node-selector",
          "label that the head's node must have"},
    Field{"worker_node_selector", text_map, &C::worker_node_selector, "--worker-node-selector",
          "label that the workers' nodes must have"},
    Field{"service_account", text, &C::service_account, "--service-account",
          "service account of every pod"},
    Field{"head_pod_overrides", object, &C::head_pod_overrides, "--head-pod-overrides",
          "pod spec merged into the head's"},
    Field{"worker_pod_overrides", object, &C::worker_pod_overrides, "--worker-pod-overrides",
          "pod spec merged into the workers'"},
    Field{"queueing", queueing, &C::queueing, "--queueing",
          "appwrapper, kueue or none (default: appwrapper where the cluster has AppWrappers)"},
    Field{"priority", integer, &C::priority, "--priority", "priority in the queue"},
    Field{"priority_class", text, &C::priority_class, "--priority-class",
          "PriorityClass of the pods"},
    Field{"local_queue", text, &C::local_queue, "--local-queue", "LocalQueue of Kueue"},
    Field{"quota_labels", text_map, &C::quota_labels, "--quota",
          "quota to charge, as TREE=NODE of a QuotaSubtree"},
    Field{"max_time", duration, &C::max_seconds, "--max-time,--time",
          "time after which the cluster is stopped, such as 6h"},
    Field{"instascale", boolean, &C::instascale, "--instascale",
          "request for machines from InstaScale"},
    Field{"machine_types", text_list, &C::machine_types, "--machine-type",
          "machine type for InstaScale"},
    Field{"enable_autoscaling", boolean, &C::enable_autoscaling, "--autoscaling",
          "Ray's autoscaler between min_workers and max_workers"},
    Field{"min_workers", integer, &C::min_workers, "--min-workers", "fewest workers"},
    Field{"max_workers", integer, &C::max_workers, "--max-workers", "most workers"},
    Field{"token_authentication", boolean, &C::token_authentication, "--token-auth",
          "token authentication of Ray (Ray 2.52 or later)"},
    Field{"expose", boolean, &C::expose, "--expose",
          "the dashboard behind a Route, HTTPRoute or Ingress with TLS and Ray's token"},
    Field{"expose_kind", text, &C::expose_kind, "--expose-kind",
          "route, httproute or ingress (default: by what the cluster serves)"},
    Field{"expose_host", text, &C::expose_host, "--expose-host",
          "host name of the exposed dashboard (default: chosen by OpenShift)"},
    Field{"expose_tls_secret", text, &C::expose_tls_secret, "--expose-tls-secret",
          "secret with the certificate of the Ingress"},
    Field{"expose_gateway", text, &C::expose_gateway, "--expose-gateway",
          "gateway of the HTTPRoute, as NAMESPACE/NAME/LISTENER"},
    Field{"insecure_dashboard", boolean, &C::insecure_dashboard, "--insecure-dashboard",
          "permission to expose a dashboard that runs anybody's code"},
    Field{"enable_gcs_ft", boolean, &C::enable_gcs_ft, "--gcs-ft",
          "GCS fault tolerance: the head's state is kept in Redis"},
    Field{"redis_address", text, &C::redis_address, "--redis-address", "address of Redis"},
    Field{"redis_password_secret", text_map, &C::redis_password_secret, "--redis-password-secret",
          "secret with Redis' password, as name=SECRET and key=KEY"},
    Field{"external_storage_namespace", text, &C::external_storage_namespace,
          "--external-storage-namespace", "namespace of the state in Redis"},
    Field{"write_to_file", boolean, &C::write_to_file, "",
          "whether NAME.yaml is written to the working directory"},
};

using enum Alias::Rule;

constexpr std::array kAliases = {
    // Short forms of the command line.
    Alias{"worker_cpus", same, "worker_cpu_requests", "worker_cpu_limits",
          "--cpu,--cpus,--worker-cpu,--worker-cpus", "CPUs of each worker (request and limit)"},
    Alias{"worker_memory", same, "worker_memory_requests", "worker_memory_limits",
          "--memory,--worker-memory", "memory of each worker (request and limit)"},
    Alias{"worker_gpus", gpus, "worker_extended_resource_requests", "",
          "--gpu,--gpus,--worker-gpu,--worker-gpus,--num-gpus", "GPUs of each worker"},
    Alias{"head_cpus", same, "head_cpu_requests", "head_cpu_limits", "--head-cpu,--head-cpus",
          "CPUs of the head (request and limit)"},
    Alias{"head_memory", same, "head_memory_requests", "head_memory_limits", "--head-memory",
          "memory of the head (request and limit)"},
    Alias{"head_gpus", gpus, "head_extended_resource_requests", "", "--head-gpu,--head-gpus",
          "GPUs of the head"},
    // Earlier versions of the SDK.
    Alias{"min_cpus", same, "worker_cpu_requests", "", "--min-cpus", "older name"},
    Alias{"max_cpus", same, "worker_cpu_limits", "", "--max-cpus", "older name"},
    Alias{"min_memory", same, "worker_memory_requests", "", "--min-memory", "older name"},
    Alias{"max_memory", same, "worker_memory_limits", "", "--max-memory", "older name"},
    Alias{"min_worker", same, "num_workers"},
    Alias{"max_worker", same, "num_workers"},
    Alias{"gpu", gpus, "worker_extended_resource_requests"},
    Alias{"num_gpus", gpus, "worker_extended_resource_requests"},
    Alias{"dispatch_priority", same, "priority_class"},
    Alias{"mcad", wrapped, "queueing"},
    Alias{"appwrapper", wrapped, "queueing"},
    Alias{"head_accelerators", same, "head_extended_resource_requests"},
    Alias{"worker_accelerators", same, "worker_extended_resource_requests"},
    Alias{"accelerator_configs", same, "extended_resource_mapping"},
    Alias{"head_info", no_effect, "", "", "", "no version ever read it"},
    Alias{"auth", no_effect, "", "", "", "log in with TokenAuthentication or `codeflare login`"},
    Alias{"local_interactive", no_effect, "", "", "",
          "local_client_url() opens a tunnel; no certificates are needed"},
    Alias{"openshift_oauth", no_effect, "", "", "",
          "requests pass the API server, which checks the user"},
    Alias{"ingress_options", no_effect, "", "", "", "jobs need no ingress; see expose"},
    Alias{"ingress_domain", no_effect, "", "", "", "jobs need no ingress; see expose_host"},
    Alias{"verify_tls", no_effect, "", "", "", "requests pass the API server"},
};

std::string text_of(std::string_view value) {
  return std::string(value);
}

}  // namespace

std::string_view to_string(Queueing queueing) {
  switch (queueing) {
    case Queueing::automatic:
      return "";
    case Queueing::appwrapper:
      return "appwrapper";
    case Queueing::kueue:
      return "kueue";
    case Queueing::none:
      return "none";
  }
  return "";
}

std::span<const Field> cluster_fields() {
  return kFields;
}

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : &*found;
}

std::span<const Alias> cluster_aliases() {
  return kAliases;
}

const Alias* find_alias(std::string_view name) {
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? nullptr : &*found;
}

std::string default_text(const Field& field) {
  static const ClusterConfig defaults;
  struct Text {
    const FieldType type;
    std::string operator()(std::string C::* member) const { return defaults.*member; }
    std::string operator()(std::int64_t C::* member) const {
      return type == duration && defaults.*member == 0 ? "" : std::to_string(defaults.*member);
    }
    std::string operator()(bool C::* member) const { return defaults.*member ? "true" : "false"; }
    std::string operator()(Queueing C::* member) const {
      return text_of(to_string(defaults.*member));
    }
    std::string operator()(std::optional<std::int64_t> C::*) const { return ""; }
    std::string operator()(model::StringMap C::*) const { return ""; }
    std::string operator()(std::vector<std::string> C::*) const { return ""; }
    std::string operator()(model::RawJson C::*) const { return ""; }
  };
  return std::visit(Text{field.type}, field.member);
}

std::string ClusterConfig::image_or_default() const {
  return image.empty() ? "rayproject/ray:" + ray_version : image;
}

}  // namespace codeflare::sdk
