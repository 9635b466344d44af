#pragma once

#include "base/time.h"
#include "json/value.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// Names that other definitions of a group already go by.
struct ClaimedNames {
  std::set<std::string, std::less<>> resources{};  // plural, singular, short
  std::set<std::string, std::less<>> kinds{};      // kind and listKind

  void add(const json::Value& accepted_names);
};

// Fills in the status of a CustomResourceDefinition: acceptedNames as far as they are free, the
// conditions NamesAccepted, Established (and KubernetesAPIApprovalPolicyConformant for groups of
// the Kubernetes community), and the storage version among storedVersions.
void settle_status(json::Arena& arena, json::Value& definition, const ClaimedNames& claimed,
                   WallTime now);

// Sets or replaces one of status.conditions; the time changes only with its status.
struct DefinitionCondition {
  std::string_view type;
  bool status = false;
  std::string_view reason;
  std::string_view message;
};
void set_condition(json::Arena& arena, json::Value& definition,
                   const DefinitionCondition& condition, WallTime now);
bool is_condition_true(const json::Value& definition, std::string_view type);

// *.k8s.io and *.kubernetes.io.
bool is_protected_group(std::string_view group);
// Whether api-approved.kubernetes.io says that a protected group's API is approved.
enum class Approval : std::uint8_t { missing, invalid, bypassed, approved };
struct ApprovalState {
  Approval approval;
  std::string reason;
};
ApprovalState approval_of(const json::Value& definition);

}  // namespace codeflare::apiserver
