#include "sdk/ray_token.h"

#include "base/base64.h"
#include "json/parse.h"
#include "kube/typed.h"
#include "model/codec/ray_cluster.h"

#include <string>
#include <utility>

namespace codeflare::sdk {

bool needs_token(const model::RayCluster& ray) {
  const Result<json::Document> options = json::parse(ray.spec.extra.find("authOptions"));
  return options && options->root.string_or_empty("mode") == "token";
}

Task<Result<Secret>> ray_token(kube::Client& client, model::ObjectKey cluster) {
  const Result<model::RayCluster> ray =
      co_await kube::Api<model::RayCluster>(client, cluster.ns).get(cluster.name);
  if (!ray || !needs_token(*ray)) {
    co_return Secret();  // whoever cannot read the cluster is rejected by its dashboard
  }
  const model::ResourceType secrets{"", "v1", "Secret", "secrets", true};
  const Result<kube::ObjectRef> object = co_await client.get(secrets, cluster);
  if (!object) {
    co_return fail(
        Error(object.error()).with_context("token of Ray cluster '" + cluster.name + "'"));
  }
  CO_TRY_ASSIGN(const json::Document document, json::parse((*object)->text()));
  const json::Value* data = document.root.find("data");
  const std::string_view encoded = data == nullptr ? "" : data->string_or_empty("auth_token");
  CO_TRY_ASSIGN(std::string token, from_base64(encoded));
  if (token.empty()) {
    co_return fail(failed_precondition("Secret '" + cluster.name +
                                       "' has no auth_token, which its Ray cluster needs"));
  }
  co_return Secret(std::move(token));
}

}  // namespace codeflare::sdk
