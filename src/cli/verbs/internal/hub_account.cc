#include "cli/verbs/internal/hub_account.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "controllers/access/access_table.h"
#include "controllers/dispatch/access.h"
#include "json/parse.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "kube/kubeconfig.h"
#include "model/managed_cluster.h"
#include "queue/marks.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <utility>
#include <vector>

namespace codeflare::cli::internal {

namespace {

using std::chrono::seconds;

const model::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                                 false};
const model::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                    "clusterrolebindings", false};
const model::ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts", true};
const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const model::ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};
constexpr std::string_view kManager = "codeflare-cluster";

// A token controller fills the Secret within this time where there is one.
constexpr Duration kTokenWithin = seconds(5);
constexpr Duration kLook = std::chrono::milliseconds(200);
constexpr std::int64_t kTokenSeconds = 365 * 24 * 3600;

const std::string& system_ns() {
  static const std::string ns(queue::kControllerNamespace);
  return ns;
}

void write_meta(json::Writer& w, const std::string& name, const std::string& ns,
                const std::string& role_uid) {
  w.key("metadata").begin_object().member("name", name).member_if_set("namespace", ns);
  w.key("labels").begin_object().member("app.kubernetes.io/managed-by", kManager).end_object();
  if (!role_uid.empty()) {
    w.key("ownerReferences").begin_array().begin_object();
    w.member("apiVersion", "rbac.authorization.k8s.io/v1").member("kind", "ClusterRole");
    w.member("name", name).member("uid", role_uid).end_object().end_array();
  }
}

std::string role_text(const std::string& name, bool create_namespaces) {
  namespace dispatch = controllers::dispatch;
  std::vector<runtime::Right> rights(std::begin(dispatch::kWorkerRights),
                                     std::end(dispatch::kWorkerRights));
  rights.insert(rights.end(), std::begin(dispatch::kWorkerImpersonationRights),
                std::end(dispatch::kWorkerImpersonationRights));
  if (create_namespaces) {
    rights.insert(rights.end(), std::begin(dispatch::kWorkerNamespaceRights),
                  std::end(dispatch::kWorkerNamespaceRights));
  }
  for (runtime::Right right : dispatch::kWorkerLeaseRights) {
    right.name = name;
    rights.push_back(right);
  }
  rights.push_back(
      {"get delete", "rbac.authorization.k8s.io", "clusterroles", "removal of this account", name});
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "rbac.authorization.k8s.io/v1");
  w.member("kind", "ClusterRole");
  write_meta(w, name, "", "");
  w.end_object().key("rules");
  w.raw(controllers::rules_json(controllers::rules_of(std::span<const runtime::Right>(rights))));
  w.end_object();
  return text;
}

std::string binding_text(const std::string& name, const std::string& role_uid) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "rbac.authorization.k8s.io/v1");
  w.member("kind", "ClusterRoleBinding");
  write_meta(w, name, "", role_uid);
  w.end_object().key("roleRef").begin_object();
  w.member("apiGroup", "rbac.authorization.k8s.io").member("kind", "ClusterRole");
  w.member("name", name).end_object().key("subjects").begin_array().begin_object();
  w.member("kind", "ServiceAccount").member("name", name).member("namespace", system_ns());
  w.end_object().end_array().end_object();
  return text;
}

std::string account_text(const std::string& name, const std::string& role_uid) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "ServiceAccount");
  write_meta(w, name, system_ns(), role_uid);
  w.end_object().end_object();
  return text;
}

std::string token_secret_text(const std::string& name, const std::string& role_uid) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "Secret");
  write_meta(w, name, system_ns(), role_uid);
  w.key("annotations").begin_object().member("kubernetes.io/service-account.name", name);
  w.end_object().end_object().member("type", "kubernetes.io/service-account-token").end_object();
  return text;
}

// Of a server without a token controller: `codeflare up`.
Task<Result<HubToken>> request_token(kube::Client& worker, std::string name) {
  CO_TRY_ASSIGN(const std::string answer,
                co_await worker.post(kAccounts, {system_ns(), std::move(name)}, "token",
                                     R"({"apiVersion":"authentication.k8s.io/v1","kind":)"
                                     R"("TokenRequest","spec":{"expirationSeconds":)" +
                                         std::to_string(kTokenSeconds) + "}}"));
  CO_TRY_ASSIGN(const json::Document document, json::parse(answer));
  const json::Value* status = document.root.find("status");
  const std::string_view token = status == nullptr ? "" : status->string_or_empty("token");
  if (token.empty()) {
    co_return fail(internal_error("the server's TokenRequest has no token"));
  }
  HubToken made{.token = Secret(std::string(token))};
  if (const auto ends = parse_rfc3339(status->string_or_empty("expirationTimestamp"))) {
    made.expires = *ends;
  }
  co_return made;
}

