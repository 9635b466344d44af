#include "sdk/calls.h"

#include "json/parse.h"
#include "json/write.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "sdk/cluster_fields.h"
#include "sdk/cluster_file.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/clusters.h"
#include "sdk/login.h"
#include "sdk/read_config.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

// One call under way: its arguments and, once opened, its server.
struct Call {
  CallContext context;
  json::Document arguments;

  std::string text(std::string_view key) const {
    return std::string(arguments.root.string_or_empty(key));
  }
  bool flag(std::string_view key) const {
    const Value* value = arguments.root.find(key);
    return value != nullptr && value->is_boolean() && value->as_bool();
  }
  Duration seconds(std::string_view key) const {
    const Value* value = arguments.root.find(key);
    const std::optional<double> number = value == nullptr ? std::nullopt : value->to_double();
    return number ? std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*number))
                  : Duration();
  }
};

using Answer = Result<std::string>;

std::string written(const std::function<Value(json::Arena&)>& make) {
  json::Arena arena;
  return json::to_text(make(arena));
}

// The way to the server of one call.
struct Server {
  std::unique_ptr<kube::Connection> connection;
  std::string ns;
  std::unique_ptr<kube::Client> client;
  std::unique_ptr<kube::Discovery> discovery;

  Clusters clusters() { return {*client, *discovery}; }
};

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

// --- configurations -------------------------------------------------------------------------

Task<Answer> config_check(Call& call) {
  const Value* given = call.arguments.root.find("config");
  const ConfigReading reading = read_config(given == nullptr ? Value::object() : *given);
  if (!reading.faults.empty()) {
    co_return fail(config_error(reading.faults));
  }
  co_return written([&](json::Arena& arena) {
    Value advice = Value::array();
    for (const std::string& line : reading.advice) {
      advice.push_back(arena, Value::string(arena, line));
    }
    Value answer = Value::object();
    answer.set_static(arena, "config", to_json(arena, reading.config));
    answer.set_static(arena, "advice", advice);
    return answer;
  });
}

Task<Answer> config_fields(Call&) {
  co_return written([](json::Arena& arena) {
    Value answer = Value::array();
    for (const Field& field : cluster_fields()) {
      Value row = Value::object();
      row.set_static(arena, "name", Value::string(arena, field.name));
      row.set_static(arena, "default", Value::string(arena, default_text(field)));
      row.set_static(arena, "help", Value::string(arena, field.help));
      answer.push_back(arena, row);
    }
    return answer;
  });
}

Task<Answer> cluster_yaml_call(Call& call) {
  CO_TRY_ASSIGN(const ClusterConfig config, config_argument(call));
  co_return written([&](json::Arena& arena) { return Value::string(arena, cluster_yaml(config)); });
}

Task<Answer> cluster_write(Call& call) {
  CO_TRY_ASSIGN(const ClusterConfig config, config_argument(call));
  const std::string path = call.text("path");
  CO_TRY(write_cluster_file(call.context.env.files, path, config, call.flag("force")));
  co_return "null";
}

// --- clusters -------------------------------------------------------------------------------

Task<Answer> cluster_create(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  Clusters clusters = server.clusters();
  json::Document manifest;
  if (const std::string path = call.text("path"); !path.empty()) {
    CO_TRY_ASSIGN(manifest, read_cluster_file(call.context.env.files, path, call.text("name")));
  } else {
    CO_TRY_ASSIGN(ClusterConfig config, config_argument(call));
    CO_TRY_ASSIGN(manifest, co_await clusters.manifest_for(std::move(config)));
  }
  std::string ns = server.ns;
  CO_TRY_ASSIGN(const kube::ObjectRef made,
                co_await clusters.create(std::move(manifest), std::move(ns)));
  co_return made->text();
}

Task<Answer> cluster_apply(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  CO_TRY_ASSIGN(ClusterConfig config, config_argument(call));
  std::string ns = server.ns;
  CO_TRY_ASSIGN(const Applied applied, co_await server.clusters().apply(
                                           std::move(config), std::move(ns), call.flag("force")));
  co_return applied == Applied::created ? "\"created\""
  : applied == Applied::unchanged       ? "\"unchanged\""
                                        : "\"recreated\"";
}

Task<Answer> cluster_get(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("name")};
  CO_TRY_ASSIGN(const ClusterInfo info, co_await server.clusters().get(std::move(key)));
  co_return written([&](json::Arena& arena) { return to_json(arena, info); });
}

Task<Answer> cluster_list(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  std::string ns = call.flag("all_namespaces") ? "" : server.ns;
  CO_TRY_ASSIGN(const std::vector<ClusterInfo> infos,
                co_await server.clusters().list(std::move(ns)));
  co_return written([&](json::Arena& arena) {
    Value answer = Value::array();
    for (const ClusterInfo& info : infos) {
      answer.push_back(arena, to_json(arena, info));
    }
    return answer;
  });
}

Task<Answer> cluster_delete(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("name")};
  Clusters clusters = server.clusters();
  CO_TRY(co_await clusters.remove(key));
  if (call.flag("wait")) {
    CO_TRY(co_await clusters.wait(
        key, {.goal = ClusterGoal::deleted, .timeout = call.seconds("timeout")}));
  }
  co_return "null";
}

