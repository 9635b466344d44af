#include "apiserver/identity/internal/token_request.h"

#include "apiserver/identity/internal/review_object.h"
#include "apiserver/identity/internal/status_error.h"
#include "apiserver/schema/field_errors.h"
#include "json/scan.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

using json::Value;

constexpr std::string_view kGroup = "authentication.k8s.io";
constexpr std::string_view kKind = "TokenRequest";
constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kMinSeconds = 600;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;
// Pods ask for this. Programs that never read their token again would fail after an hour, so such
// tokens really live for a year and only count as stale after the time asked for, as upstream.
constexpr std::int64_t kPodSeconds = 3607;
constexpr std::int64_t kExtendedSeconds = 365 * 24 * 3600;

class TokenRequest final : public VirtualResource {
 public:
  TokenRequest(Env env, Store& store, ServiceAccountTokens& tokens)
      : env_(env),
        store_(store),
        tokens_(tokens),
        accounts_(store.collection("serviceaccounts")),
        pods_(store.collection("pods")),
        secrets_(store.collection("secrets")),
        nodes_(store.collection("nodes")) {}

  Task<Result<Value>> create(Call& call) override { co_return answer(call); }

 private:
  Result<Value> answer(Call& call);
  Result<void> check_metadata(const Call& call, const Object& account) const;
  Result<void> bind(const Call& call, const Value& ref, ServiceAccountTokens::Request& request);
  Result<ObjectPtr> find(CollectionId collection, std::string_view ns, std::string_view name) const;
  Value to_answer(Call& call, const Object& account, const ServiceAccountTokens::Request& request,
                  std::int64_t seconds);

  Env env_;
  Store& store_;
  ServiceAccountTokens& tokens_;
  CollectionId accounts_;
  CollectionId pods_;
  CollectionId secrets_;
  CollectionId nodes_;
};

Result<std::int64_t> read_seconds(const Value& spec) {
  const Value* value = spec.find("expirationSeconds");
  if (value == nullptr || value->is_null()) {
    return kDefaultSeconds;
  }
  std::int64_t seconds = value->is_number() ? value->to_int64().value_or(0) : 0;
  FieldErrors errors;
  if (seconds < kMinSeconds) {
    errors.invalid("spec.expirationSeconds", show(*value),
                   "may not specify a duration less than 10 minutes");
  }
  if (seconds > kMaxSeconds) {
    errors.invalid("spec.expirationSeconds", show(*value),
                   "may not specify a duration larger than 2^32 seconds");
  }
  if (!errors.empty()) {
    return fail(errors.to_error(kGroup, kKind, ""));
  }
  return seconds;
}

TokenClaims::Ref ref_to(const Object& object) {
  return {.name = std::string(object.name()), .uid = std::string(object.uid())};
}

Result<Value> TokenRequest::answer(Call& call) {
  ObjectPtr account = store_.get(accounts_, call.info.ns, call.info.name);
  if (account == nullptr) {
    return fail(object_not_found({.resource = "serviceaccounts", .name = call.info.name}));
  }
  TRY(check_metadata(call, *account));
  const Value* found = object_at(call.body, "spec");
  Value spec = found != nullptr ? *found : Value::object();
  TRY_ASSIGN(std::int64_t seconds, read_seconds(spec));
  ServiceAccountTokens::Request request{.ns = call.info.ns,
                                        .service_account = ref_to(*account),
                                        .audiences = strings_at(spec, "audiences"),
                                        .lifetime = std::chrono::seconds(seconds)};
  if (request.audiences.empty()) {
    request.audiences = tokens_.audiences();
  }
  if (const Value* ref = object_at(spec, "boundObjectRef")) {
    TRY(bind(call, *ref, request));
  }
  bool for_this_server = std::ranges::all_of(request.audiences, [&](const std::string& one) {
    return std::ranges::find(tokens_.audiences(), one) != tokens_.audiences().end();
  });
  if (request.pod && seconds == kPodSeconds && for_this_server) {
    request.warn_after = request.lifetime;
    request.lifetime = std::chrono::seconds(kExtendedSeconds);
  }
  return to_answer(call, *account, request, seconds);
}

