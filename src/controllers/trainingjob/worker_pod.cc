#include "controllers/trainingjob/worker_pod.h"

#include "controllers/trainingjob/checkpoint_service.h"
#include "controllers/trainingjob/names.h"
#include "elastic/agent_access.h"
#include "elastic/injection.h"
#include "queue/marks.h"
#include "usage/ledger.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using model::TrainingJob;

constexpr std::int64_t kAfterGraceSeconds = 10;
constexpr std::int64_t kProcessesMax = 100'000;

model::StringMap labels_of(const TrainingJob& job) {
  model::StringMap labels;
  labels.insert_or_assign(std::string(kJobLabel), job.metadata.name);
  return labels;
}

// A name that the user has set stays as it is.
void add_variable(model::Container& container, std::string name, std::string value) {
  if (std::ranges::find(container.env, name, &model::EnvVar::name) == container.env.end()) {
    container.env.push_back({.name = std::move(name), .value = std::move(value)});
  }
}

std::int64_t requested(const model::Container& container, const std::string& resource) {
  const model::Quantity* amount = container.resources.limits.find(resource);
  amount = amount == nullptr ? container.resources.requests.find(resource) : amount;
  return amount == nullptr ? 0 : amount->value();
}

std::int64_t requested_gpus(const model::Container& container) {
  std::int64_t gpus = 0;
  for (const auto& [name, amount] : container.resources.limits) {
    gpus += name.ends_with("/gpu") ? amount.value() : 0;
  }
  return gpus;
}

// Processes of one pod. `auto` and `gpu` are the GPUs that it requests, `cpu` its CPUs: torchrun
// itself would count those of the node.
std::int32_t processes_of(const TrainingJob& job, const model::Container& container) {
  const model::IntOrString given = job.spec.nproc_per_node.value_or(model::IntOrString::of("auto"));
  std::int64_t number = given.number;
  if (given.is_text) {
    const std::string& word = given.text;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc()) {
      number = word == "cpu" ? requested(container, "cpu") : requested_gpus(container);
    }
  }
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 1, kProcessesMax));
}

// As torchrun reads its flags; `static` and our own rendezvous set nothing of it.
void add_torchrun(const TrainingJob& job, std::int64_t index, model::Container& container) {
  const sched::Sizes sizes = queue::bounds_of(job.spec);
  add_variable(container, "PET_NNODES",
               std::to_string(sizes.min) + ":" + std::to_string(sizes.max));
  add_variable(container, "PET_NPROC_PER_NODE", std::to_string(processes_of(job, container)));
  add_variable(container, "PET_RDZV_BACKEND", "c10d");
  add_variable(container, "PET_RDZV_ID", job.metadata.uid);
  add_variable(container, "PET_RDZV_ENDPOINT",
               worker_name(job.metadata.name, 0) + "." + job.metadata.name + ":29400");
  // The name of the endpoint is not the host name of the pod, so older versions do not see that it
  // is theirs.
  add_variable(container, "PET_RDZV_CONF", index == 0 ? "is_host=1" : "is_host=0");
  add_variable(container, "PET_MAX_RESTARTS",
               std::to_string(job.spec.elastic.max_restarts.value_or(3)));
}

std::string or_else(const std::string& text, const std::string& fallback) {
  return text.empty() ? fallback : text;
}

// c10d as the default of the operator is for jobs without agents, which cannot use it.
std::string backend_of(const TrainingJob& job, const LatticeSettings& lattice) {
  const std::string backend = or_else(job.spec.elastic.rdzv_backend, lattice.rdzv_backend);
  return job.spec.inject_lattice && backend == "c10d" ? "kubernetes" : backend;
}

