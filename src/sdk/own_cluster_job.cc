#include "sdk/own_cluster_job.h"

#include "json/parse.h"
#include "json/write.h"
#include "model/codec/container.h"
#include "model/codec/ray_job.h"
#include "model/codec/volume.h"
#include "model/validation.h"
#include "sdk/cluster_manifest.h"
#include "sdk/gang_job.h"
#include "sdk/job_marks.h"
#include "sdk/ray_submitter.h"
#include "sdk/submit_wrapper.h"

#include <utility>
#include <vector>

namespace codeflare::sdk {

namespace {

// Five characters and a dash are added for the name of its cluster, which may have 53.
constexpr std::size_t kNameMax = 47;
// It waits most of the time.
constexpr const char* kSubmitterCpu = "100m";
constexpr const char* kSubmitterMemory = "256Mi";

model::StringMap marks(const std::string& name) {
  return {{std::string(kJobLabel), name},
          {std::string(kBackendLabel), std::string(to_string(JobBackend::ray_own))}};
}

ClusterConfig named(const OwnClusterJob& own) {
  ClusterConfig config = own.cluster;
  config.name = own.job.name;
  return config;
}

// Where the head may run and by whose rights, the submitter may too.
model::PodTemplateSpec submitter_template(const OwnClusterJob& own,
                                          const model::PodTemplateSpec& head) {
  model::PodTemplateSpec pod;
  pod.metadata.labels = own.cluster.labels;
  for (const auto& [key, value] : marks(own.job.name)) {
    pod.metadata.labels.insert_or_assign(key, value);
  }
  pod.metadata.annotations = own.cluster.annotations;
  pod.spec.restart_policy = "Never";
  pod.spec.image_pull_secrets = head.spec.image_pull_secrets;
  pod.spec.service_account_name = head.spec.service_account_name;
  pod.spec.priority_class_name = head.spec.priority_class_name;
  pod.spec.node_selector = head.spec.node_selector;
  pod.spec.tolerations = head.spec.tolerations;
  model::Container container;
  container.name = kGangContainer;
  container.image = head.spec.containers.front().image;
  container.image_pull_policy = head.spec.containers.front().image_pull_policy;
  container.resources.requests = {{"cpu", *model::Quantity::parse(kSubmitterCpu)},
                                  {"memory", *model::Quantity::parse(kSubmitterMemory)}};
  container.resources.limits = {{"cpu", model::Quantity(1)},
                                {"memory", *model::Quantity::parse("1Gi")}};
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

bool has_code(const OwnClusterJob& own) {
  return own.code && !own.code->empty();
}

template <typename T>
Result<void> append(model::List<T>& list, const model::RawJson& more) {
  TRY_ASSIGN(const json::Document items, json::parse(more.text));
  for (const json::Value& item : items.root.items()) {
    TRY_ASSIGN(T value, model::from_json<T>(item));
    list.push_back(std::move(value));
  }
  return {};
}

// Ray's client in the submitter uploads the code from there to the cluster.
Result<void> add_code(const OwnClusterJob& own, model::PodSpec& pod) {
  model::Container& submitter = pod.containers.front();
  const CodeMounts mounts = code_mounts(own.job.name, own.code->parts(), own.program_image,
                                        {{"cpu", kSubmitterCpu}, {"memory", kSubmitterMemory}});
  TRY(append(pod.volumes, mounts.volumes));
  TRY(append(pod.init_containers, mounts.init_containers));
  return append(submitter.volume_mounts, mounts.volume_mounts);
}

Result<std::string> with_code_directory(const std::string& runtime_env) {
  TRY_ASSIGN(json::Document env, json::parse(runtime_env));
  env.root.set_static(env.arena, "working_dir", json::Value::string(env.arena, kCodeDirectory));
  return json::to_text(env.root);
}

ray::JobRequest request_of(const OwnClusterJob& own) {
  return {.submission_id = own.job.name,
          .entrypoint = own.job.command,
          .runtime_env = own.runtime_env,
          .metadata = own.job.metadata,
          .num_cpus = own.job.num_cpus,
          .num_gpus = own.job.num_gpus,
          .memory_bytes = own.job.memory_bytes,
          .resources = own.job.resources};
}

}  // namespace

Result<void> check(const OwnClusterJob& own) {
  const auto wrong = [&](const std::string& problem) {
    return fail(invalid_argument("job '" + own.job.name + "': " + problem));
  };
  if (own.job.name.size() > kNameMax) {
    return wrong("the name has " + std::to_string(own.job.name.size()) +
                 " characters; a job with a cluster of its own may have 47");
  }
  if (const auto complaints = model::check_dns1035_label(own.job.name); !complaints.empty()) {
    return wrong("name: " + model::join(complaints));
  }
  if (own.job.command.find_first_not_of(" \t\n") == std::string::npos) {
    return wrong("the command is missing; give the command to run");
  }
  if (own.cluster.queueing == Queueing::kueue || own.cluster.queueing == Queueing::none ||
      !own.cluster.local_queue.empty()) {
    return wrong("an AppWrapper queues a job with a cluster of its own; leave out queueing " +
                 std::string(to_string(own.cluster.queueing)) + " and local_queue");
  }
  const std::vector<Fault> faults = faults_of(named(own));
  return faults.empty() ? Result<void>() : fail(config_error(faults));
}

Result<model::RayJob> own_cluster_ray_job(const OwnClusterJob& own) {
  const ClusterConfig config = named(own);
  const json::Document manifest = ray_cluster_manifest(config);
  TRY_ASSIGN(model::RayCluster cluster, model::from_json<model::RayCluster>(manifest.root));
  model::RayJob job;
  job.metadata.name = own.job.name;
  job.metadata.ns = config.ns;
  job.metadata.labels = config.labels;
  job.metadata.annotations = config.annotations;
  for (const auto& [key, value] : marks(own.job.name)) {
    job.metadata.labels.insert_or_assign(key, value);
  }
  job.spec.entrypoint = own.job.command;
  job.spec.job_id = own.job.name;
  job.spec.submission_mode = "K8sJobMode";
  job.spec.shutdown_after_job_finishes = true;
  if (own.runtime_env != "{}") {
    job.spec.runtime_env_yaml = own.runtime_env;
  }
  for (const auto& [key, value] : own.job.metadata) {
    job.spec.metadata.insert_or_assign(key, value);
  }
  job.spec.entrypoint_num_cpus = own.job.num_cpus;
  job.spec.entrypoint_num_gpus = own.job.num_gpus;
  job.spec.ray_cluster_spec = std::move(cluster.spec);
  job.spec.submitter_pod_template =
      submitter_template(own, job.spec.ray_cluster_spec->head_group.pod_template);
  model::PodSpec& submitter = job.spec.submitter_pod_template->spec;
  TRY(set_submitter_command(submitter.containers.front(), request_of(own)));
  if (has_code(own)) {
    TRY(add_code(own, submitter));
  }
  return job;
}

Result<json::Document> own_cluster_manifest(OwnClusterJob own) {
  if (has_code(own)) {
    TRY_ASSIGN(own.runtime_env, with_code_directory(own.runtime_env));
  }
  TRY_ASSIGN(const model::RayJob job, own_cluster_ray_job(own));
  json::Document objects;
  objects.root = json::Value::array();
  objects.root.push_back(objects.arena, model::to_json(objects.arena, job));
  Wrapping wrapping{.name = own.job.name,
                    .ns = own.cluster.ns,
                    .labels = own.cluster.labels,
                    .annotations = own.cluster.annotations,
                    .quota = own.cluster.quota_labels,
                    .priority = own.cluster.priority,
                    .limit_seconds = own.cluster.max_seconds};
  for (const auto& [key, value] : marks(own.job.name)) {
    wrapping.labels.insert_or_assign(key, value);
  }
  wrapping.annotations.insert_or_assign(std::string(kCommandAnnotation), own.job.command);
  json::Document wrapper = wrap_with_code(std::move(wrapping), objects.root, own.code);
  if (own.ttl_seconds >= 0) {
    wrapper.root.find("spec")->set_static(wrapper.arena, "ttlSecondsAfterFinished",
                                          json::Value::integer(wrapper.arena, own.ttl_seconds));
  }
  return wrapper;
}

}  // namespace codeflare::sdk
