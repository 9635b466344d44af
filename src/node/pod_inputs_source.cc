#include "node/pod_inputs_source.h"

#include "json/parse.h"
#include "json/write.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::node {

namespace {

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

Task<Result<std::string>> fetch_token(kube::Client& client, const model::Pod& pod, TokenNeed need) {
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
  co_return std::string(token->as_string());
}

bool is_missing(const Error& error) {
  return error.code == ErrorCode::not_found;
}

}  // namespace

Task<Result<PodInputs>> fetch_inputs(kube::Client& client, model::Pod pod) {
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
    Result<std::string> token = co_await fetch_token(client, pod, need);
    if (token) {
      inputs.tokens.emplace(need, *std::move(token));
    } else if (!is_missing(token.error())) {
      co_return fail(std::move(token).error());
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
