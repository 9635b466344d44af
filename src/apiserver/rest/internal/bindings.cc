#include "apiserver/rest/internal/bindings.h"

#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/metadata.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/write.h"
#include "json/parse.h"

namespace codeflare::apiserver::internal {

// As if the request had been made for that resource.
Result<Call> inner_call(Server& server, const VirtualResource::Call& outer, std::string_view group,
                        std::string_view plural) {
  ResourcePtr resource = server.parts.registry.find(group, plural);
  if (resource == nullptr) {
    return fail(no_such_path());
  }
  Call call{.server = server, .info = outer.info, .request = {}, .user = outer.user};
  call.version = &resource->versions[resource->storage_version];
  call.resource = std::move(resource);
  call.info.subresource.clear();
  return call;
}

void set_pod_condition(json::Arena& arena, json::Value& pod, const json::Value& condition) {
  json::Value* status = pod.find("status");
  if (status == nullptr || !status->is_object()) {
    status = &pod.set_static(arena, "status", json::Value::object());
  }
  json::Value* conditions = status->find("conditions");
  if (conditions == nullptr || !conditions->is_array()) {
    conditions = &status->set_static(arena, "conditions", json::Value::array());
  }
  for (json::Value& known : conditions->items()) {
    if (known.string_or_empty("type") == condition.string_or_empty("type")) {
      known = condition;
      return;
    }
  }
  conditions->push_back(arena, condition);
}

json::Value success_status(json::Arena& arena) {
  json::Value status = json::Value::object();
  status.set_static(arena, "kind", json::Value::string_view_of("Status"));
  status.set_static(arena, "apiVersion", json::Value::string_view_of("v1"));
  status.set_static(arena, "metadata", json::Value::object());
  status.set_static(arena, "status", json::Value::string_view_of("Success"));
  status.set_static(arena, "code", json::Value::number_text("201"));
  return status;
}

namespace {

Error cannot_bind(const Resource& pods, std::string_view name, std::string_view why) {
  Resource binding = pods;
  binding.plural += "/binding";
  return conflict_error(binding, name, "pod " + std::string(name) + " " + std::string(why));
}

// The pod with its node, the binding's annotations and a condition that says so.
Result<json::Value> bound(const Resource& pods, json::Arena& arena, const json::Value& live,
                          const json::Value& binding, WallTime now) {
  const std::string name(meta_text(live, "name"));
  if (is_being_deleted(live)) {
    return fail(cannot_bind(pods, name, "is being deleted, cannot be assigned to a host"));
  }
  const json::Value* node = live.get({"spec", "nodeName"});
  if (node != nullptr && node->is_string() && !node->as_string().empty()) {
    return fail(cannot_bind(
        pods, name, "is already assigned to node \"" + std::string(node->as_string()) + "\""));
  }
  if (const json::Value* gates = live.get({"spec", "schedulingGates"});
      gates != nullptr && gates->size() > 0) {
    return fail(cannot_bind(pods, name, "has non-empty .spec.schedulingGates"));
  }
  json::Value pod = live.clone(arena);
  const json::Value* target = binding.find("target");
  json::Value* spec = pod.find("spec");
  if (spec == nullptr || !spec->is_object()) {
    spec = &pod.set_static(arena, "spec", json::Value::object());
  }
  spec->set_static(arena, "nodeName", json::Value::string(arena, target->string_or_empty("name")));
  json::Value& metadata = metadata_of(arena, pod);
  for (std::string_view key : {"resourceVersion", "uid"}) {
    if (std::string_view text = meta_text(binding, key); !text.empty()) {
      metadata.set_static(arena, key, json::Value::string(arena, text));
    }
  }
  if (const json::Value* annotations = binding.get({"metadata", "annotations"});
      annotations != nullptr && annotations->size() > 0) {
    json::Value* own = metadata.find("annotations");
    if (own == nullptr || !own->is_object()) {
      own = &metadata.set_static(arena, "annotations", json::Value::object());
    }
    for (const json::Member& annotation : annotations->members()) {
      own->set(arena, annotation.key, annotation.value.clone(arena));
    }
  }
  json::Value condition = json::Value::object();
  condition.set_static(arena, "type", json::Value::string_view_of("PodScheduled"));
  condition.set_static(arena, "status", json::Value::string_view_of("True"));
  condition.set_static(arena, "lastProbeTime", json::Value());
  condition.set_static(arena, "lastTransitionTime", json::Value::string(arena, to_rfc3339(now)));
  set_pod_condition(arena, pod, condition);
  return pod;
}

// pods/NAME/binding, and bindings with the pod's name in the body.
class Binding final : public VirtualResource {
 public:
  explicit Binding(Server& server) : server_(server) {}

  Task<Result<json::Value>> create(VirtualResource::Call& outer) override {
    CO_TRY_ASSIGN(internal::Call call, inner_call(server_, outer, "", "pods"));
    const json::Value binding = outer.body;
    const std::string named(meta_text(binding, "name"));
    if (call.info.resource == "bindings" || call.info.name.empty()) {
      call.info.name = named;
    } else if (!named.empty() && named != call.info.name) {
      co_return fail(bad_request("name in URL does not match name in Binding object"));
    }
    const json::Value* target = binding.find("target");
    FieldErrors errors;
    const std::string_view kind = target == nullptr ? "" : target->string_or_empty("kind");
    if (!kind.empty() && kind != "Node") {
      errors.not_supported("target.kind", "\"" + std::string(kind) + "\"", {"Node", "<empty>"});
    }
    if (target == nullptr || target->string_or_empty("name").empty()) {
      errors.required("target.name", "");
    }
    if (!errors.empty()) {
      co_return fail(errors.to_error("", "Binding", call.info.name));
    }
    WriteOptions options{.dry_run = outer.dry_run};
    const WallTime now = server_.env().clock.wall();
    const Resource& pods = *call.resource;
    UpdateRequest update{.ns = call.info.ns,
                         .name = call.info.name,
                         .subresource = "binding",
                         .transform = [&](json::Arena& arena, const json::Value& live) {
                           return bound(pods, arena, live, binding, now);
                         }};
    CO_TRY(co_await update_object(call, std::move(update), std::move(options)));
    co_return success_status(outer.arena);
  }

 private:
  Server& server_;
};

}  // namespace

void add_pod_calls(ApiService& service, Server& server) {
  service.add("", "pods", "binding", std::make_unique<Binding>(server));
  service.add("", "bindings", "", std::make_unique<Binding>(server));
  service.add("", "pods", "eviction", make_eviction(server));
}

}  // namespace codeflare::apiserver::internal
