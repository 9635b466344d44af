#include "queue/kinds/pod_counts.h"

#include "json/pointer.h"
#include "model/gvk.h"

#include <algorithm>
#include <limits>

namespace codeflare::queue {

namespace {

constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> count_in(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  if (value == nullptr || !value->is_number()) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = value->to_int64();
  return number ? std::optional(std::clamp<std::int64_t>(*number, 0, kCountMax)) : std::nullopt;
}

std::int64_t of_job(const json::Value& spec) {
  const std::int64_t at_once = count_in(spec, "parallelism").value_or(1);
  return std::min(at_once, count_in(spec, "completions").value_or(at_once));
}

std::int64_t of_worker_group(const json::Value& group) {
  const std::int64_t least = count_in(group, "minReplicas").value_or(0);
  const std::int64_t most = count_in(group, "maxReplicas").value_or(kCountMax);
  const std::int64_t replicas = std::max(count_in(group, "replicas").value_or(0), least);
  return std::min(replicas, most) * count_in(group, "numOfHosts").value_or(1);
}

}  // namespace

std::optional<std::int64_t> pods_of_template(const json::Value& object,
                                             std::string_view template_path) {
  const Result<json::Pointer> path = json::Pointer::parse(template_path);
  if (!path || path->is_root() || path->tokens().back() != "template") {
    return std::nullopt;
  }
  const json::Value* parent = json::find(object, path->parent());
  if (parent == nullptr || !parent->is_object()) {
    return std::nullopt;
  }
  const std::string group = model::parse_api_version(object.string_or_empty("apiVersion")).group;
  const std::string_view kind = object.string_or_empty("kind");
  if (group == "apps") {
    return count_in(*parent, "replicas").value_or(1);
  }
  if (group == "batch" && kind == "Job") {
    return of_job(*parent);
  }
  if (group == "kubeflow.org" && kind == "PyTorchJob") {
    return count_in(*parent, "replicas").value_or(1);
  }
  const bool workers = group == "ray.io" && kind == "RayCluster" && path->tokens().size() > 1 &&
                       path->tokens()[1] == "workerGroupSpecs";
  return workers ? std::optional(of_worker_group(*parent)) : std::nullopt;
}

}  // namespace codeflare::queue
