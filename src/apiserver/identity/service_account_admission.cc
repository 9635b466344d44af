#include "apiserver/identity/service_account_admission.h"

#include "apiserver/identity/internal/status_error.h"
#include "apiserver/schema/field_errors.h"
#include "json/parse.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

using json::Value;

constexpr std::string_view kDefaultAccount = "default";
constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
constexpr std::string_view kTokenVolume =
    R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
    R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
    R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":)"
    R"({"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420})";

bool is_pod_creation(const AdmissionRequest& request) {
  return request.resource.group.empty() && request.resource.plural == "pods" &&
         request.subresource.empty() && request.operation == Operation::create &&
         request.object != nullptr && request.object->is_object();
}

// A node's own copy of a pod that it runs without the server.
bool is_mirror(const Value& pod) {
  return pod.get({"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
}

std::string_view account_of(const Value& spec) {
  std::string_view name = spec.string_or_empty("serviceAccountName");
  return !name.empty() ? name : spec.string_or_empty("serviceAccount");
}

std::optional<bool> automount(const Value& object) {
  const Value* value = object.find("automountServiceAccountToken");
  return value != nullptr && value->is_boolean() ? std::optional(value->as_bool()) : std::nullopt;
}

Error refusal(const AdmissionRequest& request, std::string_view why) {
  return forbidden({.resource = "pods", .name = internal::shown_name(request)}, why);
}

std::span<Value> items_at(Value& parent, std::string_view key) {
  Value* list = parent.find(key);
  return list != nullptr ? list->items() : std::span<Value>();
}

bool mounts_something_there(const Value& container) {
  const Value* mounts = container.find("volumeMounts");
  if (mounts == nullptr) {
    return false;
  }
  for (const Value& mount : mounts->items()) {
    if (mount.string_or_empty("mountPath") == kMountPath) {
      return true;
    }
  }
  return false;
}

// The array member, made when there is none.
Value& make_array(json::Arena& arena, Value& parent, std::string_view key) {
  Value* list = parent.find(key);
  return list != nullptr && list->is_array() ? *list
                                             : parent.set_static(arena, key, Value::array());
}

Result<void> check_mirror(const AdmissionRequest& request) {
  const Value* spec = request.object->find("spec");
  if (spec == nullptr) {
    return {};
  }
  if (!account_of(*spec).empty()) {
    return fail(refusal(request, "a mirror pod may not reference service accounts"));
  }
  const Value* volumes = spec->find("volumes");
  if (volumes == nullptr) {
    return {};
  }
  for (const Value& volume : volumes->items()) {
    const Value* secret = volume.find("secret");
    if (secret != nullptr && !secret->is_null()) {
      return fail(refusal(request, "a mirror pod may not reference secrets"));
    }
    const Value* sources = volume.get({"projected", "sources"});
    for (const Value& source : sources != nullptr ? sources->items() : std::span<const Value>()) {
      const Value* token = source.find("serviceAccountToken");
      if (token != nullptr && !token->is_null()) {
        return fail(
            refusal(request, "a mirror pod may not use ServiceAccountToken volume projections"));
      }
    }
  }
  return {};
}

}  // namespace

ServiceAccountAdmission::ServiceAccountAdmission(Store& store, Random& random)
    : store_(store),
      random_(random),
      accounts_(store.collection("serviceaccounts")),
      namespaces_(store.collection("namespaces")) {}

Result<void> ServiceAccountAdmission::mutate(AdmissionRequest& request) {
  if (!is_pod_creation(request)) {
    return {};
  }
  if (is_mirror(*request.object)) {
    return check_mirror(request);
  }
  Value* spec = request.object->find("spec");
  if (spec == nullptr || !spec->is_object()) {
    return {};
  }
  json::Arena& arena = request.context.arena;
  std::string_view name = account_of(*spec);
  name = name.empty() ? kDefaultAccount : name;
  TRY_ASSIGN(json::Document account, find_account(request, name));
  spec->set_static(arena, "serviceAccountName", Value::string(arena, name));
  spec->set_static(arena, "serviceAccount", Value::string(arena, name));
  if (automount(*spec).value_or(automount(account.root).value_or(true))) {
    mount_token(request, *spec);
  }
  const Value* secrets = account.root.find("imagePullSecrets");
  const Value* own = spec->find("imagePullSecrets");
  if (secrets != nullptr && secrets->size() > 0 && (own == nullptr || own->size() == 0)) {
    spec->set_static(arena, "imagePullSecrets", secrets->clone(arena));
  }
  request.defaults_wanted = true;
  return {};
}

Result<void> ServiceAccountAdmission::validate(AdmissionRequest& request) {
  if (!is_pod_creation(request)) {
    return {};
  }
  if (is_mirror(*request.object)) {
    return check_mirror(request);
  }
  const Value* spec = request.object->find("spec");
  std::string_view name = spec != nullptr ? account_of(*spec) : std::string_view();
  if (name.empty()) {
    return fail(refusal(request, "no service account specified for pod " + std::string(request.ns) +
                                     '/' + std::string(request.name)));
  }
  TRY(find_account(request, name));
  return {};
}

// Every namespace gets its default account a moment after it was made; upstream waits for it.
bool ServiceAccountAdmission::is_on_its_way(const AdmissionRequest& request,
                                            std::string_view name) const {
  ObjectPtr ns = name == kDefaultAccount ? store_.get(namespaces_, "", request.ns) : nullptr;
  if (ns == nullptr || ns->is_being_deleted()) {
    return false;
  }
  auto parsed = json::parse_in_place(ns->json());
  const Value* created = parsed ? parsed->root.get({"metadata", "creationTimestamp"}) : nullptr;
  auto time = created != nullptr && created->is_string() ? parse_rfc3339(created->as_string())
                                                         : fail(not_found("no creation time"));
  return time && request.context.now - *time < std::chrono::seconds(10);
}

Result<json::Document> ServiceAccountAdmission::find_account(const AdmissionRequest& request,
                                                             std::string_view name) const {
  if (ObjectPtr account = store_.get(accounts_, request.ns, name)) {
    return json::parse(account->json());
  }
  if (is_on_its_way(request, name)) {
    return json::Document{.arena = {}, .root = Value::object()};
  }
  return fail(refusal(request, "error looking up service account " + std::string(request.ns) + '/' +
                                   std::string(name) + ": serviceaccount " + quote(name) +
                                   " not found"));
}

void ServiceAccountAdmission::mount_token(AdmissionRequest& request, Value& spec) {
  json::Arena& arena = request.context.arena;
  std::string volume_name;
  for (const Value& volume : items_at(spec, "volumes")) {
    if (volume.string_or_empty("name").starts_with(kVolumePrefix)) {
      volume_name = volume.string_or_empty("name");
      break;
    }
  }
  bool has_volume = !volume_name.empty();
  if (!has_volume) {
    volume_name = std::string(kVolumePrefix) + random_.name_suffix();
  }
  bool needed = false;
  for (std::string_view list : {"initContainers", "containers"}) {
    for (Value& container : items_at(spec, list)) {
      if (!container.is_object() || mounts_something_there(container)) {
        continue;
      }
      Value mount = Value::object();
      mount.set_static(arena, "name", Value::string(arena, volume_name));
      mount.set_static(arena, "readOnly", Value::boolean(true));
      mount.set_static(arena, "mountPath", Value::string_view_of(kMountPath));
      make_array(arena, container, "volumeMounts").push_back(arena, mount);
      needed = true;
    }
  }
  if (needed && !has_volume) {
    auto source = json::parse(kTokenVolume);
    CHECK(source.has_value());
    Value volume = Value::object();
    volume.set_static(arena, "name", Value::string(arena, volume_name));
    volume.set_static(arena, "projected", source->root.clone(arena));
    make_array(arena, spec, "volumes").push_back(arena, volume);
  }
}

}  // namespace codeflare::apiserver
