#include "controllers/admission/fixed_spec_admission.h"

#include "apiserver/schema/schema.h"
#include "controllers/admission/fixed_spec.h"
#include "controllers/admission/wrapper_review.h"
#include "model/app_wrapper.h"
#include "model/status.h"

#include <string>
#include <utility>

namespace codeflare::admission {

namespace {

using apiserver::AdmissionRequest;
using apiserver::Resource;

using Traits = model::ResourceTraits<model::AppWrapper>;

// Other programs define AppWrappers under the same names, and may change theirs: MCAD does. Only
// ours have a plan in their status.
bool is_our_definition(const Resource& resource) {
  const apiserver::schema::Node* schema = resource.versions[resource.storage_version].schema;
  const apiserver::schema::Field* status = schema == nullptr ? nullptr : schema->find("status");
  return status != nullptr && status->node->find("plan") != nullptr;
}

bool concerns(const AdmissionRequest& request) {
  return request.operation == apiserver::Operation::update && request.object != nullptr &&
         request.old != nullptr && request.subresource.empty() &&
         request.resource.plural == Traits::plural &&
         (request.resource.group == Traits::group ||
          request.resource.group == model::kLegacyAppWrapperGroup) &&
         is_our_definition(request.resource);
}

}  // namespace

Result<void> FixedSpecAdmission::validate(AdmissionRequest& request) {
  if (!concerns(request)) {
    return {};
  }
  const std::vector<std::string> problems = spec_changes(*request.object, *request.old);
  if (problems.empty()) {
    return {};
  }
  model::StatusDetails details{.name = std::string(request.name),
                               .group = request.resource.group,
                               .kind = request.resource.plural};
  for (const std::string& problem : problems) {
    const std::size_t colon = problem.find(": ");
    details.causes.push_back({.reason = "FieldValueForbidden",
                              .message = problem.substr(colon + 2),
                              .field = problem.substr(0, colon)});
  }
  model::Status status;
  status.status = "Failure";
  status.code = 422;
  status.reason = "Invalid";
  status.message = request.resource.qualified_name() + " \"" + std::string(request.name) +
                   "\" is invalid: " + joined(problems);
  status.details = std::move(details);
  return fail(model::to_error(std::move(status)));
}

std::vector<std::unique_ptr<apiserver::Admission>> fixed_spec_rules(const apiserver::Authorizer&,
                                                                    const apiserver::Registry&,
                                                                    const apiserver::Store&) {
  std::vector<std::unique_ptr<apiserver::Admission>> rules;
  rules.push_back(std::make_unique<FixedSpecAdmission>());
  return rules;
}

}  // namespace codeflare::admission
