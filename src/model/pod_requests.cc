#include "model/pod_requests.h"

#include <string_view>

namespace codeflare::model {
namespace {

// Only these can be given for the pod as a whole.
bool is_pod_level(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

ResourceList requests_of(const ResourceRequirements& resources) {
  ResourceList missing;
  for (const auto& [name, limit] : resources.limits) {
    if (resources.requests.find(name) == nullptr) {
      missing.set(name, limit);
    }
  }
  return missing += resources.requests;
}

const ResourceList& limits_of(const ResourceRequirements& resources) {
  return resources.limits;
}

template <typename Amounts>
ResourceList sum_of_containers(const PodSpec& spec, Amounts amounts) {
  ResourceList running;
  for (const Container& container : spec.containers) {
    running += amounts(container.resources);
  }
  ResourceList sidecars;
  ResourceList init_most;
  for (const Container& container : spec.init_containers) {
    if (is_sidecar(container)) {
      sidecars += amounts(container.resources);
      init_most.raise_to(sidecars);
    } else {
      init_most.raise_to(sidecars + amounts(container.resources));
    }
  }
  running += sidecars;
  running.raise_to(init_most);
  return running;
}

void set_pod_level(ResourceList& sum, const ResourceList& of_the_pod) {
  for (const auto& [name, amount] : of_the_pod) {
    if (is_pod_level(name)) {
      sum.set(name, amount);
    }
  }
}

}  // namespace

bool is_sidecar(const Container& init_container) {
  return init_container.restart_policy == "Always";
}

ResourceList pod_requests(const PodSpec& spec) {
  ResourceList sum = sum_of_containers(spec, requests_of);
  if (spec.resources) {
    // As with containers, a limit stands for a request that nobody gave.
    for (const auto& [name, limit] : spec.resources->limits) {
      if (is_pod_level(name) && sum.find(name) == nullptr) {
        sum.set(name, limit);
      }
    }
    set_pod_level(sum, spec.resources->requests);
  }
  return sum += spec.overhead;
}

ResourceList pod_limits(const PodSpec& spec) {
  ResourceList sum = sum_of_containers(spec, limits_of);
  if (spec.resources) {
    set_pod_level(sum, spec.resources->limits);
  }
  for (const auto& [name, amount] : spec.overhead) {
    if (!sum.get(name).is_zero()) {
      sum.set(name, sum.get(name) + amount);
    }
  }
  return sum;
}

}  // namespace codeflare::model
