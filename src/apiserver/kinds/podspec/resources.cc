#include "apiserver/kinds/podspec/checks.h"
#include "model/quantity.h"
#include "model/resource_name.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::string_view kHugePages = "hugepages-";

bool is_compute(std::string_view name) {
  return name == "cpu" || name == "memory";
}

// Names without a domain that mean something somewhere, if only in a quota.
bool is_standard(std::string_view name) {
  constexpr std::array<std::string_view, 20> kNames = {"cpu",
                                                       "memory",
                                                       "ephemeral-storage",
                                                       "requests.cpu",
                                                       "requests.memory",
                                                       "requests.ephemeral-storage",
                                                       "limits.cpu",
                                                       "limits.memory",
                                                       "limits.ephemeral-storage",
                                                       "pods",
                                                       "resourcequotas",
                                                       "services",
                                                       "replicationcontrollers",
                                                       "secrets",
                                                       "configmaps",
                                                       "persistentvolumeclaims",
                                                       "storage",
                                                       "requests.storage",
                                                       "services.nodeports",
                                                       "services.loadbalancers"};
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with(kHugePages) ||
         name.starts_with("requests.hugepages-");
}

// Counted, not measured.
bool is_whole(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"pods",
                                                      "resourcequotas",
                                                      "services",
                                                      "replicationcontrollers",
                                                      "secrets",
                                                      "configmaps",
                                                      "persistentvolumeclaims",
                                                      "services.nodeports",
                                                      "services.loadbalancers"};
  return std::ranges::find(kNames, name) != kNames.end() || model::is_extended_resource(name);
}

// False when the name is not even one.
bool check_any_resource(const Field& entry) {
  const model::Complaints complaints = model::check_qualified_name(entry.name());
  entry.add(complaints, "", entry.name());
  if (!complaints.empty()) {
    return false;
  }
  if (entry.name().find('/') == std::string_view::npos && !is_standard(entry.name())) {
    entry.invalid_text("", entry.name(), "must be a standard resource type or fully qualified");
    return false;
  }
  return true;
}

void check_container_resource(const Field& entry) {
  const std::string_view name = entry.name();
  check_any_resource(entry);
  if (name.find('/') == std::string_view::npos) {
    if (!is_compute(name) && name != "ephemeral-storage" && !name.starts_with(kHugePages)) {
      entry.invalid_text("", name, "must be a standard resource for containers");
    }
  } else if (!model::is_native_resource(name) && !model::is_extended_resource(name)) {
    entry.invalid_text("", name, "doesn't follow extended resource name standard");
  }
}

void check_pod_resource(const Field& entry) {
  if (check_any_resource(entry) && !is_compute(entry.name()) &&
      !entry.name().starts_with(kHugePages)) {
    entry.not_supported("", entry.name(), {"cpu", kHugePages, "memory"});
  }
}

void check_amount(const Field& entry, const model::Quantity& amount) {
  if (amount.sign() < 0) {
    entry.invalid_text("", amount.to_string(), "must be greater than or equal to 0");
  }
  if (is_whole(entry.name()) && amount.milli_value() % 1000 != 0) {
    entry.invalid_text("", amount.to_string(), "must be an integer");
  }
}

void check_pages(const Field& entry, const model::Quantity& amount) {
  const std::string_view name = entry.name();
  if (!name.starts_with(kHugePages)) {
    return;
  }
  const Result<model::Quantity> page = model::Quantity::parse(name.substr(kHugePages.size()));
  if (!page || page->sign() <= 0 || page->milli_value() % 1000 != 0 ||
      amount.value() % page->value() != 0) {
    entry.invalid_text(
        "", amount.to_string(),
        amount.to_string() + " is not positive integer multiple of " + std::string(name));
  }
}

// A request beside the limit of the same resource.
void check_within_limit(const Field& resources, std::string_view name,
                        const model::Quantity& request) {
  const Field limits = resources["limits"];
  const Field entry = limits[name];
  const std::optional<model::Quantity> limit = amount_of(entry.value());
  if (!limit) {
    if (!model::may_overcommit(name)) {
      limits.required("", "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const auto complain = [&](std::string_view relation) {
    resources.invalid_text("requests", request.to_string(),
                           "must be " + std::string(relation) + " to " + std::string(name) +
                               " limit of " + limit->to_string());
  };
  if (request != *limit && !model::may_overcommit(name)) {
    complain("equal");
  } else if (request > *limit) {
    complain("less than or equal");
  }
}

void check_lists(const Field& resources, void (*check_resource)(const Field&)) {
  bool compute = false;
  bool pages = false;
  for (std::string_view list : {"limits", "requests"}) {
    const Field amounts = resources[list];
    amounts.each_entry([&](const Field& entry) {
      check_resource(entry);
      const std::optional<model::Quantity> amount = amount_of(entry.value());
      if (!amount) {
        return;  // the schema has said so
      }
      check_amount(entry, *amount);
      if (list == "requests") {
        check_within_limit(resources, entry.name(), *amount);
      }
      check_pages(entry, *amount);
      compute = compute || is_compute(entry.name());
      pages = pages || entry.name().starts_with(kHugePages);
    });
  }
  if (pages && !compute) {
    resources.forbidden("", "HugePages require cpu or memory");
  }
}

}  // namespace

std::optional<model::Quantity> amount_of(const json::Value& value) {
  if (!value.is_string() && !value.is_number()) {
    return std::nullopt;
  }
  Result<model::Quantity> amount =
      model::Quantity::parse(value.is_string() ? value.as_string() : value.number());
  return amount ? std::optional(*amount) : std::nullopt;
}

void check_resources(const Field& resources, const Names& claims) {
  check_lists(resources, check_container_resource);
  check_used_claims(resources["claims"], claims);
}

void check_overhead(const Field& overhead) {
  if (!overhead.given()) {
    return;
  }
  // As the limits of a container: upstream's path says so, too.
  json::Value limits = json::Value::object();
  json::Arena arena;
  limits.set_static(arena, "limits", overhead.value());
  const std::string path = overhead.path();
  check_lists(Field(limits, path, overhead.errors()), check_container_resource);
}

void check_pod_resources(const Field& spec, const Names& claims) {
  const Field resources = spec["resources"];
  if (!resources.given()) {
    return;
  }
  const Field system = spec["os"];
  if (system.text("name") == "windows") {
    resources.forbidden("", "may not be set for a windows pod");
    return;
  }
  if (resources.has("claims")) {
    resources.forbidden("claims", "claims may not be set for Resources at pod-level");
  }
  check_lists(resources, check_pod_resource);
  check_used_claims(resources["claims"], claims);
  check_containers_fit(spec);
}

void check_resize_policy(const Field& policies, const Surroundings& pod) {
  Names seen;
  policies.each([&](const Field& policy) {
    const std::string_view resource = policy.text("resourceName");
    const std::string_view restart = policy.text("restartPolicy");
    if (!seen.emplace(resource).second) {
      policy.duplicate("", resource);
    }
    const auto one_of = [&](std::string_view word, Words supported) {
      if (word.empty()) {
        policies.required("");
      } else if (std::ranges::find(supported, word) == supported.end()) {
        policies.not_supported("", word, supported);
      }
    };
    one_of(resource, {"cpu", "memory"});
    one_of(restart, {"NotRequired", "RestartContainer"});
    if (pod.spec.text("restartPolicy") == "Never" && restart != "NotRequired") {
      policies.invalid_text("", restart, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  });
}

}  // namespace codeflare::apiserver::podspec
