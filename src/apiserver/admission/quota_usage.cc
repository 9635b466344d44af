#include "apiserver/admission/quota_usage.h"

#include "apiserver/kinds/pod_spec.h"
#include "apiserver/registry/edit.h"
#include "model/codec/codec.h"
#include "model/codec/pod.h"
#include "model/pod_requests.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace codeflare::apiserver {

namespace {

// Kinds that can be counted under their plain name too.
constexpr std::array<std::string_view, 6> kPlainCounts = {
    "configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets",
    "services"};

bool is_native(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.starts_with("kubernetes.io/");
}

void add_compute(model::ResourceList& usage, const model::ResourceList& requests,
                 const model::ResourceList& limits) {
  for (const auto& [name, amount] : requests) {
    const bool plain = name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
                       name.starts_with("hugepages-");
    if (plain) {
      usage.set(name, amount);
    }
    if (plain || !is_native(name)) {
      usage.set("requests." + name, amount);
    }
  }
  for (const auto& [name, amount] : limits) {
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage") {
      usage.set("limits." + name, amount);
    }
  }
}

void add_pod(model::ResourceList& usage, const json::Value& pod) {
  const std::string_view phase = text_at(object_at(pod, "status"), "phase");
  if (phase == "Failed" || phase == "Succeeded") {
    return;
  }
  usage.set("pods", model::Quantity(1));
  Result<model::PodSpec> spec = model::from_json<model::PodSpec>(object_at(pod, "spec"));
  if (spec) {
    add_compute(usage, model::pod_requests(*spec), model::pod_limits(*spec));
  }
}

void add_service(model::ResourceList& usage, const json::Value& service) {
  const json::Value& spec = object_at(service, "spec");
  const std::string_view type = text_at(spec, "type");
  const auto ports = static_cast<std::int64_t>(items_at(spec, "ports").size());
  usage.set("services.loadbalancers", model::Quantity(type == "LoadBalancer" ? 1 : 0));
  usage.set("services.nodeports",
            model::Quantity(type == "NodePort" || type == "LoadBalancer" ? ports : 0));
}

void add_claim(model::ResourceList& usage, const json::Value& claim) {
  const json::Value& spec = object_at(claim, "spec");
  const json::Value* storage = object_at(spec, {"resources", "requests"}).find("storage");
  const std::string_view storage_class = text_at(spec, "storageClassName");
  if (storage != nullptr && storage->is_string()) {
    if (Result<model::Quantity> amount = model::Quantity::parse(storage->as_string()); amount) {
      usage.set("requests.storage", *amount);
      if (!storage_class.empty()) {
        usage.set(std::string(storage_class) + ".storageclass.storage.k8s.io/requests.storage",
                  *amount);
      }
    }
  }
  if (!storage_class.empty()) {
    usage.set(std::string(storage_class) + ".storageclass.storage.k8s.io/persistentvolumeclaims",
              model::Quantity(1));
  }
}

// A term of pod affinity that looks at pods of other namespaces, or may.
bool crosses_namespaces(const json::Value& term) {
  return items_at(term, "namespaces").size() > 0 || !absent(term, "namespaceSelector");
}

bool crosses_namespaces(const json::Value& affinity, std::string_view kind) {
  const json::Value& terms = object_at(affinity, kind);
  for (const json::Value& term :
       items_at(terms, "requiredDuringSchedulingIgnoredDuringExecution")) {
    if (crosses_namespaces(term)) {
      return true;
    }
  }
  for (const json::Value& weighted :
       items_at(terms, "preferredDuringSchedulingIgnoredDuringExecution")) {
    if (crosses_namespaces(object_at(weighted, "podAffinityTerm"))) {
      return true;
    }
  }
  return false;
}

