#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/request/authorizer.h"

namespace codeflare::admission {

// The rules for AppWrappers built in to the embedded API server: what the webhook does on a real
// cluster, without the way through a socket.
class EmbeddedAdmission final : public apiserver::Admission {
 public:
  EmbeddedAdmission(const apiserver::Authorizer& authorizer, const apiserver::Registry& registry)
      : authorizer_(authorizer), registry_(registry) {}

  Result<void> mutate(apiserver::AdmissionRequest& request) override;
  Result<void> validate(apiserver::AdmissionRequest& request) override;

 private:
  const apiserver::Authorizer& authorizer_;
  const apiserver::Registry& registry_;
};

}  // namespace codeflare::admission