Result<void> TokenRequest::check_metadata(const Call& call, const Object& account) const {
  const Value* metadata = object_at(call.body, "metadata");
  if (metadata == nullptr) {
    return {};
  }
  FieldErrors errors;
  std::string_view name = metadata->string_or_empty("name");
  std::string_view ns = metadata->string_or_empty("namespace");
  if (!name.empty() && name != call.info.name) {
    errors.invalid_text("metadata.name", name, "must match the service account name if specified");
  } else if (!ns.empty() && ns != call.info.ns) {
    errors.invalid_text("metadata.namespace", ns,
                        "must match the service account namespace if specified");
  }
  if (!errors.empty()) {
    return fail(errors.to_error(kGroup, kKind, call.info.name));
  }
  std::string_view uid = metadata->string_or_empty("uid");
  if (!uid.empty() && uid != account.uid()) {
    return fail(object_conflict({.group = kGroup, .resource = kKind, .name = call.info.name},
                                "the UID in the token request (" + std::string(uid) +
                                    ") does not match the UID of the service account (" +
                                    std::string(account.uid()) + ")"));
  }
  return {};
}

Result<ObjectPtr> TokenRequest::find(CollectionId collection, std::string_view ns,
                                     std::string_view name) const {
  ObjectPtr object = store_.get(collection, ns, name);
  if (object == nullptr) {
    return fail(object_not_found({.resource = store_.name_of(collection), .name = name}));
  }
  return object;
}

Result<void> TokenRequest::bind(const Call& call, const Value& ref,
                                ServiceAccountTokens::Request& request) {
  std::string kind(ref.string_or_empty("kind"));
  std::string_view version = ref.string_or_empty("apiVersion");
  std::string_view name = ref.string_or_empty("name");
  bool core = version.find('/') == std::string_view::npos;
  ObjectPtr bound;
  if (core && kind == "Pod") {
    TRY_ASSIGN(bound, find(pods_, call.info.ns, name));
    request.pod = ref_to(*bound);
    constexpr std::array<std::string_view, 2> kPaths = {"spec.serviceAccountName", "spec.nodeName"};
    std::array<std::string_view, 2> slices;
    TRY(json::scan(bound->json(), kPaths, slices));
    json::Arena arena;
    TRY_ASSIGN(std::string_view account, json::unquote(slices[0], arena));
    TRY_ASSIGN(std::string_view node_name, json::unquote(slices[1], arena));
    if (account != call.info.name) {
      return fail(wrong_request("cannot bind token for serviceaccount " + quote(call.info.name) +
                                " to pod running with different serviceaccount name."));
    }
    if (!node_name.empty()) {
      ObjectPtr node = store_.get(nodes_, "", node_name);
      request.node =
          node != nullptr ? ref_to(*node) : TokenClaims::Ref{.name = std::string(node_name)};
    }
  } else if (core && kind == "Node") {
    TRY_ASSIGN(bound, find(nodes_, "", name));
    request.node = ref_to(*bound);
  } else if (core && kind == "Secret") {
    TRY_ASSIGN(bound, find(secrets_, call.info.ns, name));
    request.secret = ref_to(*bound);
  } else {
    return fail(wrong_request("cannot bind token to object of type " + std::string(version) +
                              ", Kind=" + kind));
  }
  std::string_view uid = ref.string_or_empty("uid");
  if (!uid.empty() && uid != bound->uid()) {
    return fail(object_conflict(
        {.resource = kind, .name = name},
        "the UID in the bound object reference (" + std::string(uid) +
            ") does not match the UID in record. The object might have been deleted and then "
            "recreated"));
  }
  return {};
}

Value TokenRequest::to_answer(Call& call, const Object& account,
                              const ServiceAccountTokens::Request& request, std::int64_t seconds) {
  json::Arena& arena = call.arena;
  auto text = [&](std::string_view value) { return Value::string(arena, value); };
  WallTime now = env_.clock.wall();
  Value status = Value::object();
  status.set_static(arena, "token", text(tokens_.issue(request)));
  status.set_static(arena, "expirationTimestamp",
                    text(to_rfc3339(now + std::chrono::seconds(seconds))));
  Value out = answered(call, status);
  Value& metadata = *out.find("metadata");
  metadata.set_static(arena, "name", text(account.name()));
  metadata.set_static(arena, "namespace", text(account.ns()));
  metadata.set_static(arena, "uid", text(account.uid()));
  metadata.set_static(arena, "creationTimestamp", text(to_rfc3339(now)));
  Value& spec = *out.find("spec");
  spec.set_static(arena, "audiences", to_strings(arena, request.audiences));
  spec.set_static(arena, "expirationSeconds", Value::integer(arena, seconds));
  if (spec.find("boundObjectRef") == nullptr) {
    spec.set_static(arena, "boundObjectRef", Value());
  }
  return out;
}

}  // namespace

std::unique_ptr<VirtualResource> make_token_request(Env env, Store& store,
                                                    ServiceAccountTokens& tokens) {
  return std::make_unique<TokenRequest>(env, store, tokens);
}

}  // namespace codeflare::apiserver::internal
