#include "sdk/calls.h"

#include "json/parse.h"
#include "json/write.h"
#include "sdk/cluster_explain.h"
#include "sdk/cluster_fields.h"
#include "sdk/cluster_file.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/internal/call.h"
#include "sdk/login.h"
#include "sdk/read_config.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace codeflare::sdk {

namespace {

using internal::Answer;
using internal::Call;
using internal::CallEntry;
using internal::config_argument;
using internal::config_for;
using internal::open;
using internal::Server;
using internal::written;
using json::Value;

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

std::string_view word(Applied applied) {
  switch (applied) {
    case Applied::created:
      return "\"created\"";
    case Applied::unchanged:
      return "\"unchanged\"";
    case Applied::scaled:
      return "\"scaled\"";
    case Applied::changed:
      return "\"changed\"";
    case Applied::recreated:
      return "\"recreated\"";
  }
  return "null";
}

// A file that somebody has edited counts as it stands; else the configuration does.
Task<Answer> cluster_apply(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  const std::string path = call.text("path");
  std::string ns = server.ns;
  if (!path.empty()) {
    CO_TRY_ASSIGN(const bool edited, is_edited_cluster_file(call.context.env.files, path));
    if (edited) {
      CO_TRY_ASSIGN(json::Document manifest,
                    read_cluster_file(call.context.env.files, path, call.text("name")));
      CO_TRY_ASSIGN(
          const Applied applied,
          co_await server.clusters().apply(std::move(manifest), std::move(ns), call.flag("force")));
      co_return std::string(word(applied));
    }
  }
  CO_TRY_ASSIGN(ClusterConfig config, config_argument(call));
  CO_TRY_ASSIGN(const Applied applied, co_await server.clusters().apply(
                                           std::move(config), std::move(ns), call.flag("force")));
  co_return std::string(word(applied));
}

Task<Answer> cluster_explain(Call& call) {
  CO_TRY_ASSIGN(Server server, co_await open(call));
  model::ObjectKey key{server.ns, call.text("name")};
  Clusters clusters = server.clusters();
  CO_TRY_ASSIGN(const json::Document explanation,
                co_await explain_cluster(*server.client, clusters, std::move(key)));
  co_return json::to_text(explanation.root);
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

constexpr std::array kCalls = {
    CallEntry{"cluster.apply", cluster_apply},    CallEntry{"cluster.create", cluster_create},
    CallEntry{"cluster.delete", cluster_delete},  CallEntry{"cluster.explain", cluster_explain},
    CallEntry{"cluster.get", cluster_get},        CallEntry{"cluster.list", cluster_list},
    CallEntry{"cluster.wait", cluster_wait},      CallEntry{"cluster.write", cluster_write},
    CallEntry{"cluster.yaml", cluster_yaml_call}, CallEntry{"config.check", config_check},
    CallEntry{"config.fields", config_fields},    CallEntry{"identity", identity},
    CallEntry{"namespace", namespace_current},    CallEntry{"object.create", object_create},
    CallEntry{"object.delete", object_delete},    CallEntry{"object.get", object_get},
    CallEntry{"object.list", object_list},        CallEntry{"object.patch", object_patch},
    CallEntry{"object.replace", object_replace},
};

// Calls of every file.
std::array<std::span<const CallEntry>, 2> tables() {
  return {kCalls, internal::job_calls()};
}

}  // namespace

std::vector<std::string> call_names() {
  std::vector<std::string> names;
  for (const std::span<const CallEntry> table : tables()) {
    for (const CallEntry& entry : table) {
      names.emplace_back(entry.name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Task<Result<std::string>> call(CallContext context, std::string name, std::string arguments) {
  for (const std::span<const CallEntry> table : tables()) {
    const auto entry = std::ranges::find(table, name, &CallEntry::name);
    if (entry != table.end()) {
      CO_TRY_ASSIGN(json::Document document, json::parse(arguments));
      Call made{std::move(context), std::move(document)};
      co_return co_await entry->run(made);
    }
  }
  co_return fail(unsupported("unknown call '" + name + "'"));
}

}  // namespace codeflare::sdk
