#include "queue/kinds/ray_pods.h"

#include "model/codec/ray_cluster.h"
#include "model/validation.h"

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

namespace codeflare::queue {
namespace {

using At = TemplateReader::At;

model::Container autoscaler_container(const model::RayClusterSpec& cluster) {
  const model::ResourceList usual = {{"cpu", model::Quantity::milli(500)},
                                     {"memory", mebibytes(512)}};
  model::Container made = kuberay_container("autoscaler", usual, usual);
  if (cluster.autoscaler_options && cluster.autoscaler_options->resources) {
    made.resources = *cluster.autoscaler_options->resources;
  }
  return made;
}

// Workers wait in it until the head answers.
model::Container wait_container() {
  const model::ResourceList amounts = {{"cpu", model::Quantity::milli(200)},
                                       {"memory", mebibytes(256)}};
  return kuberay_container("wait-gcs-ready", amounts, amounts);
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

bool count_is_good(TemplateReader& reader, const At& group, std::string_view key,
                   const std::optional<std::int32_t>& count) {
  if (count.value_or(0) >= 0) {
    return true;
  }
  reader.problems().add(group.pointer + "/" + std::string(key),
                        "must not be negative, got " + std::to_string(*count));
  return false;
}

}  // namespace

model::Quantity mebibytes(std::int64_t count) {
  return model::Quantity(count << 20, model::Quantity::Format::binary_si);
}

model::Container kuberay_container(std::string_view name, model::ResourceList requests,
                                   model::ResourceList limits) {
  model::Container made;
  made.name = name;
  made.resources.requests = std::move(requests);
  made.resources.limits = std::move(limits);
  return made;
}

void check_ray_name(TemplateReader& reader, std::size_t most) {
  const At metadata = TemplateReader::below(reader.root(), "metadata");
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
      reader.problems().add(pointer, "must be at most " + std::to_string(most - suffix.size()) +
                                         " characters, got " + std::to_string(given.size()));
    } else if (const auto wrong = model::check_dns1035_label(name); !wrong.empty()) {
      reader.problems().add(pointer, model::join(wrong));
    }
    return;
  }
}

std::optional<model::RayClusterSpec> add_ray_cluster(
    TemplateReader& reader, const At& cluster, const std::optional<model::Container>& in_head) {
  if (TemplateReader::below(TemplateReader::below(cluster, "headGroupSpec"), "template").value ==
      nullptr) {
    reader.problems().add(cluster.pointer + "/headGroupSpec/template", "required");
    return std::nullopt;
  }
  Result<model::RayClusterSpec> read = model::from_json<model::RayClusterSpec>(*cluster.value);
  if (!read) {
    reader.problems().add_decoding(cluster.pointer, read.error().message);
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
  reader.add(std::move(head_template), head + "/spec");

  std::set<std::string_view> names;
  for (std::size_t i = 0; i < read->worker_groups.size(); ++i) {
    const model::RayWorkerGroup& group = read->worker_groups[i];
    const At at = TemplateReader::below(TemplateReader::below(cluster, "workerGroupSpecs"), i);
    if (!names.insert(group.group_name).second) {
      reader.problems().add(at.pointer + "/groupName",
                            "another group is called " + group.group_name);
    }
    bool good = count_is_good(reader, at, "replicas", group.replicas);
    good = count_is_good(reader, at, "minReplicas", group.min_replicas) && good;
    good = count_is_good(reader, at, "maxReplicas", group.max_replicas) && good;
    good = count_is_good(reader, at, "numOfHosts", group.num_of_hosts) && good;
    PodTemplate workers{.path = at.pointer + "/template",
                        .count = good ? model::desired_pods(group) : 0,
                        .spec = group.pod_template.spec,
                        .labels = ray_labels(group.pod_template, "worker", group.group_name)};
    if (!workers.spec.containers.empty()) {
      workers.spec.init_containers.push_back(wait_container());
    }
    reader.add(std::move(workers), at.pointer + "/template/spec");
  }
  return *std::move(read);
}

}  // namespace codeflare::queue
