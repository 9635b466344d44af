#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/request/authorizer.h"

#include <memory>
#include <vector>

namespace codeflare::apiserver {
class Registry;
class Store;
}  // namespace codeflare::apiserver

namespace codeflare::admission {

// AppWrapper immutability (fixed_spec.h), built in to an embedded API server that has no other
// rules for AppWrappers: it does not ask admission policies.
class FixedSpecAdmission final : public apiserver::Admission {
 public:
  Result<void> validate(apiserver::AdmissionRequest& request) override;
};

// For ApiServer::Options::more_admission.
std::vector<std::unique_ptr<apiserver::Admission>> fixed_spec_rules(const apiserver::Authorizer&,
                                                                    const apiserver::Registry&,
                                                                    const apiserver::Store&);

}  // namespace codeflare::admission
