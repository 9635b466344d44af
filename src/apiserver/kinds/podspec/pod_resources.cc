#include "apiserver/kinds/podspec/checks.h"

#include <algorithm>
#include <map>

namespace codeflare::apiserver::podspec {

namespace {

using Amounts = std::map<std::string, model::Quantity, std::less<>>;

void add(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    sum[name] += amount;
  }
}

void raise(Amounts& sum, const Amounts& to) {
  for (const auto& [name, amount] : to) {
    sum[name] = std::max(sum[name], amount);
  }
}

Amounts amounts_of(const Field& container, std::string_view list) {
  Amounts amounts;
  const Field resources = container["resources"];
  const Field listed = resources[list];
  for (const json::Member& member : listed.value().members()) {
    if (const auto amount = amount_of(member.value)) {
      amounts[std::string(member.key)] = *amount;
    }
  }
  return amounts;
}

// The containers' requests at the worst moment. Sidecars stay, so they add up with the containers
// and with each init container that comes after them.
Amounts together(const Field& spec, std::string_view list) {
  Amounts running;
  Amounts sidecars;
  Amounts starting;
  const Field containers = spec["containers"];
  containers.each([&](const Field& container) { add(running, amounts_of(container, list)); });
  const Field init_containers = spec["initContainers"];
  init_containers.each([&](const Field& container) {
    Amounts now = amounts_of(container, list);
    if (container.text("restartPolicy") == "Always") {
      add(running, now);
      add(sidecars, now);
      now = sidecars;
    } else {
      add(now, sidecars);
    }
    raise(starting, now);
  });
  raise(running, starting);
  return running;
}

// Each amount of the pod holds what the containers need together.
void check_holds(const Field& spec, std::string_view list, bool (*counts)(std::string_view)) {
  const Field resources = spec["resources"];
  const Field amounts = resources[list];
  const Amounts needed = together(spec, list);
  amounts.each_entry([&](const Field& entry) {
    const auto amount = amount_of(entry.value());
    const auto need = needed.find(entry.name());
    if (amount && need != needed.end() && counts(entry.name()) && need->second > *amount) {
      entry.invalid_text("", amount->to_string(),
                         "must be greater than or equal to aggregate container " +
                             std::string(list) + " of " + need->second.to_string());
    }
  });
}

}  // namespace

void check_containers_fit(const Field& spec) {
  check_holds(spec, "requests", [](std::string_view) { return true; });
  check_holds(spec, "limits", [](std::string_view name) { return name.starts_with("hugepages-"); });
  const Field resources = spec["resources"];
  const Field limits = resources["limits"];
  // Upstream's path goes through the pod's resources.
  const Field containers = spec["containers"];
  containers.each([&](const Field& container) {
    const std::string at = container.path().substr(spec.path().size());
    for (const auto& [name, amount] : amounts_of(container, "limits")) {
      const Field entry = limits[name];
      const auto limit = amount_of(entry.value());
      if (limit && amount > *limit) {
        resources.errors().invalid_text(
            resources.path() + at + "[" + name + "].limits", amount.to_string(),
            "must be less than or equal to pod limits of " + limit->to_string());
      }
    }
  });
}

}  // namespace codeflare::apiserver::podspec
