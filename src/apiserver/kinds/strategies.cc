#include "apiserver/kinds/strategies.h"

#include "apiserver/registry/edit.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace codeflare::apiserver {

namespace {

using Maker = std::shared_ptr<const Strategy> (*)();

// A kind of which only shape and metadata are checked, and that a few texts are there.
class PlainStrategy final : public Strategy {
 public:
  struct Options {
    bool generation = false;
    bool create_on_update = false;
    bool unconditional_update = true;
    void (*defaults)(json::Arena&, json::Value&) = nullptr;
    std::array<std::string_view, 2> required{};  // paths: "spec.attacher"
  };
  explicit PlainStrategy(Options options) : options_(options) {}

  bool generation() const override { return options_.generation; }
  bool allow_create_on_update() const override { return options_.create_on_update; }
  bool allow_unconditional_update() const override { return options_.unconditional_update; }
  void set_defaults(WriteContext& context, json::Value& object) const override {
    if (options_.defaults != nullptr) {
      options_.defaults(context.arena, object);
    }
  }
  void validate(WriteContext& context, const json::Value& object,
                FieldErrors& errors) const override {
    if (!context.subresource.empty()) {
      return;
    }
    for (std::string_view path : options_.required) {
      if (!path.empty() && is_missing(object, path)) {
        errors.required(std::string(path));
      }
    }
  }

