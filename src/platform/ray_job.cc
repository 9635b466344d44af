#include "json/parse.h"
#include "json/write.h"
#include "model/codec/core.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "model/resource_list.h"
#include "platform/archetype.h"
#include "platform/names.h"
#include "platform/words.h"
#include "sdk/gang_job.h"

#include <re2/re2.h>

#include <utility>

namespace codeflare::platform {

namespace {

using json::Value;

constexpr std::string_view kEntrypoint = "/codeflare/entrypoint";
constexpr std::string_view kScript = "run.sh";

// "2.9.0" of "rayproject/ray:2.9.0-py310"; empty when the tag does not say.
std::string ray_version(const std::string& image) {
  static const RE2 pattern(R"(:[^/]*?(\d+\.\d+\.\d+)[^/]*$)");
  std::string version;
  RE2::PartialMatch(image, pattern, &version);
  return version;
}

// Several shells read the entrypoint of a RayJob, with different quotes. So the command and its
// words lie in a file, in single quotes.
model::ConfigMap script_of(const Program& program) {
  model::ConfigMap script;
  script.metadata.name = program.parts.name + "-entrypoint";
  script.metadata.labels = program.labels;
  std::string text;
  if (!program.parts.workdir.empty()) {
    text = "cd " + program.parts.workdir + " || exit 1\n";
  }
  std::string line = program.spec.command;
  for (const std::string& word : program.words) {
    line += " " + quote_word(word);
  }
  if (!program.parts.wrapper_command.empty()) {
    std::string wrapped;
    for (const std::string& word : program.parts.wrapper_command) {
      wrapped += quote_word(word) + " ";
    }
    line = wrapped + "sh -c " + quote_word(line);
  }
  script.data.emplace(kScript, text + line + "\n");
  return script;
}

model::EnvVar variable(std::string name, std::string value) {
  model::EnvVar variable;
  variable.name = std::move(name);
  variable.value = std::move(value);
  return variable;
}

model::PodTemplateSpec pod_of(const Program& program, std::string container_name,
                              std::string_view role) {
  model::PodTemplateSpec pod;
  pod.metadata.labels = program.labels;
  pod.metadata.labels.insert_or_assign(std::string(kRoleLabel), std::string(role));
  model::Container container;
  container.name = std::move(container_name);
  container.image = program.spec.image;
  if (!program.spec.image_pull_secret.empty()) {
    model::LocalObjectReference secret;
    secret.name = program.spec.image_pull_secret;
    pod.spec.image_pull_secrets.push_back(std::move(secret));
  }
  pod.spec.priority_class_name = program.priority_class;
  if (program.placement) {
    pod.spec.tolerations = program.placement->tolerations;
  }
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

// A node of Ray: code, data and packages are in every one of them.
model::PodTemplateSpec node_of(const Program& program, bool head) {
  model::PodTemplateSpec pod =
      pod_of(program, head ? "ray-head" : "ray-worker", head ? kHeadRole : kWorkerRole);
  model::Container& container = pod.spec.containers.front();
  container.working_dir = program.parts.workdir;
  for (const auto& [name, value] : program.parts.env) {
    container.env.push_back(variable(name, sdk::literal_word(value)));
  }
  if (!program.parts.workdir.empty()) {
    const auto own = program.parts.env.find("PYTHONPATH");
    std::erase_if(container.env, [](const model::EnvVar& v) { return v.name == "PYTHONPATH"; });
    container.env.push_back(
        variable("PYTHONPATH",
                 program.parts.workdir +
                     (own == program.parts.env.end() ? "" : ":" + sdk::literal_word(own->second))));
  }
  for (const auto& [name, amount] : amounts_of(program.resources)) {
    const Result<model::Quantity> quantity = model::Quantity::parse(amount);
    container.resources.requests.set(name, *quantity);
    container.resources.limits.set(name, *quantity);
  }
  container.volume_mounts = std::vector(program.parts.mounts);
  pod.spec.volumes = std::vector(program.parts.volumes);
  pod.spec.init_containers = std::vector(program.parts.init_containers);
  if (head) {
    model::VolumeMount mount;
    mount.name = "entrypoint";
    mount.mount_path = kEntrypoint;
    container.volume_mounts.push_back(std::move(mount));
    model::Volume volume;
    volume.name = "entrypoint";
    volume.config_map.emplace();
    volume.config_map->name = program.parts.name + "-entrypoint";
    pod.spec.volumes.push_back(std::move(volume));
  }
  return pod;
}

model::RayClusterSpec cluster_of(const Program& program) {
  model::RayClusterSpec cluster;
  cluster.ray_version = ray_version(program.spec.image);
  cluster.head_group.ray_start_params.emplace("dashboard-host", "0.0.0.0");
  cluster.head_group.pod_template = node_of(program, true);
  if (program.resources.workers > 0) {
    model::RayWorkerGroup group;
    group.group_name = "workers";
    group.replicas = program.resources.workers;
    group.min_replicas = group.replicas;
    group.max_replicas = group.replicas;
    group.pod_template = node_of(program, false);
    cluster.worker_groups.push_back(std::move(group));
  }
  return cluster;
}

// Has the driver's output as its log.
model::PodTemplateSpec submitter_of(const Program& program) {
  model::PodTemplateSpec pod = pod_of(program, std::string(kSubmitterContainer), kSubmitterRole);
  pod.spec.restart_policy = "Never";
  model::ResourceRequirements& resources = pod.spec.containers.front().resources;
  const auto ask = [&](const char* name, const char* amount) {
    resources.requests.set(name, *model::Quantity::parse(amount));
    resources.limits.set(name, *model::Quantity::parse(amount));
  };
  ask("cpu", "500m");
  ask("memory", "512Mi");
  return pod;
}

void finish_template(json::Arena& arena, Value* pod_template, const Program& program) {
  if (pod_template != nullptr) {
    finish_pod(arena, *pod_template->find("spec"), program);
  }
}

}  // namespace

Result<json::Document> ray_job_of(const Program& program) {
  json::Document document;
  json::Arena& arena = document.arena;
  Value cluster = model::to_json(arena, cluster_of(program));
  finish_template(arena, cluster.find("headGroupSpec")->find("template"), program);
  if (Value* groups = cluster.find("workerGroupSpecs")) {
    for (Value& group : groups->items()) {
      finish_template(arena, group.find("template"), program);
    }
  }
  Value submitter = model::to_json(arena, submitter_of(program));
  finish_template(arena, &submitter, program);
  Value spec = Value::object();
  spec.set_static(
      arena, "entrypoint",
      Value::string(arena, "sh " + std::string(kEntrypoint) + "/" + std::string(kScript)));
  spec.set_static(arena, "submissionMode", Value::string_view_of("K8sJobMode"));
  spec.set_static(arena, "shutdownAfterJobFinishes", Value::boolean(true));
  spec.set_static(arena, "backoffLimit", Value::integer(arena, program.retries));
  spec.set_static(arena, "rayClusterSpec", cluster);
  spec.set_static(arena, "submitterPodTemplate", submitter);
  Value labels = Value::object();
  for (const auto& [key, value] : program.labels) {
    labels.set(arena, key, Value::string(arena, value));
  }
  Value metadata = Value::object();
  metadata.set_static(arena, "name", Value::string(arena, program.parts.name));
  metadata.set_static(arena, "labels", labels);
  Value job = Value::object();
  job.set_static(arena, "apiVersion", Value::string_view_of("ray.io/v1"));
  job.set_static(arena, "kind", Value::string_view_of("RayJob"));
  job.set_static(arena, "metadata", metadata);
  job.set_static(arena, "spec", spec);
  document.root = Value::array();
  document.root.push_back(arena, model::to_json(arena, script_of(program)));
  document.root.push_back(arena, job);
  return document;
}

}  // namespace codeflare::platform
