#include "controllers/rayjob/rayjob_objects.h"

#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_pod.h"
#include "controllers/rayjob/rayjob_names.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/validation.h"
#include "sdk/ray_submitter.h"

#include <utility>
#include <vector>

namespace codeflare::controllers::rayjob {

namespace {

using model::RayCluster;
using model::RayJob;

// A submission that fails for good is tried three times in all.
constexpr std::int32_t kSubmitterRetries = 2;

model::OwnerReference owner_of(const RayJob& job) {
  using Traits = model::ResourceTraits<RayJob>;
  return {.api_version = std::string(Traits::api_version),
          .kind = std::string(Traits::kind),
          .name = job.metadata.name,
          .uid = job.metadata.uid,
          .controller = true,
          .block_owner_deletion = true};
}

void add_origin(const RayJob& job, model::StringMap& labels) {
  labels.insert_or_assign(std::string(kOriginNameLabel), job.metadata.name);
  labels.insert_or_assign(std::string(raycluster::kOriginLabel),
                          std::string(model::ResourceTraits<RayJob>::kind));
}

model::Container default_submitter(const RayCluster& cluster) {
  const auto mebibytes = [](std::int64_t count) {
    return model::Quantity(count << 20, model::Quantity::Format::binary_si);
  };
  model::Container container;
  container.name = sdk::kSubmitterContainer;
  container.image = cluster.spec.head_group.pod_template.spec.containers.front().image;
  container.resources.requests = {{"cpu", model::Quantity::milli(500)}, {"memory", mebibytes(200)}};
  container.resources.limits = {{"cpu", model::Quantity(1)}, {"memory", mebibytes(1024)}};
  return container;
}

void set(model::Container& container, std::string_view name, std::string value) {
  std::erase_if(container.env, [&](const model::EnvVar& known) { return known.name == name; });
  container.env.push_back({.name = std::string(name), .value = std::move(value)});
}

Result<std::string> runtime_env_json(const std::string& yaml) {
  if (yaml.empty()) {
    return std::string("{}");
  }
  TRY_ASSIGN(const std::vector<json::Document> documents, json::parse_yaml(yaml));
  if (documents.empty()) {
    return std::string("{}");
  }
  if (documents.size() != 1 || !documents.front().root.is_object()) {
    return fail(invalid_argument("runtimeEnvYAML: not a YAML mapping"));
  }
  return json::to_text(documents.front().root);
}

Result<std::map<std::string, double>> resources_in(const std::string& text) {
  std::map<std::string, double> resources;
  if (text.empty()) {
    return resources;
  }
  const Result<json::Document> document = json::parse(text);
  if (!document || !document->root.is_object()) {
    return fail(invalid_argument("entrypointResources: not a JSON object: " + text));
  }
  for (const json::Member& member : document->root.members()) {
    const std::optional<double> amount = member.value.to_double();
    if (!amount) {
      return fail(
          invalid_argument("entrypointResources: " + std::string(member.key) + " is not a number"));
    }
    resources.emplace(member.key, *amount);
  }
  return resources;
}

}  // namespace

std::string_view mode_of(const RayJob& job) {
  return job.spec.submission_mode.empty() ? mode::kKubernetesJob
                                          : std::string_view(job.spec.submission_mode);
}

bool selects_cluster(const RayJob& job) {
  return !job.spec.cluster_selector.empty();
}

bool has_submitter(const RayJob& job) {
  return mode_of(job) == mode::kKubernetesJob;
}

RayCluster cluster_of(const RayJob& job) {
  RayCluster cluster;
  cluster.metadata.name = job.status.ray_cluster_name;
  cluster.metadata.ns = job.metadata.ns;
  cluster.metadata.labels = job.metadata.labels;
  cluster.metadata.annotations = job.metadata.annotations;
  add_origin(job, cluster.metadata.labels);
  cluster.metadata.owner_references = {owner_of(job)};
  cluster.spec = job.spec.ray_cluster_spec.value_or(model::RayClusterSpec());
  return cluster;
}

Result<ray::JobRequest> request_of(const RayJob& job) {
  ray::JobRequest request{.submission_id = job.status.job_id, .entrypoint = job.spec.entrypoint};
  TRY_ASSIGN(request.runtime_env, runtime_env_json(job.spec.runtime_env_yaml));
  TRY_ASSIGN(request.resources, resources_in(job.spec.entrypoint_resources));
  for (const auto& [key, value] : job.spec.metadata) {
    request.metadata.emplace(key, value);
  }
  if (job.spec.entrypoint_num_cpus.value_or(0) > 0) {
    request.num_cpus = job.spec.entrypoint_num_cpus;
  }
  if (job.spec.entrypoint_num_gpus.value_or(0) > 0) {
    request.num_gpus = job.spec.entrypoint_num_gpus;
  }
  return request;
}

Result<model::Job> submitter_of(const RayJob& job, const RayCluster& cluster) {
  model::Job submitter;
  submitter.metadata.name = job.metadata.name;
  submitter.metadata.ns = job.metadata.ns;
  add_origin(job, submitter.metadata.labels);
  submitter.metadata.labels.emplace(raycluster::kCreatedByLabel, raycluster::kOperator);
  submitter.metadata.owner_references = {owner_of(job)};
  submitter.spec.backoff_limit = kSubmitterRetries;
  if (job.spec.submitter_config && job.spec.submitter_config->backoff_limit) {
    submitter.spec.backoff_limit = job.spec.submitter_config->backoff_limit;
  }
  if (job.spec.submitter_pod_template) {
    submitter.spec.pod_template = *job.spec.submitter_pod_template;
  } else {
    submitter.spec.pod_template.spec.containers.push_back(default_submitter(cluster));
  }
  model::PodSpec& pod = submitter.spec.pod_template.spec;
  if (pod.restart_policy.empty()) {
    pod.restart_policy = "Never";
  }
  model::Container& container = pod.containers.front();
  if (container.command.empty()) {
    TRY_ASSIGN(const ray::JobRequest request, request_of(job));
    TRY(sdk::set_submitter_command(container, request));
  }
  set(container, "PYTHONUNBUFFERED", "1");
  set(container, sdk::kDashboardVariable, job.status.dashboard_url);
  set(container, sdk::kSubmissionVariable, job.status.job_id);
  return submitter;
}

std::string service_name(const RayJob& job) {
  return job.metadata.name + "-head-svc";
}

model::Service service_of(const RayJob& job, const RayCluster& cluster) {
  model::Service service = raycluster::head_service(cluster);
  service.metadata.name = service_name(job);
  service.metadata.labels = {
      {std::string(raycluster::kNodeTypeLabel),
       std::string(raycluster::to_string(raycluster::NodeType::head))},
      {std::string(raycluster::kIdentifierLabel),
       raycluster::identifier(job.metadata.name, raycluster::NodeType::head)}};
  add_origin(job, service.metadata.labels);
  service.metadata.owner_references = {owner_of(job)};
  return service;
}

}  // namespace codeflare::controllers::rayjob
