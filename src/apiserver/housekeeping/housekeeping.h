#pragma once

#include "apiserver/admission/address_admission.h"
#include "apiserver/admission/limit_range_admission.h"
#include "apiserver/admission/namespace_admission.h"
#include "apiserver/admission/pod_admission.h"
#include "apiserver/admission/quota_keeper.h"
#include "apiserver/housekeeping/certificate_signer.h"
#include "apiserver/registry/registry.h"
#include "apiserver/request/admission.h"
#include "apiserver/store/store.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// Upstream's admission plugins and controllers that users rely on even without any workload
// controller. First the rules, which the pipeline asks; then, when the pipeline is there, what
// works through it:
//   HousekeepingRules rules(env, store, registry);
//   ApiService service({.admission = rules.all(), ...});
//   Housekeeping housekeeping(env, log, store, registry, rules, in_process, {...});
//   CO_TRY(co_await housekeeping.bootstrap());
class HousekeepingRules {
 public:
  HousekeepingRules(Env env, Store& store, const Registry& registry);

  // In the order in which they have to be asked; quota is the last.
  std::vector<Admission*> all() { return {&namespaces_, &pods_, &limits_, &addresses_, &quota_}; }

 private:
  friend class Housekeeping;
  std::function<void(const std::string&, const std::string&)> quota_changed_;
  NamespaceAdmission namespaces_;
  PodAdmission pods_;
  LimitRangeAdmission limits_;
  AddressAdmission addresses_;
  QuotaKeeper quota_;
};

class Housekeeping {
 public:
  struct Options {
    std::string ca_pem{};
    SignClient sign_client{};  // empty: CertificateSigningRequests are left to somebody else
    Duration event_time_to_live = std::chrono::hours(1);
  };
  // `api` is the server's own pipeline under an identity that may do everything.
  Housekeeping(Env env, Logger log, Store& store, const Registry& registry,
               HousekeepingRules& rules, net::HttpService& api, Options options);
  ~Housekeeping();

  // The objects that every cluster has: namespaces and priority classes.
  Task<Result<void>> bootstrap();
  // The `kubernetes` Service leads to where the API server listens.
  Task<Result<void>> advertise(std::string address, std::uint16_t port);
  // Nothing waits to be done.
  bool idle() const;
  Task<void> close();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::apiserver
