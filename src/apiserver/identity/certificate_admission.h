#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/request/admission.h"

namespace codeflare::apiserver {

// Rights around CertificateSigningRequests, as upstream's plugins have them: approving
// needs the verb `approve` on the signer, writing a certificate the verb `sign`, and nobody asks
// for a client certificate of system:masters.
class CertificateAdmission final : public Admission {
 public:
  explicit CertificateAdmission(const RbacPolicy& policy) : policy_(policy) {}
  Result<void> validate(AdmissionRequest& request) override;

 private:
  Result<void> check_signer(const AdmissionRequest& request, std::string_view verb) const;

  const RbacPolicy& policy_;
};

}  // namespace codeflare::apiserver
