#include "controllers/admission/lease_guard.h"

#include "model/status.h"

#include <string>

namespace codeflare::admission {

Result<void> LeaseGuard::validate(apiserver::AdmissionRequest& request) {
  if (request.operation == apiserver::Operation::remove || request.name != lease_.name ||
      request.ns != lease_.ns || request.resource.plural != "leases" ||
      request.resource.group != "coordination.k8s.io" || request.user.name == user_) {
    return {};
  }
  model::Status status;
  status.status = "Failure";
  status.code = 409;
  // A candidate takes it for a lost race, and waits.
  status.reason = "Conflict";
  status.message = "Lease " + lease_.to_string() + " is reserved for this server while it runs";
  status.details = model::StatusDetails{.name = std::string(request.name),
                                        .group = std::string(request.resource.group),
                                        .kind = std::string(request.resource.plural)};
  return fail(model::to_error(std::move(status)));
}

}  // namespace codeflare::admission