// Variables that the original's agent and addon read.
void add_lattice(const TrainingJob& job, const LatticeSettings& lattice,
                 model::Container& container) {
  const sched::Sizes sizes = queue::bounds_of(job.spec);
  const std::string type = or_else(job.spec.checkpoint.type, lattice.checkpoint_type);
  add_variable(container, "LATTICE_NNODES",
               std::to_string(sizes.min) + ":" + std::to_string(sizes.max));
  add_variable(container, "LATTICE_FRAMEWORK", or_else(job.spec.framework, "pytorch"));
  add_variable(container, "LATTICE_RDZV_BACKEND", backend_of(job, lattice));
  add_variable(container, "LATTICE_RDZV_CLIENT_SERVICE_HOST", lattice.rdzv_endpoint);
  add_variable(container, "LATTICE_RDZV_CLIENT_SERVICE_PORT", std::to_string(lattice.rdzv_port));
  // Certificates are files of the pod, which the template mounts and names here.
  if (lattice.etcd().uses_tls()) {
    add_variable(container, "LATTICE_RDZV_CONF", "protocol=https");
  }
  add_variable(container, "LATTICE_CHECKPOINT_TYPE", type);
  add_variable(container, "LATTICE_CHECKPOINT_CONFIG",
               type == "local"
                   ? "root=/tmp/" + job.metadata.uid
                   : "job_id=" + job.metadata.uid + ",namespace=" + job.metadata.ns +
                         ",ckpt_service_endpoint=" + lattice.checkpoint_endpoint +
                         ",ckpt_service_port=" + std::to_string(lattice.checkpoint_port));
  if (const auto& interval = job.spec.checkpoint.interval_seconds) {
    add_variable(container, "LATTICE_SAVE_EVERY",
                 interval->is_text ? interval->text : std::to_string(interval->number));
  }
  if (job.spec.checkpoint.keep) {
    add_variable(container, "LATTICE_CHECKPOINT_KEEP", std::to_string(*job.spec.checkpoint.keep));
  }
  // Workers that start later wait for the service rather than train from the beginning.
  if (job.status.progress && job.status.progress->saved_step) {
    add_variable(container, "LATTICE_SAVED_STEP", std::to_string(*job.status.progress->saved_step));
  }
}

void add_environment(const TrainingJob& job, std::int64_t index, const LatticeSettings& lattice,
                     model::PodSpec& spec) {
  for (model::Container& container : spec.containers) {
    if (container.name != queue::kTrainingContainer) {
      continue;
    }
    add_variable(container, "PYTHONUNBUFFERED", "1");
    add_variable(container, "LATTICE_JOB", job.metadata.name);
    add_variable(container, "LATTICE_INDEX", std::to_string(index));
    add_variable(container, "LATTICE_RDZV_ID", job.metadata.uid);
    if (uses_agent(job)) {
      add_lattice(job, lattice, container);
    }
    if (saves_remotely(job, lattice) && has_checkpoint_key(lattice)) {
      mount_token(job, spec, container);
    }
    if (meets_at_first(job, lattice)) {
      add_torchrun(job, index, container);
    }
  }
}

// An agent that went is started again in its pod. A program without an agent runs once: it would
// fail in place forever, and the controller would count nothing.
std::string restart_policy_of(const TrainingJob& job, const WorkerOptions& options) {
  const std::string& policy = job.spec.replica_specs.restart_policy;
  const bool restarts = policy == "Always" || policy == "OnFailure";
  return restarts && injects_agent(job, options) ? "OnFailure" : "Never";
}

// The job's message has the last line of a program that failed.
void report_last_line(model::PodSpec& spec) {
  for (model::Container& container : spec.containers) {
    if (container.termination_message_policy.empty()) {
      container.termination_message_policy = "FallbackToLogsOnError";
    }
  }
}

// The pod stays until its usage is in the ledger.
void add_metering(const TrainingJob& job, model::Pod& pod) {
  pod.metadata.finalizers.emplace_back(usage::kFinalizer);
  pod.metadata.annotations.insert_or_assign(
      std::string(usage::kQueueAnnotation),
      or_else(job.spec.queue, std::string(usage::kDefaultQueue)));
}

// For clusters where another scheduler binds: no two workers of any TrainingJob on one node.
void keep_apart(model::PodSpec& spec) {
  model::PodAffinityTerm term;
  term.topology_key = "kubernetes.io/hostname";
  term.label_selector.emplace().match_labels.insert_or_assign(std::string(queue::kUnitLabel),
                                                              std::string(queue::kNodeUnit));
  model::Affinity& affinity = spec.affinity ? *spec.affinity : spec.affinity.emplace();
  auto& anti = affinity.pod_anti_affinity ? *affinity.pod_anti_affinity
                                          : affinity.pod_anti_affinity.emplace();
  anti.required.push_back(std::move(term));
}

// The spec has a command: problems_of() lets no other job in.
void inject(const TrainingJob& job, std::int64_t index, const WorkerOptions& options,
            model::PodSpec& spec) {
  const sched::Sizes sizes = queue::bounds_of(job.spec);
  const auto training =
      std::ranges::find(spec.containers, queue::kTrainingContainer, &model::Container::name);
  (void)elastic::inject_agent(
      spec, {.operator_image = options.agent_image,
             .job = job.metadata.name,
             .ns = job.metadata.ns,
             .uid = job.metadata.uid,
             .index = static_cast<std::int32_t>(index),
             .size_min = static_cast<std::int32_t>(sizes.min),
             .size_max = static_cast<std::int32_t>(sizes.max),
             .nproc = training == spec.containers.end() ? 1 : processes_of(job, *training),
             .framework = or_else(job.spec.framework, "pytorch"),
             .backend = backend_of(job, options.lattice),
             .grace_seconds = job.spec.elastic.grace_period_seconds.value_or(kGraceSeconds),
             .restarts_max = job.spec.elastic.max_restarts.value_or(3)});
}

}  // namespace

