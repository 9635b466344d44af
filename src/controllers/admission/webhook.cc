#include "controllers/admission/webhook.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "controllers/admission/access.h"
#include "controllers/submitter/access_review.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/impersonation.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "model/quota_subtree.h"
#include "model/status.h"

#include <chrono>
#include <utility>

namespace codeflare::admission {

namespace {

constexpr std::size_t kReviewBytesMax = std::size_t{8} << 20;
// The API server gives up after so long; a body that is still coming then is nobody's review.
constexpr int kTimeoutSeconds = 10;
// All dry runs together: the API server has its answer in time, whatever is left unchecked.
constexpr Duration kLookInside = std::chrono::seconds(4);
// Anybody who reaches the port can send bodies: of those that have not ended, all together.
constexpr std::size_t kUnfinishedBytesMax = std::size_t{64} << 20;

net::Response refuse(int status, std::string why) {
  return net::make_response(status, "text/plain", Bytes::from(std::move(why) + "\n"));
}

std::vector<std::string> strings_of(const json::Value* list) {
  std::vector<std::string> texts;
  for (const json::Value& item : list == nullptr ? json::Value().items() : list->items()) {
    if (item.is_string()) {
      texts.emplace_back(item.as_string());
    }
  }
  return texts;
}

Requester requester_of(const json::Value& request) {
  Requester requester;
  const json::Value* user = request.find("userInfo");
  if (user == nullptr) {
    return requester;
  }
  requester.username = user->string_or_empty("username");
  requester.uid = user->string_or_empty("uid");
  requester.groups = strings_of(user->find("groups"));
  if (const json::Value* extra = user->find("extra")) {
    for (const json::Member& member : extra->members()) {
      requester.extra[std::string(member.key)] = strings_of(&member.value);
    }
  }
  return requester;
}

void append_strings(json::Writer& writer, const std::vector<std::string>& texts) {
  writer.begin_array();
  for (const std::string& text : texts) {
    writer.string(text);
  }
  writer.end_array();
}

// An object may leave its namespace to the request.
void name_namespace(json::Arena& arena, json::Value& object, std::string_view ns) {
  json::Value* metadata = object.find("metadata");
  if (metadata != nullptr && metadata->is_object() && !ns.empty() &&
      metadata->string_or_empty("namespace").empty()) {
    metadata->set(arena, "namespace", json::Value::string(arena, ns));
  }
}

// Fields, formats and rules of its kind, also policies and PodSecurity.
bool is_about_the_object(const Error& error) {
  return error.code == ErrorCode::invalid_argument ||
         (error.code == ErrorCode::permission_denied && !error.message.contains("exceeded quota") &&
          !error.message.contains("cannot impersonate"));
}

// It is there now, or the quota is used up: neither need be so when the AppWrapper starts.
bool may_pass_later(const Error& error) {
  return error.code == ErrorCode::already_exists || error.code == ErrorCode::permission_denied;
}

// Whole members of metadata: what `add` finds there already it replaces.
std::string patch_of(const json::Value& before, const json::Value& after) {
  std::string text;
  json::Writer writer(text);
  writer.begin_array();
  for (const char* key : {"annotations", "finalizers"}) {
    const json::Value* old = before.get({"metadata", key});
    const json::Value* now = after.get({"metadata", key});
    if (now != nullptr && (old == nullptr || !json::equal(*old, *now))) {
      writer.begin_object()
          .member("op", "add")
          .member("path", std::string("/metadata/") + key)
          .key("value")
          .value(*now)
          .end_object();
    }
  }
  writer.end_array();
  return text == "[]" ? "" : text;
}

}  // namespace

Webhook::Webhook(const Clock& clock, kube::Client& client,
                 std::shared_ptr<const controllers::RecordSeal> seal, Logger logger)
    : clock_(clock),
      client_(client),
      discovery_(client),
      trust_{.seal = std::move(seal)},
      logger_(std::move(logger)),
      bodies_(kUnfinishedBytesMax) {}

Task<Result<bool>> Webhook::may_create(Requester requester, Question question,
                                       std::string resource) {
  co_return co_await controllers::may(client_, {.user = requester.username,
                                                .uid = requester.uid,
                                                .groups = requester.groups,
                                                .extra = requester.extra,
                                                .verb = "create",
                                                .group = question.group,
                                                .version = question.version,
                                                .resource = std::move(resource),
                                                .ns = question.ns});
}

Task<Result<bool>> Webhook::is_quota_tree(std::string name) {
  kube::ListOptions options{.label_selector = std::string(model::kQuotaTreeLabel) + "=" + name,
                            .limit = 1};
  const Result<kube::ObjectList> found =
      co_await client_.list(model::resource_type<model::QuotaSubtree>(), std::move(options));
  if (!found && found.error().code != ErrorCode::not_found) {
    co_return fail(found.error());
  }
  co_return found && !found->items.empty();
}

Task<Result<Webhook::Answer>> Webhook::answer(bool mutate, json::Value request) {
  const Requester requester = requester_of(request);
  const json::Value* object = request.find("object");
  const json::Value* old = request.find("oldObject");
  old = old == nullptr || !old->is_object() ? nullptr : old;
  if (object == nullptr || !object->is_object()) {
    co_return Answer{.code = 400, .message = "the review has no object"};
  }
  json::Arena arena;
  json::Value known = object->clone(arena);
  name_namespace(arena, known, request.string_or_empty("namespace"));
  if (mutate) {
    record_submitter(arena, known, old, requester, clock_.wall(), trust_);
    co_return Answer{.patch = patch_of(*object, known)};
  }
  Verdict verdict = review(known, old, requester, trust_);
  CO_TRY_ASSIGN(Rights rights, co_await ask(requester, verdict.questions));
  WrappedFindings found;
  if (old == nullptr && rights.refusals.empty()) {
    found = co_await look_inside(known, requester);
  }
  found.problems.insert(found.problems.end(), rights.problems.begin(), rights.problems.end());
  std::vector<std::string> problems = merged(std::move(verdict.problems), found.problems);
  if (!problems.empty()) {
    problems.insert(problems.end(), rights.refusals.begin(), rights.refusals.end());
    co_return Answer{.code = 422, .message = joined(problems)};
  }
  if (!rights.refusals.empty()) {
    co_return Answer{.code = 403, .message = joined(rights.refusals)};
  }
  for (const std::string& label : verdict.labels) {
    std::string name = label;
    CO_TRY_ASSIGN(const bool is_tree, co_await is_quota_tree(std::move(name)));
    if (is_tree) {
      co_return Answer{.code = 422, .message = charged(label)};
    }
  }
  co_return Answer{.warnings = std::move(found.warnings)};
}

Task<Result<Webhook::Rights>> Webhook::ask(Requester requester, std::vector<Question> questions) {
  Rights rights;
  for (const Question& question : questions) {
    Result<kube::ApiResource> found =
        co_await discovery_.find(question.kind, question.group, question.version);
    if (!found && found.error().code != ErrorCode::not_found) {
      co_return fail(std::move(found).error());
    }
    if (found && !found->type.namespaced) {
      rights.problems.push_back(outside(question, found->type.qualified_name()));
      continue;
    }
    const std::string plural = found ? found->type.plural : "*";
    CO_TRY_ASSIGN(const bool allowed, co_await may_create(requester, question, plural));
    if (!allowed) {
      rights.refusals.push_back(
          refusal(question, found ? found->type.qualified_name() : "", requester));
    } else if (!found) {
      rights.problems.push_back(not_served(question));
    }
  }
  co_return rights;
}

Task<WrappedFindings> Webhook::look_inside(json::Value object, Requester requester) {
  WrappedFindings all;
  const json::Value* metadata = object.find("metadata");
  const std::string ns(metadata == nullptr ? "" : metadata->string_or_empty("namespace"));
  const Instant end = client_.env().loop.now() + kLookInside;
  for (const WrappedObject& item : objects_to_create(object)) {
    const Duration left = end - client_.env().loop.now();
    Result<WrappedFindings> found = fail(deadline_exceeded("no time is left"));
    if (left > Duration::zero()) {
      auto trying = try_item(item, ns, requester);
      found = co_await with_timeout(left, "the dry run", std::move(trying));
    }
    if (!found) {
      all.warnings.push_back(item.field + ": not checked: " + found.error().message);
      continue;
    }
    all.problems.insert(all.problems.end(), found->problems.begin(), found->problems.end());
    all.warnings.insert(all.warnings.end(), found->warnings.begin(), found->warnings.end());
  }
  co_return all;
}

Task<Result<WrappedFindings>> Webhook::try_item(WrappedObject item, std::string ns,
                                                Requester requester) {
  WrappedFindings found;
  const model::GroupVersion type =
      model::parse_api_version(item.value->string_or_empty("apiVersion"));
  const Result<kube::ApiResource> resource = co_await discovery_.find(
      std::string(item.value->string_or_empty("kind")), type.group, type.version);
  if (!resource || !resource->type.namespaced) {
    co_return found;  // its kind is judged with the rights
  }
  kube::Impersonation who{.user = requester.username,
                          .uid = requester.uid,
                          .groups = requester.groups,
                          .extra = {requester.extra.begin(), requester.extra.end()}};
  const Result<std::vector<std::string>> tried = co_await kube::try_create_as(
      client_, std::move(who), resource->type, std::move(ns), json::to_text(*item.value));
  if (!tried) {
    if (is_about_the_object(tried.error())) {
      found.add_rejection(item.field, model::to_status(tried.error()));
    } else if (!may_pass_later(tried.error())) {
      co_return fail(tried.error());
    }
    co_return found;
  }
  for (const std::string& text : *tried) {
    if (const std::string path = unknown_field_in(text); !path.empty()) {
      found.add_unknown(item.field, path);
    } else {
      found.warnings.push_back(item.field + ": " + text);
    }
  }
  co_return found;
}

Task<Result<net::Response>> Webhook::send(net::Request request) {
  const bool mutate = request.target.starts_with(kMutatePath);
  if (request.method != "POST" || (!mutate && !request.target.starts_with(kValidatePath))) {
    co_return refuse(404, "not found");
  }
  Task<Result<std::string>> reading =
      net::read_all(std::move(request.body), kReviewBytesMax, bodies_);
  Result<std::string> text = co_await with_timeout(std::chrono::seconds(kTimeoutSeconds),
                                                   "the review", std::move(reading));
  if (!text) {
    const Error& error = text.error();
    if (error.code == ErrorCode::deadline_exceeded) {
      co_return refuse(408, error.message);
    }
    if (error.code == ErrorCode::resource_exhausted) {
      co_return refuse(429, error.message);
    }
    co_return fail(error);
  }
  const Result<json::Document> document = json::parse(*text);
  const json::Value* asked = document ? document->root.find("request") : nullptr;
  if (asked == nullptr || !asked->is_object()) {
    co_return refuse(400, "expected an AdmissionReview");
  }
  Result<Answer> answered = co_await answer(mutate, *asked);
  if (!answered) {
    logger_.warn("cannot review an AppWrapper", {{"error", answered.error()}});
    answered = Answer{
        .code = 503,
        .message = "cannot look up the permissions of the user: " + answered.error().message};
  }
  std::string body;
  json::Writer writer(body);
  writer.begin_object()
      .member("apiVersion", "admission.k8s.io/v1")
      .member("kind", "AdmissionReview")
      .key("response")
      .begin_object()
      .member("uid", asked->string_or_empty("uid"))
      .key("allowed")
      .boolean(answered->code == 200);
  if (answered->code != 200) {
    writer.key("status")
        .begin_object()
        .key("code")
        .integer(answered->code)
        .member("message", answered->message)
        .end_object();
  }
  if (!answered->warnings.empty()) {
    writer.key("warnings");
    append_strings(writer, answered->warnings);
  }
  if (!answered->patch.empty()) {
    writer.member("patchType", "JSONPatch").member("patch", to_base64(answered->patch));
  }
  writer.end_object().end_object();
  co_return net::make_response(200, "application/json", Bytes::from(std::move(body)));
}

namespace {

const char* webhook_name(std::string_view kind) {
  return kind.starts_with("Mutating") ? "submitter.appwrapper.codeflare.dev"
                                      : "rights.appwrapper.codeflare.dev";
}

std::string configuration(const char* kind, const char* path, const WebhookRegistration& from) {
  std::string body;
  json::Writer writer(body);
  const bool mutating = std::string_view(kind).starts_with("Mutating");
  writer.begin_object()
      .member("apiVersion", "admissionregistration.k8s.io/v1")
      .member("kind", kind)
      .key("metadata")
      .begin_object()
      .member("name", kWebhookName)
      .end_object()
      .key("webhooks")
      .begin_array()
      .begin_object()
      .member("name", webhook_name(kind))
      .key("admissionReviewVersions")
      .begin_array()
      .string("v1")
      .end_array()
      .member("sideEffects", "None")
      .member("failurePolicy", "Fail")
      .key("timeoutSeconds")
      .integer(kTimeoutSeconds);
  if (mutating) {
    // Another webhook may change the items: what is sealed are those that come of it.
    writer.member("reinvocationPolicy", "IfNeeded");
  }
  writer.key("clientConfig").begin_object().member("caBundle", to_base64(from.ca_pem));
  if (!from.address.url.empty()) {
    writer.member("url", from.address.url + path);
  } else {
    writer.key("service")
        .begin_object()
        .member("namespace", from.address.service_ns)
        .member("name", from.address.service_name)
        .member("path", path)
        .key("port")
        .integer(from.address.service_port)
        .end_object();
  }
  writer.end_object();
  writer.key("rules").begin_array().begin_object().key("apiGroups").begin_array();
  writer.string(model::ResourceTraits<model::AppWrapper>::group);
  if (from.legacy_group) {
    writer.string(model::kLegacyAppWrapperGroup);
  }
  writer.end_array().key("apiVersions").begin_array().string("*").end_array();
  writer.key("resources").begin_array().string("appwrappers").end_array();
  writer.key("operations").begin_array().string("CREATE").string("UPDATE").end_array();
  writer.member("scope", "Namespaced").end_object().end_array();
  writer.end_object().end_array().end_object();
  return body;
}

// For server-side apply: the caller owns caBundle and nothing else.
std::string authority_json(const char* kind, const std::string& ca_pem) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object()
      .member("apiVersion", "admissionregistration.k8s.io/v1")
      .member("kind", kind)
      .key("metadata")
      .begin_object()
      .member("name", kWebhookName)
      .end_object()
      .key("webhooks")
      .begin_array()
      .begin_object()
      .member("name", webhook_name(kind))
      .key("clientConfig")
      .begin_object()
      .member("caBundle", to_base64(ca_pem))
      .end_object()
      .end_object()
      .end_array()
      .end_object();
  return body;
}

Task<Result<void>> set_authority(kube::Client& client, model::ResourceType type, std::string body) {
  const model::ObjectKey key{"", std::string(kWebhookName)};
  const Result<kube::ObjectRef> there = co_await client.get(type, key);
  if (!there && there.error().code == ErrorCode::not_found) {
    co_return fail(failed_precondition(type.qualified_name() + " " + key.name +
                                       " does not exist: install it with the chart, or start "
                                       "without --webhook-secret"));
  }
  CO_TRY(there);
  CO_TRY(co_await client.apply(std::move(type), key, std::move(body),
                               {.field_manager = "codeflare-webhook", .force = true}));
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> register_webhook(kube::Client& client, WebhookRegistration registration) {
  const auto type = [](std::string kind, std::string plural) {
    return model::ResourceType{"admissionregistration.k8s.io", "v1", std::move(kind),
                               std::move(plural), false};
  };
  if (registration.chart_owned) {
    CO_TRY(co_await set_authority(
        client, type("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        authority_json("MutatingWebhookConfiguration", registration.ca_pem)));
    co_return co_await set_authority(
        client, type("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        authority_json("ValidatingWebhookConfiguration", registration.ca_pem));
  }
  CO_TRY(co_await client.apply(
      type("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
      {"", std::string(kWebhookName)},
      configuration("MutatingWebhookConfiguration", kMutatePath, registration), {.force = true}));
  CO_TRY(co_await client.apply(
      type("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
      {"", std::string(kWebhookName)},
      configuration("ValidatingWebhookConfiguration", kValidatePath, registration),
      {.force = true}));
  co_return Result<void>();
}

}  // namespace codeflare::admission
