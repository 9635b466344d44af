#include "node/agent/pod_inputs_source.h"

#include "json/parse.h"
#include "json/write.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::node {

namespace {

const kube::ResourceType kVolumes{"", "v1", "PersistentVolume", "persistentvolumes", false};

bool is_missing(const Error& error) {
  return error.code == ErrorCode::not_found;
}

std::string token_request(const model::Pod& pod, const TokenNeed& need) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  w.member("apiVersion", "authentication.k8s.io/v1").member("kind", "TokenRequest");
  w.key("spec").begin_object();
  if (!need.audience.empty()) {
    w.key("audiences").begin_array().string(need.audience).end_array();
  }
  w.key("expirationSeconds").integer(need.expiration_seconds);
  w.key("boundObjectRef").begin_object();
  w.member("apiVersion", "v1").member("kind", "Pod");
  w.member("name", pod.metadata.name).member("uid", pod.metadata.uid);
  w.end_object().end_object().end_object();
  return body;
}

Task<Result<IssuedToken>> fetch_token(kube::Client& client, const model::Pod& pod, TokenNeed need,
                                      WallTime now) {
  std::string account =
      pod.spec.service_account_name.empty() ? "default" : pod.spec.service_account_name;
  std::string body = token_request(pod, need);
  CO_TRY_ASSIGN(
      const std::string answer,
      co_await client.post(model::resource_type<model::ServiceAccount>(),
                           {pod.metadata.ns, std::move(account)}, "token", std::move(body)));
  CO_TRY_ASSIGN(const json::Document document, json::parse(answer));
  const json::Value* token = document.root.get({"status", "token"});
  if (token == nullptr || !token->is_string()) {
    co_return fail(data_loss("the server's answer holds no token"));
  }
  const json::Value* until = document.root.get({"status", "expirationTimestamp"});
  const Result<WallTime> expires = until != nullptr && until->is_string()
                                       ? parse_rfc3339(until->as_string())
                                       : fail(data_loss("no time"));
  co_return IssuedToken{
      .token = std::string(token->as_string()),
      .issued = now,
      .expires = expires.value_or(now + std::chrono::seconds(need.expiration_seconds))};
}

// One that lasts, from the cache or fresh; an old one that is still good when there is no other.
Task<Result<std::string>> token_for(kube::Client& client, const model::Pod& pod, TokenNeed need,
                                    TokenCache& tokens, WallTime now) {
  const std::string uid = pod.metadata.uid;
  if (const IssuedToken* known = tokens.find(uid, need); known != nullptr && known->lasts(now)) {
    co_return known->token;
  }
  Result<IssuedToken> fresh = co_await fetch_token(client, pod, need, now);
  if (fresh) {
    std::string token = fresh->token;
    tokens.put(uid, need, *std::move(fresh));
    co_return token;
  }
  const IssuedToken* known = tokens.find(uid, need);
  if (known != nullptr && known->expires > now && !is_missing(fresh.error())) {
    co_return known->token;
  }
  co_return fail(std::move(fresh).error());
}

// A claim says which volume it wants, and its namespace's users write it; the volume says whose it
// is. Without a UID there it is promised to a claim, not bound.
bool is_bound_to(const kube::Object& volume, const model::ObjectMeta& claim) {
  return !claim.uid.empty() && volume.string_at({"spec", "claimRef", "uid"}) == claim.uid &&
         volume.string_at({"spec", "claimRef", "namespace"}) == claim.ns &&
         volume.string_at({"spec", "claimRef", "name"}) == claim.name;
}

Task<Result<ClaimedVolume>> fetch_claim(kube::Client& client, std::string ns, std::string name) {
  kube::Api<model::PersistentVolumeClaim> claims(client, std::move(ns));
  CO_TRY_ASSIGN(const model::PersistentVolumeClaim claim, co_await claims.get(std::move(name)));
  if (claim.status.phase != "Bound" || claim.spec.volume_name.empty()) {
    co_return ClaimedVolume{};
  }
  CO_TRY_ASSIGN(const kube::ObjectRef volume,
                co_await client.get(kVolumes, {"", claim.spec.volume_name}));
  if (!is_bound_to(*volume, claim.metadata)) {
    co_return ClaimedVolume{.foreign = claim.spec.volume_name};
  }
  ClaimedVolume found{.bound = true, .directory = volume->string_at({"spec", "hostPath", "path"})};
  if (found.directory.empty()) {
    found.directory = volume->string_at({"spec", "local", "path"});
  }
  co_return found;
}

}  // namespace

Task<Result<PodInputs>> fetch_inputs(kube::Client& client, model::Pod pod, TokenCache& tokens,
                                     WallTime now) {
  PodInputs inputs;
  const PodNeeds needs = needs_of(pod.spec);
  kube::Api<model::ConfigMap> config_maps(client, pod.metadata.ns);
  for (const std::string& name : needs.config_maps) {
    Result<model::ConfigMap> found = co_await config_maps.get(name);
    if (found) {
      inputs.config_maps.emplace(name, *std::move(found));
    } else if (!is_missing(found.error())) {
      co_return fail(std::move(found).error());
    }
  }
  kube::Api<model::Secret> secrets(client, pod.metadata.ns);
  for (const std::string& name : needs.secrets) {
    Result<model::Secret> found = co_await secrets.get(name);
    if (found) {
      inputs.secrets.emplace(name, *std::move(found));
    } else if (!is_missing(found.error())) {
      co_return fail(std::move(found).error());
    }
  }
  for (const TokenNeed& need : needs.tokens) {
    Result<std::string> token = co_await token_for(client, pod, need, tokens, now);
    if (token) {
      inputs.tokens.emplace(need, *std::move(token));
    } else if (!is_missing(token.error())) {
      co_return fail(std::move(token).error());
    }
  }
  for (const std::string& name : needs.claims) {
    Result<ClaimedVolume> claim = co_await fetch_claim(client, pod.metadata.ns, name);
    if (claim) {
      inputs.claims.emplace(name, *std::move(claim));
    } else if (!is_missing(claim.error())) {
      co_return fail(std::move(claim).error());
    }
  }
  if (pod.spec.enable_service_links.value_or(true)) {
    kube::Api<model::Service> services(client, pod.metadata.ns);
    CO_TRY_ASSIGN(kube::Api<model::Service>::List list, co_await services.list());
    inputs.services = std::move(list.items);
  }
  co_return inputs;
}

}  // namespace codeflare::node
