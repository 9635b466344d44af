#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/request/admission.h"

namespace codeflare::apiserver {

// Nobody grants more than they have: a role may hold only rules that its writer holds (or the
// writer may `escalate`), a binding may give only a role whose rules its writer holds (or the
// writer may `bind` it).
class EscalationAdmission final : public Admission {
 public:
  explicit EscalationAdmission(const RbacPolicy& policy) : policy_(policy) {}
  Result<void> validate(AdmissionRequest& request) override;

 private:
  Result<void> check_role(const AdmissionRequest& request) const;
  Result<void> check_binding(const AdmissionRequest& request) const;
  Result<void> check_held(const AdmissionRequest& request, const PolicyRules& rules) const;

  const RbacPolicy& policy_;
};

}  // namespace codeflare::apiserver
