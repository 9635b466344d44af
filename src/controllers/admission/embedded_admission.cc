#include "controllers/admission/embedded_admission.h"

#include "apiserver/request/forbidden.h"
#include "apiserver/rest/object_check.h"
#include "apiserver/schema/field_errors.h"
#include "controllers/admission/wrapper_review.h"
#include "json/parse.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
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
  Verdict verdict = review(*request.object, old_of(request), requester, kTrust);
  WrappedFindings found;
  if (old_of(request) == nullptr) {
    found = look_inside(request);
  }
  // All that can be said at once: its fields, those of its items, and what the user may not do.
  std::vector<std::string> refusals;
  for (const Question& question : verdict.questions) {
    ask(request, question, found.problems, refusals);
  }
  std::vector<std::string> problems = merged(std::move(verdict.problems), found.problems);
  if (!problems.empty()) {
    problems.insert(problems.end(), refusals.begin(), refusals.end());
    return fail(invalid(request, problems));
  }
  if (!refusals.empty()) {
    return fail(apiserver::forbidden(request.resource, request.name, joined(refusals)));
  }
  if (request.context.warnings != nullptr) {
    request.context.warnings->insert(request.context.warnings->end(), found.warnings.begin(),
                                     found.warnings.end());
  }
  for (const std::string& label : verdict.labels) {
    if (is_quota_tree(label)) {
      return fail(invalid(request, {charged(label)}));
    }
  }
  return {};
}

void EmbeddedAdmission::ask(const AdmissionRequest& request, const Question& question,
                            std::vector<std::string>& problems,
                            std::vector<std::string>& refusals) const {
  const apiserver::ResourcePtr resource =
      registry_.find_kind(question.group, question.version, question.kind);
  if (resource != nullptr && !resource->namespaced) {
    problems.push_back(outside(question, resource->qualified_name()));
    return;
  }
  const apiserver::Authorizer::Decision decision =
      authorizer_.authorize(request.user, {.verb = "create",
                                           .group = question.group,
                                           .resource = resource == nullptr ? "*" : resource->plural,
                                           .ns = question.ns});
  if (!decision.allowed) {
    refusals.push_back(refusal(question, resource == nullptr ? "" : resource->qualified_name(),
                               requester_of(request)));
  } else if (resource == nullptr) {
    problems.push_back(not_served(question));
  }
}

// As a dry run of each wrapped object would find.
WrappedFindings EmbeddedAdmission::look_inside(const AdmissionRequest& request) const {
  WrappedFindings found;
  for (const WrappedObject& item : objects_to_create(*request.object)) {
    const model::GroupVersion type =
        model::parse_api_version(item.value->string_or_empty("apiVersion"));
    const apiserver::ResourcePtr resource =
        registry_.find_kind(type.group, type.version, item.value->string_or_empty("kind"));
    const apiserver::ServedVersion* version =
        resource == nullptr ? nullptr : resource->find_version(type.version);
    if (version == nullptr || !resource->namespaced) {
      continue;
    }
    const apiserver::ObjectCheck check =
        apiserver::check_new_object({.resource = *resource, .version = *version, .ns = request.ns},
                                    request.context, item.value->clone(request.context.arena));
    for (const std::string& problem : check.problems) {
      found.add_problem(item.field, problem);
    }
    for (const std::string& path : check.unknown) {
      found.add_unknown(item.field, path);
    }
    for (const std::string& warning : check.warnings) {
      found.warnings.push_back(item.field + ": " + warning);
    }
  }
  return found;
}

}  // namespace codeflare::admission
