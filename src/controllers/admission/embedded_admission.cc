#include "controllers/admission/embedded_admission.h"

#include "controllers/admission/wrapper_review.h"
#include "model/app_wrapper.h"
#include "model/status.h"

#include <utility>

namespace codeflare::admission {

namespace {

using apiserver::AdmissionRequest;
using apiserver::Operation;

using Traits = model::ResourceTraits<model::AppWrapper>;

// Nobody writes past this.
const SubmitterTrust kTrust{.built_in = true};

bool concerns(const AdmissionRequest& request) {
  return request.object != nullptr && request.subresource.empty() &&
         request.resource.plural == Traits::plural &&
         (request.resource.group == Traits::group ||
          request.resource.group == model::kLegacyAppWrapperGroup);
}

Requester requester_of(const AdmissionRequest& request) {
  return {.username = request.user.name,
          .uid = request.user.uid,
          .groups = request.user.groups,
          .extra = request.user.extra};
}

const json::Value* old_of(const AdmissionRequest& request) {
  return request.operation == Operation::create ? nullptr : request.old;
}

Error refuse(const AdmissionRequest& request, std::int32_t code, std::string reason,
             const std::string& why) {
  model::Status status;
  status.status = "Failure";
  status.code = code;
  status.message = request.resource.qualified_name() + " \"" + std::string(request.name) +
                   "\" is " + (code == 403 ? "forbidden: " : "invalid: ") + why;
  status.reason = std::move(reason);
  status.details = model::StatusDetails{.name = std::string(request.name),
                                        .group = request.resource.group,
                                        .kind = request.resource.plural};
  return model::to_error(std::move(status));
}

}  // namespace

Result<void> EmbeddedAdmission::mutate(AdmissionRequest& request) {
  if (concerns(request)) {
    record_submitter(request.context.arena, *request.object, old_of(request), requester_of(request),
                     request.context.now, kTrust);
  }
  return {};
}

Result<void> EmbeddedAdmission::validate(AdmissionRequest& request) {
  if (!concerns(request)) {
    return {};
  }
  const Requester requester = requester_of(request);
  const Verdict verdict = review(*request.object, old_of(request), requester, kTrust);
  if (!verdict.problems.empty()) {
    return fail(refuse(request, 422, "Invalid", joined(verdict.problems)));
  }
  for (const Question& question : verdict.questions) {
    const apiserver::ResourcePtr resource =
        registry_.find_kind(question.group, question.version, question.kind);
    if (resource != nullptr && !resource->namespaced) {
      return fail(refuse(request, 422, "Invalid", outside(question, resource->qualified_name())));
    }
    const apiserver::Authorizer::Decision decision = authorizer_.authorize(
        request.user, {.verb = "create",
                       .group = question.group,
                       .resource = resource == nullptr ? "*" : resource->plural,
                       .ns = question.ns});
    if (!decision.allowed) {
      return fail(refuse(
          request, 403, "Forbidden",
          refusal(question, resource == nullptr ? "" : resource->qualified_name(), requester)));
    }
  }
  return {};
}

}  // namespace codeflare::admission
