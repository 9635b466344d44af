#include "apiserver/kinds/edit.h"
#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "model/validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

bool is_headless(const json::Value& spec) {
  return text_at(spec, "clusterIP") == "None";
}

// A load balancer that must know which nodes have a pod asks them on a port of their own.
bool needs_health_port(const json::Value& spec) {
  return text_at(spec, "type") == "LoadBalancer" &&
         text_at(spec, "externalTrafficPolicy") == "Local";
}

bool has_cluster_ip(const json::Value& spec) {
  return text_at(spec, "type") != "ExternalName";
}

void check(const model::Complaints& complaints, std::string_view value, const std::string& field,
           FieldErrors& errors) {
  for (const std::string& complaint : complaints) {
    errors.invalid_text(field, value, complaint);
  }
}

void validate_one_of(const json::Value& spec, std::string_view key,
                     const std::vector<std::string>& supported, FieldErrors& errors) {
  const std::string_view value = text_at(spec, key);
  if (value.empty()) {
    errors.required(child("spec", key), "");
  } else if (std::ranges::find(supported, value) == supported.end()) {
    errors.not_supported(child("spec", key), quote(value), supported);
  }
}

void validate_target_port(const json::Value& port, const std::string& at, FieldErrors& errors) {
  const json::Value* target = port.find("targetPort");
  if (target == nullptr) {
    return;
  }
  if (target->is_string()) {
    check(model::check_port_name(target->as_string()), target->as_string(), child(at, "targetPort"),
          errors);
  } else if (const auto number = target->to_int64(); number && (*number < 1 || *number > 65535)) {
    errors.invalid(child(at, "targetPort"), std::to_string(*number),
                   "must be between 1 and 65535, inclusive");
  }
}

void validate_ports(const json::Value& spec, FieldErrors& errors) {
  const auto ports = items_at(spec, "ports");
  if (ports.empty() && !is_headless(spec) && has_cluster_ip(spec)) {
    errors.required("spec.ports", "");
  }
  std::set<std::string, std::less<>> names;
  std::set<std::pair<std::string, std::int64_t>> numbers;
  std::size_t i = 0;
  for (const json::Value& port : ports) {
    const std::string at = at_index("spec.ports", i++);
    const std::string_view name = text_at(port, "name");
    if (name.empty()) {
      if (ports.size() > 1) {
        errors.required(child(at, "name"), "");
      }
    } else {
      check(model::check_dns1123_label(name), name, child(at, "name"), errors);
      if (!names.emplace(name).second) {
        errors.duplicate(child(at, "name"), quote(name));
      }
    }
    const std::int64_t number = integer_at(port, "port").value_or(0);
    if (number < 1 || number > 65535) {
      errors.invalid(child(at, "port"), std::to_string(number),
                     "must be between 1 and 65535, inclusive");
    }
    const std::string_view protocol = text_at(port, "protocol");
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      errors.not_supported(child(at, "protocol"), quote(protocol), {"SCTP", "TCP", "UDP"});
    }
    validate_target_port(port, at, errors);
    if (text_at(spec, "type") == "ClusterIP" && integer_at(port, "nodePort").value_or(0) != 0) {
      errors.forbidden(child(at, "nodePort"), "may not be used when `type` is 'ClusterIP'");
    }
    if (!numbers.emplace(protocol, number).second) {
      errors.duplicate(
          at, "{\"port\":" + std::to_string(number) + ",\"protocol\":" + quote(protocol) + "}");
    }
  }
}

class ServiceStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }

  model::Complaints check_name(std::string_view name, bool prefix) const override {
    const bool dash = prefix && name.ends_with('-');
    return model::check_dns1035_label(dash ? std::string(name.substr(0, name.size() - 1)) + "a"
                                           : std::string(name));
  }

  void set_defaults(WriteContext& context, json::Value& service) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, service, "spec");
    default_text(arena, spec, "sessionAffinity", "None");
    if (text_at(spec, "sessionAffinity") == "None") {
      spec.erase("sessionAffinityConfig");
    } else {
      json::Value& config = make_object(arena, spec, "sessionAffinityConfig");
      default_integer(arena, make_object(arena, config, "clientIP"), "timeoutSeconds", 10800);
    }
    default_text(arena, spec, "type", "ClusterIP");
    const std::string_view type = text_at(spec, "type");
    for (json::Value& port : items_at(spec, "ports")) {
      if (!port.is_object()) {
        continue;
      }
      default_text(arena, port, "protocol", "TCP");
      const json::Value* target = port.find("targetPort");
      if (target == nullptr || target->is_null() || integer_at(port, "targetPort") == 0 ||
          (target->is_string() && target->as_string().empty())) {
        port.set(arena, "targetPort",
                 json::Value::integer(arena, integer_at(port, "port").value_or(0)));
      }
    }
    const bool outside = type == "NodePort" || type == "LoadBalancer" ||
                         (type == "ClusterIP" && !items_at(spec, "externalIPs").empty());
    if (outside) {
      default_text(arena, spec, "externalTrafficPolicy", "Cluster");
    }
    if (type == "NodePort" || type == "LoadBalancer" || type == "ClusterIP") {
      default_text(arena, spec, "internalTrafficPolicy", "Cluster");
    }
    if (type == "LoadBalancer") {
      default_boolean(arena, spec, "allocateLoadBalancerNodePorts", true);
    }
  }

  void prepare_create(WriteContext& context, json::Value& service) const override {
    json::Value status = json::Value::object();
    status.set_static(context.arena, "loadBalancer", json::Value::object());
    service.set_static(context.arena, "status", status);
  }

  void prepare_update(WriteContext& context, json::Value& service,
                      const json::Value& old) const override {
    // What was allocated stays unless it is asked for otherwise.
    json::Value& spec = make_object(context.arena, service, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    keep_health_port(context.arena, spec, old_spec);
    if (!has_cluster_ip(spec) || !has_cluster_ip(old_spec)) {
      return;
    }
    if (text_at(spec, "clusterIP").empty()) {
      copy_member(context.arena, spec, old_spec, "clusterIP");
    }
    for (std::string_view key : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      if (absent(spec, key)) {
        copy_member(context.arena, spec, old_spec, key);
      }
    }
    const auto old_ports = items_at(old_spec, "ports");
    if (text_at(spec, "type") == "NodePort" || text_at(spec, "type") == "LoadBalancer") {
      for (json::Value& port : items_at(spec, "ports")) {
        keep_node_port(context.arena, port, old_ports);
      }
    }
  }

  void validate(WriteContext& context, const json::Value& service,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(service, "spec");
    const std::string_view type = text_at(spec, "type");
    if (is_headless(spec) && (type == "NodePort" || type == "LoadBalancer")) {
      errors.invalid_text("spec.clusterIPs[0]", "None",
                          "may not be set to 'None' for " + std::string(type) + " services");
    }
    if (type == "ExternalName") {
      std::string_view name = text_at(spec, "externalName");
      name = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
      if (name.empty()) {
        errors.required("spec.externalName", "");
      } else {
        check(model::check_dns1123_subdomain(name), name, "spec.externalName", errors);
      }
      if (!items_at(spec, "clusterIPs").empty()) {
        errors.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
      }
    }
    validate_ports(spec, errors);
    validate_labels(object_at(spec, "selector"), "spec.selector", errors);
    validate_one_of(spec, "sessionAffinity", {"ClientIP", "None"}, errors);
    validate_one_of(spec, "type", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"},
                    errors);
    if (!absent(spec, "allocateLoadBalancerNodePorts") && type != "LoadBalancer") {
      errors.forbidden("spec.allocateLoadBalancerNodePorts",
                       "may only be used when `type` is 'LoadBalancer'");
    }
  }

  void validate_update(WriteContext& context, const json::Value& service, const json::Value& old,
                       FieldErrors& errors) const override {
    if (!context.subresource.empty()) {
      return;
    }
    const json::Value& spec = object_at(service, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    if (!has_cluster_ip(spec) || !has_cluster_ip(old_spec)) {
      return;
    }
    const std::string_view before = text_at(old_spec, "clusterIP");
    if (!before.empty() && text_at(spec, "clusterIP") != before) {
      errors.invalid("spec.clusterIPs[0]", "[" + quote(text_at(spec, "clusterIP")) + "]",
                     "may not change once set");
    }
  }

 private:
  static void keep_health_port(json::Arena& arena, json::Value& spec, const json::Value& old) {
    const std::int64_t before = integer_at(old, "healthCheckNodePort").value_or(0);
    const std::int64_t now = integer_at(spec, "healthCheckNodePort").value_or(0);
    if (!needs_health_port(old) || before == 0) {
      return;
    }
    if (needs_health_port(spec) && now == 0) {
      copy_member(arena, spec, old, "healthCheckNodePort");
    } else if (!needs_health_port(spec) && now == before) {
      spec.erase("healthCheckNodePort");
    }
  }

  static void keep_node_port(json::Arena& arena, json::Value& port,
                             std::span<const json::Value> old_ports) {
    if (integer_at(port, "nodePort").value_or(0) != 0) {
      return;
    }
    for (const json::Value& old : old_ports) {
      if (integer_at(old, "port") == integer_at(port, "port") &&
          text_at(old, "protocol") == text_at(port, "protocol")) {
        copy_member(arena, port, old, "nodePort");
        return;
      }
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_service_strategy() {
  return std::make_shared<ServiceStrategy>();
}

}  // namespace codeflare::apiserver
