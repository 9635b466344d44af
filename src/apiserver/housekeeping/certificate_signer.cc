#include "apiserver/housekeeping/certificate_signer.h"

#include "apiserver/registry/edit.h"
#include "base/base64.h"
#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kSigner = "kubernetes.io/kube-apiserver-client";
constexpr Duration kLifetime = std::chrono::hours(24 * 365);
constexpr Duration kLifetimeMin = std::chrono::minutes(10);

bool has_condition(const json::Value& request, std::string_view type) {
  const auto conditions = items_at(object_at(request, "status"), "conditions");
  return std::ranges::any_of(
      conditions, [&](const json::Value& each) { return text_at(each, "type") == type; });
}

// Approved, and nobody has answered yet.
bool is_due(const json::Value& request) {
  return text_at(object_at(request, "spec"), "signerName") == kSigner &&
         has_condition(request, "Approved") && !has_condition(request, "Denied") &&
         !has_condition(request, "Failed") &&
         text_at(object_at(request, "status"), "certificate").empty();
}

// The usage that the signer does not allow; empty when all are allowed.
std::string usage_problem(const json::Value& request) {
  bool client = false;
  for (const json::Value& usage : items_at(object_at(request, "spec"), "usages")) {
    const std::string_view text = usage.is_string() ? usage.as_string() : std::string_view();
    client = client || text == "client auth";
    if (text != "client auth" && text != "digital signature" && text != "key encipherment") {
      return "usage \"" + std::string(text) + "\" is not allowed for this signer";
    }
  }
  return client ? "" : "usage \"client auth\" is required";
}

Duration lifetime_of(const json::Value& request) {
  const auto seconds = integer_at(object_at(request, "spec"), "expirationSeconds");
  const Duration wanted = seconds ? std::chrono::seconds(*seconds) : kLifetime;
  return std::clamp(wanted, kLifetimeMin, kLifetime);
}

std::string signed_patch(const std::string& certificate) {
  std::string patch;
  json::Writer writer(patch);
  writer.begin_object().key("status").begin_object();
  writer.member("certificate", to_base64(certificate)).end_object().end_object();
  return patch;
}

std::string failed_patch(const json::Value& request, const std::string& why, WallTime now) {
  std::string patch;
  json::Writer writer(patch);
  writer.begin_object().key("status").begin_object().key("conditions").begin_array();
  for (const json::Value& each : items_at(object_at(request, "status"), "conditions")) {
    writer.raw(json::to_text(each));
  }
  writer.begin_object().member("type", "Failed").member("status", "True");
  writer.member("reason", "SignerValidationFailure").member("message", why);
  writer.member("lastUpdateTime", to_rfc3339(now)).member("lastTransitionTime", to_rfc3339(now));
  writer.end_object().end_array().end_object().end_object();
  return patch;
}

}  // namespace

CertificateSigner::CertificateSigner(Env env, TaskGroup& group, Logger log, Store& store,
                                     net::HttpService& api, SignClient sign)
    : env_(env),
      store_(store),
      api_(api),
      sign_(std::move(sign)),
      collection_(store.collection("certificatesigningrequests.certificates.k8s.io")),
      requests_(env, group, std::move(log), 1,
                [this](std::string name) { return this->sign(std::move(name)); }) {
  if (!sign_) {
    return;
  }
  CHECK(store
            .visit(collection_, {},
                   [&](const ObjectPtr& object) {
                     requests_.add(std::string(object->name()));
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection == collection_ && event.op != Write::Op::remove) {
      requests_.add(std::string(event.object->name()));
    }
  });
}

Task<Result<void>> CertificateSigner::sign(std::string name) {
  const ObjectPtr object = store_.get(collection_, "", name);
  const Result<json::Document> request =
      object == nullptr ? json::Document() : json::parse(object->json());
  CHECK(request.has_value());
  if (object == nullptr || !is_due(request->root)) {
    co_return Result<void>();
  }
  std::string problem = usage_problem(request->root);
  Result<std::string> made = fail(invalid_argument(problem));
  if (problem.empty()) {
    const Result<std::string> pem =
        from_base64(text_at(object_at(request->root, "spec"), "request"));
    made = pem ? sign_(*pem, lifetime_of(request->root)) : fail(Error(pem.error()));
  }
  std::string patch = made ? signed_patch(*made)
                           : failed_patch(request->root, made.error().message, env_.clock.wall());
  Result<void> written = co_await api_.merge_patch(
      "/apis/certificates.k8s.io/v1/certificatesigningrequests/" + name + "/status",
      std::move(patch));
  if (!written && written.error().code == ErrorCode::not_found) {
    co_return Result<void>();
  }
  co_return written;
}

}  // namespace codeflare::apiserver
