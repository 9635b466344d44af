#pragma once

#include "apiserver/server/api_server.h"
#include "base/env/env.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "net/in_process.h"

#include <memory>
#include <string>

namespace codeflare::elastic::testing {

// The embedded API server with a definition of TrainingJobs and one job, "bert" in "default", with
// all that its agents need. In simulation or not.
class TrainingCluster {
 public:
  explicit TrainingCluster(Env env) : env_(env) {}

  Task<Result<void>> start(std::int32_t size_max);
  Task<void> stop();

  // As the agents of the job: by the rights of its Role alone.
  net::HttpService& agents() { return *agents_; }
  // As the controller, or as somebody who looks on.
  net::HttpService& administrator() { return *administrator_; }
  kube::Client& admin() { return *admin_; }

 private:
  Env env_;
  MetricsRegistry metrics_;
  std::unique_ptr<apiserver::ApiServer> server_;
  std::unique_ptr<net::InProcessService> administrator_;
  std::unique_ptr<net::InProcessService> agents_;
  std::unique_ptr<kube::Client> admin_;
};

}  // namespace codeflare::elastic::testing
