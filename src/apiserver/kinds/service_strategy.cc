#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "apiserver/schema/checks.h"
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

bool has_node_ports(const json::Value& spec) {
  return text_at(spec, "type") == "NodePort" || text_at(spec, "type") == "LoadBalancer";
}

bool is_reached_from_outside(const json::Value& spec) {
  return has_node_ports(spec) ||
         (text_at(spec, "type") == "ClusterIP" && !items_at(spec, "externalIPs").empty());
}

std::set<std::int64_t> node_ports_of(const json::Value& spec) {
  std::set<std::int64_t> out;
  for (const json::Value& port : items_at(spec, "ports")) {
    if (const std::int64_t number = integer_at(port, "nodePort").value_or(0); number != 0) {
      out.insert(number);
    }
  }
  return out;
}

// A new service's ports keep their old numbers by name, unless one is asked for elsewhere.
void keep_node_ports(json::Arena& arena, json::Value& spec, const json::Value& old) {
  const std::set<std::int64_t> asked = node_ports_of(spec);
  for (json::Value& port : items_at(spec, "ports")) {
    if (integer_at(port, "nodePort").value_or(0) != 0) {
      continue;
    }
    for (const json::Value& before : items_at(old, "ports")) {
      const std::int64_t number = integer_at(before, "nodePort").value_or(0);
      if (text_at(before, "name") == text_at(port, "name") && number != 0 &&
          !asked.contains(number)) {
        copy_member(arena, port, before, "nodePort");
      }
    }
  }
}

void keep_health_port(json::Arena& arena, json::Value& spec, const json::Value& old) {
  if (needs_health_port(spec) && needs_health_port(old) &&
      integer_at(spec, "healthCheckNodePort").value_or(0) == 0) {
    copy_member(arena, spec, old, "healthCheckNodePort");
  }
}

void erase_unchanged(json::Value& spec, const json::Value& old,
                     std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) {
    if (same(spec.find(key), old.find(key))) {
      spec.erase(key);
    }
  }
}

// Fields that the new type does not use are removed, when they are still as they were:
// mostly the server filled it in. Fields changed together with the type are left to
// validation.
void drop_what_the_type_lost(json::Value& spec, const json::Value& old) {
  if (has_cluster_ip(old) && !has_cluster_ip(spec)) {
    if (same(spec.find("clusterIP"), old.find("clusterIP")) &&
        same(spec.find("clusterIPs"), old.find("clusterIPs"))) {
      spec.erase("clusterIP");
      spec.erase("clusterIPs");
    }
    erase_unchanged(spec, old, {"ipFamilies", "ipFamilyPolicy"});
  }
  if (has_node_ports(old) && !has_node_ports(spec) &&
      std::ranges::includes(node_ports_of(old), node_ports_of(spec))) {
    for (json::Value& port : items_at(spec, "ports")) {
      port.erase("nodePort");
    }
  }
  if (needs_health_port(old) && !needs_health_port(spec)) {
    erase_unchanged(spec, old, {"healthCheckNodePort"});
  }
  if (text_at(old, "type") == "LoadBalancer" && text_at(spec, "type") != "LoadBalancer") {
    erase_unchanged(spec, old, {"loadBalancerClass"});
    if (!absent(old, "allocateLoadBalancerNodePorts") &&
        true_at(old, "allocateLoadBalancerNodePorts") ==
            true_at(spec, "allocateLoadBalancerNodePorts")) {
      spec.erase("allocateLoadBalancerNodePorts");
    }
  }
  if (is_reached_from_outside(old) && !is_reached_from_outside(spec)) {
    erase_unchanged(spec, old, {"externalTrafficPolicy"});
  }
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

bool is_address(std::string_view text) {
  return schema::format_accepts("ipv4", text) || schema::format_accepts("ipv6", text);
}

// Addresses that lead to nobody, or to whoever asks.
void validate_external_address(std::string_view text, const std::string& at, FieldErrors& errors) {
  if (!is_address(text)) {
    errors.invalid_text(at, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    return;
  }
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool link_local = low.size() > 4 && low.starts_with("fe") && low[4] == ':' &&
                          std::string_view("89ab").contains(low[2]);
  if (low == "0.0.0.0" || low == "::") {
    errors.invalid_text(at, text, "may not be unspecified (" + std::string(text) + ")");
  } else if (low.starts_with("127.") || low == "::1") {
    errors.invalid_text(at, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  } else if (low.starts_with("169.254.") || link_local) {
    errors.invalid_text(at, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  } else if (low.starts_with("224.0.0.") || low.starts_with("ff02:")) {
    errors.invalid_text(at, text,
                        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void validate_external_addresses(const json::Value& spec, FieldErrors& errors) {
  std::size_t i = 0;
  for (const json::Value& address : items_at(spec, "externalIPs")) {
    const std::string at = at_index("spec.externalIPs", i++);
    if (address.is_string()) {
      validate_external_address(address.as_string(), at, errors);
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
    if (is_reached_from_outside(spec)) {
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
    if (!context.subresource.empty()) {
      return;
    }
    // Allocated addresses and ports stay unless the update changes them.
    json::Value& spec = make_object(context.arena, service, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    if (has_cluster_ip(spec) && has_cluster_ip(old_spec)) {
      keep_address(context.arena, spec, old_spec);
    }
    if (has_node_ports(spec) && has_node_ports(old_spec)) {
      keep_node_ports(context.arena, spec, old_spec);
    }
    keep_health_port(context.arena, spec, old_spec);
    drop_what_the_type_lost(spec, old_spec);
    if (json::Value* status = service.find("status");
        status != nullptr && status->is_object() && text_at(spec, "type") != "LoadBalancer") {
      status->set_static(context.arena, "loadBalancer", json::Value::object());
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
    validate_external_addresses(spec, errors);
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
  static void keep_address(json::Arena& arena, json::Value& spec, const json::Value& old) {
    if (text_at(spec, "clusterIP").empty()) {
      copy_member(arena, spec, old, "clusterIP");
    }
    for (std::string_view key : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      if (absent(spec, key)) {
        copy_member(arena, spec, old, key);
      }
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_service_strategy() {
  return std::make_shared<ServiceStrategy>();
}

}  // namespace codeflare::apiserver
