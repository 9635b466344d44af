#include "queue/kinds/template_reader.h"

#include "json/pointer.h"
#include "model/codec/pod.h"
#include "model/gvk.h"
#include "model/resource_name.h"
#include "queue/demand.h"
#include "queue/internal/pod_shape.h"

#include <algorithm>

namespace codeflare::queue {
namespace {

// No count beyond it is multiplied any further; the sum over all is checked by demand_of().
constexpr std::int64_t kCountMax = std::int64_t{1} << 31;

// Whether all is well.
bool check_amounts(const model::ResourceList& list, const std::string& pointer,
                   ItemProblems& problems) {
  if (const std::string problem = names_problem(list); !problem.empty()) {
    if (problem.starts_with("[")) {
      problems.add_decoding(pointer, problem);
    } else {
      problems.add(pointer, problem.substr(2));
    }
    return false;
  }
  bool good = true;
  for (const auto& [name, amount] : list) {
    if (const auto one = to_resources({{name, amount}}); !one) {
      problems.add_decoding(pointer, one.error().message);
      good = false;
    }
  }
  return good;
}

// A server makes no pod of a request that its limit does not allow, or that has to have one.
bool check_within_limits(const model::ResourceRequirements& resources, const std::string& pointer,
                         ItemProblems& problems) {
  bool good = true;
  const auto complain = [&](std::string_view list, const std::string& name,
                            const std::string& what) {
    problems.add_decoding(pointer + std::string(list), "[" + name + "]: " + what);
    good = false;
  };
  for (const auto& [name, request] : resources.requests) {
    const model::Quantity* limit = resources.limits.find(name);
    const bool less_is_good = model::may_overcommit(name);
    if (limit == nullptr && !less_is_good) {
      complain("/limits", name, "required: limit must be set for non overcommitable resources");
    } else if (limit != nullptr && request != *limit && (request > *limit || !less_is_good)) {
      complain("/requests", name,
               std::string("must be ") + (less_is_good ? "less than or equal" : "equal") +
                   " to the limit of " + limit->to_string() + ", got " + request.to_string());
    }
  }
  return good;
}

// Whether all is well.
bool check_resources(const model::ResourceRequirements& resources, const std::string& pointer,
                     ItemProblems& problems) {
  bool good = check_amounts(resources.requests, pointer + "/requests", problems);
  good &= check_amounts(resources.limits, pointer + "/limits", problems);
  return good && check_within_limits(resources, pointer, problems);
}

bool check_containers(const std::vector<model::Container>& containers, const std::string& pointer,
                      ItemProblems& problems) {
  bool good = true;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    good &= check_resources(containers[i].resources,
                            pointer + "/" + std::to_string(i) + "/resources", problems);
  }
  return good;
}

}  // namespace

PodTemplateReader::ReadKind PodTemplateReader::find_kind(std::string_view group,
                                                         std::string_view kind) {
  struct Kind {
    std::string_view group;
    std::string_view kind;
    ReadKind read;
  };
  constexpr Kind kKinds[] = {
      {"", "Pod", &PodTemplateReader::read_pod},
      {"apps", "Deployment", &PodTemplateReader::read_replicas},
      {"apps", "ReplicaSet", &PodTemplateReader::read_replicas},
      {"apps", "StatefulSet", &PodTemplateReader::read_replicas},
      {"batch", "Job", &PodTemplateReader::read_job},
      {"jobset.x-k8s.io", "JobSet", &PodTemplateReader::read_job_set},
      {"kubeflow.org", "PyTorchJob", &PodTemplateReader::read_pytorch_job},
      {"ray.io", "RayCluster", &PodTemplateReader::read_ray_cluster},
      {"ray.io", "RayJob", &PodTemplateReader::read_ray_job},
  };
  for (const Kind& known : kKinds) {
    if (known.group == group && known.kind == kind) {
      return known.read;
    }
  }
  return nullptr;
}

PodTemplateReader::PodTemplateReader(const json::Value& item, ItemProblems& problems)
    : item_(item),
      problems_(problems),
      read_kind_(find_kind(model::parse_api_version(item.string_or_empty("apiVersion")).group,
                           item.string_or_empty("kind"))) {}

std::vector<PodTemplate> PodTemplateReader::read() {
  found_.clear();
  const At spec = below({&item_, ""}, "spec");
  if (spec.value == nullptr) {
    problems_.add(spec.pointer, "required");
  } else if (!spec.value->is_object()) {
    problems_.add(spec.pointer, "expected an object");
  } else {
    (this->*read_kind_)(spec);
  }
  return std::move(found_);
}

PodTemplateReader::At PodTemplateReader::below(const At& at, std::string_view key) {
  const json::Value* value = at.value == nullptr ? nullptr : at.value->find(key);
  if (value != nullptr && value->is_null()) {
    value = nullptr;
  }
  return {value, at.pointer + "/" + json::escape_token(key)};
}

PodTemplateReader::At PodTemplateReader::below(const At& at, std::size_t index) {
  return {&at.value->items()[index], at.pointer + "/" + std::to_string(index)};
}

