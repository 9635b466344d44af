#include "apiserver/admission/namespace_admission.h"

#include "apiserver/request/forbidden.h"
#include "model/status.h"

#include <memory>
#include <utility>

namespace codeflare::apiserver {

namespace {

Error missing(std::string_view name) {
  model::Status status;
  status.status = "Failure";
  status.code = 404;
  status.reason = "NotFound";
  status.message = "namespaces \"" + std::string(name) + "\" not found";
  status.details = model::StatusDetails{.name = std::string(name), .kind = "namespaces"};
  return model::to_error(std::move(status));
}

Error terminating(const AdmissionRequest& request) {
  const std::string ns(request.ns);
  model::Status status = model::to_status(forbidden(
      request.resource, request.name,
      "unable to create new content in namespace " + ns + " because it is being terminated"));
  status.details->causes.push_back({.reason = "NamespaceTerminating",
                                    .message = "namespace " + ns + " is being terminated",
                                    .field = "metadata.namespace"});
  return model::to_error(std::move(status));
}

bool is_immortal(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

}  // namespace

NamespaceAdmission::NamespaceAdmission(Store& store)
    : store_(store), namespaces_(store.collection("namespaces")) {}

Result<void> NamespaceAdmission::validate(AdmissionRequest& request) {
  if (request.resource.collection == namespaces_) {
    if (request.operation == Operation::remove && is_immortal(request.name)) {
      return std::unexpected(
          forbidden(request.resource, request.name, "this namespace may not be deleted"));
    }
    return {};
  }
  if (request.ns.empty() || request.operation == Operation::remove) {
    return {};
  }
  const ObjectPtr ns = store_.get(namespaces_, "", request.ns);
  if (ns == nullptr) {
    return std::unexpected(missing(request.ns));
  }
  if (request.operation == Operation::create && ns->is_being_deleted()) {
    return std::unexpected(terminating(request));
  }
  return {};
}

}  // namespace codeflare::apiserver
