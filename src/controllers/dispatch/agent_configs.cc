#include "controllers/dispatch/agent_configs.h"

#include "base/base64.h"
#include "base/split.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "model/managed_cluster.h"
#include "model/resources.h"
#include "model/validation.h"
#include "queue/marks.h"

#include <utility>

namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;

namespace {

const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};

std::string secret_json(const std::string& name, const std::string& kubeconfig) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Secret");
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("data").begin_object().member(mc::kSecretKey, to_base64(kubeconfig)).end_object();
  w.end_object();
  return body;
}

std::string cluster_json(const std::string& name) {
  using Traits = model::ResourceTraits<model::ManagedCluster>;
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", Traits::api_version).member("kind", Traits::kind);
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("spec").begin_object().end_object().end_object();
  return body;
}

Task<Result<void>> ensure_agent(kube::Client& client, AgentConfig agent) {
  const Env env = client.env();
  CO_TRY_ASSIGN(const std::string text,
                co_await run_blocking(env, [&] { return env.files.read(agent.file); }));
  const std::string ns(queue::kControllerNamespace);
  const std::string secret = "cluster-" + agent.name;
  CO_TRY(co_await client.apply(kSecrets, {ns, secret}, secret_json(secret, text),
                               {.field_manager = "codeflare-agentconfigs", .force = true}));
  const Result<kube::ObjectRef> made = co_await client.create(
      model::resource_type<model::ManagedCluster>(), "", cluster_json(agent.name));
  if (!made && made.error().code != ErrorCode::already_exists) {
    co_return fail(made.error());
  }
  co_return Result<void>();
}

}  // namespace

Result<std::vector<AgentConfig>> parse_agent_configs(std::string_view text) {
  std::vector<AgentConfig> agents;
  for (const std::string_view each : split(text, ',')) {
    const std::size_t colon = each.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == each.size()) {
      return fail(invalid_argument("--agentconfigs: expected FILE:NAME[,FILE:NAME...], got '" +
                                   std::string(each) + "'"));
    }
    const std::string_view name = each.substr(colon + 1);
    if (const auto complaints = model::check_dns1123_label(name); !complaints.empty()) {
      return fail(invalid_argument("--agentconfigs: '" + std::string(name) +
                                   "': " + model::join(complaints)));
    }
    agents.push_back({std::string(each.substr(0, colon)), std::string(name)});
  }
  return agents;
}

Task<Result<void>> ensure_agents(kube::Client& client, std::vector<AgentConfig> agents) {
  CO_TRY(co_await kube::ensure_namespace(client, std::string(queue::kControllerNamespace)));
  for (AgentConfig& agent : agents) {
    const std::string name = agent.name;
    Result<void> done = co_await ensure_agent(client, std::move(agent));
    if (!done) {
      co_return fail(std::move(done).error().with_context("--agentconfigs: " + name));
    }
  }
  co_return Result<void>();
}

}  // namespace codeflare::controllers::dispatch
