#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/request/authorizer.h"
#include "apiserver/store/store.h"

#include <string_view>

namespace codeflare::admission {

// The rules for AppWrappers built in to the embedded API server: what the webhook does on a real
// cluster, without the way through a socket.
class EmbeddedAdmission final : public apiserver::Admission {
 public:
  EmbeddedAdmission(const apiserver::Authorizer& authorizer, const apiserver::Registry& registry,
                    const apiserver::Store& store)
      : authorizer_(authorizer), registry_(registry), store_(store) {}

  Result<void> mutate(apiserver::AdmissionRequest& request) override;
  Result<void> validate(apiserver::AdmissionRequest& request) override;

 private:
  bool is_quota_tree(std::string_view name) const;

  const apiserver::Authorizer& authorizer_;
  const apiserver::Registry& registry_;
  const apiserver::Store& store_;
};

}  // namespace codeflare::admission
