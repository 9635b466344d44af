#include "base/async/sleep.h"
#include "base/base64.h"
#include "json/write.h"
#include "net/certificate_request.h"
#include "sdk/users.h"

#include <chrono>
#include <utility>

namespace codeflare::sdk {

namespace {

using model::ObjectKey;

const model::ResourceType kRequests{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                                    "certificatesigningrequests", false};
constexpr Duration kSignerPatience = std::chrono::seconds(30);
constexpr Duration kLookEvery = std::chrono::milliseconds(100);

std::string request_text(const NewUser& user, const std::string& request_pem) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "certificates.k8s.io/v1");
  w.member("kind", "CertificateSigningRequest").key("metadata").begin_object();
  w.member("generateName", "codeflare-user-").end_object().key("spec").begin_object();
  w.member("request", to_base64(request_pem));
  w.member("signerName", "kubernetes.io/kube-apiserver-client");
  w.key("expirationSeconds")
      .integer(std::chrono::duration_cast<std::chrono::seconds>(user.lifetime).count());
  w.key("usages").begin_array().string("client auth").end_array();
  w.end_object().end_object();
  return text;
}

// The object with the condition Approved.
Result<std::string> approved(const kube::Object& request, const NewUser& user) {
  TRY_ASSIGN(json::Document document, request.parse());
  json::Arena& arena = document.arena;
  const auto text = [&](std::string_view from) { return json::Value::string(arena, from); };
  json::Value condition = json::Value::object();
  condition.set(arena, "type", text("Approved"));
  condition.set(arena, "status", text("True"));
  condition.set(arena, "reason", text("CodeflareUserAdd"));
  condition.set(arena, "message", text("codeflare user add " + user.name));
  json::Value conditions = json::Value::array();
  conditions.push_back(arena, condition);
  json::Value status = json::Value::object();
  status.set(arena, "conditions", conditions);
  document.root.set(arena, "status", status);
  return json::to_text(document.root);
}

// The answer of the signer: a certificate, a failure, or nothing yet (an empty text).
Result<std::string> answer_in(const kube::Object& request) {
  TRY_ASSIGN(const json::Document document, request.parse());
  if (const json::Value* conditions = document.root.get({"status", "conditions"});
      conditions != nullptr && conditions->is_array()) {
    for (const json::Value& each : conditions->items()) {
      const std::string_view type = each.string_or_empty("type");
      if (type == "Failed" || type == "Denied") {
        return fail(failed_precondition(
            "certificate request " + std::string(request.name()) +
            " was not signed: " + std::string(each.string_or_empty("message"))));
      }
    }
  }
  return from_base64(request.string_at({"status", "certificate"}));
}

Task<Result<std::string>> certificate_of(Env env, kube::Client& client, ObjectKey key) {
  const Instant until = after(env.clock.now(), kSignerPatience);
  for (;;) {
    CO_TRY_ASSIGN(const kube::ObjectRef request, co_await client.get(kRequests, key));
    CO_TRY_ASSIGN(std::string certificate, answer_in(*request));
    if (!certificate.empty()) {
      co_return certificate;
    }
    if (env.clock.now() >= until) {
      co_return fail(deadline_exceeded(
          "no certificate within 30 s: the cluster has no signer for "
          "kubernetes.io/kube-apiserver-client (kube-controller-manager has one)"));
    }
    CO_TRY(co_await sleep_for(kLookEvery));
  }
}

}  // namespace

Task<Result<UserCredentials>> issue_credentials(Env env, kube::Client& client, NewUser user) {
  CO_TRY(check_user(user));
  CO_TRY_ASSIGN(net::CertificateRequest request,
                net::make_certificate_request(user.name, user.groups));
  std::string body = request_text(user, request.request_pem);
  CO_TRY_ASSIGN(const kube::ObjectRef made, co_await client.create(kRequests, "", std::move(body)));
  CO_TRY_ASSIGN(std::string decision, approved(*made, user));
  const Result<kube::ObjectRef> told = co_await client.update(
      kRequests, made->key(), std::move(decision), {.subresource = "approval"});
  Result<std::string> certificate = fail(internal_error("not approved"));
  if (told) {
    certificate = co_await certificate_of(env, client, made->key());
  } else {
    certificate = fail(Error(told.error()));
  }
  // Nobody needs it any more; what stays behind does no harm.
  static_cast<void>(co_await client.remove(kRequests, made->key()));
  if (!certificate) {
    co_return fail(std::move(certificate).error());
  }
  co_return UserCredentials{std::move(request.key_pem), *std::move(certificate)};
}

}  // namespace codeflare::sdk
