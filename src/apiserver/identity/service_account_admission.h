#pragma once

#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"
#include "base/env/random.h"
#include "json/value.h"

#include <string_view>

namespace codeflare::apiserver {

// Pods run as a service account that exists, `default` when they name none, and find its token, the
// authority's certificate and their namespace in the usual directory, unless they or the account
// say otherwise.
class ServiceAccountAdmission final : public Admission {
 public:
  // Both outlive this.
  ServiceAccountAdmission(Store& store, Random& random);
  Result<void> mutate(AdmissionRequest& request) override;
  Result<void> validate(AdmissionRequest& request) override;

 private:
  bool is_on_its_way(const AdmissionRequest& request, std::string_view name) const;
  // The account as a tree; an empty object when it is only on its way.
  Result<json::Document> find_account(const AdmissionRequest& request, std::string_view name) const;
  void mount_token(AdmissionRequest& request, json::Value& spec);

  Store& store_;
  Random& random_;
  CollectionId accounts_;
  CollectionId namespaces_;
};

}  // namespace codeflare::apiserver
