#include "model/codec/ray_cluster.h"
#include "model/validation.h"
#include "queue/kinds/template_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

// RayCluster and RayJob. KubeRay adds containers of its own to their pods, and they ask for
// something too: the amounts below are those of KubeRay v1.5.1.
namespace codeflare::queue {
namespace {

// "-serve-svc" must fit behind it in a service's name; a RayJob's cluster has six characters more
// than its own name.
constexpr std::size_t kClusterNameMax = 53;
constexpr std::size_t kJobNameMax = kClusterNameMax - 6;

model::Quantity mebibytes(std::int64_t count) {
  return model::Quantity(count << 20, model::Quantity::Format::binary_si);
}

model::Container container(std::string_view name, model::ResourceList requests,
                           model::ResourceList limits) {
  model::Container made;
  made.name = name;
  made.resources.requests = std::move(requests);
  made.resources.limits = std::move(limits);
  return made;
}

model::Container submitter_container() {
  return container("ray-job-submitter",
                   {{"cpu", model::Quantity::milli(500)}, {"memory", mebibytes(200)}},
                   {{"cpu", model::Quantity(1)}, {"memory", mebibytes(1024)}});
}

model::Container autoscaler_container(const model::RayClusterSpec& cluster) {
  const model::ResourceList usual = {{"cpu", model::Quantity::milli(500)},
                                     {"memory", mebibytes(512)}};
  model::Container made = container("autoscaler", usual, usual);
  if (cluster.autoscaler_options && cluster.autoscaler_options->resources) {
    made.resources = *cluster.autoscaler_options->resources;
  }
  return made;
}

// Workers wait in it until the head answers.
model::Container wait_container() {
  const model::ResourceList amounts = {{"cpu", model::Quantity::milli(200)},
                                       {"memory", mebibytes(256)}};
  return container("wait-gcs-ready", amounts, amounts);
}

// With what KubeRay and we put on the pods of a group.
model::StringMap ray_labels(const model::PodTemplateSpec& pod_template, std::string_view type,
                            std::string_view group) {
  model::StringMap labels = pod_template.metadata.labels;
  labels.insert_or_assign("ray.io/is-ray-node", "yes");
  labels.insert_or_assign("ray.io/node-type", std::string(type));
  labels.insert_or_assign("ray.io/group", std::string(group));
  return labels;
}

}  // namespace

model::PodSpec default_submitter(const std::string& image) {
  model::PodSpec spec;
  spec.containers.push_back(submitter_container());
  spec.containers.front().image = image;
  spec.restart_policy = "Never";
  return spec;
}

void PodTemplateReader::check_ray_name(std::size_t most) {
  const At metadata = below({&item_, ""}, "metadata");
  if (metadata.value == nullptr || !metadata.value->is_object()) {
    return;
  }
  // A suffix of this kind joins a generateName (item_check.cc).
  for (const auto& [key, suffix] : std::initializer_list<std::pair<std::string, std::string>>{
           {"name", ""}, {"generateName", "00000000"}}) {
    const std::string_view given = metadata.value->string_or_empty(key);
    if (given.empty()) {
      continue;
    }
    const std::string name = std::string(given) + suffix;
    const std::string pointer = metadata.pointer + "/" + key;
    if (name.size() > most) {
      problems_.add(pointer, "must be at most " + std::to_string(most - suffix.size()) +
                                 " characters, got " + std::to_string(given.size()));
    } else if (const auto wrong = model::check_dns1035_label(name); !wrong.empty()) {
      problems_.add(pointer, model::join(wrong));
    }
    return;
  }
}

void PodTemplateReader::read_ray_cluster(const At& spec) {
  check_ray_name(kClusterNameMax);
  add_ray(spec, std::nullopt);
  const model::StringMap named = name_labels({"ray.io/cluster"});
  for (PodTemplate& each : found_) {
    each.labels.insert(named.begin(), named.end());
  }
}

bool PodTemplateReader::count_is_good(const At& group, std::string_view key,
                                      const std::optional<std::int32_t>& count) {
  if (count.value_or(0) >= 0) {
    return true;
  }
  problems_.add(group.pointer + "/" + std::string(key),
                "must not be negative, got " + std::to_string(*count));
  return false;
}

std::optional<model::RayClusterSpec> PodTemplateReader::add_ray(
    const At& cluster, const std::optional<model::Container>& in_head) {
  if (below(below(cluster, "headGroupSpec"), "template").value == nullptr) {
    problems_.add(cluster.pointer + "/headGroupSpec/template", "required");
    return std::nullopt;
  }
  Result<model::RayClusterSpec> read = model::from_json<model::RayClusterSpec>(*cluster.value);
  if (!read) {
    problems_.add_decoding(cluster.pointer, read.error().message);
    return std::nullopt;
  }
  const std::string head = cluster.pointer + "/headGroupSpec/template";
  PodTemplate head_template{
      .path = head,
      .count = 1,
      .spec = read->head_group.pod_template.spec,
      .labels = ray_labels(read->head_group.pod_template, "head", "headgroup")};
  // Whether the head has containers of its own is asked before others join them.
  const bool has_containers = !head_template.spec.containers.empty();
  if (has_containers && read->enable_in_tree_autoscaling.value_or(false)) {
    head_template.spec.containers.push_back(autoscaler_container(*read));
  }
  if (has_containers && in_head) {
    head_template.spec.containers.push_back(*in_head);
  }
  add(std::move(head_template), head + "/spec");

  std::set<std::string_view> names;
  for (std::size_t i = 0; i < read->worker_groups.size(); ++i) {
    const model::RayWorkerGroup& group = read->worker_groups[i];
    const At at = below(below(cluster, "workerGroupSpecs"), i);
    if (!names.insert(group.group_name).second) {
      problems_.add(at.pointer + "/groupName", "another group is called " + group.group_name);
    }
    bool good = count_is_good(at, "replicas", group.replicas);
    good = count_is_good(at, "minReplicas", group.min_replicas) && good;
    good = count_is_good(at, "maxReplicas", group.max_replicas) && good;
    good = count_is_good(at, "numOfHosts", group.num_of_hosts) && good;
    PodTemplate workers{.path = at.pointer + "/template",
                        .count = good ? model::desired_pods(group) : 0,
                        .spec = group.pod_template.spec,
                        .labels = ray_labels(group.pod_template, "worker", group.group_name)};
    if (!workers.spec.containers.empty()) {
      workers.spec.init_containers.push_back(wait_container());
    }
    add(std::move(workers), at.pointer + "/template/spec");
  }
  return *std::move(read);
}

void PodTemplateReader::read_ray_job(const At& spec) {
  check_ray_name(kJobNameMax);
  const At mode_at = below(spec, "submissionMode");
  const std::string_view mode =
      mode_at.value == nullptr ? "K8sJobMode" : spec.value->string_or_empty("submissionMode");
  constexpr std::array<std::string_view, 4> kModes = {"K8sJobMode", "HTTPMode", "InteractiveMode",
                                                      "SidecarMode"};
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    problems_.add(mode_at.pointer,
                  "must be one of K8sJobMode, HTTPMode, InteractiveMode, SidecarMode");
    return;
  }
  const At cluster_at = below(spec, "rayClusterSpec");
  std::optional<model::RayClusterSpec> cluster;
  if (cluster_at.value != nullptr) {
    cluster = add_ray(cluster_at,
                      mode == "SidecarMode" ? std::optional(submitter_container()) : std::nullopt);
  } else if (below(spec, "clusterSelector").value == nullptr) {
    problems_.add(cluster_at.pointer, "required without a clusterSelector");
    return;
  }
  if (mode == "K8sJobMode") {
    add_submitter(spec, cluster);
  }
}

void PodTemplateReader::add_submitter(const At& job_spec,
                                      const std::optional<model::RayClusterSpec>& cluster) {
  const At given = below(job_spec, "submitterPodTemplate");
  if (given.value != nullptr) {
    const std::size_t before = found_.size();
    add_template(given, 1, 1);
    if (found_.size() > before) {
      found_.back().undeclared = true;
    }
    return;
  }
  PodTemplate submitter{.path = {}, .count = 1, .total = 1, .undeclared = true};
  if (cluster && !cluster->head_group.pod_template.spec.containers.empty()) {
    submitter.path = given.pointer;
    submitter.missing = true;
    submitter.spec =
        default_submitter(cluster->head_group.pod_template.spec.containers.front().image);
  } else {
    submitter.spec = default_submitter("");
  }
  add(std::move(submitter), given.pointer + "/spec");
}

}  // namespace codeflare::queue
