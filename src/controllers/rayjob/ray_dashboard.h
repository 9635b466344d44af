#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "controllers/rayjob/rayjob_decision.h"
#include "model/gvk.h"
#include "net/http.h"
#include "ray/client.h"
#include "ray/job.h"

#include <string>

namespace codeflare::controllers::rayjob {

// The dashboards of Ray clusters, by the API server's proxy for their head service: it leads there
// from within the cluster and from without. A call is one attempt of some seconds; the controller
// comes back. The service leads to the API server and outlives this.
class RayDashboards {
 public:
  RayDashboards(Env env, net::HttpService& api) : env_(env), api_(api) {}

  // `service` is that of the cluster's head.
  Task<Report> look(model::ObjectKey service, std::string id);
  // Fine when the id is taken: the controller chose it, so the job is this one.
  Task<Result<void>> submit(model::ObjectKey service, ray::JobRequest request);
  // Fine when there is no such job.
  Task<Result<void>> stop(model::ObjectKey service, std::string id);

 private:
  ray::Client client_of(const model::ObjectKey& service);

  Env env_;
  net::HttpService& api_;
};

}  // namespace codeflare::controllers::rayjob
