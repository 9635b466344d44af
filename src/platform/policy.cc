#include "platform/policy.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::platform {

namespace {

bool names(const model::RunPolicySpec& spec, const model::ObjectKey& application) {
  const std::string full = application.ns + "/" + application.name;
  return std::ranges::any_of(spec.applications, [&](const std::string& each) {
    return each == application.name || each == full;
  });
}

// How closely it matches; nothing when it does not.
std::optional<int> closeness(const model::RunPolicy& policy, const PolicySubject& subject) {
  int points = 0;
  if (!policy.spec.applications.empty()) {
    if (!names(policy.spec, subject.application)) {
      return std::nullopt;
    }
    points += 2;
  }
  if (policy.spec.namespace_selector) {
    const auto selector = model::to_selector(*policy.spec.namespace_selector);
    if (!selector || !selector->matches(subject.namespace_labels)) {
      return std::nullopt;
    }
    points += 1;
  }
  return points;
}

}  // namespace

std::string name_of(const model::RunPolicy& policy) {
  return "RunPolicy " + policy.metadata.name;
}

Policies::Policies(std::vector<model::RunPolicy> all, const PolicySubject& subject) {
  std::erase_if(all, [&](const model::RunPolicy& each) { return !closeness(each, subject); });
  std::ranges::sort(all, {}, [&](const model::RunPolicy& each) {
    return std::tuple(-*closeness(each, subject), each.spec.priority.value_or(1),
                      each.metadata.name);
  });
  policies_ = std::move(all);
}

std::optional<Policies::Found<std::string>> Policies::default_of(
    std::string model::RunPolicyDefaults::* member) const {
  for (const model::RunPolicy& policy : policies_) {
    if (policy.spec.defaults && !((*policy.spec.defaults).*member).empty()) {
      return Found<std::string>{(*policy.spec.defaults).*member, name_of(policy)};
    }
  }
  return std::nullopt;
}

std::optional<Policies::Found<model::RunPolicyBounds>> Policies::bounds_of(
    std::string_view field) const {
  for (const model::RunPolicy& policy : policies_) {
    if (!policy.spec.limits) {
      continue;
    }
    const auto& values = policy.spec.limits->values;
    if (const auto bounds = values.find(field); bounds != values.end()) {
      return Found<model::RunPolicyBounds>{bounds->second, name_of(policy)};
    }
  }
  return std::nullopt;
}

std::optional<Policies::Found<std::vector<std::string>>> Policies::allowed(
    model::List<std::string> model::RunPolicyLimits::* member) const {
  for (const model::RunPolicy& policy : policies_) {
    if (policy.spec.limits && !((*policy.spec.limits).*member).empty()) {
      return Found<std::vector<std::string>>{(*policy.spec.limits).*member, name_of(policy)};
    }
  }
  return std::nullopt;
}

std::optional<Policies::Found<model::RunPolicyPriority>> Policies::priority_of(
    std::string_view level) const {
  for (const model::RunPolicy& policy : policies_) {
    if (const auto at = policy.spec.priorities.find(level); at != policy.spec.priorities.end()) {
      return Found<model::RunPolicyPriority>{at->second, name_of(policy)};
    }
  }
  return std::nullopt;
}

const model::RunPolicy* Policies::placement() const {
  const auto found = std::ranges::find_if(
      policies_, [](const model::RunPolicy& each) { return each.spec.placement.has_value(); });
  return found == policies_.end() ? nullptr : &*found;
}

}  // namespace codeflare::platform
