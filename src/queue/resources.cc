#include "queue/resources.h"

#include "model/pod_requests.h"
#include "model/resource_name.h"
#include "model/validation.h"
#include "queue/demand.h"
#include "queue/field_hint.h"
#include "queue/internal/pod_constraints.h"
#include "queue/internal/pod_shape.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace codeflare::queue {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNameShown = 100;

// ResourceQuotas name the same amounts by where they come from: requests.cpu, limits.memory.
std::string_view base_name(std::string_view name) {
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (name.starts_with(prefix)) {
      return name.substr(prefix.size());
    }
  }
  return name;
}

bool in_millis(std::string_view name) {
  return base_name(name) == "cpu";
}

bool in_bytes(std::string_view name) {
  const std::string_view base = base_name(name);
  return base == "memory" || base == "ephemeral-storage" || base == "storage" ||
         base.starts_with("hugepages-");
}

void set_amount(sched::Resources& resources, std::string_view name, sched::Amount amount) {
  const auto at = std::ranges::find(resources, name, &sched::Resource::name);
  if (at != resources.end()) {
    at->amount = amount;
  } else {
    resources.push_back({std::string(name), amount});
  }
}

}  // namespace

std::string names_problem(const model::ResourceList& list) {
  if (list.size() > kResourcesMax) {
    return ": must name at most " + std::to_string(kResourcesMax) + " resources, got " +
           std::to_string(list.size());
  }
  for (const auto& [name, quantity] : list) {
    if (const auto complaints = model::check_qualified_name(name); !complaints.empty()) {
      return "[" + name.substr(0, kNameShown) + "]: " + model::join(complaints);
    }
  }
  return {};
}

std::string container_resource_problem(std::string_view name) {
  const bool standard = name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
                        name.starts_with("hugepages-");
  if (standard || name.contains('/')) {
    return {};
  }
  return "must be cpu, memory, ephemeral-storage or have a domain, such as nvidia.com/gpu" +
         did_you_mean(meant_resource(name));
}

Result<sched::Resources> to_resources(const model::ResourceList& list) {
  sched::Resources resources;
  resources.reserve(list.size() + 1);
  for (const auto& [name, quantity] : list) {
    if (quantity.sign() < 0) {
      return fail(
          invalid_argument("[" + name + "]: must not be negative, got " + quantity.to_string()));
    }
    const bool millis = in_millis(name);
    if (quantity > (millis ? model::Quantity::milli(kMax) : model::Quantity(kMax))) {
      // Without the amount: of 1e999 no more is known than that, in forty digits.
      return fail(invalid_argument("[" + name + "]: is more than can be counted"));
    }
    if (model::is_extended_resource(name) && !quantity.exact_value()) {
      return fail(
          invalid_argument("[" + name + "]: must be an integer, got " + quantity.to_string()));
    }
    resources.push_back({name, millis ? quantity.milli_value() : quantity.value()});
  }
  return resources;
}

model::ResourceList to_resource_list(const sched::Resources& resources) {
  model::ResourceList list;
  for (const sched::Resource& resource : resources) {
    if (in_millis(resource.name)) {
      list.set(resource.name, model::Quantity::milli(resource.amount));
    } else {
      list.set(resource.name,
               model::Quantity(resource.amount, in_bytes(resource.name)
                                                    ? model::Quantity::Format::binary_si
                                                    : model::Quantity::Format::decimal_si));
    }
  }
  return list;
}

Result<sched::Resources> reserved_by_pod(const model::ResourceList& requests) {
  TRY_ASSIGN(sched::Resources resources, to_resources(requests));
  std::erase_if(resources, [](const sched::Resource& each) { return each.amount == 0; });
  set_amount(resources, "pods", 1);
  return resources;
}

Result<sched::Resources> charged_by_pod(const model::ResourceList& requests,
                                        const model::ResourceList& limits) {
  TRY_ASSIGN(sched::Resources resources, reserved_by_pod(requests));
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    if (const model::Quantity* limit = limits.find(name)) {
      const std::string limit_name = "limits." + std::string(name);
      TRY_ASSIGN(const sched::Resources one, to_resources({{limit_name, *limit}}));
      set_amount(resources, limit_name, one.front().amount);
    }
  }
  return resources;
}

Result<sched::PodSet> pod_set_for(const model::PodSpec& spec) {
  sched::PodSet pods;
  const model::ResourceList requests = model::pod_requests(spec);
  if (const std::string problem = names_problem(requests); !problem.empty()) {
    return fail(invalid_argument("requests" + problem));
  }
  TRY_ASSIGN(pods.requests, reserved_by_pod(requests));
  TRY_ASSIGN(pods.charge, charged_by_pod(requests, model::pod_limits(spec)));
  TRY(add_constraints(spec, pods));
  return pods;
}

}  // namespace codeflare::queue