 private:
  static bool is_missing(const json::Value& object, std::string_view path) {
    const json::Value* at = &object;
    while (true) {
      const std::size_t dot = path.find('.');
      if (dot == std::string_view::npos) {
        return text_at(*at, path).empty();
      }
      at = &object_at(*at, path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
  }

  Options options_;
};

void default_network_policy(json::Arena& arena, json::Value& object) {
  json::Value& spec = make_object(arena, object, "spec");
  if (items_at(std::as_const(spec), "policyTypes").empty()) {
    json::Value types = json::Value::array();
    types.push_back(arena, json::Value::string_view_of("Ingress"));
    if (!items_at(std::as_const(spec), "egress").empty()) {
      types.push_back(arena, json::Value::string_view_of("Egress"));
    }
    spec.set_static(arena, "policyTypes", types);
  }
  for (std::string_view direction : {"ingress", "egress"}) {
    for (json::Value& rule : items_at(spec, direction)) {
      for (json::Value& port : items_at(rule, "ports")) {
        default_text(arena, port, "protocol", "TCP");
      }
    }
  }
}

void default_storage_class(json::Arena& arena, json::Value& object) {
  default_text(arena, object, "reclaimPolicy", "Delete");
  default_text(arena, object, "volumeBindingMode", "Immediate");
}

void default_csi_driver(json::Arena& arena, json::Value& object) {
  json::Value& spec = make_object(arena, object, "spec");
  default_boolean(arena, spec, "attachRequired", true);
  default_boolean(arena, spec, "podInfoOnMount", false);
  default_boolean(arena, spec, "storageCapacity", false);
  default_boolean(arena, spec, "requiresRepublish", false);
  default_text(arena, spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (items_at(std::as_const(spec), "volumeLifecycleModes").empty()) {
    json::Value modes = json::Value::array();
    modes.push_back(arena, json::Value::string_view_of("Persistent"));
    spec.set_static(arena, "volumeLifecycleModes", modes);
  }
}

void default_webhooks(json::Arena& arena, json::Value& object) {
  const bool mutating = text_at(object, "kind") == "MutatingWebhookConfiguration";
  for (json::Value& webhook : items_at(object, "webhooks")) {
    if (!webhook.is_object()) {
      continue;
    }
    default_text(arena, webhook, "failurePolicy", "Fail");
    default_text(arena, webhook, "matchPolicy", "Equivalent");
    make_object(arena, webhook, "namespaceSelector");
    make_object(arena, webhook, "objectSelector");
    default_integer(arena, webhook, "timeoutSeconds", 10);
    if (mutating) {
      default_text(arena, webhook, "reinvocationPolicy", "Never");
    }
    for (json::Value& rule : items_at(webhook, "rules")) {
      default_text(arena, rule, "scope", "*");
    }
    if (json::Value* config = webhook.find("clientConfig"); config != nullptr) {
      if (json::Value* service = config->find("service");
          service != nullptr && service->is_object()) {
        default_integer(arena, *service, "port", 443);
      }
    }
  }
}

void default_endpoint_slice(json::Arena& arena, json::Value& object) {
  for (json::Value& port : items_at(object, "ports")) {
    if (absent(port, "name")) {
      port.set_static(arena, "name", json::Value::string_view_of(""));
    }
    default_text(arena, port, "protocol", "TCP");
  }
}

void default_limit_range(json::Arena& arena, json::Value& object) {
  for (json::Value& limit : items_at(make_object(arena, object, "spec"), "limits")) {
    if (text_at(limit, "type") != "Container") {
      continue;
    }
    make_object(arena, limit, "default");
    make_object(arena, limit, "defaultRequest");
    copy_missing(arena, *limit.find("default"), object_at(limit, "max"));
    copy_missing(arena, *limit.find("defaultRequest"), object_at(limit, "default"));
    copy_missing(arena, *limit.find("defaultRequest"), object_at(limit, "min"));
  }
}

void default_autoscaler(json::Arena& arena, json::Value& object) {
  default_integer(arena, make_object(arena, object, "spec"), "minReplicas", 1);
}

std::shared_ptr<const Strategy> plain(PlainStrategy::Options options = {}) {
  return std::make_shared<PlainStrategy>(options);
}

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, Maker>& special() {
  static const std::map<Key, Maker> makers = {
      {{"", "pods"}, make_pod_strategy},
      {{"", "services"}, make_service_strategy},
      {{"", "namespaces"}, make_namespace_strategy},
      {{"", "nodes"}, make_node_strategy},
      {{"", "secrets"}, make_secret_strategy},
      {{"", "configmaps"}, make_config_map_strategy},
      {{"", "persistentvolumeclaims"}, make_claim_strategy},
      {{"", "persistentvolumes"}, make_volume_strategy},
      {{"", "endpoints"}, make_endpoints_strategy},
      {{"", "replicationcontrollers"}, make_replication_controller_strategy},
      {{"apps", "deployments"}, make_deployment_strategy},
      {{"apps", "replicasets"}, make_replica_set_strategy},
      {{"apps", "statefulsets"}, make_stateful_set_strategy},
      {{"apps", "daemonsets"}, make_daemon_set_strategy},
      {{"batch", "jobs"}, make_job_strategy},
      {{"batch", "cronjobs"}, make_cron_job_strategy},
      {{"certificates.k8s.io", "certificatesigningrequests"}, make_certificate_request_strategy},
      {{"scheduling.k8s.io", "priorityclasses"}, make_priority_class_strategy},
      {{"rbac.authorization.k8s.io", "roles"}, [] { return make_role_strategy(false); }},
      {{"rbac.authorization.k8s.io", "clusterroles"}, [] { return make_role_strategy(true); }},
      {{"rbac.authorization.k8s.io", "rolebindings"},
       [] { return make_role_binding_strategy(false); }},
      {{"rbac.authorization.k8s.io", "clusterrolebindings"},
       [] { return make_role_binding_strategy(true); }},
      {{"", "limitranges"},
       [] { return plain({.create_on_update = true, .defaults = default_limit_range}); }},
      {{"", "events"}, [] { return plain({.create_on_update = true}); }},
      {{"events.k8s.io", "events"}, [] { return plain({.create_on_update = true}); }},
      {{"coordination.k8s.io", "leases"},
       [] { return plain({.create_on_update = true, .unconditional_update = false}); }},
      {{"networking.k8s.io", "networkpolicies"},
       [] { return plain({.generation = true, .defaults = default_network_policy}); }},
      {{"storage.k8s.io", "storageclasses"},
       [] { return plain({.defaults = default_storage_class, .required = {"provisioner"}}); }},
      {{"storage.k8s.io", "volumeattachments"},
       [] { return plain({.required = {"spec.attacher"}}); }},
      {{"storage.k8s.io", "csidrivers"},
       [] { return plain({.generation = true, .defaults = default_csi_driver}); }},
      {{"discovery.k8s.io", "endpointslices"},
       [] {
         return plain(
             {.generation = true, .defaults = default_endpoint_slice, .required = {"addressType"}});
       }},
      {{"autoscaling", "horizontalpodautoscalers"},
       [] {
         return plain({.defaults = default_autoscaler,
                       .required = {"spec.scaleTargetRef.kind", "spec.scaleTargetRef.name"}});
       }},
      {{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
       [] { return plain({.generation = true, .defaults = default_webhooks}); }},
      {{"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
       [] { return plain({.generation = true, .defaults = default_webhooks}); }},
  };
  return makers;
}

// Plain kinds whose objects count their changes.
constexpr std::array<Key, 10> kWithGeneration = {{
    {"networking.k8s.io", "ingresses"},
    {"networking.k8s.io", "ingressclasses"},
    {"policy", "poddisruptionbudgets"},
    {"flowcontrol.apiserver.k8s.io", "flowschemas"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
    {"resource.k8s.io", "resourceslices"},
    {"resource.k8s.io", "deviceclasses"},
    {"", "podtemplates"},
}};

}  // namespace

std::shared_ptr<const Strategy> builtin_strategy(std::string_view group, std::string_view plural) {
  const Key key{group, plural};
  if (const auto found = special().find(key); found != special().end()) {
    return found->second();
  }
  return plain({.generation = std::ranges::find(kWithGeneration, key) != kWithGeneration.end()});
}

}  // namespace codeflare::apiserver