bool in_scope(const QuotaScope& scope, const json::Value& pod) {
  const json::Value& spec = object_at(pod, "spec");
  if (scope.name == "Terminating") {
    return !absent(spec, "activeDeadlineSeconds");
  }
  if (scope.name == "NotTerminating") {
    return absent(spec, "activeDeadlineSeconds");
  }
  if (scope.name == "BestEffort") {
    return qos_class(spec) == "BestEffort";
  }
  if (scope.name == "NotBestEffort") {
    return qos_class(spec) != "BestEffort";
  }
  if (scope.name == "CrossNamespacePodAffinity") {
    const json::Value& affinity = object_at(spec, "affinity");
    return crosses_namespaces(affinity, "podAffinity") ||
           crosses_namespaces(affinity, "podAntiAffinity");
  }
  if (scope.name == "PriorityClass") {
    const std::string_view name = text_at(spec, "priorityClassName");
    const bool listed = std::ranges::find(scope.values, name) != scope.values.end();
    return scope.op == "Exists"         ? !name.empty()
           : scope.op == "DoesNotExist" ? name.empty()
           : scope.op == "In"           ? listed
                                        : !listed;
  }
  return false;
}

}  // namespace

model::ResourceList quota_usage(std::string_view qualified_name, const json::Value& object) {
  model::ResourceList usage;
  usage.set("count/" + std::string(qualified_name), model::Quantity(1));
  if (std::ranges::find(kPlainCounts, qualified_name) != kPlainCounts.end()) {
    usage.set(qualified_name, model::Quantity(1));
  }
  if (qualified_name == "pods") {
    add_pod(usage, object);
  } else if (qualified_name == "services") {
    add_service(usage, object);
  } else if (qualified_name == "persistentvolumeclaims") {
    add_claim(usage, object);
  }
  return usage;
}

std::vector<QuotaScope> quota_scopes(const json::Value& quota_spec) {
  std::vector<QuotaScope> scopes;
  for (const json::Value& scope : items_at(quota_spec, "scopes")) {
    if (scope.is_string()) {
      scopes.push_back({.name = std::string(scope.as_string())});
    }
  }
  for (const json::Value& expression :
       items_at(object_at(quota_spec, "scopeSelector"), "matchExpressions")) {
    QuotaScope scope{.name = std::string(text_at(expression, "scopeName")),
                     .op = std::string(text_at(expression, "operator"))};
    for (const json::Value& value : items_at(expression, "values")) {
      if (value.is_string()) {
        scope.values.emplace_back(value.as_string());
      }
    }
    scopes.push_back(std::move(scope));
  }
  return scopes;
}

bool in_scopes(const std::vector<QuotaScope>& scopes, std::string_view qualified_name,
               const json::Value& object) {
  return scopes.empty() ||
         (qualified_name == "pods" && std::ranges::all_of(scopes, [&](const QuotaScope& scope) {
            return in_scope(scope, object);
          }));
}

std::string missing_for_quota(const model::ResourceList& hard, const json::Value& pod) {
  std::map<std::string, std::set<std::string>> missing;
  const json::Value& spec = object_at(pod, "spec");
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json::Value& container : items_at(spec, list)) {
      const json::Value& resources = object_at(container, "resources");
      for (std::string_view name : {"cpu", "memory"}) {
        const bool requested = object_at(resources, "requests").find(name) != nullptr;
        const bool limited = object_at(resources, "limits").find(name) != nullptr;
        const std::string plain(name);
        for (const auto& [bound, said] :
             {std::pair(plain, requested), std::pair("requests." + plain, requested),
              std::pair("limits." + plain, limited)}) {
          if (hard.find(bound) != nullptr && !said) {
            missing[bound].emplace(text_at(container, "name"));
          }
        }
      }
    }
  }
  std::string text;
  for (const auto& [bound, containers] : missing) {
    text += text.empty() ? "must specify " : "; ";
    text += bound + " for: ";
    for (const std::string& name : containers) {
      text += (name == *containers.begin() ? "" : ",") + name;
    }
  }
  return text;
}

}  // namespace codeflare::apiserver