Task<Answer> cluster_wait(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("name")};
  const std::string goal = call.text("goal");
  ClusterWait options{.goal = goal == "deleted"    ? ClusterGoal::deleted
                              : goal == "finished" ? ClusterGoal::finished
                                                   : ClusterGoal::ready,
                      .timeout = call.seconds("timeout"),
                      .observer = {}};
  if (call.context.observer) {
    options.observer = [&](const ClusterState& state) {
      call.context.observer(written([&](json::Arena& arena) { return to_json(arena, state); }));
    };
  }
  CO_TRY_ASSIGN(const ClusterInfo info,
                co_await server.clusters().wait(std::move(key), std::move(options)));
  co_return written([&](json::Arena& arena) { return to_json(arena, info); });
}

// --- who and where --------------------------------------------------------------------------

Task<Answer> namespace_current(Call& call) {
  CO_TRY_ASSIGN(const kube::Config config, config_for(call));
  co_return written([&](json::Arena& arena) { return Value::string(arena, config.ns); });
}

Task<Answer> identity(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  CO_TRY_ASSIGN(const Identity who, co_await who_am_i(*server.client));
  co_return written([&](json::Arena& arena) { return Value::string(arena, who.user); });
}

// --- any object -----------------------------------------------------------------------------

// The server of a call about any object, and the object that the call names.
struct Target {
  Server server;
  model::ResourceType type;
  model::ObjectKey key;
};

Task<Result<Target>> target(const Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  std::string name = call.text("resource");
  CO_TRY_ASSIGN(const kube::ApiResource found, co_await server.discovery->find(std::move(name)));
  model::ObjectKey key{found.type.namespaced ? server.ns : "", call.text("name")};
  co_return Target{std::move(server), found.type, std::move(key)};
}

std::string body_argument(const Call& call) {
  const Value* body = call.arguments.root.find("body");
  return body == nullptr ? "{}" : json::to_text(*body);
}

Task<Answer> object_get(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  CO_TRY_ASSIGN(const kube::ObjectRef object, co_await on.server.client->get(on.type, on.key));
  co_return object->text();
}

Task<Answer> object_list(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  kube::ListOptions which{.ns = call.flag("all_namespaces") ? "" : on.key.ns,
                          .label_selector = call.text("label_selector")};
  CO_TRY_ASSIGN(const kube::ObjectList list,
                co_await on.server.client->list_all(on.type, std::move(which)));
  std::string answer = "[";
  for (const kube::ObjectRef& object : list.items) {
    answer += (answer.size() > 1 ? "," : "") + object->text();
  }
  co_return answer + "]";
}

Task<Answer> object_create(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  CO_TRY_ASSIGN(const kube::ObjectRef made,
                co_await on.server.client->create(on.type, on.key.ns, body_argument(call)));
  co_return made->text();
}

Task<Answer> object_replace(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  CO_TRY_ASSIGN(const kube::ObjectRef made,
                co_await on.server.client->update(on.type, on.key, body_argument(call)));
  co_return made->text();
}

Task<Answer> object_patch(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  CO_TRY_ASSIGN(const kube::ObjectRef made,
                co_await on.server.client->patch(on.type, on.key, kube::PatchKind::merge,
                                                 body_argument(call)));
  co_return made->text();
}

Task<Answer> object_delete(Call& call) {
  CO_TRY_ASSIGN(const Target on, co_await target(call));
  CO_TRY(co_await on.server.client->remove(on.type, on.key));
  co_return "null";
}

struct Entry {
  std::string_view name;
  Task<Answer> (*run)(Call& call);
};
constexpr std::array kCalls = {
    Entry{"cluster.apply", cluster_apply},
    Entry{"cluster.create", cluster_create},
    Entry{"cluster.delete", cluster_delete},
    Entry{"cluster.get", cluster_get},
    Entry{"cluster.list", cluster_list},
    Entry{"cluster.wait", cluster_wait},
    Entry{"cluster.write", cluster_write},
    Entry{"cluster.yaml", cluster_yaml_call},
    Entry{"config.check", config_check},
    Entry{"config.fields", config_fields},
    Entry{"identity", identity},
    Entry{"namespace", namespace_current},
    Entry{"object.create", object_create},
    Entry{"object.delete", object_delete},
    Entry{"object.get", object_get},
    Entry{"object.list", object_list},
    Entry{"object.patch", object_patch},
    Entry{"object.replace", object_replace},
};

}  // namespace

std::vector<std::string> call_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kCalls) {
    names.emplace_back(entry.name);
  }
  return names;
}

Task<Result<std::string>> call(CallContext context, std::string name, std::string arguments) {
  const auto entry = std::ranges::find(kCalls, name, &Entry::name);
  if (entry == kCalls.end()) {
    co_return fail(unsupported("unknown call '" + name + "'"));
  }
  CO_TRY_ASSIGN(json::Document document, json::parse(arguments));
  Call made{std::move(context), std::move(document)};
  co_return co_await entry->run(made);
}

}  // namespace codeflare::sdk
