#include "controllers/admission/embedded_admission.h"

#include "apiserver/request/forbidden.h"
#include "apiserver/schema/field_errors.h"
#include "controllers/admission/wrapper_review.h"
#include "json/parse.h"
#include "model/app_wrapper.h"
#include "model/quota_subtree.h"
#include "model/status.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// Where "field: what" has its colon. A key in brackets may hold anything.
std::size_t end_of_field(std::string_view problem) {
  int depth = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    depth += problem[i] == '[' ? 1 : problem[i] == ']' ? -1 : 0;
    if (depth == 0 && problem.substr(i).starts_with(": ")) {
      return i;
    }
  }
  return problem.size();
}

model::StatusCause cause_of(std::string_view problem) {
  const std::size_t colon = end_of_field(problem);
  const std::string_view what = problem.substr(std::min(colon + 2, problem.size()));
  return {.reason = what.starts_with("required") ? "FieldValueRequired" : "FieldValueInvalid",
          .message = std::string(what),
          .field = std::string(problem.substr(0, colon))};
}

// With causes: kubectl shows nothing else of it.
Error invalid(const AdmissionRequest& request, const std::vector<std::string>& problems) {
  apiserver::FieldErrors errors;
  for (const std::string& problem : problems) {
    errors.add(cause_of(problem));
  }
  return errors.to_error(request.resource.group, request.resource.kind, request.name);
}

}  // namespace

Result<void> EmbeddedAdmission::mutate(AdmissionRequest& request) {
  if (concerns(request)) {
    record_submitter(request.context.arena, *request.object, old_of(request), requester_of(request),
                     request.context.now, kTrust);
  }
  return {};
}

bool EmbeddedAdmission::is_quota_tree(std::string_view name) const {
  using Subtrees = model::ResourceTraits<model::QuotaSubtree>;
  const apiserver::ResourcePtr resource = registry_.find(Subtrees::group, Subtrees::plural);
  bool found = false;
  const auto look = [&](const apiserver::ObjectPtr& object) {
    const Result<json::Document> labels = json::parse(object->labels());
    found = labels && labels->root.string_or_empty(model::kQuotaTreeLabel) == name;
    return !found;
  };
  return resource != nullptr && store_.visit(resource->collection, {}, look) && found;
}

Result<void> EmbeddedAdmission::validate(AdmissionRequest& request) {
  if (!concerns(request)) {
    return {};
  }
  const Requester requester = requester_of(request);
  const Verdict verdict = review(*request.object, old_of(request), requester, kTrust);
  if (!verdict.problems.empty()) {
    return fail(invalid(request, verdict.problems));
  }
  for (const std::string& label : verdict.labels) {
    if (is_quota_tree(label)) {
      return fail(invalid(request, {charged(label)}));
    }
  }
  for (const Question& question : verdict.questions) {
    const apiserver::ResourcePtr resource =
        registry_.find_kind(question.group, question.version, question.kind);
    if (resource != nullptr && !resource->namespaced) {
      return fail(invalid(request, {outside(question, resource->qualified_name())}));
    }
    const apiserver::Authorizer::Decision decision = authorizer_.authorize(
        request.user, {.verb = "create",
                       .group = question.group,
                       .resource = resource == nullptr ? "*" : resource->plural,
                       .ns = question.ns});
    if (!decision.allowed) {
      return fail(apiserver::forbidden(
          request.resource, request.name,
          refusal(question, resource == nullptr ? "" : resource->qualified_name(), requester)));
    }
  }
  return {};
}

}  // namespace codeflare::admission
