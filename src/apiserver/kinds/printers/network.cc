#include "apiserver/kinds/printers/row.h"

#include <set>

namespace codeflare::apiserver::printing {
namespace {

constexpr std::size_t kShownMax = 3;

// Addresses that a load balancer gave, each once, sorted.
std::string load_balancer(const json::Value& status) {
  std::set<std::string> out;
  for (const json::Value& ingress : items_at(object_at(status, "loadBalancer"), "ingress")) {
    std::string_view ip = text_at(ingress, "ip");
    out.emplace(ip.empty() ? text_at(ingress, "hostname") : ip);
  }
  out.erase("");
  return join({out.begin(), out.end()});
}

std::string external_ip(const Row& row, std::string_view type) {
  std::string outside = join(texts_at(row.spec, "externalIPs"));
  if (type == "ExternalName") {
    return std::string(text_at(row.spec, "externalName"));
  }
  if (type == "ClusterIP" || type == "NodePort") {
    return outside.empty() ? std::string(kNone) : outside;
  }
  if (type != "LoadBalancer") {
    return std::string(kUnknown);
  }
  std::string balanced = load_balancer(row.status);
  if (balanced.empty()) {
    return outside.empty() ? "<pending>" : outside;
  }
  return outside.empty() ? balanced : balanced + "," + outside;
}

// "80:30080/TCP,53/UDP"
std::string service_ports(const json::Value& spec) {
  std::vector<std::string> out;
  for (const json::Value& port : items_at(spec, "ports")) {
    std::string text = std::to_string(count_at(port, "port"));
    if (std::int64_t node_port = count_at(port, "nodePort"); node_port > 0) {
      text += ":" + std::to_string(node_port);
    }
    std::string_view protocol = text_at(port, "protocol");
    out.push_back(text + "/" + std::string(protocol.empty() ? "TCP" : protocol));
  }
  return join(out);
}

std::string cluster_ip(const json::Value& spec) {
  std::vector<std::string> all = texts_at(spec, "clusterIPs");
  return all.empty() ? std::string(text_at(spec, "clusterIP")) : all.front();
}

void print_service(Row& row) {
  std::string_view type = text_at(row.spec, "type");
  type = type.empty() ? "ClusterIP" : type;
  row.name()
      .text(type)
      .text_or(cluster_ip(row.spec), kNone)
      .text(external_ip(row, type))
      .text_or(service_ports(row.spec), kNone)
      .age()
      .text(labels_text(object_at(row.spec, "selector")));
}

std::string host_port(std::string_view host, std::int64_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(port);
}

void print_endpoints(Row& row) {
  std::vector<std::string> out;
  std::span<const json::Value> subsets = items_at(row.object, "subsets");
  for (const json::Value& subset : subsets) {
    std::span<const json::Value> addresses = items_at(subset, "addresses");
    std::span<const json::Value> ports = items_at(subset, "ports");
    for (const json::Value& port : ports) {
      for (const json::Value& address : addresses) {
        out.push_back(host_port(text_at(address, "ip"), count_at(port, "port")));
      }
    }
    if (ports.empty()) {  // a headless service may have none
      for (const json::Value& address : addresses) {
        out.emplace_back(text_at(address, "ip"));
      }
    }
  }
  row.name().text(subsets.empty() ? std::string(kNone) : join_some(out, kShownMax)).age();
}

void print_endpoint_slice(Row& row) {
  std::vector<std::string> ports;
  for (const json::Value& port : items_at(row.object, "ports")) {
    if (std::optional<std::int64_t> number = integer_at(port, "port")) {
      ports.push_back(std::to_string(*number));
    } else {
      ports.emplace_back(text_at(port, "name"));
    }
  }
  std::vector<std::string> addresses;
  for (const json::Value& endpoint : items_at(row.object, "endpoints")) {
    for (std::string& address : texts_at(endpoint, "addresses")) {
      addresses.push_back(std::move(address));
    }
  }
  row.name()
      .text(text_at(row.object, "addressType"))
      .text_or(join_some(ports, kShownMax), kUnset)
      .text_or(join_some(addresses, kShownMax), kUnset)
      .age();
}

// The first three hosts; what follows them is counted in rules, with a host or without.
std::string ingress_hosts(const json::Value& spec) {
  std::span<const json::Value> rules = items_at(spec, "rules");
  std::vector<std::string> hosts;
  bool more = false;
  for (const json::Value& rule : rules) {
    more = more || hosts.size() == kShownMax;
    std::string_view host = text_at(rule, "host");
    if (!more && !host.empty()) {
      hosts.emplace_back(host);
    }
  }
  if (hosts.empty()) {
    return "*";
  }
  return join(hosts) + (more ? " + " + std::to_string(rules.size() - kShownMax) + " more..." : "");
}

void print_ingress(Row& row) {
  row.name()
      .text(absent(row.spec, "ingressClassName") ? kNone : text_at(row.spec, "ingressClassName"))
      .text(ingress_hosts(row.spec))
      .text(load_balancer(row.status))
      .text(items_at(row.spec, "tls").empty() ? "80" : "80, 443")
      .age();
}

// "Kind.group/name"
std::string ingress_parameters(const json::Value& spec) {
  if (absent(spec, "parameters")) {
    return std::string(kNone);
  }
  const json::Value& parameters = object_at(spec, "parameters");
  std::string out(text_at(parameters, "kind"));
  if (!absent(parameters, "apiGroup")) {
    out += "." + std::string(text_at(parameters, "apiGroup"));
  }
  return out + "/" + std::string(text_at(parameters, "name"));
}

void print_ingress_class(Row& row) {
  row.name().text(text_at(row.spec, "controller")).text(ingress_parameters(row.spec)).age();
}

void print_network_policy(Row& row) {
  row.name().text(selector_cell(&object_at(row.spec, "podSelector"))).age();
}

void print_service_cidr(Row& row) {
  row.name().text(join(texts_at(row.spec, "cidrs"))).age();
}

// "services/default/kubernetes"
void print_ip_address(Row& row) {
  if (absent(row.spec, "parentRef")) {
    row.name().text(kNone);
    return;
  }
  const json::Value& parent = object_at(row.spec, "parentRef");
  std::string out = lower(text_at(parent, "resource"));
  if (std::string_view group = text_at(parent, "group"); !group.empty()) {
    out += "." + lower(group);
  }
  if (std::string_view ns = text_at(parent, "namespace"); !ns.empty()) {
    out += "/" + std::string(ns);
  }
  row.name().text(out + "/" + std::string(text_at(parent, "name")));
}

}  // namespace

std::vector<KindPrinter> network_printers() {
  return {
      {.group = "",
       .plural = "services",
       .columns = {name_column(), text_column("Type"), text_column("Cluster-IP"),
                   text_column("External-IP"), text_column("Port(s)"), age_column(),
                   wide_column("Selector")},
       .print = print_service},
      {.group = "",
       .plural = "endpoints",
       .columns = {name_column(), text_column("Endpoints"), age_column()},
       .print = print_endpoints},
      {.group = "discovery.k8s.io",
       .plural = "endpointslices",
       .columns = {name_column(), text_column("AddressType"), text_column("Ports"),
                   text_column("Endpoints"), age_column()},
       .print = print_endpoint_slice},
      {.group = "networking.k8s.io",
       .plural = "ingresses",
       .columns = {name_column(), text_column("Class"), text_column("Hosts"),
                   text_column("Address"), text_column("Ports"), age_column()},
       .print = print_ingress},
      {.group = "networking.k8s.io",
       .plural = "ingressclasses",
       .columns = {name_column(), text_column("Controller"), text_column("Parameters"),
                   age_column()},
       .print = print_ingress_class},
      {.group = "networking.k8s.io",
       .plural = "networkpolicies",
       .columns = {name_column(), text_column("Pod-Selector"), age_column()},
       .print = print_network_policy},
      {.group = "networking.k8s.io",
       .plural = "servicecidrs",
       .columns = {name_column(), text_column("CIDRs"), age_column()},
       .print = print_service_cidr},
      {.group = "networking.k8s.io",
       .plural = "ipaddresses",
       .columns = {name_column(), text_column("ParentRef")},
       .print = print_ip_address},
  };
}

}  // namespace codeflare::apiserver::printing