std::optional<std::int64_t> PodTemplateReader::whole(const At& parent, std::string_view key) {
  const At at = below(parent, key);
  if (at.value == nullptr) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number =
      at.value->is_number() ? at.value->to_int64() : std::nullopt;
  if (!number || *number > kCountMax) {
    problems_.add(at.pointer, "expected a whole number of 32 bits");
    return 0;
  }
  if (*number < 0) {
    problems_.add(at.pointer, "must not be negative, got " + std::to_string(*number));
    return 0;
  }
  return number;
}

void PodTemplateReader::read_pod(const At& spec) {
  Result<model::PodSpec> pod = model::from_json<model::PodSpec>(*spec.value);
  if (!pod) {
    problems_.add_decoding(spec.pointer, pod.error().message);
    return;
  }
  add({.path = "", .count = 1, .total = 1, .spec = *std::move(pod), .labels = {}}, spec.pointer);
}

void PodTemplateReader::read_replicas(const At& spec) {
  add_template(below(spec, "template"), whole(spec, "replicas").value_or(1));
}

void PodTemplateReader::read_job(const At& spec) {
  add_job(spec, 1, name_labels({"job-name", "batch.kubernetes.io/job-name"}));
}

model::StringMap PodTemplateReader::name_labels(
    std::initializer_list<std::string_view> keys) const {
  const json::Value* metadata = item_.find("metadata");
  const std::string_view name =
      metadata == nullptr ? std::string_view() : metadata->string_or_empty("name");
  model::StringMap labels;
  for (const std::string_view key : keys) {
    if (!name.empty()) {
      labels.emplace(key, name);
    }
  }
  return labels;
}

void PodTemplateReader::add_job(const At& job_spec, std::int64_t times,
                                const model::StringMap& labels) {
  const std::optional<std::int64_t> parallelism = whole(job_spec, "parallelism");
  std::optional<std::int64_t> completions = whole(job_spec, "completions");
  if (!parallelism && !completions) {
    completions = 1;
  }
  const std::int64_t at_once = parallelism.value_or(1);
  const std::int64_t count = completions ? std::min(at_once, *completions) : at_once;
  // Without completions its pods share a queue of work: nobody knows how many it takes.
  add_template(below(job_spec, "template"), count * times,
               completions ? std::optional(*completions * times) : std::nullopt, labels);
}

void PodTemplateReader::read_job_set(const At& spec) {
  const At jobs = below(spec, "replicatedJobs");
  if (jobs.value == nullptr || !jobs.value->is_array()) {
    problems_.add(jobs.pointer, "expected an array");
    return;
  }
  for (std::size_t i = 0; i < jobs.value->size(); ++i) {
    const At job = below(jobs, i);
    add_job(below(below(job, "template"), "spec"), whole(job, "replicas").value_or(1),
            name_labels({"jobset.sigs.k8s.io/jobset-name"}));
  }
}

void PodTemplateReader::read_pytorch_job(const At& spec) {
  const At roles = below(spec, "pytorchReplicaSpecs");
  if (roles.value == nullptr || !roles.value->is_object()) {
    problems_.add(roles.pointer, "expected an object");
    return;
  }
  // By name, Master before Worker, whatever order they were written in.
  std::vector<std::string_view> names;
  for (const json::Member& member : roles.value->members()) {
    names.push_back(member.key);
  }
  std::ranges::sort(names);
  for (const std::string_view name : names) {
    const At role = below(roles, name);
    add_template(below(role, "template"), whole(role, "replicas").value_or(1), std::nullopt,
                 name_labels({"training.kubeflow.org/job-name"}));
  }
}

void PodTemplateReader::add_template(const At& pod_template, std::int64_t count,
                                     std::optional<std::int64_t> total,
                                     const model::StringMap& labels) {
  if (pod_template.value == nullptr) {
    problems_.add(pod_template.pointer, "required");
    return;
  }
  Result<model::PodTemplateSpec> read =
      model::from_json<model::PodTemplateSpec>(*pod_template.value);
  if (!read) {
    problems_.add_decoding(pod_template.pointer, read.error().message);
    return;
  }
  model::StringMap all = labels;
  all.insert(read->metadata.labels.begin(), read->metadata.labels.end());
  add({.path = pod_template.pointer,
       .count = count,
       .total = total,
       .spec = std::move(read->spec),
       .labels = std::move(all)},
      pod_template.pointer + "/spec");
}

void PodTemplateReader::add(PodTemplate pod_template, const std::string& spec_pointer) {
  if (pod_template.spec.containers.empty()) {
    problems_.add(spec_pointer + "/containers", "required");
  }
  const model::PodSpec& spec = pod_template.spec;
  bool good = check_containers(spec.containers, spec_pointer + "/containers", problems_);
  good &= check_containers(spec.init_containers, spec_pointer + "/initContainers", problems_);
  good &= check_amounts(spec.overhead, spec_pointer + "/overhead", problems_);
  if (spec.resources) {
    good &= check_resources(*spec.resources, spec_pointer + "/resources", problems_);
  }
  pod_template.amounts_bad = !good;
  found_.push_back(std::move(pod_template));
}

}  // namespace codeflare::queue
