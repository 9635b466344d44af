#include "queue/internal/pod_amounts.h"

#include "model/pod_requests.h"
#include "model/resource_name.h"
#include "queue/resources.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace codeflare::queue {
namespace {

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
    if (const std::string problem = container_resource_problem(name); !problem.empty()) {
      problems.add_decoding(pointer, "[" + name + "]: " + problem);
      good = false;
      continue;
    }
    if (const auto one = to_resources({{name, amount}}); !one) {
      problems.add_decoding(pointer, one.error().message);
      good = false;
    }
  }
  return good;
}

// A server makes no pod of a request that its limit does not allow, or that has to have one. A
// limit that is absent may still come from a LimitRange, where pods are made later.
bool check_within_limits(const model::ResourceRequirements& resources, const std::string& pointer,
                         bool limits_may_come, ItemProblems& problems) {
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
      if (limits_may_come) {
        continue;
      }
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
                     bool limits_may_come, ItemProblems& problems) {
  bool good = check_amounts(resources.requests, pointer + "/requests", problems);
  good &= check_amounts(resources.limits, pointer + "/limits", problems);
  return good && check_within_limits(resources, pointer, limits_may_come, problems);
}

// The requests of all containers together must fit into those of the pod as a whole.
bool check_pod_level(const model::PodSpec& spec, const std::string& pointer,
                     ItemProblems& problems) {
  model::PodSpec without = spec;
  without.resources.reset();
  const model::ResourceList sum = model::pod_requests(without);
  bool good = true;
  for (const auto& [name, request] : spec.resources->requests) {
    if (const model::Quantity* all = sum.find(name); all != nullptr && *all > request) {
      problems.add_decoding(pointer + "/requests",
                            "[" + name + "]: must be at least what its containers request, " +
                                all->to_string() + ", got " + request.to_string());
      good = false;
    }
  }
  return good;
}

bool check_containers(const std::vector<model::Container>& containers, const std::string& pointer,
                      bool limits_may_come, ItemProblems& problems) {
  bool good = true;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    good &=
        check_resources(containers[i].resources, pointer + "/" + std::to_string(i) + "/resources",
                        limits_may_come, problems);
  }
  return good;
}

}  // namespace

bool check_pod_amounts(const model::PodSpec& spec, const std::string& pointer, bool limits_may_come,
                       ItemProblems& problems) {
  bool good = check_containers(spec.containers, pointer + "/containers", limits_may_come, problems);
  good &= check_containers(spec.init_containers, pointer + "/initContainers", limits_may_come,
                           problems);
  good &= check_amounts(spec.overhead, pointer + "/overhead", problems);
  if (spec.resources) {
    good &= check_resources(*spec.resources, pointer + "/resources", limits_may_come, problems) &&
            check_pod_level(spec, pointer + "/resources", problems);
  }
  return good;
}

}  // namespace codeflare::queue
