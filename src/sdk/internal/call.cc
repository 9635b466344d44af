#include "sdk/internal/call.h"

#include "json/write.h"
#include "sdk/read_config.h"

#include <chrono>
#include <utility>

namespace codeflare::sdk::internal {

using json::Value;

std::string Call::text(std::string_view key) const {
  return std::string(arguments.root.string_or_empty(key));
}

bool Call::flag(std::string_view key) const {
  const Value* value = arguments.root.find(key);
  return value != nullptr && value->is_boolean() && value->as_bool();
}

std::optional<double> Call::number(std::string_view key) const {
  const Value* value = arguments.root.find(key);
  return value == nullptr || !value->is_number() ? std::nullopt : value->to_double();
}

Duration Call::seconds(std::string_view key) const {
  const std::optional<double> given = number(key);
  return given ? std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*given))
               : Duration();
}

std::map<std::string, std::string> Call::texts(std::string_view key) const {
  std::map<std::string, std::string> all;
  if (const Value* value = arguments.root.find(key); value != nullptr) {
    for (const json::Member& member : value->members()) {
      all[std::string(member.key)] = member.value.is_string()
                                         ? std::string(member.value.as_string())
                                         : json::to_text(member.value);
    }
  }
  return all;
}

std::string written(const std::function<Value(json::Arena&)>& make) {
  json::Arena arena;
  return json::to_text(make(arena));
}

Result<kube::Config> config_for(const Call& call) {
  const Value* given = call.arguments.root.find("connection");
  const Value none = Value::object();
  const Value& connection = given == nullptr ? none : *given;
  const std::string server(connection.string_or_empty("server"));
  if (server.empty()) {
    return kube::load_config(
        call.context.env, {.explicit_path = std::string(connection.string_or_empty("kubeconfig")),
                           .context = std::string(connection.string_or_empty("context"))});
  }
  const Value* insecure = connection.find("insecure");
  kube::Config config{
      .server = server,
      .tls = {.insecure = insecure != nullptr && insecure->is_boolean() && insecure->as_bool()},
      .source = "TokenAuthentication",
      .origin = {.server = "server", .ca = "ca_cert_path", .auth = "token"}};
  if (const std::string_view token = connection.string_or_empty("token"); !token.empty()) {
    config.auth = kube::BearerToken{Secret(std::string(token))};
  }
  if (const std::string file(connection.string_or_empty("ca_file")); !file.empty()) {
    TRY_ASSIGN(config.tls.ca_pem, call.context.env.files.read(file));
  }
  if (const std::string file(connection.string_or_empty("cert_file")); !file.empty()) {
    const std::string key(connection.string_or_empty("key_file"));
    TRY_ASSIGN(config.tls.certificate_pem, call.context.env.files.read(file));
    TRY_ASSIGN(std::string key_pem, call.context.env.files.read(key.empty() ? file : key));
    config.tls.key_pem = Secret(std::move(key_pem));
  }
  return config;
}

Task<Result<Server>> open(const Call& call) {
  CO_TRY_ASSIGN(kube::Config config, config_for(call));
  Server server;
  server.ns = call.text("namespace").empty() ? config.ns : call.text("namespace");
  CO_TRY_ASSIGN(server.connection, kube::connect(call.context.env, std::move(config)));
  server.client = std::make_unique<kube::Client>(
      call.context.env, server.connection->service(),
      kube::ClientOptions{.user_agent = "codeflare-sdk", .default_namespace = server.ns});
  server.discovery = std::make_unique<kube::Discovery>(*server.client);
  co_return server;
}

Result<ClusterConfig> config_argument(const Call& call) {
  const Value* given = call.arguments.root.find("config");
  ConfigReading reading = read_config(given == nullptr ? Value::object() : *given);
  if (!reading.faults.empty()) {
    return fail(config_error(reading.faults));
  }
  return std::move(reading.config);
}

}  // namespace codeflare::sdk::internal