Task<Result<HubToken>> token_of(kube::Client& worker, std::string name) {
  const Instant until = after(worker.env().loop.now(), kTokenWithin);
  while (true) {
    CO_TRY_ASSIGN(const kube::ObjectRef secret, co_await worker.get(kSecrets, {system_ns(), name}));
    const std::string data(secret->string_at({"data", "token"}));
    if (!data.empty()) {
      CO_TRY_ASSIGN(std::string token, from_base64(data));
      co_return HubToken{.token = Secret(std::move(token))};
    }
    if (worker.env().loop.now() >= until) {
      co_return co_await request_token(worker, std::move(name));
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

}  // namespace

std::string hub_account_name(std::string_view cluster) {
  return "codeflare-hub-" + std::string(cluster);
}

Task<Result<kube::ObjectRef>> apply_and_tell(kube::Client& client, model::ResourceType type,
                                             model::ObjectKey key, std::string body,
                                             Progress progress) {
  std::string what = type.kind + " " + (key.ns.empty() ? "" : key.ns + "/") + key.name;
  std::ranges::transform(what, what.begin(), [](unsigned char c) { return std::tolower(c); });
  const Result<kube::ObjectRef> before = co_await client.get(type, key);
  Result<kube::ObjectRef> now = co_await client.apply(
      type, key, std::move(body), {.field_manager = std::string(kManager), .force = true});
  if (!now) {
    co_return fail(std::move(now).error().with_context(what));
  }
  const bool same = before && (*before)->resource_version() == (*now)->resource_version();
  progress(what + (same ? " unchanged" : before ? " configured" : " created"));
  co_return now;
}

Task<Result<HubToken>> make_hub_account(kube::Client& worker, std::string cluster,
                                        bool create_namespaces, Progress progress) {
  const std::string name = hub_account_name(cluster);
  CO_TRY(co_await kube::ensure_namespace(worker, system_ns()));
  CO_TRY_ASSIGN(const kube::ObjectRef role,
                co_await apply_and_tell(worker, kRoles, {"", name},
                                        role_text(name, create_namespaces), progress));
  const std::string uid(role->uid());
  CO_TRY(co_await apply_and_tell(worker, kBindings, {"", name}, binding_text(name, uid), progress));
  CO_TRY(co_await apply_and_tell(worker, kAccounts, {system_ns(), name}, account_text(name, uid),
                                 progress));
  CO_TRY(co_await apply_and_tell(worker, kSecrets, {system_ns(), name},
                                 token_secret_text(name, uid), progress));
  co_return co_await token_of(worker, name);
}

Secret hub_kubeconfig(const kube::Config& worker, const std::string& cluster,
                      const HubToken& token) {
  Result<kube::KubeconfigEditor> editor = kube::KubeconfigEditor::parse("", "kubeconfig");
  CHECK(editor.has_value(), "an empty kubeconfig can be edited");
  kube::ClusterEntry entry{.name = cluster, .server = worker.server};
  entry.certificate_authority_data = worker.tls.ca_pem.empty() ? "" : to_base64(worker.tls.ca_pem);
  entry.insecure_skip_tls_verify = worker.tls.insecure;
  entry.tls_server_name = worker.tls.server_name;
  entry.proxy_url = worker.proxy_url;
  kube::UserEntry user{.name = hub_account_name(cluster)};
  user.token = token.token;
  editor->set_cluster(entry);
  editor->set_user(user);
  editor->set_context({.name = cluster, .cluster = cluster, .user = user.name});
  editor->set_current_context(cluster);
  return Secret(editor->text());
}

Task<Result<bool>> remove_hub_account(kube::Client& worker, std::string cluster) {
  const std::string name = hub_account_name(cluster);
  // The hub's Lease has the name of the account. Accounts of older programs may not delete it.
  const Result<kube::ObjectRef> lease = co_await worker.remove(kLeases, {system_ns(), name});
  if (!lease && lease.error().code != ErrorCode::not_found &&
      lease.error().code != ErrorCode::permission_denied) {
    co_return fail(lease.error());
  }
  const Result<kube::ObjectRef> gone = co_await worker.remove(kRoles, {"", name});
  if (!gone && gone.error().code != ErrorCode::not_found) {
    co_return fail(gone.error());
  }
  co_return gone.has_value();
}

}  // namespace codeflare::cli::internal
