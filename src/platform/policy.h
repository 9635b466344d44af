#pragma once

#include "model/run_policy.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// Of whom policies are asked.
struct PolicySubject {
  model::ObjectKey application;
  model::StringMap namespace_labels;  // of the Run's namespace
};

// "RunPolicy team"
std::string name_of(const model::RunPolicy& policy);

// The policies that concern the subject, the closest first: one that names the application before
// one that selects the namespace before one for all; then the lowest priority number, then by name.
class Policies {
 public:
  Policies(std::vector<model::RunPolicy> all, const PolicySubject& subject);

  const std::vector<model::RunPolicy>& in_order() const { return policies_; }

  // A default and the policy that sets it: the first that has one.
  template <typename T>
  struct Found {
    T value;
    std::string from;
  };
  template <typename T>
  std::optional<Found<T>> default_of(std::optional<T> model::RunPolicyDefaults::* member) const {
    for (const model::RunPolicy& policy : policies_) {
      if (policy.spec.defaults && (*policy.spec.defaults).*member) {
        return Found<T>{*((*policy.spec.defaults).*member), name_of(policy)};
      }
    }
    return std::nullopt;
  }
  std::optional<Found<std::string>> default_of(
      std::string model::RunPolicyDefaults::* member) const;
  // Of a field such as "workers".
  std::optional<Found<model::RunPolicyBounds>> bounds_of(std::string_view field) const;
  std::optional<Found<std::vector<std::string>>> allowed(
      model::List<std::string> model::RunPolicyLimits::* member) const;
  std::optional<Found<model::RunPolicyPriority>> priority_of(std::string_view level) const;
  // Null when no policy places.
  const model::RunPolicy* placement() const;

 private:
  std::vector<model::RunPolicy> policies_;
};

}  // namespace codeflare::platform
