#pragma once

#include "apiserver/housekeeping/internal/api_caller.h"
#include "apiserver/housekeeping/internal/worklist.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/time.h"

#include <functional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// PEM of the certificate for a PKCS #10 request.
using SignClient = std::function<Result<std::string>(std::string_view request, Duration lifetime)>;

// Signs CertificateSigningRequests for clients of the API server once they are approved, as
// kube-controller-manager does. A request that cannot be signed gets the condition Failed.
class CertificateSigner {
 public:
  CertificateSigner(Env env, TaskGroup& group, Logger log, Store& store, net::HttpService& api,
                    SignClient sign);

  bool idle() const { return requests_.idle(); }

 private:
  Task<Result<void>> sign(std::string name);

  Env env_;
  Store& store_;
  internal::ApiCaller api_;
  SignClient sign_;
  CollectionId collection_;
  internal::Worklist requests_;
};

}  // namespace codeflare::apiserver
