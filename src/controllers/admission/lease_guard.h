#pragma once

#include "apiserver/request/admission.h"
#include "model/gvk.h"

#include <string>
#include <utility>

namespace codeflare::admission {

// Keeps a Lease for one user of the embedded API server: others can read and delete the Lease, and
// get 409 when they create or change it, however long ago it was renewed. A process that serves its
// own Lease so cannot lose it to somebody who believes that it is gone.
class LeaseGuard final : public apiserver::Admission {
 public:
  LeaseGuard(model::ObjectKey lease, std::string user)
      : lease_(std::move(lease)), user_(std::move(user)) {}

  Result<void> validate(apiserver::AdmissionRequest& request) override;

 private:
  model::ObjectKey lease_;
  std::string user_;
};

}  // namespace codeflare::admission
