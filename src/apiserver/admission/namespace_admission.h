#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"

namespace codeflare::apiserver {

// Nothing is created in a namespace that is missing or going away, and the namespaces that the
// server itself needs stay.
class NamespaceAdmission final : public Admission {
 public:
  explicit NamespaceAdmission(Store& store);
  Result<void> validate(AdmissionRequest& request) override;

 private:
  Store& store_;
  CollectionId namespaces_;
};

}  // namespace codeflare::apiserver
