#include "node/agent/eviction.h"

#include "model/pod_requests.h"

namespace codeflare::node {

namespace {

constexpr const char* kStorage = "ephemeral-storage";

StartProblem evicted(std::string message) {
  return {std::string(kEvicted), std::move(message)};
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::int64_t bytes_of(const std::map<std::string, std::int64_t>& usage, const std::string& name) {
  const auto found = usage.find(name);
  return found == usage.end() ? 0 : found->second;
}

}  // namespace

std::int64_t PodUsage::total() const {
  std::int64_t sum = other;
  for (const auto* part : {&volumes, &logs}) {
    for (const auto& [name, bytes] : *part) {
      sum += bytes;
    }
  }
  return sum;
}

std::optional<StartProblem> eviction_of(const model::PodSpec& spec, const PodUsage& usage,
                                        const model::Quantity& default_limit) {
  for (const model::Volume& volume : spec.volumes) {
    if (!volume.empty_dir || !volume.empty_dir->size_limit) {
      continue;
    }
    const model::Quantity& limit = *volume.empty_dir->size_limit;
    if (limit.sign() > 0 && model::Quantity(bytes_of(usage.volumes, volume.name)) > limit) {
      return evicted("Usage of EmptyDir volume " + quoted(volume.name) + " exceeds the limit " +
                     quoted(limit.to_string()) + ". ");
    }
  }
  const model::ResourceList limits = model::pod_limits(spec);
  const model::Quantity* own = limits.find(kStorage);
  const model::Quantity& limit = own == nullptr ? default_limit : *own;
  if (limit.sign() > 0 && model::Quantity(usage.total()) > limit) {
    return evicted("Pod ephemeral local storage usage exceeds the total limit of containers " +
                   limit.to_string() + ". ");
  }
  for (const model::Container& container : spec.containers) {
    const model::Quantity* most = container.resources.limits.find(kStorage);
    if (most != nullptr && most->sign() > 0 &&
        model::Quantity(bytes_of(usage.logs, container.name)) > *most) {
      return evicted("Container " + container.name +
                     " exceeded its local ephemeral storage limit " + quoted(most->to_string()) +
                     ". ");
    }
  }
  return std::nullopt;
}

}  // namespace codeflare::node
