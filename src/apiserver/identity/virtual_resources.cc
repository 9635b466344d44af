#include "apiserver/identity/virtual_resources.h"

#include "apiserver/identity/internal/access_reviews.h"
#include "apiserver/identity/internal/review_object.h"
#include "apiserver/identity/internal/status_error.h"
#include "apiserver/identity/internal/token_request.h"

#include <utility>

namespace codeflare::apiserver {

namespace {

using internal::object_at;
using json::Value;

// Says whom a token stands for.
class TokenReview final : public VirtualResource {
 public:
  explicit TokenReview(RequestAuthenticator& authenticator) : authenticator_(authenticator) {}

  Task<Result<Value>> create(Call& call) override { co_return answer(call); }

 private:
  Result<Value> answer(Call& call) {
    const Value* spec = object_at(call.body, "spec");
    std::string_view token = spec != nullptr ? spec->string_or_empty("token") : std::string_view();
    if (token.empty()) {
      return fail(internal::wrong_request("token is required for TokenReview in authentication"));
    }
    json::Arena& arena = call.arena;
    Value status = Value::object();
    auto checked = authenticator_.check_token(token, internal::strings_at(*spec, "audiences"));
    if (checked) {
      status.set_static(arena, "authenticated", Value::boolean(true));
      status.set_static(arena, "user", internal::to_user_info(arena, checked->user));
      status.set_static(arena, "audiences", internal::to_strings(arena, checked->audiences));
    } else {
      status.set_static(arena, "user", Value::object());
      status.set_static(arena, "error", Value::string(arena, shown(checked.error().message)));
    }
    return internal::answered(call, status);
  }

  // As upstream sums up what all its ways of reading a token said.
  static std::string shown(const std::string& message) {
    constexpr std::string_view kGeneral = "invalid bearer token";
    return message == kGeneral ? message : '[' + std::string(kGeneral) + ", " + message + ']';
  }

  RequestAuthenticator& authenticator_;
};

// Says who the caller is.
class SelfReview final : public VirtualResource {
 public:
  explicit SelfReview(Env env) : env_(env) {}

  Task<Result<Value>> create(Call& call) override {
    json::Arena& arena = call.arena;
    Value review = Value::object();
    for (std::string_view key : {"kind", "apiVersion"}) {
      if (const Value* text = call.body.find(key)) {
        review.set_static(arena, key, *text);
      }
    }
    Value metadata = Value::object();
    metadata.set_static(arena, "creationTimestamp",
                        Value::string(arena, to_rfc3339(env_.clock.wall())));
    review.set_static(arena, "metadata", metadata);
    Value status = Value::object();
    status.set_static(arena, "userInfo", internal::to_user_info(arena, call.user));
    review.set_static(arena, "status", status);
    co_return review;
  }

 private:
  Env env_;
};

}  // namespace

std::vector<VirtualRoute> identity_resources(IdentityParts parts) {
  constexpr const char* kAuthorization = "authorization.k8s.io";
  constexpr const char* kAuthentication = "authentication.k8s.io";
  std::vector<VirtualRoute> routes;
  auto add = [&](std::string group, std::string resource, std::unique_ptr<VirtualResource> handler,
                 std::string subresource = {}) {
    routes.push_back(
        {std::move(group), std::move(resource), std::move(subresource), std::move(handler)});
  };
  add(kAuthorization, "selfsubjectaccessreviews", internal::make_self_access_review(parts.policy));
  add(kAuthorization, "subjectaccessreviews", internal::make_access_review(parts.policy));
  add(kAuthorization, "localsubjectaccessreviews",
      internal::make_local_access_review(parts.policy));
  add(kAuthorization, "selfsubjectrulesreviews", internal::make_self_rules_review(parts.policy));
  add(kAuthentication, "tokenreviews", std::make_unique<TokenReview>(parts.authenticator));
  add(kAuthentication, "selfsubjectreviews", std::make_unique<SelfReview>(parts.env));
  add("", "serviceaccounts", internal::make_token_request(parts.env, parts.store, parts.tokens),
      "token");
  return routes;
}

}  // namespace codeflare::apiserver
