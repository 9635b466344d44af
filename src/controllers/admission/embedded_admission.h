#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/request/authorizer.h"
#include "apiserver/store/store.h"
#include "controllers/admission/wrapped_findings.h"
#include "controllers/admission/wrapper_review.h"

#include <string>
#include <string_view>
#include <vector>

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
  WrappedFindings look_inside(const apiserver::AdmissionRequest& request) const;
  void ask(const apiserver::AdmissionRequest& request, const Question& question,
           std::vector<std::string>& problems, std::vector<std::string>& refusals) const;

  const apiserver::Authorizer& authorizer_;
  const apiserver::Registry& registry_;
  const apiserver::Store& store_;
};

}  // namespace codeflare::admission