model::OwnerReference owner_of(const TrainingJob& job) {
  using Traits = model::ResourceTraits<TrainingJob>;
  return {.api_version = std::string(Traits::api_version),
          .kind = std::string(Traits::kind),
          .name = job.metadata.name,
          .uid = job.metadata.uid,
          .controller = true,
          .block_owner_deletion = true};
}

bool meets_by_leases(const TrainingJob& job, const LatticeSettings& lattice) {
  return job.spec.inject_lattice && backend_of(job, lattice) == "kubernetes";
}

bool meets_in_etcd(const TrainingJob& job, const LatticeSettings& lattice) {
  return job.spec.inject_lattice && backend_of(job, lattice) == "etcd";
}

bool meets_at_first(const TrainingJob& job, const LatticeSettings& lattice) {
  return backend_of(job, lattice) == "c10d";
}

bool injects_agent(const TrainingJob& job, const WorkerOptions& options) {
  return !options.agent_image.empty() &&
         (meets_by_leases(job, options.lattice) ||
          (options.etcd != nullptr && meets_in_etcd(job, options.lattice)));
}

bool has_own_account(const TrainingJob& job) {
  return job.spec.replica_specs.pod_template.spec.service_account_name.empty();
}

std::string account_of(const TrainingJob& job) {
  return has_own_account(job) ? elastic::agent_access_name(job.metadata.name)
                              : job.spec.replica_specs.pod_template.spec.service_account_name;
}

bool uses_agent(const TrainingJob& job) {
  return job.spec.inject_lattice ||
         model::find_or_empty(job.metadata.annotations, kAgentAnnotation) == "true";
}

model::Pod worker_pod(const TrainingJob& job, std::int64_t index, const WorkerOptions& options) {
  const model::PodTemplateSpec& from = job.spec.replica_specs.pod_template;
  model::Pod pod;
  pod.metadata.name = worker_name(job.metadata.name, index);
  pod.metadata.ns = job.metadata.ns;
  pod.metadata.labels = from.metadata.labels;
  for (const auto& [key, value] : labels_of(job)) {
    pod.metadata.labels.insert_or_assign(key, value);
  }
  pod.metadata.labels.insert_or_assign(std::string(kIndexLabel), std::to_string(index));
  // Inside an AppWrapper it is a pod of that one; the template has its pod set.
  const std::string wrapper = queue::wrapper_of(job);
  pod.metadata.labels.insert_or_assign(std::string(queue::kUidLabel),
                                       wrapper.empty() ? job.metadata.uid : wrapper);
  if (wrapper.empty()) {
    pod.metadata.labels.insert_or_assign(std::string(queue::kPodSetLabel), "0");
  }
  pod.metadata.annotations = from.metadata.annotations;
  pod.metadata.owner_references.push_back(owner_of(job));
  if (options.metered) {
    add_metering(job, pod);
  }
  pod.spec = from.spec;
  pod.spec.hostname = pod.metadata.name;
  pod.spec.subdomain = job.metadata.name;
  pod.spec.restart_policy = restart_policy_of(job, options);
  report_last_line(pod.spec);
  if (pod.spec.scheduler_name.empty()) {
    pod.spec.scheduler_name = options.scheduler_name;
  }
  const std::int64_t grace =
      job.spec.elastic.grace_period_seconds.value_or(uses_agent(job) ? kGraceSeconds : 20) +
      kAfterGraceSeconds;
  pod.spec.termination_grace_period_seconds =
      std::max(pod.spec.termination_grace_period_seconds.value_or(0), grace);
  for (const auto& [key, value] : options.training.node_selector) {
    pod.spec.node_selector.try_emplace(key, value);
  }
  add_environment(job, index, options.lattice, pod.spec);
  if (injects_agent(job, options)) {
    if (meets_by_leases(job, options.lattice)) {
      pod.spec.service_account_name = account_of(job);
    }
    inject(job, index, options, pod.spec);
  }
  if (options.training.unit == queue::kNodeUnit) {
    pod.metadata.labels.insert_or_assign(std::string(queue::kUnitLabel),
                                         std::string(queue::kNodeUnit));
    keep_apart(pod.spec);
  }
  return pod;
}

model::Service service_of(const TrainingJob& job) {
  model::Service service;
  service.metadata.name = job.metadata.name;
  service.metadata.ns = job.metadata.ns;
  service.metadata.labels = labels_of(job);
  service.metadata.owner_references.push_back(owner_of(job));
  service.spec.cluster_ip = "None";
  service.spec.publish_not_ready_addresses = true;
  service.spec.selector = labels_of(job);
  return service;
}

}  // namespace codeflare::controllers::trainingjob
